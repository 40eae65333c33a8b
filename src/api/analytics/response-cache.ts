import { LRUCache } from 'lru-cache'

interface CacheOptions {
  now: () => Date
  maxEntries: number
  /** Total size of all responses in characters of JSON. */
  maxSize: number
  /** Limits the age of a response, because its time window moves with the clock. */
  maxAgeMs: number
}

/** A response larger than this fraction of the cache is not cached. */
const MAX_ENTRY_SHARE = 32

/**
 * Creates a cache of expensive responses for this process. An entry is valid for a single version, and every request reads the
 * version from its user record. New data that any process stores is therefore visible everywhere immediately.
 */
export function createResponseCache({ now, maxEntries, maxSize, maxAgeMs }: CacheOptions) {
  const responses = new LRUCache<string, object, () => Promise<object>>({
    max: maxEntries,
    maxSize,
    maxEntrySize: Math.ceil(maxSize / MAX_ENTRY_SHARE),
    sizeCalculation: (response) => JSON.stringify(response).length,
    ttl: maxAgeMs,
    ttlResolution: 0,
    perf: { now: () => now().getTime() },
    fetchMethod: (_key, _stale, { context: compute }) => compute(),
    // Waiting callers get the response even when it is evicted before it is ready.
    ignoreFetchAbort: true,
  })

  /** Concurrent calls with the same key and version share a computation. */
  return async function readCached<T extends object>(
    key: string,
    version: number,
    compute: () => Promise<T>,
  ): Promise<T> {
    return (await responses.forceFetch(`${version} ${key}`, { context: compute })) as T
  }
}
