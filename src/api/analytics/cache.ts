interface Entry {
  version: number
  madeAt: number
  answer: Promise<unknown>
}

interface CacheOptions {
  now: () => Date
  maxEntries: number
  /** A window moves with the clock, so no answer stays right for ever. */
  maxAgeMs: number
}

/**
 * Answers that took some work, of this process alone. Each is good for one version, which every request reads anew from the
 * record of its user: so what is stored anywhere is seen everywhere at once.
 */
export function createAnswerCache({ now, maxEntries, maxAgeMs }: CacheOptions) {
  // In the order of their last use.
  const entries = new Map<string, Entry>()

  /** Those who ask for the same at the same time wait for one answer. */
  return function answer<T>(key: string, version: number, work: () => Promise<T>): Promise<T> {
    const known = entries.get(key)
    const at = now().getTime()
    entries.delete(key)
    if (known && known.version >= version && at - known.madeAt < maxAgeMs) {
      entries.set(key, known)
      return known.answer as Promise<T>
    }
    const entry: Entry = { version, madeAt: at, answer: work() }
    entries.set(key, entry)
    entry.answer.catch(() => {
      if (entries.get(key) === entry) entries.delete(key)
    })
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries) break
      entries.delete(oldest)
    }
    return entry.answer as Promise<T>
  }
}
