import { ServiceError } from '../shared/service-error.ts'

const [ARRAY, ARRAY_END] = [0x5b, 0x5d]
const [OBJECT, OBJECT_END] = [0x7b, 0x7d]
const [QUOTE, BACKSLASH, COMMA, SPACE] = [0x22, 0x5c, 0x2c, 0x20]
const BOM = [0xef, 0xbb, 0xbf]

/**
 * Cuts a JSON array into the texts of its elements while it arrives, so that each can be parsed by itself. It only follows strings and
 * brackets; the parser of the elements finds every other syntax error.
 * @param maxRowBytes the longest element
 */
export function createJsonRows(maxRowBytes: number) {
  let state: 'before' | 'in' | 'after' = 'before'
  let depth = 0
  let isInText = false
  let isEscaped = false
  let row = 1
  let rowBytes = 0
  let isAfterComma = false
  let parts: Uint8Array[] = []
  let bytesRead = 0

  function* finish(isLast: boolean): Generator<Uint8Array> {
    const text = concat(parts, rowBytes)
    parts = []
    rowBytes = 0
    if (isBlank(text)) {
      if (isLast && row === 1 && !isAfterComma) return
      throw invalid(`Row ${row} is empty. Remove the comma before or after it.`)
    }
    yield text
    row += 1
  }

  function take(chunk: Uint8Array, from: number, to: number): void {
    if (to <= from) return
    rowBytes += to - from
    if (rowBytes > maxRowBytes) {
      throw new ServiceError('PAYLOAD_TOO_LARGE', `Row ${row} is larger than ${maxRowBytes} bytes. Shorten it.`)
    }
    // The chunk belongs to the stream, which may use its memory again.
    parts.push(chunk.slice(from, to))
  }

  return {
    /** Yields the elements that end in this chunk. */
    *push(chunk: Uint8Array): Generator<Uint8Array> {
      let from = 0
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at]!
        const position = bytesRead + at
        if (state === 'before') {
          if (byte === ARRAY) [state, from] = ['in', at + 1]
          else if (byte > SPACE && byte !== BOM[position]) throw notAnArray()
          continue
        }
        if (state === 'after') {
          if (byte > SPACE) throw invalid('There is text after the end of the array. Remove it.')
          continue
        }
        if (isInText) {
          if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) isInText = false
        } else if (byte === QUOTE) isInText = true
        else if (byte === ARRAY || byte === OBJECT) depth += 1
        else if (byte === OBJECT_END || (byte === ARRAY_END && depth > 0)) depth -= 1
        else if (byte === ARRAY_END || (byte === COMMA && depth === 0)) {
          take(chunk, from, at)
          yield* finish(byte === ARRAY_END)
          isAfterComma = byte === COMMA
          from = at + 1
          if (byte === ARRAY_END) state = 'after'
        }
        if (depth < 0) throw invalid(`Row ${row} is not valid JSON. Correct its syntax.`)
      }
      if (state === 'in') take(chunk, from, chunk.length)
      bytesRead += chunk.length
    },

    /** @throws ServiceError BAD_REQUEST when the array has not ended */
    end(): void {
      if (state === 'before') throw notAnArray()
      if (state === 'in') throw invalid(`The array ends in row ${row}. Send the whole file.`)
    },
  }
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function isBlank(text: Uint8Array): boolean {
  return text.every((byte) => byte <= SPACE)
}

function notAnArray(): ServiceError {
  return invalid('The request body is not a JSON array. Send an array of posts.')
}

function invalid(message: string): ServiceError {
  return new ServiceError('BAD_REQUEST', message)
}
