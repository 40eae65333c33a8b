import { CALL_LIMITS, type QuotaSubject } from '../../domain/quotas/limits.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { QuotaNews } from '../shared/call-quota.ts'
import type { HttpResponse } from '../shared/http.ts'
import { toQuotaKey } from '../shared/quota-subjects.ts'
import { retryAfterMs } from '../shared/retry-after.ts'
import { hasReachedDayLimit } from './errors.ts'

/** The limits per address have no headers and end with the minute in which they were reached. */
const UNSTATED_PAUSE_MS = MINUTE

/** Tumblr grants its hourly and its daily limit to the application and not to each user (docs/reference/platforms.md). */
export function createTumblrQuota(consumerKey: string) {
  const key = toQuotaKey('tumblr', 'application', consumerKey)
  const subject: QuotaSubject = { key, limits: CALL_LIMITS.tumblrApplication }

  return {
    toSubjects: () => [subject],

    readNews(_: unknown, response: Pick<HttpResponse, 'status' | 'header' | 'text'>): QuotaNews[] {
      const reported = CALL_LIMITS.tumblrApplication.map(({ span }) => {
        const readHeader = (name: string) => Number(response.header(`x-ratelimit-per${span}-${name}`) ?? NaN)
        return {
          span,
          limit: readHeader('limit'),
          remaining: readHeader('remaining'),
          resetsInMs: readHeader('reset') * SECOND,
        }
      })
      if (response.status !== 429 || hasReachedDayLimit(response)) return [{ subject, reported }]
      const isStated = reported.some(({ remaining, resetsInMs }) => remaining === 0 && resetsInMs > 0)
      const pauseMs = isStated ? undefined : (retryAfterMs(response) ?? UNSTATED_PAUSE_MS)
      return [{ subject, reported, pauseMs }]
    },
  }
}
