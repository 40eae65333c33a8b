import { SECOND } from './times.ts'

interface ResponseHeaders {
  /** Returns a header by its lower-case name. */
  header(name: string): string | undefined
}

/**
 * Returns the wait that a response asks for, milliseconds: `Retry-After` in seconds or as a date (RFC 9110 section
 * 10.2.3), else the instant in `RateLimit-Reset` (unix seconds). Undefined when neither can be parsed.
 */
export function parseRetryAfter(response: ResponseHeaders, now: Date): number | undefined {
  const stated = response.header('retry-after')?.trim()
  if (stated && /^\d+$/.test(stated)) return Number(stated) * SECOND
  const date = stated ? Date.parse(stated) : NaN
  if (!Number.isNaN(date)) return Math.max(0, date - now.getTime())
  const reset = response.header('ratelimit-reset')?.trim()
  if (reset && /^\d+$/.test(reset)) return Math.max(0, Number(reset) * SECOND - now.getTime())
  return undefined
}
