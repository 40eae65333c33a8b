import { platformLabel } from '../../domain/shared/platforms.ts'
import { findMissed } from '../../domain/posts/if-late.ts'
import { failure, type Failure } from '../../domain/posts/failure.ts'
import { ClaimRefused } from '../../domain/posts/delivery-moves.ts'
import { findOpenEntry, needsReconciliation } from '../../domain/posts/post-entries.ts'
import { toPartIndex } from '../../domain/posts/parts.ts'
import type { AttemptRef, PlatformStatus, Post, Published } from '../../domain/posts/post.ts'
import { longestArmLeadMs } from '../../domain/posts/publish-plan.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { toEntryReference } from '../../domain/posts/timeline.ts'
import { createSlotCounter, mayTakeSlot } from '../../flow/shares.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { PlatformAdapter } from '../../platforms/contract.ts'
import type { DeliveryInput } from '../../workflows/contract/publishing.ts'
import { createArmedPosts, PostChanged } from './armed-posts.ts'
import {
  POST_DELETED,
  RELOAD,
  retryIn,
  type ActivityIo,
  type Attempt,
  type AttemptResult,
  type DeliveryActivity,
} from './attempt.ts'
import { createPrepareDelivery, type PreparedAccount } from './prepare-delivery.ts'
import { createReconcileDelivery } from './reconcile-delivery.ts'
import { createOutcomeRecorder, isPostDeleted, toDeliveryResult } from './record-outcome.ts'
import { createSendPost } from './send-post.ts'
import { createServerOutages, type WakeDeliveries } from './server-outages.ts'
import type { CallLimiter } from '../shared/call-limiter.ts'
import type { WorkerContext } from '../worker-context.ts'

/** A wait in an activity slot ends early where the clock here is behind Temporal's. */
const CLOCK_MARGIN_MS = 5 * SECOND
/**
 * The share of the slots that posts can fill long before they are due. The rest is for posts of other users that are due soon
 * (ADR "Users share limited resources in turns").
 */
const SHARED_SLOTS = 3 / 4
/** The longest wait for a post to become due in the rest of the slots. */
const MAX_CROWDED_ARMED_MS = 15 * SECOND
/** An armed attempt reads owner and account again this long before the post is due, spread over the second duration. */
const RECHECK_LEAD_MS = 500
const RECHECK_SPREAD_MS = 2 * SECOND
const MAX_RELOADS = 10

export interface DeliveryAttemptDeps extends WorkerContext {
  callLimiter: CallLimiter
  wakeDeliveries: WakeDeliveries
}

