import { ServiceError } from '../shared/service-error.ts'

const [ARRAY, ARRAY_END] = [0x5b, 0x5d]
const [OBJECT, OBJECT_END] = [0x7b, 0x7d]
const [QUOTE, BACKSLASH, COMMA, SPACE] = [0x22, 0x5c, 0x2c, 0x20]

/**
 * Cuts a JSON array into the texts of its elements, so that each can be parsed by itself. It only follows strings and brackets; the parser of
 * the elements finds every other syntax error.
 * @param maxRowBytes the longest element
 * @throws ServiceError BAD_REQUEST or PAYLOAD_TOO_LARGE with the number of the row
 */
export function* cutJsonRows(bytes: Uint8Array, maxRowBytes: number): Generator<Uint8Array> {
  const start = skipBlanks(bytes, 0)
  if (bytes[start] !== ARRAY) throw invalid('The file is not a JSON array. Send an array of posts.')
  let [row, from, depth, isInText] = [1, start + 1, 0, false]
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (at - from > maxRowBytes) {
      throw new ServiceError('PAYLOAD_TOO_LARGE', `Row ${row} is larger than ${maxRowBytes} bytes. Shorten it.`)
    }
    if (isInText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isInText = false
    } else if (byte === QUOTE) isInText = true
    else if (byte === ARRAY || byte === OBJECT) depth += 1
    else if (depth > 0) {
      if (byte === ARRAY_END || byte === OBJECT_END) depth -= 1
    } else if (byte === OBJECT_END) throw invalid(`Row ${row} is not valid JSON. Correct its syntax.`)
    else if (byte === COMMA || byte === ARRAY_END) {
      const isEnd = byte === ARRAY_END
      if (skipBlanks(bytes, from) < at) yield bytes.subarray(from, at)
      else if (!isEnd || row > 1) throw invalid(`Row ${row} is empty. Remove the comma before or after it.`)
      if (isEnd) {
        if (skipBlanks(bytes, at + 1) === bytes.length) return
        throw invalid('There is text after the end of the array. Remove it.')
      }
      row += 1
      from = at + 1
    }
  }
  throw invalid(`The array ends in row ${row}. Send the whole file.`)
}

function skipBlanks(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at]! <= SPACE) at += 1
  return at
}

function invalid(message: string): ServiceError {
  return new ServiceError('BAD_REQUEST', message)
}
