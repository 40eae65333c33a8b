import { appendEvents } from '../../commands/events/append-events.ts'
import { deliveryAccepted } from '../../domain/events/post-events.ts'
import { explainFailure, failure, type Failure } from '../../domain/posts/failure.ts'
import { deliveryWaits, postPublished } from '../../domain/notifications/notifications.ts'
import {
  accept,
  ClaimRefused,
  defer,
  EffectTaken,
  markUnknown,
  refuse,
  replaceKey,
} from '../../domain/posts/delivery-moves.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { findOpenEntry, findEntry, mayTakeEffect, toCauseFields, toFailure } from '../../domain/posts/post-entries.ts'
import type { Move, Post, Published } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import type { DeliveryInput, DeliveryResult } from '../../workflows/contract/publishing.ts'
import { NEXT_PART, POST_DELETED, RELOAD, retryIn, type Attempt, type AttemptResult } from './attempt.ts'
import { classifyFailure, findUnreached } from './retry-policy.ts'
import type { WorkerContext } from '../worker-context.ts'

/** The user is notified of a wait that is not shorter. */
const LONG_WAIT_MS = 10 * MINUTE

/** Records the outcome of an attempt. The post stores the notification of the user in the same write. */
export function createOutcomeRecorder(deps: WorkerContext) {
  const { posts, notifications, clock, metrics, unansweredSettleMs } = deps

  /** Changes the post, and stores the pending timeline events with it. */
  async function applyMove({ post, activity }: Attempt, move: Move): Promise<Post> {
    const { runId, pendingEvents } = activity
    const notes = [...pendingEvents]
    const moved = await posts.transition(post, move, { runId, notes, isKnown: true })
    pendingEvents.splice(0, notes.length)
    return moved
  }

  /** @param isFound true for a post that a search found, not one that the platform returned for the key of this delivery */
  async function recordAccepted(attempt: Attempt, published: Published, isFound = false): Promise<AttemptResult> {
    const { post, input } = attempt
    const { platformPostId, platformPostUrl, warning } = published
    const accepted = { platformPostId, platformPostUrl, ...(warning !== undefined && { warning }) }
    let moved: Post | null
    try {
      moved = await ignoreNotFound(applyMove(attempt, accept(toTarget(input), accepted, attempt.ref.part)))
    } catch (error) {
      if (!(error instanceof EffectTaken)) throw error
      // Of two equal posts the other one was reconciled first. The platform post of this one is yet to be found, or to be published.
      if (!isFound) await applyMove(attempt, replaceKey(toTarget(input), attempt.ref))
      const reason = failure('OUTCOME_UNKNOWN', 'The platform post already belongs to another post')
      return recordUnknown(attempt, reason)
    }
    metrics.deliveryRecorded(input.platform, 'accepted')
    if (!moved) {
      // A post that was deleted meanwhile is published all the same, and its owner has to know.
      const entry = { ...attempt.entry, status: 'completed' as const, ...accepted, ...toCauseFields(null) }
      await notifications.insertOnce(postPublished(post, entry, platformPostUrl))
      await appendEvents(deps, post.userId, [deliveryAccepted(post, entry, clock.now())])
      return POST_DELETED
    }
    if (findOpenEntry(moved, toTarget(input), input.round)) return NEXT_PART
    return endDelivery(moved, input)
  }

  /** Never records a refusal before the post is due: until then the user may cancel the post or fix the cause. */
  async function recordRefused(attempt: Attempt, reason: Failure): Promise<AttemptResult> {
    const { post, input, ref, activity } = attempt
    if (post.dueAt && post.dueAt > clock.now()) {
      await clock.sleepUntil(post.dueAt, activity.signal)
      return RELOAD
    }
    // guard: earlier call in flight
    if (mayTakeEffect(attempt.entry.delivery, clock.now(), unansweredSettleMs))
      return recordUnknown(attempt, reason, { answered: true })
    const moved = await applyMove(attempt, refuse(toTarget(input), reason, ref))
    // The entry is still open when another attempt claimed it meanwhile. Then this refusal does not count.
    if (findOpenEntry(moved, toTarget(input), input.round)) return RELOAD
    countOutcome(moved, input, 'failed')
    logFailure('delivery failed', attempt, reason)
    return endDelivery(moved, input)
  }

  async function recordDeferred(
    attempt: Attempt,
    reason: Failure,
    { waitMs, ...wait }: { waitMs: number; countsAsTry: boolean; server?: string },
  ): Promise<AttemptResult> {
    const { post, entry, input, ref } = attempt
    const at = new Date(clock.now().getTime() + waitMs)
    // Before the record, because an attempt that is repeated after a crash finds the wait and does not get here.
    if (waitMs >= LONG_WAIT_MS) await notifications.insertOnce(deliveryWaits(post, entry, reason, at))
    const moved = await applyMove(attempt, defer(toTarget(input), reason, ref, { at, ...wait }))
    logFailure('delivery deferred', attempt, reason)
    return retryWhenDue(moved, input, 'deferred', reason)
  }

  /**
   * @param call.answered whether the call was answered; missing when no call was made
   * @param call.heldMs the wait where the reconciliation could not be made
   * @param call.error of the call or of the search for its post
   */
  async function recordUnknown(
    attempt: Attempt,
    reason: Failure,
    { answered, error, heldMs }: { answered?: boolean; error?: unknown; heldMs?: number | undefined } = {},
  ): Promise<AttemptResult> {
    const { input, ref } = attempt
    const held =
      heldMs === undefined ? findUnreached(error, Math.random(), computeOutageMs(attempt)) : { waitMs: heldMs }
    const next = held && { ...held, at: new Date(clock.now().getTime() + held.waitMs) }
    const moved = await applyMove(attempt, markUnknown(toTarget(input), reason, ref, answered, next ?? undefined))
    logFailure('delivery outcome unknown', attempt, reason)
    return retryWhenDue(moved, input, 'unknown', reason)
  }

  /**
   * Records a failure that left nothing on the platform: it refuses or defers the delivery, by the retry policy.
   * @param waitedMs time since the post was due, while it is prepared; null after a visible call
   */
  async function recordFailure(
    attempt: Attempt,
    error: unknown,
    waitedMs: number | null = null,
  ): Promise<AttemptResult> {
    const { post, input, activity } = attempt
    const tries = findEntry(post, toTarget(input))?.delivery.tries ?? 0
    const decision = classifyFailure(error, tries, Math.random(), waitedMs, computeOutageMs(attempt))
    if (decision.reason.code === 'INTERNAL') activity.report('delivery failed unexpectedly', error)
    if (decision.kind === 'defer') return recordDeferred(attempt, decision.reason, decision)
    return recordRefused(attempt, decision.reason)
  }

  /** Returns the time since the server of a delivery could not be reached first. */
  function computeOutageMs({ entry: { delivery } }: Attempt): number {
    return delivery.outage ? clock.now().getTime() - delivery.outage.since.getTime() : 0
  }

  /** @throws the error itself when the attempt was aborted, the database is down, or the post changed or was deleted */
  async function recordFailureBeforeClaim(attempt: Attempt, error: unknown): Promise<AttemptResult> {
    attempt.activity.signal.throwIfAborted()
    if (error instanceof ClaimRefused || isDatabaseOutage(error) || isPostDeleted(error)) throw error
    return recordFailure(attempt, error, clock.now().getTime() - (attempt.post.dueAt?.getTime() ?? Infinity))
  }

  /** Asks for a retry when the entry is next due. An entry that has no tries left is failed, and the user is notified. */
  async function retryWhenDue(
    moved: Post,
    input: DeliveryInput,
    outcome: 'deferred' | 'unknown',
    reason: Failure,
  ): Promise<AttemptResult> {
    const entry = findOpenEntry(moved, toTarget(input), input.round)
    countOutcome(moved, input, outcome)
    if (!entry) return endDelivery(moved, input)
    const waitMs = (entry.delivery.nextAttemptAt?.getTime() ?? 0) - clock.now().getTime()
    return retryIn(waitMs, explainFailure(reason, input.platform))
  }

  function countOutcome(moved: Post, input: DeliveryInput, outcome: 'failed' | 'deferred' | 'unknown'): void {
    const { platform, round } = input
    const entry = findEntry(moved, toTarget(input))
    if (entry?.status === 'failed') metrics.deliveryRecorded(platform, 'failed', entry.errorCode)
    else if (findOpenEntry(moved, toTarget(input), round)) metrics.deliveryRecorded(platform, outcome)
  }

  /** Ends the delivery of an entry that is no longer open. */
  function endDelivery(post: Post, input: DeliveryInput): AttemptResult {
    const status = findEntry(post, toTarget(input))?.status
    return status === 'completed' || status === 'failed'
      ? { kind: 'done', result: toDeliveryResult(post, input, status) }
      : { kind: 'superseded', result: toDeliveryResult(post, input, 'nothing-to-do') }
  }

  /** Makes the workflow read the post again. */
  async function supersede(input: DeliveryInput): Promise<AttemptResult> {
    const post = await posts.find(input.postId, input.userId)
    return post ? { kind: 'superseded', result: toDeliveryResult(post, input, 'superseded') } : POST_DELETED
  }

  return {
    applyMove,
    recordAccepted,
    recordRefused,
    recordUnknown,
    recordFailure,
    recordFailureBeforeClaim,
    endDelivery,
    supersede,
  }
}

export type OutcomeRecorder = ReturnType<typeof createOutcomeRecorder>

/** The activity result of one delivery, with the reason of a failed one. */
export function toDeliveryResult(
  post: Post,
  input: Pick<DeliveryInput, 'platform' | 'target'>,
  outcome: DeliveryResult['outcome'],
): DeliveryResult {
  const entry = findEntry(post, toTarget(input))
  const reason = entry && toFailure(entry)
  return {
    outcome,
    status: post.status,
    revision: post.revision,
    ...(outcome === 'failed' &&
      reason && { failure: { code: reason.code, message: explainFailure(reason, input.platform) } }),
  }
}

function logFailure(event: string, { ref, activity }: Attempt, { code, platformReason }: Failure): void {
  activity.log(event, {
    errorCode: code,
    attempt: ref.attempt,
    platformCode: platformReason?.code,
    platformText: platformReason?.text,
  })
}

async function ignoreNotFound(changing: Promise<Post>): Promise<Post | null> {
  try {
    return await changing
  } catch (error) {
    if (isPostDeleted(error)) return null
    throw error
  }
}

/** Returns true when a change failed because its post was deleted meanwhile. */
export function isPostDeleted(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'NOT_FOUND'
}
