import { createJsonScan, MAX_FOREIGN_VALUES } from '../../domain/shared/json-text.ts'

interface CappedFetchOptions {
  maxBytes: number
  /** Replaces the library's own User-Agent. */
  userAgent: string
}

/** Returns a `fetch` that sends our User-Agent, follows no redirects, and aborts responses that are too long or have too much JSON. */
export function cappedFetch({ maxBytes, userAgent }: CappedFetchOptions): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('user-agent', userAgent)
    const response = await fetch(input, { ...init, headers, redirect: 'error' })
    const assertFits = createResponseLimit(maxBytes)
    const counted = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          assertFits(piece)
          controller.enqueue(piece)
        },
      }),
    )
    return new Response(counted, response)
  }
}

/** Returns a function that takes the pieces of a response. @throws Error when they are too long, or have too many values of JSON */
export function createResponseLimit(maxBytes: number): (piece: Uint8Array) => void {
  const exceeds = createJsonScan(MAX_FOREIGN_VALUES)
  let bytes = 0
  return (piece) => {
    bytes += piece.length
    if (bytes > maxBytes) throw new Error(`a response of more than ${maxBytes} bytes`)
    if (exceeds(piece)) throw new Error('a response with too many values or levels of JSON')
  }
}
