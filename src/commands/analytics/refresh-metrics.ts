import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { findFetchTime } from '../../domain/analytics/snapshots.ts'
import type { PostSnapshot } from '../../store/analytics/snapshots.ts'
import { REFRESH_TIMEOUT_MS } from '../../workflows/contract/analytics.ts'
import type { CommandContext } from '../context.ts'

/** The longest time that a client waits for fresh metrics. */
const LONGEST_WAIT_MS = 5 * SECOND

interface Refresh {
  userId: string
  postId: string
  platform: Platform
  /** The account, where the post has several on the platform. */
  accountId?: string | undefined
}

/**
 * Fetches the metrics of a post and returns the latest snapshot within some seconds, `fresh` or not. Only a refresh that stores
 * a snapshot uses up the user's allowance. The allowance is held until the outcome is known, so a user has one refresh at a
 * time.
 * @throws ServiceError NOT_FOUND, BAD_REQUEST when the post is not published there, RATE_LIMITED
 */
export async function refreshMetrics(
  deps: CommandContext,
  refresh: Refresh,
): Promise<{ snapshot: PostSnapshot | null; fresh: boolean }> {
  const { posts, snapshots, orchestrator, limits, clock } = deps
  const { userId, postId, platform, accountId } = refresh
  const post = await posts.findOwned(userId, postId)
  if (!post) throw postNotFound()
  // The default account comes first.
  const entry = post.platformStatuses.find(
    (one) =>
      one.platform === platform &&
      (accountId === undefined || [one.target, one.accountId].includes(accountId)) &&
      one.status === 'completed' &&
      one.platformPostId !== null,
  )
  if (!entry) {
    throw new ServiceError('BAD_REQUEST', `The post is not published on ${platformLabel(platform)}`)
  }
  await limits.analyticsRefresh.take(userId)
  const requestedAt = clock.now()
  const wanted = { userId, postId, platform, target: entry.target }
  const outcome = await orchestrator.refreshMetrics(wanted, LONGEST_WAIT_MS)
  if (outcome === 'failed') await returnAllowance(deps, userId)
  if (outcome === 'unknown') void returnAllowanceLater(deps, { ...refresh, target: entry.target }, requestedAt)
  return { snapshot: await snapshots.latest({ userId, postId }, platform, entry.target), fresh: outcome === 'fresh' }
}

async function returnAllowance({ limits }: CommandContext, userId: string): Promise<void> {
  if (await limits.failedRefreshes.tryTake(userId)) await limits.analyticsRefresh.clear(userId)
}

/**
 * Returns the allowance once the refresh has certainly ended without a snapshot. If this process stops earlier, the allowance
 * stays used.
 */
async function returnAllowanceLater(
  deps: CommandContext,
  refresh: Refresh & { target: string | undefined },
  requestedAt: Date,
): Promise<void> {
  const { snapshots, clock, draining, logger } = deps
  try {
    await clock.sleepUntil(new Date(requestedAt.getTime() + REFRESH_TIMEOUT_MS), draining)
    const latest = await snapshots.latest(refresh, refresh.platform, refresh.target)
    if (!latest || findFetchTime(latest) < requestedAt) await returnAllowance(deps, refresh.userId)
  } catch (error) {
    if (!draining.aborted) logger.warn({ err: error, userId: refresh.userId }, 'refresh allowance return failed')
  }
}
