import mongoose from 'mongoose'

const { MongoError, MongoServerError, MongoNetworkError } = mongoose.mongo

/**
 * Server error codes of a temporary state: unreachable members, stepping down, shutting down, interrupted, timed out, no
 * primary.
 */
const PASSING_CODES = new Set([
  6, 7, 50, 64, 89, 91, 133, 134, 189, 262, 9_001, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436,
])
/** Labels of errors after which the same request may succeed. */
const PASSING_LABELS = ['TransientTransactionError', 'UnknownTransactionCommitResult', 'RetryableWriteError']

const UNREACHABLE = new Set([
  'MongoServerSelectionError',
  'MongooseServerSelectionError',
  'MongoOperationTimeoutError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoServerClosedError',
  'MongoClientClosedError',
  'MongoPoolClosedError',
  'MongoPoolClearedError',
  'MongoWaitQueueTimeoutError',
  'MongoExpiredSessionError',
])

const BROKEN_CONNECTION = new Set(['EPIPE', 'ECONNRESET', 'ETIMEDOUT'])

/**
 * Returns whether an error, or its cause, shows that the database is unreachable or cannot answer now, so the same request may
 * succeed later. False for a request that the database refuses, and for broken connections to other systems.
 */
export function isDatabaseOutage(error: unknown): boolean {
  return isBrokenWrite(error) || isPassing(error)
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (UNREACHABLE.has(error.name) || error instanceof MongoNetworkError) return true
  if (error instanceof MongoServerError && PASSING_CODES.has(Number(error.code))) return true
  if (error instanceof MongoError && PASSING_LABELS.some((label) => error.hasErrorLabel(label))) return true
  if (
    error instanceof mongoose.MongooseError &&
    /initial connection|not connected|bufferCommands/i.test(error.message)
  ) {
    return true
  }
  // Bulk writes wrap the original error without naming it as their cause.
  return isPassing(error.cause) || (error instanceof MongoServerError && isPassing(error.errorResponse))
}

/**
 * The driver passes the system's own error on when a connection breaks during a large write (mongodb 7.8,
 * `Connection.writeCommand`). Other clients wrap theirs, the S3 client marks them, and errors of a client that hung up have no
 * system call.
 */
function isBrokenWrite(error: unknown): boolean {
  if (!(error instanceof Error) || '$metadata' in error) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  return BROKEN_CONNECTION.has(String(code)) && (syscall === 'write' || syscall === 'read')
}

/** Server code of a write that a unique index refused. */
export const DUPLICATE_KEY = 11_000

/** Returns whether a write failed because a unique index, or one over any of `fields`, already holds its value. */
export function isDuplicateKey(error: unknown, fields?: readonly string[]): boolean {
  if (!(error instanceof MongoServerError) || error.code !== DUPLICATE_KEY) return false
  return !fields || listKeyFields(error).some((field) => fields.includes(field))
}

/** Errors of bulk writes have the fields of the index only in its name, in their message (mongodb 7.8). */
function listKeyFields(error: Error & { keyPattern?: object }): string[] {
  if (error.keyPattern) return Object.keys(error.keyPattern)
  const [, index = ''] = / index: (\S+) dup key/.exec(error.message) ?? []
  return index.split(/_-?1(?:_|$)/)
}
