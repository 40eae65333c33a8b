import {
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  log,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import type { SearchAttributeUpdatePair } from '@temporalio/common'
import type { Activities } from '../../activities/index.ts'
import type { PlannedPlatform, PublishPlan } from '../../domain/posts/publish-plan.ts'
import { toTarget, type Target } from '../../domain/posts/targets.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import {
  cancelSignal,
  changedSignal,
  retrySignal,
  type DeliveryInput,
  type DeliveryResult,
  type PlatformResult,
  type PostState,
  type PublishPostInput,
  type PublishPostResult,
} from '../messages/publishing.ts'
import { DUE_AT, POST_STATUS } from '../search-attributes.ts'
import type { TaskQueue } from '../task-queues.ts'

const HEARTBEAT_TIMEOUT_MS = 5 * SECOND
const LONGEST_HEARTBEAT_TIMEOUT_MS = 30 * SECOND
/** A post without many others for the same second is armed for no longer. */
const MAX_BRIEF_MS = 10 * SECOND

/**
 * The delivery record counts tries and ends a delivery, so there is no `maximumAttempts` here. An attempt that waits sets its own delay.
 * The policy below is for other failures, like a lost worker or a database outage.
 */
const publishing = proxyActivities<Activities>({
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  // One attempt may upload a large video. A missing heartbeat reveals a dead worker sooner.
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 5 * SECOND },
})

/**
 * Prepares before the post is due. The activity sets the delay of its retries, and the armed delivery does what is left. The policy below
 * is for other failures, like a lost worker or a database outage.
 */
const preparing = proxyActivities<Activities>({
  taskQueue: 'preparing' satisfies TaskQueue,
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 10 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 15 * SECOND },
})

/** A first attempt that probably takes a second at most. What it leaves open, and every failure, is for the activity above. */
const brief = proxyLocalActivities<Activities>({ startToCloseTimeout: 10 * SECOND, retry: { maximumAttempts: 1 } })

/** Short reads and writes of the post record. */
const records = proxyLocalActivities<Activities>({
  startToCloseTimeout: 5 * SECOND,
  scheduleToCloseTimeout: HOUR,
  retry: { initialInterval: SECOND, maximumInterval: 30 * SECOND },
})

/**
 * Publishes one post: waits until shortly before it is due, then runs an activity per platform that waits for the exact time. A signal
 * says only that the post changed: the workflow then reads it from MongoDB and starts over. Cancelling the workflow has the effect of the
 * cancel route.
 *
 * Signal handlers only set a flag, which a condition waits for. A scope that is cancelled inside a handler would meet local activities in
 * another order when the history is replayed.
 */
export async function publishPost(input: PublishPostInput): Promise<PublishPostResult> {
  const ended = new Map<Target, PlatformResult>()
  let seenRevision = input.revision
  let isStale = false
  for (const signal of [cancelSignal, retrySignal, changedSignal]) {
    setHandler(signal, (revision) => {
      if (revision <= seenRevision) return
      seenRevision = revision
      isStale = true
    })
  }
  CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(async () => {
      await records.cancelPost.executeWithOptions({ summary: 'Cancel the post' }, [input.postId, input.userId])
      isStale = true
    }),
  )
  const untilStale = () => condition(() => isStale)

  return CancellationScope.nonCancellable(async () => {
    let plan: PublishPlan = input
    for (;;) {
      if (isStale) {
        isStale = false
        const read = { summary: 'Read the changed post' }
        const state: PostState = await records.readPost.executeWithOptions(read, [plan.postId, plan.userId])
        if (isStale) continue
        if (!state.plan) return end(state.status)
        if (plan.dueAt !== state.plan.dueAt) upsertIfKnown([{ key: DUE_AT, value: new Date(state.plan.dueAt) }])
        plan = state.plan
        seenRevision = Math.max(seenRevision, plan.revision)
        // Temporal terminates a workflow whose history is too long, and a post may be edited thousands of times.
        if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof publishPost>(plan)
      }
      const results = await runUntilStale(plan, untilStale)
      for (const [index, { outcome, failure }] of results.entries()) {
        if (outcome !== 'completed' && outcome !== 'failed') continue
        const planned = plan.platforms[index]!
        ended.set(toTarget(planned), { ...toNames(planned), outcome, ...(failure && { failure }) })
      }
      if (isStale) continue
      if (results.some(({ outcome }) => outcome === 'superseded')) isStale = true
      else return end(findNewest(results).status)
    }
  })

  function end(status: PostState['status']): PublishPostResult {
    upsertIfKnown([{ key: POST_STATUS, value: status }])
    return { status, platforms: [...ended.values()] }
  }
}

