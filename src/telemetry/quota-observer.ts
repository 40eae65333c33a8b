import { SECOND } from '../domain/shared/times.ts'
import { getScope } from '../domain/quotas/limits.ts'
import type { Logger } from '../logger.ts'
import type { QuotaObserver } from '../platforms/shared/call-counter.ts'
import type { Metrics } from './metrics.ts'

interface QuotaObserverDeps {
  logger: Logger
  metrics: Metrics
}

/** Records refusals and pauses of call quotas in the metrics, and each pause in the log. */
export function createQuotaObserver({ logger, metrics }: QuotaObserverDeps): QuotaObserver {
  return {
    callRefused: metrics.quotaRefused,
    callsCounted(platform, { key }, left) {
      if (getScope(key) !== 'application') return
      for (const [span, ratio] of Object.entries(left)) metrics.quotaLeft(platform, span, ratio)
    },
    paused(platform, { key }, ms) {
      metrics.quotaPaused(platform)
      logger.warn({ platform, quota: key, seconds: Math.ceil(ms / SECOND) }, 'platform calls paused')
    },
  }
}
