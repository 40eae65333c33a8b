import { LRUCache } from 'lru-cache'

interface CacheOptions {
  now: () => Date
  maxEntries: number
  /** Characters that all answers have together, as JSON. */
  maxSize: number
  /** A window moves with the clock, so no answer stays right for ever. */
  maxAgeMs: number
}

/** An answer that would take the room of so many others is worked out every time. */
const MAX_ENTRY_SHARE = 32

/**
 * Answers that took some work, of this process alone. Each is good for one version, which every request reads anew from the
 * record of its user: so what is stored anywhere is seen everywhere at once.
 */
export function createResponseCache({ now, maxEntries, maxSize, maxAgeMs }: CacheOptions) {
  const responses = new LRUCache<string, object, () => Promise<object>>({
    max: maxEntries,
    maxSize,
    maxEntrySize: Math.ceil(maxSize / MAX_ENTRY_SHARE),
    sizeCalculation: (answer) => JSON.stringify(answer).length,
    ttl: maxAgeMs,
    ttlResolution: 0,
    perf: { now: () => now().getTime() },
    fetchMethod: (_key, _stale, { context: work }) => work(),
    // Who waits for an answer gets it, also when others have taken its room meanwhile.
    ignoreFetchAbort: true,
  })

  /** Those who ask for the same at the same time wait for one answer. */
  return async function answer<T extends object>(key: string, version: number, work: () => Promise<T>): Promise<T> {
    return (await responses.forceFetch(`${version} ${key}`, { context: work })) as T
  }
}
