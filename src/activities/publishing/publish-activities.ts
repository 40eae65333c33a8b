import { setTimeout as delay } from 'node:timers/promises'
import { activityInfo, ApplicationFailure, cancellationSignal, log } from '@temporalio/activity'
import { toTarget } from '../../domain/posts/targets.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { DeliveryInput, DeliveryResult } from '../../workflows/contract/publishing.ts'
import { createCallLimiter } from '../shared/call-limiter.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { retryAfter } from '../shared/retry-after.ts'
import { createSlotShares } from '../shared/slot-shares.ts'
import type { ActivityIo, PrepareDeliveryIo } from './attempt.ts'
import { createDeliveryAttempts } from './delivery-attempt.ts'
import { createFanoutGroups } from './fanout-group.ts'
import { createWakeDeliveries } from './server-outages.ts'
import type { WorkerContext } from '../worker-context.ts'

/** Platforms that are called at the same time mostly answer within this time of each other. */
const MAX_FANOUT_WAIT_MS = 2 * SECOND
/** By then the stopping worker's last poll has ended. A task that it took would be lost until its heartbeat times out. */
const STOPPING_RETRY_MS = SECOND / 4

/** The longest time that a workflow task waits for a delivery. Such tasks are few at a time, and must not wait for a hanging platform. */
const BRIEF_MS = 2 * SECOND

/** How far the number of concurrent calls to a server may grow. */
export const MOST_GROWTH = 8

/** The parts of an activity that only one with heartbeats has. */
type Heartbeats = Pick<ActivityIo, 'remembered' | 'remember' | 'waitUntil'>
type Remembered = ActivityIo['remembered']

/** The activities for one platform of a post. The post stores their outcome; the workflow gets the result. */
export function createPublishActivities(deps: WorkerContext) {
  const { callsInFlight, running } = deps
  const wakeDeliveries = createWakeDeliveries(deps)
  const { attemptDelivery, prepareAhead } = createDeliveryAttempts({
    ...deps,
    wakeDeliveries,
    callLimiter: createCallLimiter({ start: callsInFlight, most: callsInFlight * MOST_GROWTH }, deps.metrics, {
      now: () => deps.clock.now().getTime(),
      onReturn: (held) => void wakeDeliveries(held),
    }),
  })
  const fanoutGroups = createFanoutGroups()
  const preparationSlots = createSlotShares(deps.preparationSlots)

  function createIo(input: DeliveryInput): PrepareDeliveryIo {
    return {
      signal: AbortSignal.any([cancellationSignal(), deps.draining]),
      report: (event, error) => log.error(event, { error, ...input }),
    }
  }

  /** @throws `retryAfter` for an expected wait or a stopping worker, and every other error */
  async function publish(input: DeliveryInput, heartbeats: Heartbeats): Promise<DeliveryResult> {
    const cancelled = cancellationSignal()
    const io: ActivityIo = {
      ...createIo(input),
      ...heartbeats,
      runId: activityInfo().workflowExecution?.runId ?? '',
      log: (event, fields) => deps.logger.warn({ ...input, ...fields }, event),
    }
    try {
      const end = await attemptDelivery(input, io)
      if (end.kind === 'retryIn') throw retryAfter(end.why, end.waitMs)
      return end.result
    } catch (error) {
      throwIfRetried(error)
      if (cancelled.aborted) return { outcome: 'superseded', status: 'PROCESSING', revision: 0 }
      throw error
    }
  }

  /** Throws the failure that Temporal retries for an expected wait or a stopping worker, and returns for every other error. */
  function throwIfRetried(error: unknown): void {
    if (error instanceof ApplicationFailure) throw error
    if (deps.draining.aborted) throw retryAfter('This worker is stopping', STOPPING_RETRY_MS)
  }

  return {
    async publishToPlatform(input: DeliveryInput): Promise<DeliveryResult> {
      const details = activityInfo().heartbeatDetails as Remembered
      return withHeartbeat<Remembered, DeliveryResult>(details, async ({ update, waitUntil }) => {
        // Its result is in the post.
        await running.find(toKey(input))?.catch(() => {})
        const signal = AbortSignal.any([cancellationSignal(), deps.draining])
        return fanoutGroups.run(input.postId, { signal, maxWaitMs: MAX_FANOUT_WAIT_MS }, () =>
          publish(input, { remembered: details ?? null, remember: update, waitUntil }),
        )
      })
    },

    /**
     * Makes the first attempts of a post within the workflow task. They begin in one event loop tick, so that they share reads and
     * writes. The result of a delivery is null when another attempt is needed, or when this one takes more than two seconds: it then
     * goes on in this process, and `publishToPlatform` waits for it there.
     */
    async publishBriefly(inputs: readonly DeliveryInput[]): Promise<(DeliveryResult | null)[]> {
      const tooLong = delay(BRIEF_MS, null, { ref: false })
      return Promise.all(
        inputs.map((input) => {
          const publishing = publish(input, NO_HEARTBEATS)
          running.add(toKey(input), publishing)
          return Promise.race([publishing.catch(() => null), tooLong])
        }),
      )
    },

    async preparePlatform(input: DeliveryInput): Promise<void> {
      const { attempt } = activityInfo()
      await preparationSlots.run(input.userId, attempt, () =>
        withHeartbeat(null, async () => {
          try {
            const retry = await prepareAhead(input, attempt, createIo(input))
            if (retry) throw retryAfter(retry.why, retry.waitMs)
          } catch (error) {
            throwIfRetried(error)
            throw error
          }
        }),
      )
    },
  }
}

const NO_HEARTBEATS: Heartbeats = { remembered: null, remember: () => {}, waitUntil: () => {} }

const toKey = (input: DeliveryInput): string => `${input.postId}/${toTarget(input)}/${input.round}`
