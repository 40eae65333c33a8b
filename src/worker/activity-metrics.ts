import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import type { Clock } from '../clock.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Measures how long activities wait in their task queue and how many run. */
export const createActivityMetrics =
  (metrics: Metrics): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      async execute(input, next) {
        // Local activities never wait in a task queue.
        const waitedMs = info.isLocal ? null : Date.now() - info.currentAttemptScheduledTimestampMs
        metrics.activityStarted(info.activityType, waitedMs)
        try {
          return await next(input)
        } finally {
          metrics.activityEnded(info.activityType)
        }
      },
    },
  })

/** Wraps the clock of activities, which they use only to wait until posts are due. */
export function countArmedWaits(clock: Clock, metrics: Metrics): Clock {
  return {
    now: () => clock.now(),
    async sleepUntil(instant, signal) {
      if (instant <= clock.now()) return clock.sleepUntil(instant, signal)
      metrics.deliveryArmed()
      try {
        await clock.sleepUntil(instant, signal)
      } finally {
        metrics.deliveryDisarmed()
      }
    },
  }
}
