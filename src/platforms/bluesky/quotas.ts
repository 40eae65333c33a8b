import { CALL_LIMITS, type QuotaSubject } from '../../domain/quotas/limits.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { QuotaNews } from '../shared/call-quota.ts'
import type { Credentials } from '../contract.ts'
import { toPublicationQuota, toQuotaKey } from '../shared/quota-subjects.ts'
import type { HttpRequest, HttpResponse } from '../shared/http.ts'
import { retryAfterMs } from '../shared/retry-after.ts'

const UNSTATED_PAUSE_MS = MINUTE
/** The servers whose limit is documented. Others report theirs, if they have one. */
const DOCUMENTED_HOST = /^(bsky\.social|([\w-]+\.)*bsky\.network)$/
/** The window of the limit per address; other limits of a server belong to an account or a method. */
const SERVER_POLICY = /;\s*w=300$/

type Call = Pick<HttpRequest, 'method' | 'url'>

/** A server grants its limit to an address, so all accounts there share it. */
export function toSubject({ url }: Pick<Call, 'url'>): QuotaSubject {
  const limits = DOCUMENTED_HOST.test(url.hostname) ? CALL_LIMITS.blueskyServer : CALL_LIMITS.unknownBlueskyServer
  return { key: toQuotaKey('bluesky', 'server', url.origin), limits }
}

/** The points of an account for new records. Servers of other operators have their own. */
export function publicationQuota({
  accountId,
  serviceUrl,
}: Pick<Credentials, 'accountId' | 'serviceUrl'>): QuotaSubject | null {
  const isDocumented = serviceUrl !== undefined && DOCUMENTED_HOST.test(new URL(serviceUrl).hostname)
  return isDocumented ? toPublicationQuota('bluesky', accountId) : null
}

export function readNews(call: Call, response: Pick<HttpResponse, 'status' | 'header'>): QuotaNews[] {
  if (!isAboutServer(call, response)) return []
  const subject = toSubject(call)
  const readHeader = (name: string) => Number(response.header(`ratelimit-${name}`) ?? NaN)
  const resetsInMs = readHeader('reset') * SECOND - Date.now()
  const reported = [
    { span: subject.limits[0]!.span, limit: readHeader('limit'), remaining: readHeader('remaining'), resetsInMs },
  ]
  if (response.status !== 429) return [{ subject, reported }]
  return [{ subject, reported, pauseMs: retryAfterMs(response) ?? UNSTATED_PAUSE_MS }]
}

/** Logins and records also have limits per account, and a response reports the one that is nearest. */
function isAboutServer({ method, url }: Call, response: Pick<HttpResponse, 'header'>): boolean {
  if (method === 'GET') return true
  return !url.pathname.includes('com.atproto.server.') && SERVER_POLICY.test(response.header('ratelimit-policy') ?? '')
}
