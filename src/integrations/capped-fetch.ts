/** `fetch` that follows no redirects, and breaks off answers longer than `maxBytes`. */
export function cappedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'error' })
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