/** Temporal rejects search attributes that do not exist, so only a workflow that was started with them updates them. */
function upsertIfKnown(attributes: SearchAttributeUpdatePair[]): void {
  if (workflowInfo().typedSearchAttributes.get(POST_STATUS) !== undefined) upsertSearchAttributes(attributes)
}

/** Runs the plan. A change meanwhile cancels the waits and waits for the calls. */
async function runUntilStale(plan: PublishPlan, untilStale: () => Promise<void>): Promise<DeliveryResult[]> {
  const scope = new CancellationScope({ cancellable: true })
  const run = scope.run(() => runPlan(plan))
  await Promise.race([run.catch(() => {}), untilStale()])
  scope.cancel()
  try {
    return await run
  } catch (error) {
    if (isCancellation(error)) return []
    throw error
  }
}

async function runPlan(plan: PublishPlan): Promise<DeliveryResult[]> {
  const armAt = plan.dueAt - plan.armLeadMs
  if (Date.now() < armAt) {
    await Promise.all(plan.platforms.map((planned) => prepareAhead(plan, planned, armAt)))
    await sleepUntil(armAt, `Wait until the post is armed for ${new Date(plan.dueAt).toISOString()}`)
  }
  return Promise.all(plan.platforms.map((planned) => deliver(plan, planned)))
}

/** Prepares media that takes longer than the armed seconds. A failure here is a warning, and does not end the delivery. */
async function prepareAhead(plan: PublishPlan, planned: PlannedPlatform, armAt: number): Promise<void> {
  const prepareAt = plan.dueAt - planned.prepareLeadMs
  if (prepareAt >= armAt || Date.now() >= armAt) return
  const label = platformLabel(planned.platform)
  await sleepUntil(prepareAt, `Wait until the media is prepared for ${label}`)
  try {
    await preparing.preparePlatform.executeWithOptions(
      { summary: `Prepare the media for ${label}`, scheduleToCloseTimeout: Math.max(armAt - Date.now(), SECOND) },
      [toDeliveryInput(plan, planned)],
    )
  } catch (error) {
    if (isCancellation(error)) throw error
    log.info('early preparation failed, the delivery repeats it', toNames(planned))
  }
}

async function deliver(plan: PublishPlan, planned: PlannedPlatform): Promise<DeliveryResult> {
  const input = toDeliveryInput(plan, planned)
  const { platform, round } = input
  const label = platformLabel(platform)
  try {
    const first = planned.isBrief ? await publishBriefly(input, `Publish on ${label}`) : null
    if (first) return first
    return await publishing.publishToPlatform.executeWithOptions(
      {
        summary: round === 0 ? `Publish on ${label}` : `Publish on ${label}, retry ${round}`,
        heartbeatTimeout: toHeartbeatTimeout(plan.dueAt - Date.now()),
      },
      [input],
    )
  } catch (error) {
    // A cancelled attempt may also time out when its worker dies. The delivery is not given up then.
    const isCancelled = isCancellation(error) || CancellationScope.current().consideredCancelled
    if (isCancelled) return { outcome: 'superseded', status: 'PROCESSING', revision: plan.revision }
    return CancellationScope.nonCancellable(() =>
      records.giveUpDelivery.executeWithOptions({ summary: `Give up on ${label}` }, [input]),
    )
  }
}

function toDeliveryInput({ postId, userId }: PublishPlan, planned: PlannedPlatform): DeliveryInput {
  return { postId, userId, ...toNames(planned), round: planned.round }
}

function toNames({ platform, target }: PlannedPlatform): Pick<DeliveryInput, 'platform' | 'target'> {
  return { platform, ...(target !== undefined && { target }) }
}

/** Makes the first attempt within the workflow task. Returns null when the activity has to continue. */
async function publishBriefly(input: DeliveryInput, summary: string): Promise<DeliveryResult | null> {
  try {
    return await brief.publishBriefly.executeWithOptions({ summary }, [input])
  } catch (error) {
    if (isCancellation(error)) throw error
    return null
  }
}

/** A delivery that is armed early heartbeats rarely, and in such a way that the loss of its worker shows five seconds after the instant. */
function toHeartbeatTimeout(armedMs: number): number {
  if (armedMs <= MAX_BRIEF_MS) return HEARTBEAT_TIMEOUT_MS
  return Math.min(armedMs + HEARTBEAT_TIMEOUT_MS, LONGEST_HEARTBEAT_TIMEOUT_MS)
}

async function sleepUntil(instant: number, summary: string): Promise<void> {
  const wait = instant - Date.now()
  if (wait > 0) await sleep(wait, { summary })
}

function findNewest(results: DeliveryResult[]): DeliveryResult {
  return results.reduce((latest, result) => (result.revision > latest.revision ? result : latest))
}
