import { activityInfo, cancellationSignal, log } from '@temporalio/activity'
import { failure } from '../../domain/posts/failure.ts'
import type { PlatformStatus, Post } from '../../domain/posts/post.ts'
import { listFailedRemovals } from '../../domain/notifications/notifications.ts'
import {
  deferRemovals,
  failRemoval,
  listPendingRemovals,
  listPublishedIds,
  markRemoved,
  toRemovalWaitMs,
} from '../../domain/posts/take-back.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { DAY } from '../../domain/shared/times.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import { createCallAccount } from '../shared/call-account.ts'
import { createCallLimiter } from '../shared/call-limiter.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { retryAfter } from '../shared/retry-after.ts'
import { createSlotShares } from '../shared/slot-shares.ts'
import { chooseForEntry } from './delivery-account.ts'
import { isPostDeleted } from './record-outcome.ts'
import { classifyFailure } from './retry-policy.ts'
import type { Context } from '../../context.ts'

/** The metrics of the call limiter count deliveries only. */
const UNCOUNTED = { callDequeued: () => {}, callRejected: () => {} }
const CALLS_IN_FLIGHT = 4
/** A removal that fails for so long is given up. */
const MAX_AGE_MS = DAY
const NOT_CONNECTED = failure(
  'PLATFORM_NOT_CONNECTED',
  'The platform is not connected. Connect it, then take the post back again.',
)

/** The activity that removes published posts from their platforms. */
export function createTakeBackActivities(context: Context) {
  const { posts, notifications, clock } = context
  const callAccount = createCallAccount(
    context,
    createCallLimiter({ start: CALLS_IN_FLIGHT, most: CALLS_IN_FLIGHT }, UNCOUNTED),
  )
  const slots = createSlotShares(CALLS_IN_FLIGHT)

  /** @returns the wait after which the removal is tried again; null once it has ended */
  async function removeEntry(post: Post, entry: PlatformStatus, signal: AbortSignal): Promise<number | null> {
    const target = toTarget(entry)
    const { requestedAt } = entry.removal!
    try {
      for (const id of listPublishedIds(entry)) {
        if (await removeOne(post, entry, id, signal)) continue
        await posts.transition(post, failRemoval(target, NOT_CONNECTED))
        return null
      }
      await posts.transition(post, markRemoved(target))
      return null
    } catch (error) {
      signal.throwIfAborted()
      if (isDatabaseOutage(error)) throw error
      if (isPostDeleted(error)) return null
      const now = clock.now()
      const isLate = now.getTime() - requestedAt.getTime() > MAX_AGE_MS
      const decision = classifyFailure(error, 0, Math.random(), null)
      if (decision.kind === 'defer' && !isLate) return toRemovalWaitMs({ requestedAt }, decision.waitMs, now)
      log.warn('removal failed', { postId: post._id, platform: entry.platform, code: decision.reason.code })
      await posts.transition(post, failRemoval(target, decision.reason))
      return null
    }
  }

  /** @returns false when the account is not connected */
  async function removeOne(post: Post, entry: PlatformStatus, id: string, signal: AbortSignal): Promise<boolean> {
    const removed = await callAccount(
      post.userId,
      entry.platform,
      async (adapter, account, options) => {
        await adapter.remove!(id, account, options)
        return true
      },
      { signal, choose: chooseForEntry({ post, entry }) },
    )
    return removed ?? false
  }

  async function removeAll(postId: string, userId: string): Promise<void> {
    const signal = AbortSignal.any([cancellationSignal(), context.draining])
    const tried = new Set<string>()
    let waitMs: number | null = null
    for (;;) {
      const post = await posts.find(postId, userId)
      if (!post) return
      // An entry whose removal was requested meanwhile is removed in the same run.
      const entry = listPendingRemovals(post).find((one) => !tried.has(toTarget(one)))
      if (!entry) {
        // The next run repeats what this one could not store.
        for (const warning of listFailedRemovals(post)) await notifications.insertOnce(warning)
        break
      }
      tried.add(toTarget(entry))
      const wait = await removeEntry(post, entry, signal)
      if (wait !== null) waitMs = Math.min(waitMs ?? wait, wait)
    }
    if (waitMs === null) return
    await posts.transition({ _id: postId, userId }, deferRemovals(new Date(clock.now().getTime() + waitMs)))
    throw retryAfter('A platform did not remove a post yet', Math.ceil(waitMs))
  }

  return {
    /** Removes what is published of a post where that was requested. @throws a retry failure while a platform cannot be reached */
    removePublished: (postId: string, userId: string): Promise<void> =>
      slots.run(userId, activityInfo().attempt, () => withHeartbeat(null, () => removeAll(postId, userId))),
  }
}
