import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { findFetchTime } from '../../domain/analytics/snapshots.ts'
import type { PostSnapshot } from '../../store/analytics/snapshots.ts'
import { REFRESH_TIMEOUT_MS, type RefreshInput } from '../../workflows/contract/analytics.ts'
import type { CommandContext } from '../context.ts'

/** The longest time that a client waits for fresh metrics. */
const LONGEST_WAIT_MS = 5 * SECOND

interface Refresh {
  userId: string
  postId: string
  /** Absent: every account that has published the post, which counts as one refresh. */
  platform?: Platform | undefined
  /** The account, where the post has several on the platform. */
  accountId?: string | undefined
}

interface Refreshed {
  /** The platform of the first account, and its latest snapshot. */
  platform: Platform
  snapshot: PostSnapshot | null
  /** True when every account has new counts. */
  fresh: boolean
}

/**
 * Fetches the metrics of a post and returns the latest snapshot within some seconds, `fresh` or not. Only a refresh that stores
 * a snapshot uses up the user's allowance. The allowance is held until the outcome is known, so a user has one refresh at a
 * time.
 * @throws ServiceError NOT_FOUND, BAD_REQUEST when the post is not published there, RATE_LIMITED
 */
export async function refreshMetrics(deps: CommandContext, refresh: Refresh): Promise<Refreshed> {
  const { posts, snapshots, orchestrator, limits, clock } = deps
  const { userId, postId, platform, accountId } = refresh
  const post = await posts.findOwned(userId, postId)
  if (!post) throw postNotFound()
  const published = post.platformStatuses.filter(
    (one) =>
      (platform === undefined || one.platform === platform) &&
      (accountId === undefined || [one.target, one.accountId].includes(accountId)) &&
      one.status === 'completed' &&
      one.platformPostId !== null,
  )
  // The default account of a platform comes first.
  const [first] = published
  if (!first) {
    const place = platform === undefined ? 'yet' : `on ${platformLabel(platform)}`
    throw new ServiceError('BAD_REQUEST', `The post is not published ${place}`)
  }
  await limits.analyticsRefresh.take(userId)
  const requestedAt = clock.now()
  const wanted = (platform === undefined ? published : [first]).map((one) => ({
    userId,
    postId,
    platform: one.platform,
    target: one.target,
  }))
  const outcomes = await Promise.all(wanted.map((one) => orchestrator.refreshMetrics(one, LONGEST_WAIT_MS)))
  if (outcomes.every((outcome) => outcome === 'failed')) await returnAllowance(deps, userId)
  else if (!outcomes.includes('fresh')) void returnAllowanceLater(deps, wanted, requestedAt)
  return {
    platform: first.platform,
    snapshot: await snapshots.latest({ userId, postId }, first.platform, first.target),
    fresh: outcomes.every((outcome) => outcome === 'fresh'),
  }
}

async function returnAllowance({ limits }: CommandContext, userId: string): Promise<void> {
  if (await limits.failedRefreshes.tryTake(userId)) await limits.analyticsRefresh.clear(userId)
}

/**
 * Returns the allowance once the refreshes have certainly ended without a snapshot. If this process stops earlier, the allowance
 * stays used.
 */
async function returnAllowanceLater(deps: CommandContext, wanted: RefreshInput[], requestedAt: Date): Promise<void> {
  const { snapshots, clock, draining, logger } = deps
  const { userId } = wanted[0]!
  try {
    await clock.sleepUntil(new Date(requestedAt.getTime() + REFRESH_TIMEOUT_MS), draining)
    const latest = await Promise.all(wanted.map((one) => snapshots.latest(one, one.platform, one.target)))
    if (latest.every((one) => !one || findFetchTime(one) < requestedAt)) await returnAllowance(deps, userId)
  } catch (error) {
    if (!draining.aborted) logger.warn({ err: error, userId }, 'refresh allowance return failed')
  }
}