/** Publishes one platform of a post: prepares it, waits until it is due, and sends it. */
export function createDeliveryAttempts(deps: DeliveryAttemptDeps) {
  const { posts, platforms, clock } = deps
  const armedPosts = createArmedPosts(posts)
  /** The slots of deliveries that began before they were due. */
  const armedSlots = createSlotCounter()
  const outcomes = createOutcomeRecorder(deps)
  const outages = createServerOutages(deps)
  const preparation = createPrepareDelivery({ ...deps, outages })
  const reconcileDelivery = createReconcileDelivery({ ...deps, outages, outcomes, preparation })
  const sendPost = createSendPost({ ...deps, outcomes, preparation })

  /**
   * Makes attempts until one has a result.
   * @throws errors of the database, and the reason of an aborted signal
   */
  async function attemptDelivery(
    input: DeliveryInput,
    io: ActivityIo,
  ): Promise<Exclude<AttemptResult, { kind: 'reload' | 'nextPart' }>> {
    const activity: DeliveryActivity = { ...io, hasRenewed: false, pendingEvents: [], freeSlot: null }
    try {
      for (let reloads = 0; reloads < MAX_RELOADS; reloads++) {
        const result = await tryOnce(input, activity).catch((error: unknown) => toResult(error, input))
        if (result.kind === 'nextPart') reloads = 0
        else if (result.kind !== 'reload') return result
      }
      return retryIn(SECOND, 'The post keeps changing')
    } finally {
      activity.freeSlot?.()
    }
  }

  /** @throws every error that is no change of the post */
  async function toResult(error: unknown, input: DeliveryInput): Promise<AttemptResult> {
    if (isPostDeleted(error)) return POST_DELETED
    if (error instanceof PostChanged) return RELOAD
    if (!(error instanceof ClaimRefused)) throw error
    return error.reason === 'not-due' || error.reason === 'stale' ? outcomes.supersede(input) : RELOAD
  }

  async function tryOnce(input: DeliveryInput, activity: DeliveryActivity): Promise<AttemptResult> {
    const post = await posts.find(input.postId, input.userId)
    if (!post) return POST_DELETED
    const entry = findOpenEntry(post, toTarget(input), input.round)
    if (!entry) return outcomes.endDelivery(post, input)
    const ref = { round: input.round, attempt: entry.delivery.attempt, part: toPartIndex(entry) }
    const attempt: Attempt = { input, post, entry, activity, ref }
    const remembered = await findRemembered(attempt)
    if (remembered) return outcomes.recordAccepted(attempt, remembered)
    const now = clock.now()
    if (post.dueAt === null) return { kind: 'superseded', result: toDeliveryResult(post, input, 'superseded') }
    // Either the post was moved and the workflow is about to cancel this activity, or the clock here is behind Temporal's. In the
    // latter case an immediate end would make the workflow start this activity again.
    const aheadMs = post.dueAt.getTime() - now.getTime()
    if (aheadMs > 0 && !activity.freeSlot) {
      const maxArmedMs = findMaxArmedMs(post)
      if (aheadMs > maxArmedMs) return retryIn(aheadMs - maxArmedMs, 'It is too early to arm the delivery')
      activity.freeSlot = armedSlots.take(post.userId)
    }
    const wait = findWait(entry, now)
    const isLeased = entry.delivery.leaseUntil !== null && entry.delivery.leaseUntil > now
    if (wait && (isLeased || !(await outages.isOver(entry.delivery.outage)))) return wait

    const adapter = platforms.find(input.platform)
    if (needsReconciliation(entry.delivery, now)) {
      return reconcileDelivery(attempt, adapter, isTooLate(post.dueAt, entry, now))
    }
    if (!adapter) {
      const why = `${platformLabel(input.platform)} is not set up here`
      return outcomes.recordRefused(attempt, failure('PLATFORM_NOT_SUPPORTED', why))
    }
    if (isTooLate(post.dueAt, entry, now)) {
      return outcomes.recordRefused(attempt, failure('TOO_LATE', 'The post could not be sent in time'))
    }
    // What has begun is completed.
    const missed = ref.part ? null : findMissed(post, now)
    if (missed) return outcomes.recordRefused(attempt, missed)
    return prepareAndSend(attempt, adapter, post.dueAt)
  }

  /** Returns what the platform answered to the last call; null when that is not known, or when an equal post was found by it meanwhile. */
  async function findRemembered({ post, input, activity: { remembered }, ref }: Attempt): Promise<Published | null> {
    const isSame = (name: keyof AttemptRef) => (remembered?.[name] ?? 0) === ref[name]
    if (!remembered || !isSame('round') || !isSame('part') || !isSame('attempt')) return null
    const holder = await posts.findOtherHolder(post._id, input.platform, remembered.platformPostId)
    return holder === null ? remembered : null
  }

  /** A post may wait for the quota of its account as long as the platform requires. */
  function isTooLate(dueAt: Date, { errorCode, delivery }: PlatformStatus, now: Date): boolean {
    const lateSince = Math.max(dueAt.getTime(), delivery.startedAt?.getTime() ?? 0)
    return errorCode !== 'QUOTA_EXCEEDED' && now.getTime() - lateSince > deps.maxLatenessMs
  }

  /** The longest wait in an activity slot for a post to become due. For a later post the attempt ends, and Temporal retries it. */
  function findMaxArmedMs({ userId }: Post): number {
    const shared = deps.activitySlots * SHARED_SLOTS
    const armed = armedSlots.count(userId)
    if (armed.taken < shared) return longestArmLeadMs() + CLOCK_MARGIN_MS
    return mayTakeSlot(shared, armed) ? MAX_CROWDED_ARMED_MS : 0
  }

  async function prepareAndSend(attempt: Attempt, adapter: PlatformAdapter, dueAt: Date): Promise<AttemptResult> {
    const { post, entry, activity } = attempt
    let prepared: PreparedAccount | Failure
    try {
      prepared = await preparation.prepareAccount(attempt, adapter)
    } catch (error) {
      return outcomes.recordFailureBeforeClaim(attempt, error)
    }
    if ('code' in prepared) return outcomes.recordRefused(attempt, prepared)

    const recheckAt = dueAt.getTime() - RECHECK_LEAD_MS - (toSpread(post._id) % RECHECK_SPREAD_MS)
    if (clock.now().getTime() < recheckAt) {
      activity.pendingEvents.push({ at: clock.now(), type: 'wait', ...toEntryReference(entry), until: dueAt })
      activity.waitUntil(dueAt)
      await armedPosts.waitWith(post, (changed) =>
        clock.sleepUntil(new Date(recheckAt), AbortSignal.any([activity.signal, changed])),
      )
      return RELOAD
    }
    const isArmed = dueAt > clock.now()
    await clock.sleepUntil(dueAt, activity.signal)
    return sendPost(attempt, adapter, prepared, isArmed)
  }

  return { attemptDelivery, prepareAhead: preparation.prepareAhead }
}

/** Returns null when the entry may be sent now. */
function findWait({ delivery: { leaseUntil, nextAttemptAt } }: PlatformStatus, now: Date): AttemptResult | null {
  if (leaseUntil && leaseUntil > now) {
    return retryIn(leaseUntil.getTime() - now.getTime(), 'Another attempt may be sending')
  }
  if (nextAttemptAt && nextAttemptAt > now) {
    return retryIn(nextAttemptAt.getTime() - now.getTime(), 'The next try is not due yet')
  }
  return null
}

/** Derives a number from the post id, which spreads the posts. */
function toSpread(postId: string): number {
  return Number.parseInt(postId.slice(-6), 16) || 0
}
