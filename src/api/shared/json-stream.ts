import { Readable, addAbortSignal } from 'node:stream'

const CHUNK_CHARACTERS = 64 * 1024

/**
 * Creates a JSON document that is serialized while the client reads it. Async iterables in it become arrays, so the document
 * is never in memory as a whole. Resolves after the first chunk: earlier errors reject, later errors abort the response.
 * @param signal ends the stream and stops the iterables
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
  // When the client disconnects before the first read, nothing else closes the iterables.
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
