import { SECOND } from '../domain/shared/times.ts'
import { isOfApplication } from '../domain/quotas/limits.ts'
import type { Logger } from '../logger.ts'
import type { QuotaObserver } from '../platforms/shared/quota-lots.ts'
import type { Metrics } from './metrics.ts'

interface QuotaObserverDeps {
  logger: Logger
  metrics: Metrics
}

/** Records leases, refusals and pauses of call quotas in the metrics, and each pause in the log. */
export function createQuotaObserver({ logger, metrics }: QuotaObserverDeps): QuotaObserver {
  return {
    leaseEnded: metrics.quotaLeaseEnded,
    callRefused: metrics.quotaRefused,
    spansLeft(platform, { key }, spans) {
      if (!isOfApplication(key)) return
      for (const [span, { limit, free }] of Object.entries(spans)) metrics.quotaLeft(platform, span, free / limit)
    },
    paused(platform, { key }, ms) {
      metrics.quotaPaused(platform)
      logger.warn({ platform, quota: key, seconds: Math.ceil(ms / SECOND) }, 'platform calls paused')
    },
  }
}
