import type { IncomingMessage } from 'node:http'
import { Refusal } from './refusal.ts'

/** Requests per window of seconds. */
interface Limit {
  max: number
  seconds: number
}

/** The limits of the real server. */
const LIMITS = {
  api: { max: 300, seconds: 300 },
  media: { max: 30, seconds: 1_800 },
  deletes: { max: 30, seconds: 1_800 },
  statuses: { max: 300, seconds: 10_800 },
}

export type RateLimits = Partial<Record<keyof typeof LIMITS, Limit>>

/** Counts in windows aligned to the clock, as the real server does. */
export function createRateLimits(overrides: RateLimits) {
  const limits: Record<keyof typeof LIMITS, Limit> = { ...LIMITS, ...overrides }
  const counts = new Map<string, number>()

  function count(name: keyof typeof LIMITS, who: string) {
    const { max, seconds } = limits[name]
    const window = Math.floor(Date.now() / 1_000 / seconds)
    const key = `${name}/${who}/${window}`
    const used = (counts.get(key) ?? 0) + 1
    if (counts.size > 10_000) counts.clear()
    counts.set(key, used)
    const headers = {
      'x-ratelimit-limit': String(max),
      'x-ratelimit-remaining': String(Math.max(0, max - used)),
      'x-ratelimit-reset': new Date((window + 1) * seconds * 1_000).toISOString().replace('Z', '000Z'),
    }
    if (used > max) throw new Refusal(429, 'Too many requests', {}, headers)
    return headers
  }

  /** Counts a request against every limit of its token or address. Returns the headers of the narrowest limit. */
  return function countRequest(request: IncomingMessage, path: string, who: string): Record<string, string> {
    const headers = count('api', who)
    if (request.method === 'POST' && /^\/api\/v[12]\/media$/.test(path)) return count('media', who)
    if (request.method === 'POST' && path === '/api/v1/statuses') return count('statuses', who)
    if (request.method === 'DELETE' && path.startsWith('/api/v1/statuses/')) return count('deletes', who)
    return headers
  }
}
