import { Readable, addAbortSignal } from 'node:stream'

const CHUNK_CHARACTERS = 64 * 1024

/**
 * A JSON document that is written while it is read: what is an async iterable in it becomes an array, item by item, so that no
 * answer is held as a whole. Its beginning is made before this resolves: what fails by then is an error like any other, and
 * what fails later breaks the answer off.
 * @param signal ends the stream, and with it the reading
 */
export async function createJsonStream(document: object, signal: AbortSignal): Promise<Readable> {
  const chunks = joinChunks(write(document))
  const first = await chunks.next()
  async function* all(): AsyncGenerator<string> {
    if (first.done) return
    yield first.value
    yield* chunks
  }
  const stream = addAbortSignal(signal, Readable.from(all(), { objectMode: false, encoding: 'utf8' }))
  // A reader may leave before it has taken anything, and then nobody else lets go of what is read.
  stream.once('close', () => void chunks.return())
  return stream
}

async function* write(value: unknown): AsyncGenerator<string> {
  if (isAsyncIterable(value)) {
    let separator = '['
    for await (const item of value) {
      yield separator + JSON.stringify(item)
      separator = ','
    }
    yield separator === '[' ? '[]' : ']'
  } else if (isPlainObject(value)) {
    let separator = '{'
    for (const [name, field] of Object.entries(value)) {
      yield `${separator}${JSON.stringify(name)}:`
      yield* write(field)
      separator = ','
    }
    yield separator === '{' ? '{}' : '}'
  } else {
    yield JSON.stringify(value ?? null)
  }
}

async function* joinChunks(parts: AsyncGenerator<string>): AsyncGenerator<string, void, undefined> {
  let chunk = ''
  for await (const part of parts) {
    chunk += part
    if (chunk.length < CHUNK_CHARACTERS) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
