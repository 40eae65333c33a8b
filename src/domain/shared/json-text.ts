import { MAX_PATH_LENGTH, ServiceError, validationFailed } from './service-error.ts'

/** Maximal nesting of arrays and objects. */
const MAX_DEPTH = 32
/** Maximal number of values of a request. A post with every field set for every platform has about 1,500. */
const MAX_VALUES = 10_000
/** Maximal number of values of another server's response. A page of posts has up to 20,000, and 50,000 are parsed in 30 ms at most. */
export const MAX_FOREIGN_VALUES = 50_000

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const [ARRAY, ARRAY_END] = [0x5b, 0x5d]
const [OBJECT, OBJECT_END] = [0x7b, 0x7d]
const SPACE = 0x20
const LAST_ASCII = 0x7f

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

/** Parses JSON that another server sent inside of a response or a token, within the limits of responses; undefined when it cannot be parsed. */
export function parseForeignJson(text: string): unknown {
  if (createJsonScan(MAX_FOREIGN_VALUES)(new TextEncoder().encode(text))) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function assertBounded(bytes: Uint8Array, subject: string): void {
  const excess = createJsonScan(MAX_VALUES)(bytes)
  if (excess === 'depth')
    throw new ServiceError('BAD_REQUEST', `${subject} is nested more than ${MAX_DEPTH} levels deep. Flatten it.`)
  if (excess === 'values')
    throw new ServiceError('BAD_REQUEST', `${subject} has more than ${MAX_VALUES} values. Send less data.`)
}

/**
 * Returns a function that takes the bytes of a text as they arrive, and returns which limit of JSON they exceed; null while they exceed none.
 * Values are counted before parsing, because a megabyte of brackets would become a million objects. Up to the first syntax error the scan
 * counts exactly the values that the parser would create, including those of repeated keys. A text that is not JSON has one value.
 */
export function createJsonScan(maxValues: number): (bytes: Uint8Array) => 'depth' | 'values' | null {
  let depth = 0
  let values = 1
  let isInText = false
  let isEscaped = false
  let isFirstChild = false
  /** True after the outermost value, and in a text that begins with neither a list nor an object. */
  let isOver = false

  return (bytes) => {
    for (let at = 0; at < bytes.length && !isOver; at += 1) {
      const byte = bytes[at]!
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInText = false
        continue
      }
      // Parsers of responses skip a byte order mark.
      if (byte <= SPACE || (depth === 0 && byte > LAST_ASCII)) continue
      const isEnd = byte === ARRAY_END || byte === OBJECT_END
      if (byte === COMMA || (isFirstChild && !isEnd)) values += 1
      isFirstChild = byte === ARRAY || byte === OBJECT
      if (isFirstChild) depth += 1
      else if (isEnd) depth -= 1
      else if (byte === QUOTE) isInText = true
      isOver = depth <= 0
      if (depth > MAX_DEPTH) return 'depth'
      if (values > maxValues) return 'values'
    }
    return null
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

/** A value of the parsed text, with the way to it. */
interface Visited {
  value: unknown
  name: string
  parent: Visited | null
}

function assertStorable(root: unknown, subject: string): void {
  const open: Visited[] = [{ value: root, name: '', parent: null }]
  for (let visited = open.pop(); visited; visited = open.pop()) {
    const { value } = visited
    if (typeof value === 'string') assertText(value, visited, subject)
    if (value === null || typeof value !== 'object') continue
    if (!Array.isArray(value)) delete (value as Record<string, unknown>)['__proto__']
    for (const [name, child] of Object.entries(value)) {
      assertText(name, visited, subject)
      open.push({ value: child, name, parent: visited })
    }
  }
}

function assertText(text: string, at: Visited, subject: string): void {
  if (text.includes('\0')) throw unusable(at, subject, 'NUL characters')
  if (!text.isWellFormed()) throw unusable(at, subject, 'lone surrogates')
}

function unusable(at: Visited, subject: string, characters: string): ServiceError {
  const path = toPath(at).slice(0, MAX_PATH_LENGTH)
  const message = `${path === '' ? subject : path} contains ${characters}. Remove them.`
  return validationFailed([{ path, code: 'INVALID_CHARACTERS', message }])
}

function toPath({ name, parent }: Visited): string {
  if (!parent) return ''
  const path = toPath(parent)
  return path === '' ? name : `${path}.${name}`
}
