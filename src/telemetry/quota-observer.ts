import { SECOND } from '../domain/shared/times.ts'
import type { Logger } from '../logger.ts'
import type { QuotaObserver } from '../platforms/shared/quota-lots.ts'
import type { Metrics } from './metrics.ts'

interface QuotaObserverDeps {
  logger: Logger
  metrics: Pick<Metrics, 'quotaLeaseEnded' | 'quotaRefused' | 'quotaPaused'>
}

/** Records leases, refusals and pauses of call quotas in the metrics, and each pause in the log. */
export function createQuotaObserver({ logger, metrics }: QuotaObserverDeps): QuotaObserver {
  return {
    leaseEnded: metrics.quotaLeaseEnded,
    callRefused: metrics.quotaRefused,
    paused(platform, { key }, ms) {
      metrics.quotaPaused(platform)
      logger.warn({ platform, quota: key, seconds: Math.ceil(ms / SECOND) }, 'platform calls paused')
    },
  }
}
