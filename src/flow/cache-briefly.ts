/** Shares a running call between all callers and caches its result for `ttlMs`. Failures are not cached. */
export function cacheBriefly<T>(run: () => Promise<T>, ttlMs: number, clock: { now(): Date }): () => Promise<T> {
  let latest: { result: Promise<T>; isRunning: boolean; at: number } | null = null
  return () => {
    const at = clock.now().getTime()
    if (latest && (latest.isRunning || at - latest.at < ttlMs)) return latest.result
    const current = { result: run(), isRunning: true, at }
    latest = current
    current.result.then(
      () => (current.isRunning = false),
      () => (latest = null),
    )
    return current.result
  }
}
