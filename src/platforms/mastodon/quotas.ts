import { CALL_LIMITS, type CallLimit, type QuotaSubject } from '../../domain/quotas/limits.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { toPublicationQuota, toQuotaKey } from '../shared/quota-subjects.ts'
import type { QuotaNews } from '../shared/call-quota.ts'
import type { HttpRequest, HttpResponse } from '../shared/http.ts'
import { retryAfterMs } from '../shared/retry-after.ts'

const UNSTATED_PAUSE_MS = 5 * MINUTE

type Call = Pick<HttpRequest, 'method' | 'url' | 'headers' | 'publisher'>

/** Returns the subjects of a call: all calls with a token share a limit, and uploads have a further one. */
export function toSubjects({ method, url, headers }: Call): [QuotaSubject, ...QuotaSubject[]] {
  const account = toQuotaKey('mastodon', 'account', url.origin, headers?.['authorization'] ?? '')
  const toSubject = (limits: readonly CallLimit[]): QuotaSubject => ({
    key: `${account}:${limits[0]!.span}`,
    limits,
  })
  const calls = toSubject(CALL_LIMITS.mastodonAccount)
  if (method === 'POST' && /\/api\/v[12]\/media$/.test(url.pathname)) {
    return [calls, toSubject(CALL_LIMITS.mastodonMedia)]
  }
  return [calls]
}

/** Returns the quota of new statuses, which deliveries count before they call. */
export function toStatusQuota(server: URL, accountId: string): QuotaSubject {
  return toPublicationQuota('mastodon', server.origin, accountId)
}

/** A response reports only the narrowest limit that its call used. */
export function readNews(call: Call, response: Pick<HttpResponse, 'status' | 'header'>): QuotaNews[] {
  const readHeader = (name: string) => Number(response.header(`x-ratelimit-${name}`) ?? NaN)
  const resetsInMs = parseResetMs(response) ?? NaN
  const limit = readHeader('limit')
  const [calls, uploads] = toSubjects(call)
  const statuses = call.publisher === undefined ? undefined : toStatusQuota(call.url, call.publisher)
  const subject = findReported(calls, uploads ?? statuses, limit)
  const isPublication = subject === statuses
  const reported = [{ span: subject.limits[0]!.span, limit, remaining: readHeader('remaining'), resetsInMs }]
  if (response.status !== 429) return [{ subject, isPublication, reported }]
  const stated = Number.isNaN(resetsInMs) ? UNSTATED_PAUSE_MS : resetsInMs
  return [{ subject, isPublication, reported, pauseMs: retryAfterMs(response) ?? stated }]
}

/** Without another sign, the narrowest subject. */
function findReported(calls: QuotaSubject, narrow = calls, limit: number): QuotaSubject {
  const isOfCalls = limit === calls.limits[0]!.limit && limit !== narrow.limits[0]!.limit
  return isOfCalls ? calls : narrow
}

/**
 * Returns the time until `X-RateLimit-Reset` by the server's clock, milliseconds: ISO 8601, or unix seconds from some compatible
 * servers. Undefined when it cannot be parsed.
 */
export function parseResetMs(response: Pick<HttpResponse, 'header'>): number | undefined {
  const reset = response.header('x-ratelimit-reset')?.trim() ?? ''
  const at = /^\d+$/.test(reset) ? Number(reset) * SECOND : Date.parse(reset)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
