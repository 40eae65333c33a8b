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
import { platformLabel } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import {
  cancelSignal,
  changedSignal,
  retrySignal,
  type DeliveryResult,
  type PostState,
  type PublishPostInput,
  type PublishPostResult,
} from '../contract/publishing.ts'
import { DUE_AT, POST_STATUS } from '../contract/search-attributes.ts'
import {
  afterDeliveries,
  afterRead,
  afterSignal,
  BRIEF,
  findLastStatus,
  PREPARING,
  PUBLISHING,
  RECORDS,
  toDeliveryInput,
  toHeartbeatTimeout,
  toNames,
  toProgress,
  toSuperseded,
} from './decisions.ts'

const publishing = proxyActivities<Activities>(PUBLISHING)
const preparing = proxyActivities<Activities>(PREPARING)
const brief = proxyLocalActivities<Activities>(BRIEF)
const records = proxyLocalActivities<Activities>(RECORDS)

/**
 * Publishes one post: waits until shortly before it is due, then runs an activity per platform that waits for the exact time. A signal
 * says only that the post changed: the workflow then reads it from MongoDB and starts over. Cancelling the workflow has the effect of the
 * cancel route.
 *
 * Signal handlers only set a flag, which a condition waits for. A scope that is cancelled inside a handler would meet local activities in
 * another order when the history is replayed.
 */
export async function publishPost(input: PublishPostInput): Promise<PublishPostResult> {
  let progress = toProgress(input)
  const setStale = (isStale: boolean) => (progress = { ...progress, isStale })
  for (const signal of [cancelSignal, retrySignal, changedSignal]) {
    setHandler(signal, (revision) => void (progress = afterSignal(progress, revision)))
  }
  CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(async () => {
      await records.cancelPost.executeWithOptions({ summary: 'Cancel the post' }, [input.postId, input.userId])
      setStale(true)
    }),
  )
  const untilStale = () => condition(() => progress.isStale)

  return CancellationScope.nonCancellable(async () => {
    for (;;) {
      if (progress.isStale) {
        setStale(false)
        const { plan } = progress
        const read = { summary: 'Read the changed post' }
        const state: PostState = await records.readPost.executeWithOptions(read, [plan.postId, plan.userId])
        if (progress.isStale) continue
        const next = afterRead(progress, state)
        if (!next) return end(state.status)
        if (plan.dueAt !== next.plan.dueAt) upsertIfKnown([{ key: DUE_AT, value: new Date(next.plan.dueAt) }])
        progress = next
        // Temporal terminates a workflow whose history is too long, and a post may be edited thousands of times.
        if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof publishPost>(next.plan)
      }
      const results = await runUntilStale(progress.plan, untilStale)
      progress = afterDeliveries(progress, results)
      if (!progress.isStale) return end(findLastStatus(results))
    }
  })

  function end(status: PostState['status']): PublishPostResult {
    upsertIfKnown([{ key: POST_STATUS, value: status }])
    return { status, platforms: [...progress.ended.values()] }
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
  const { armAt } = plan
  if (Date.now() < armAt) {
    await Promise.all(plan.platforms.map((planned) => prepareAhead(plan, planned)))
    await sleepUntil(armAt, `Wait until the post is armed for ${new Date(plan.dueAt).toISOString()}`)
  }
  // Every promise of a workflow costs a stack trace, so those that are not needed are not created.
  const first = plan.isBrief ? await publishBriefly(plan) : []
  if (first.length > 0 && first.every((result) => result !== null)) return first
  return Promise.all(plan.platforms.map(async (planned, index) => first[index] ?? deliver(plan, planned)))
}

/** Prepares media that takes longer than the armed seconds. A failure here is a warning, and does not end the delivery. */
async function prepareAhead(plan: PublishPlan, planned: PlannedPlatform): Promise<void> {
  const { prepareAt } = planned
  if (prepareAt === undefined) return
  const label = platformLabel(planned.platform)
  await sleepUntil(prepareAt, `Wait until the media is prepared for ${label}`)
  try {
    await preparing.preparePlatform.executeWithOptions(
      {
        summary: `Prepare the media for ${label}`,
        scheduleToCloseTimeout: Math.max(plan.armAt - Date.now(), SECOND),
      },
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
    if (isCancelled) return toSuperseded(plan)
    return CancellationScope.nonCancellable(() =>
      records.giveUpDelivery.executeWithOptions({ summary: `Give up on ${label}` }, [input]),
    )
  }
}

/** Makes the first attempts within the workflow task. The result is null where the activity has to continue. */
async function publishBriefly(plan: PublishPlan): Promise<(DeliveryResult | null)[]> {
  const summary = `Publish on ${plan.platforms.map(({ platform }) => platformLabel(platform)).join(', ')}`
  try {
    const inputs = plan.platforms.map((planned) => toDeliveryInput(plan, planned))
    return await brief.publishBriefly.executeWithOptions({ summary }, [inputs])
  } catch (error) {
    if (isCancellation(error)) throw error
    return []
  }
}

async function sleepUntil(instant: number, summary: string): Promise<void> {
  const wait = instant - Date.now()
  if (wait > 0) await sleep(wait, { summary })
}
