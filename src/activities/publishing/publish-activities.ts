import { activityInfo, ApplicationFailure, cancellationSignal, log } from '@temporalio/activity'
import { SECOND } from '../../domain/shared/times.ts'
import type { Logger } from '../../logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { DeliveryInput, DeliveryResult } from '../../workflows/messages/publishing.ts'
import { createCallLimiter } from '../shared/call-limiter.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { retryAfter } from '../shared/retry-after.ts'
import type { ActivityIo, PrepareDeliveryIo } from './attempt.ts'
import { createDeliveryAttempts, type DeliveryAttemptDeps } from './delivery-attempt.ts'
import { createFanoutGroups } from './fanout-group.ts'

/** Platforms that are called at the same time mostly answer within this time of each other. */
const MAX_FANOUT_WAIT_MS = 2 * SECOND
/** By then the stopping worker's last poll has ended. A task that it took would be lost until its heartbeat times out. */
const HAND_OVER_MS = SECOND / 4

/** How far the number of concurrent calls to a server may grow. */
export const MOST_GROWTH = 8

export interface PublishActivitiesDeps extends Omit<DeliveryAttemptDeps, 'callLimiter'> {
  /** Aborts when the worker stops: armed deliveries move to another worker. */
  draining: AbortSignal
  logger: Pick<Logger, 'warn'>
  /** Concurrent calls to one platform server, before the number adapts to it. */
  callsInFlight: number
  metrics: DeliveryAttemptDeps['metrics'] & Pick<Metrics, 'callDequeued' | 'callRejected'>
}

type Remembered = ActivityIo['remembered']

/** The activities for one platform of a post. The post stores their outcome; the workflow gets the result. */
export function createPublishActivities(deps: PublishActivitiesDeps) {
  const { callsInFlight } = deps
  const { attemptDelivery, prepareAhead } = createDeliveryAttempts({
    ...deps,
    callLimiter: createCallLimiter({ start: callsInFlight, most: callsInFlight * MOST_GROWTH }, deps.metrics),
  })
  const fanoutGroups = createFanoutGroups(MAX_FANOUT_WAIT_MS)

  function createIo(input: DeliveryInput): PrepareDeliveryIo {
    return {
      signal: AbortSignal.any([cancellationSignal(), deps.draining]),
      report: (event, error) => log.error(event, { error, ...input }),
    }
  }

  /** Throws the failure that Temporal retries for an expected wait or a stopping worker, and returns for every other error. */
  function throwIfRetried(error: unknown): void {
    if (error instanceof ApplicationFailure) throw error
    if (deps.draining.aborted) throw retryAfter('This worker is stopping', HAND_OVER_MS)
  }

  return {
    async publishToPlatform(input: DeliveryInput): Promise<DeliveryResult> {
      const cancelled = cancellationSignal()
      const { heartbeatDetails, workflowExecution } = activityInfo()
      const details = heartbeatDetails as Remembered
      return withHeartbeat<Remembered, DeliveryResult>(details, async ({ update, waitUntil }) => {
        const io: ActivityIo = {
          ...createIo(input),
          remembered: details ?? null,
          remember: update,
          waitUntil,
          runId: workflowExecution?.runId ?? '',
          log: (event, fields) => deps.logger.warn({ ...input, ...fields }, event),
        }
        try {
          return await fanoutGroups.run(input.postId, io.signal, async () => {
            const end = await attemptDelivery(input, io)
            if (end.kind === 'retryIn') throw retryAfter(end.why, end.waitMs)
            return end.result
          })
        } catch (error) {
          throwIfRetried(error)
          if (cancelled.aborted) return { outcome: 'again', status: 'PROCESSING', revision: 0 }
          throw error
        }
      })
    },

    async preparePlatform(input: DeliveryInput): Promise<void> {
      await withHeartbeat(null, async () => {
        try {
          const retry = await prepareAhead(input, activityInfo().attempt, createIo(input))
          if (retry) throw retryAfter(retry.why, retry.waitMs)
        } catch (error) {
          throwIfRetried(error)
          throw error
        }
      })
    },
  }
}
