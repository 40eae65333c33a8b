import type { QuotaScope, QuotaSubject } from '../../../domain/quotas/limits.ts'
import type { Platform } from '../../../domain/shared/platforms.ts'
import { createCallQuota, type CallQuotas, type QuotaNews } from '../call-quota.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import { toQuotaKey } from '../quota-subjects.ts'
import { createPauseReader, type GraphRule } from './errors.ts'
import { toRegainAccessMs } from './usage.ts'

type Call = Pick<HttpRequest, 'headers' | 'url' | 'body'>

interface GraphQuotaOptions {
  platform: Platform
  quotas: CallQuotas | undefined
  rules: readonly GraphRule[]
  appId: string
  /** Applications of different hosts have different quotas, also with the same id. */
  host: 'facebook' | 'threads'
}

/**
 * Limits on Meta's hosts depend on the views of an account's posts, so none is known in advance. A refusal pauses the calls of the
 * account, or of the whole application (https://developers.facebook.com/docs/graph-api/overview/rate-limiting).
 */
export function createGraphQuota({ platform, quotas, rules, appId, host }: GraphQuotaOptions) {
  const readPause = createPauseReader(rules)
  const toSubject = (scope: QuotaScope, ...ids: string[]): QuotaSubject => ({
    key: toQuotaKey(host, scope, ...ids),
    limits: [],
  })
  const application = toSubject('application', appId)
  const toAccount = (call: Call) => toSubject('account', appId, findToken(call))

  return createCallQuota({
    platform,
    quotas,
    toSubjects: (call) => [application, toAccount(call)],

    readNews(call: Call, response: Pick<HttpResponse, 'status' | 'header' | 'text'>): QuotaNews[] {
      const pause = readPause(response)
      if (pause) return [{ subject: pause.scope === 'account' ? toAccount(call) : application, pauseMs: pause.ms }]
      const regainMs = toRegainAccessMs(response)
      return regainMs === undefined ? [] : [{ subject: toAccount(call), pauseMs: regainMs }]
    },
  })
}

/** Returns the token in the header, the URL or the form of a call; calls of the application have none. */
function findToken({ headers, url, body }: Call): string {
  const inForm = typeof body === 'string' ? new URLSearchParams(body).get('access_token') : null
  return headers?.['authorization'] ?? url.searchParams.get('access_token') ?? inForm ?? ''
}
