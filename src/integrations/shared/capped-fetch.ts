interface CappedFetchOptions {
  maxBytes: number
  /** Replaces the library's own User-Agent. */
  userAgent: string
}

/** Returns a `fetch` that sends our User-Agent, follows no redirects, and aborts responses longer than `maxBytes`. */
export function cappedFetch({ maxBytes, userAgent }: CappedFetchOptions): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('user-agent', userAgent)
    const response = await fetch(input, { ...init, headers, redirect: 'error' })
    let bytes = 0
    const counted = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          bytes += piece.length
          if (bytes > maxBytes) controller.error(new Error(`an answer of more than ${maxBytes} bytes`))
          else controller.enqueue(piece)
        },
      }),
    )
    return new Response(counted, response)
  }
}
