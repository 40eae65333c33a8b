import { activityInfo, cancellationSignal, log } from '@temporalio/activity'
import { listFailedChanges } from '../../domain/notifications/notifications.ts'
import {
  beginEdit,
  completeEdit,
  failEdit,
  findNextRevision,
  resetEdit,
  toEditedPart,
} from '../../domain/posts/edit-published.ts'
import { failure, type Failure } from '../../domain/posts/failure.ts'
import { findEntry } from '../../domain/posts/post-entries.ts'
import type { Move, PlatformStatus, Post } from '../../domain/posts/post.ts'
import { deferChanges, listPending, listPendingChanges, toChangeWaitMs } from '../../domain/posts/published-changes.ts'
import { failRemoval, listPublishedIds, markRemoved } from '../../domain/posts/take-back.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { DAY, SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import type { RoundResult } from '../../workflows/contract/rounds.ts'
import { createCallAccount } from '../shared/call-account.ts'
import { createCallLimiter } from '../shared/call-limiter.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { createSlotShares } from '../shared/slot-shares.ts'
import { chooseForEntry } from './delivery-account.ts'
import { isPostDeleted } from './record-outcome.ts'
import { classifyFailure } from './retry-policy.ts'
import type { WorkerContext } from '../worker-context.ts'

/** The metrics of the call limiter count deliveries only. */
const UNCOUNTED = { callDequeued: () => {}, callRejected: () => {} }
const CALLS_IN_FLIGHT = 4
/** A change that fails for so long is given up. */
const MAX_AGE_MS = DAY

/** How a call ended. `superseded`: the request has ended, so that no call was made. */
type CallEnd = 'done' | 'superseded' | { waitMs: number }

type Call = (adapter: PlatformAdapter, account: Credentials, options: CallOptions) => Promise<CallEnd>

/** The next change of an entry: calls that may be repeated, in order, and how its end is recorded. */
interface Change {
  calls: Call[]
  complete: Move
  fail(reason: Failure): Move
  /** The user's next step when the account is not connected. */
  again: string
}

/** The activity that removes and edits published posts on their platforms. */
export function createChangePublishedActivities(context: WorkerContext) {
  const { posts, notifications, clock, unansweredSettleMs } = context
  const callAccount = createCallAccount(
    context,
    createCallLimiter({ start: CALLS_IN_FLIGHT, most: CALLS_IN_FLIGHT }, UNCOUNTED),
  )
  const slots = createSlotShares(CALLS_IN_FLIGHT)

  function toNextChange(post: Post, entry: PlatformStatus): Change {
    const target = toTarget(entry)
    const index = findNextRevision(entry)
    if (index !== null) {
      return {
        calls: [(...args) => makeEdit(post, entry, index, args)],
        complete: completeEdit(target, index),
        fail: (reason) => failEdit(target, index, reason),
        again: 'edit the post again',
      }
    }
    const toRemoval = (id: string): Call => {
      return async (adapter, ...rest) => {
        await adapter.remove!(id, ...rest)
        return 'done'
      }
    }
    return {
      calls: listPublishedIds(entry).map(toRemoval),
      complete: markRemoved(target),
      fail: (reason) => failRemoval(target, reason),
      again: 'take the post back again',
    }
  }

  /** An earlier call may still take effect, so that nothing is sent before that is over: neither this edit once more nor the next one. */
  async function makeEdit(
    post: Post,
    entry: PlatformStatus,
    index: number,
    [adapter, ...rest]: Parameters<Call>,
  ): Promise<CallEnd> {
    const target = toTarget(entry)
    const { text, calledAt } = entry.revisions![index]!
    const { part, whole } = toEditedPart(post, entry, text)
    const outgoing = { postId: post._id, ...part, options: whole.options ?? {} }
    const call = await adapter.planEdit!(entry.platformPostId!, outgoing, ...rest)
    if (!call) return 'done'
    const waitMs = calledAt ? calledAt.getTime() + unansweredSettleMs - clock.now().getTime() : 0
    if (waitMs > 0) return { waitMs }
    const begun = findEntry(await posts.transition(post, beginEdit(target, index)), target)!
    if (findNextRevision(begun) !== index) return 'superseded'
    try {
      await call()
    } catch (error) {
      const isOver = error instanceof PlatformError && (error.certain || error.answered)
      if (isOver) await posts.transition(post, resetEdit(target, index))
      throw error
    }
    return 'done'
  }

  /** @returns the wait after which the change is tried again; null once it has ended */
  async function changeEntry(post: Post, entry: PlatformStatus, signal: AbortSignal): Promise<number | null> {
    const [{ requestedAt } = { requestedAt: clock.now() }] = listPending(entry)
    const { calls, complete, fail, again } = toNextChange(post, entry)
    const { userId } = post
    const options = { signal, choose: chooseForEntry({ post, entry }) }
    try {
      for (const call of calls) {
        const end = await callAccount(userId, entry.platform, call, options)
        if (end === 'done') continue
        if (end === 'superseded') return null
        // What takes effect meanwhile is found early.
        if (end) return Math.min(end.waitMs, toChangeWaitMs({ requestedAt }, SECOND, clock.now()))
        const message = `The platform is not connected. Connect it, then ${again}.`
        await posts.transition(post, fail(failure('PLATFORM_NOT_CONNECTED', message)))
        return null
      }
      await posts.transition(post, complete)
      return null
    } catch (error) {
      signal.throwIfAborted()
      if (isDatabaseOutage(error)) throw error
      if (isPostDeleted(error)) return null
      const now = clock.now()
      const isLate = now.getTime() - requestedAt.getTime() > MAX_AGE_MS
      const decision = classifyFailure(error, 0, Math.random(), null)
      if (decision.kind === 'defer' && !isLate) return toChangeWaitMs({ requestedAt }, decision.waitMs, now)
      log.warn('change of a published post failed', {
        ...{ postId: post._id, platform: entry.platform, code: decision.reason.code },
      })
      await posts.transition(post, fail(decision.reason))
      return null
    }
  }

  async function changeAll(postId: string, userId: string): Promise<RoundResult> {
    const signal = AbortSignal.any([cancellationSignal(), context.draining])
    const waiting = new Set<string>()
    let waitMs: number | null = null
    for (;;) {
      const post = await posts.find(postId, userId)
      if (!post) return { nextAt: null }
      // What was requested meanwhile is done in the same round.
      const entry = listPendingChanges(post).find((one) => !waiting.has(toTarget(one)))
      if (!entry) {
        // The next round repeats what this one could not store.
        for (const warning of listFailedChanges(post)) await notifications.insertOnce(warning)
        break
      }
      const wait = await changeEntry(post, entry, signal)
      if (wait === null) continue
      waiting.add(toTarget(entry))
      waitMs = Math.min(waitMs ?? wait, wait)
    }
    if (waitMs === null) return { nextAt: null }
    const nextAt = clock.now().getTime() + Math.ceil(waitMs)
    try {
      await posts.transition({ _id: postId, userId }, deferChanges(new Date(nextAt)))
    } catch (error) {
      if (!isPostDeleted(error)) throw error
    }
    return { nextAt }
  }

  return {
    /** Removes and edits what is published of a post where that was requested. */
    changePublished: (postId: string, userId: string): Promise<RoundResult> =>
      slots.run(userId, activityInfo().attempt, () => withHeartbeat(null, () => changeAll(postId, userId))),
  }
}
