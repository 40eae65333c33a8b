import type { PlannedPlatform, PublishPlan } from '../../domain/posts/publish-plan.ts'
import { toTarget, type Target } from '../../domain/posts/targets.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { DeliveryInput, DeliveryResult, PlatformResult, PostState } from '../contract/publishing.ts'
import type { TaskQueue } from '../contract/task-queues.ts'

/**
 * What a PublishPost workflow decides, free of Temporal. The workflow calls these functions, and so does the simulation (tests/simulation).
 */

const HEARTBEAT_TIMEOUT_MS = 5 * SECOND
const LONGEST_HEARTBEAT_TIMEOUT_MS = 30 * SECOND
/** A post without many others for the same second is armed for no longer. */
const MAX_BRIEF_MS = 10 * SECOND

/**
 * The delivery record counts tries and ends a delivery, so there is no `maximumAttempts` here. An attempt that waits sets its own delay.
 * The policy below is for other failures, like a lost worker or a database outage.
 */
export const PUBLISHING = {
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  // One attempt may upload a large video. A missing heartbeat reveals a dead worker sooner.
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 5 * SECOND },
} as const

/**
 * Prepares before the post is due. The activity sets the delay of its retries, and the armed delivery does what is left. The policy below
 * is for other failures, like a lost worker or a database outage.
 */
export const PREPARING = {
  taskQueue: 'preparing' satisfies TaskQueue,
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 10 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 15 * SECOND },
} as const

/** A first attempt that probably takes a second at most. What it leaves open, and every failure, is for the activity above. */
export const BRIEF = { startToCloseTimeout: 10 * SECOND, retry: { maximumAttempts: 1 } } as const

/** Short reads and writes of the post record. */
export const RECORDS = {
  startToCloseTimeout: 5 * SECOND,
  scheduleToCloseTimeout: HOUR,
  retry: { initialInterval: SECOND, maximumInterval: 30 * SECOND },
} as const

/** Where a workflow is between two steps. */
export interface Progress {
  plan: PublishPlan
  /** The highest revision that a signal or a read has named. */
  seenRevision: number
  /** The post changed, and has to be read before anything else. */
  isStale: boolean
  /** The deliveries that have ended. */
  ended: ReadonlyMap<Target, PlatformResult>
}

export function toProgress(plan: PublishPlan): Progress {
  return { plan, seenRevision: plan.revision, isStale: false, ended: new Map() }
}

/** A signal says only that the post has changed. One about a change that was already read changes nothing. */
export function afterSignal(progress: Progress, revision: number): Progress {
  return revision <= progress.seenRevision ? progress : { ...progress, seenRevision: revision, isStale: true }
}

/** Returns the progress with the plan of the stored post; null when nothing is left to deliver. */
export function afterRead(progress: Progress, { plan }: PostState): Progress | null {
  return plan && { ...progress, plan, seenRevision: Math.max(progress.seenRevision, plan.revision) }
}

/** Records the deliveries that have ended. A superseded one makes the workflow read the post again. */
export function afterDeliveries(progress: Progress, results: readonly DeliveryResult[]): Progress {
  const ended = new Map(progress.ended)
  for (const [index, { outcome, failure }] of results.entries()) {
    if (outcome !== 'completed' && outcome !== 'failed') continue
    const planned = progress.plan.platforms[index]!
    ended.set(toTarget(planned), { ...toNames(planned), outcome, ...(failure && { failure }) })
  }
  const isStale = progress.isStale || results.some(({ outcome }) => outcome === 'superseded')
  return { ...progress, ended, isStale }
}

/** The status of the newest result, with which a workflow ends. */
export function findLastStatus(results: readonly DeliveryResult[]): DeliveryResult['status'] {
  return results.reduce((latest, result) => (result.revision > latest.revision ? result : latest)).status
}

/** A delivery that is armed early heartbeats rarely, and in such a way that the loss of its worker shows five seconds after the instant. */
export function toHeartbeatTimeout(armedMs: number): number {
  if (armedMs <= MAX_BRIEF_MS) return HEARTBEAT_TIMEOUT_MS
  return Math.min(armedMs + HEARTBEAT_TIMEOUT_MS, LONGEST_HEARTBEAT_TIMEOUT_MS)
}

/** The result of a delivery that was cancelled: the workflow reads the post again. */
export const toSuperseded = ({ revision }: PublishPlan): DeliveryResult => ({
  outcome: 'superseded',
  status: 'PROCESSING',
  revision,
})

export function toDeliveryInput({ postId, userId }: PublishPlan, planned: PlannedPlatform): DeliveryInput {
  return { postId, userId, ...toNames(planned), round: planned.round }
}

export function toNames({ platform, target }: PlannedPlatform): Pick<DeliveryInput, 'platform' | 'target'> {
  return { platform, ...(target !== undefined && { target }) }
}
