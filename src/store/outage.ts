import mongoose from 'mongoose'

const { MongoError, MongoServerError, MongoNetworkError } = mongoose.mongo

/** Server answers that mean "not now": stepping down, shutting down, interrupted, out of time, no primary. */
const PASSING_CODES = new Set([50, 89, 91, 189, 262, 10_107, 11_600, 11_602, 13_435, 13_436])

const UNREACHABLE = new Set([
  'MongoServerSelectionError',
  'MongooseServerSelectionError',
  'MongoOperationTimeoutError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoServerClosedError',
  'MongoPoolClosedError',
  'MongoPoolClearedError',
  'MongoWaitQueueTimeoutError',
  'MongoExpiredSessionError',
])

/** The driver lets the system's own errors through when a connection breaks under a command. */
const BROKEN_CONNECTION = new Set(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND'])

/** Whether an error says that the database cannot be reached or cannot answer now, rather than that we asked something wrong. */
export function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (BROKEN_CONNECTION.has(String((error as NodeJS.ErrnoException).code))) return true
  if (UNREACHABLE.has(error.name) || error instanceof MongoNetworkError) return true
  if (error instanceof MongoServerError && PASSING_CODES.has(Number(error.code))) return true
  if (error instanceof MongoError && error.hasErrorLabel('TransientTransactionError')) return true
  return (
    error instanceof mongoose.MongooseError && /initial connection|not connected|bufferCommands/i.test(error.message)
  )
}
