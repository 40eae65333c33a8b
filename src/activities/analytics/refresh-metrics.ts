import { cancellationSignal } from '@temporalio/activity'
import type { Context } from '../../context.ts'
import type { RefreshInput } from '../../workflows/contract/analytics.ts'
import { toWantedPosts, type CollectedBatch, type CollectPosts } from './collect-posts.ts'

/** Collects the metrics of one post on one account, whether or not they are due. */
export function createRefreshMetrics({ published }: Context, collectPosts: CollectPosts) {
  /** @returns null when the post is not, or no longer, published there */
  return async function refreshMetrics({
    userId,
    postId,
    platform,
    target,
  }: RefreshInput): Promise<CollectedBatch | null> {
    const post = await published.findOne(postId, userId)
    const entry = post?.platformStatuses.find((one) => one.platform === platform && one.target === target)
    if (!post || !entry) return null
    const publisher = { platform, publishedBy: entry.delivery.accountId }
    const posts = toWantedPosts(post, publisher)
    if (posts.length === 0) return null
    const batch = { userId, ...publisher, server: entry.server ?? null, posts }
    return collectPosts(batch, { signal: cancellationSignal(), isRequested: true })
  }
}

export type RefreshMetrics = ReturnType<typeof createRefreshMetrics>
