import { parseRetryAfter } from '../../domain/shared/retry-after.ts'
import type { HttpResponse } from './http.ts'

/** Returns the wait that a platform asks for, milliseconds; undefined when it states none. */
export function retryAfterMs(response: Pick<HttpResponse, 'header'>, now: Date = new Date()): number | undefined {
  return parseRetryAfter(response, now)
}
