/** Work of this length does not delay other requests noticeably. */
const TURN_MS = 10

/**
 * Divides long work into turns by elapsed time. The work awaits the returned function between any two small steps; it lets the event loop
 * serve others when the turn is over.
 * @param signal ends the work with its reason
 */
export function createTurns(signal?: AbortSignal): () => Promise<void> {
  let startedAt = performance.now()
  return async () => {
    if (performance.now() - startedAt < TURN_MS) return
    await new Promise((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
    startedAt = performance.now()
  }
}
