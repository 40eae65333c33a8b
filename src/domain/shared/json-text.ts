import { MAX_PATH_LENGTH, ServiceError, validationFailed } from './service-error.ts'

/** Maximal nesting of arrays and objects. */
const MAX_DEPTH = 32
/** A post with every field set for every platform has about 1,500 values. */
const MAX_VALUES = 10_000

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const [ARRAY, ARRAY_END] = [0x5b, 0x5d]
const [OBJECT, OBJECT_END] = [0x7b, 0x7d]
const SPACE = 0x20

/**
 * Parses JSON in valid UTF-8 with bounded depth and number of values. Rejects NUL characters and lone surrogates, which neither
 * the database nor the platforms can store. Drops `__proto__` like any other unknown field.
 * @param subject names the text in messages
 * @throws ServiceError BAD_REQUEST, or VALIDATION_FAILED with the path of a text that cannot be stored
 */
export function parseJson(bytes: Uint8Array, subject = 'Request body'): unknown {
  assertBounded(bytes, subject)
  const value = parseText(decode(bytes, subject), subject)
  assertStorable(value, subject)
  return value
}

/**
 * Counts values before parsing, because a megabyte of brackets would become a million objects. Up to the first syntax error the
 * scan counts exactly the values that the parser would create, including those of repeated keys.
 */
function assertBounded(bytes: Uint8Array, subject: string): void {
  let depth = 0
  let values = 1
  let isInText = false
  let isFirstChild = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (isInText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isInText = false
      continue
    }
    if (byte <= SPACE) continue
    const isEnd = byte === ARRAY_END || byte === OBJECT_END
    if (byte === COMMA || (isFirstChild && !isEnd)) values += 1
    isFirstChild = byte === ARRAY || byte === OBJECT
    if (isFirstChild) depth += 1
    else if (isEnd) depth -= 1
    else if (byte === QUOTE) isInText = true
    if (depth > MAX_DEPTH)
      throw new ServiceError('BAD_REQUEST', `${subject} is nested more than ${MAX_DEPTH} levels deep. Flatten it.`)
    if (values > MAX_VALUES)
      throw new ServiceError('BAD_REQUEST', `${subject} has more than ${MAX_VALUES} values. Send less data.`)
  }
}

function decode(bytes: Uint8Array, subject: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ServiceError('BAD_REQUEST', `${subject} is not valid UTF-8. Encode it as UTF-8.`)
  }
}

function parseText(text: string, subject: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('BAD_REQUEST', `${subject} is not valid JSON. Correct its syntax.`)
  }
}

function assertStorable(root: unknown, subject: string): void {
  const open: { value: unknown; path: string }[] = [{ value: root, path: '' }]
  for (let visit = open.pop(); visit; visit = open.pop()) {
    const { value, path } = visit
    if (typeof value === 'string') assertText(value, path, subject)
    if (value === null || typeof value !== 'object') continue
    if (!Array.isArray(value)) delete (value as Record<string, unknown>)['__proto__']
    for (const [key, child] of Object.entries(value)) {
      assertText(key, path, subject)
      open.push({ value: child, path: path === '' ? key : `${path}.${key}` })
    }
  }
}

function assertText(text: string, path: string, subject: string): void {
  if (text.includes('\0')) throw unusable(path, subject, 'NUL characters')
  if (!text.isWellFormed()) throw unusable(path, subject, 'lone surrogates')
}

function unusable(fullPath: string, subject: string, characters: string): ServiceError {
  const path = fullPath.slice(0, MAX_PATH_LENGTH)
  const message = `${path === '' ? subject : path} contains ${characters}. Remove them.`
  return validationFailed([{ path, code: 'INVALID_CHARACTERS', message }])
}
