import { activityInfo, type ApplicationFailure, cancellationSignal, log } from '@temporalio/activity'
import { SECOND } from '../../domain/shared/times.ts'
import type { Logger } from '../../logger.ts'
import type { DeliveryInput, DeliveryResult } from '../../workflows/messages/publishing.ts'
import { createCallLimiter } from '../shared/call-limiter.ts'
import { createDeliveryAttempts, type ActivityIo, type DeliveryAttemptDeps } from './delivery-attempt.ts'
import { keepAlive, waiting } from '../shared/heartbeat.ts'
import { createFanoutGroups } from './fanout-group.ts'
import { TryAgainIn } from './record-outcome.ts'

/** Platforms that are asked at the same instant mostly answer within this of each other. */
const LONGEST_SIBLING_WAIT_MS = 2 * SECOND
/** Long enough that the stopping worker's last poll is gone: a task it took would be missed only by the heartbeat. */
const HAND_OVER_MS = SECOND / 4

export interface PublishActivitiesDeps extends Omit<DeliveryAttemptDeps, 'callLimiter'> {
  /** Aborts when the worker is told to stop: armed deliveries hand themselves over. */
  draining: AbortSignal
  logger: Pick<Logger, 'warn'>
  callsInFlight: number
}

type Remembered = ActivityIo['remembered']

/** The activities that work on one platform of a post. Their outcome stands in the post; the result is for the workflow. */
export function createPublishActivities(deps: PublishActivitiesDeps) {
  const { deliver, prepareAhead } = createDeliveryAttempts({
    ...deps,
    callLimiter: createCallLimiter(deps.callsInFlight, deps.metrics),
  })
  const siblings = createFanoutGroups(LONGEST_SIBLING_WAIT_MS)

  function surroundings(input: DeliveryInput): Pick<ActivityIo, 'signal' | 'report'> {
    return {
      signal: AbortSignal.any([cancellationSignal(), deps.draining]),
      report: (message, error) => log.error(message, { error, ...input }),
    }
  }

  function waitOf(error: unknown): ApplicationFailure | null {
    if (error instanceof TryAgainIn) return waiting(error.message, error.waitMs)
    return deps.draining.aborted ? waiting('This worker is stopping', HAND_OVER_MS) : null
  }

  return {
    async publishToPlatform(input: DeliveryInput): Promise<DeliveryResult> {
      const cancelled = cancellationSignal()
      const { heartbeatDetails, workflowExecution } = activityInfo()
      const beat = keepAlive<Remembered>(heartbeatDetails as Remembered)
      const io: ActivityIo = {
        ...surroundings(input),
        remembered: beat.details ?? null,
        remember: beat.tell,
        runId: workflowExecution?.runId ?? '',
        log: (message, fields) => deps.logger.warn({ ...input, ...fields }, message),
      }
      try {
        return await siblings.run(input.postId, io.signal, () => deliver(input, io))
      } catch (error) {
        const wait = waitOf(error)
        if (wait) throw wait
        if (cancelled.aborted) return { outcome: 'again', status: 'PROCESSING', revision: 0 }
        throw error
      } finally {
        beat.stop()
      }
    },

    async preparePlatform(input: DeliveryInput): Promise<void> {
      const beat = keepAlive<null>(null)
      try {
        await prepareAhead(input, activityInfo().attempt, surroundings(input))
      } catch (error) {
        throw waitOf(error) ?? error
      } finally {
        beat.stop()
      }
    },
  }
}
