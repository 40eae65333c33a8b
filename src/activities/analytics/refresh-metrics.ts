import { cancellationSignal } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import type { DueMetricsStore } from '../../store/analytics/due-metrics.ts'
import type { CollectedBatch, RefreshInput } from '../../workflows/contract/analytics.ts'
import type { CollectPosts } from './collect-posts.ts'

interface RefreshMetricsDeps {
  published: DueMetricsStore
  clock: Clock
  collectPosts: CollectPosts
}

/** Collects the metrics of one post on one account, whether or not they are due. */
export function createRefreshMetrics({ published, clock, collectPosts }: RefreshMetricsDeps) {
  /** @returns null when the post is not, or no longer, published there */
  return async function refreshMetrics({
    userId,
    postId,
    platform,
    target,
  }: RefreshInput): Promise<CollectedBatch | null> {
    const post = await published.findOne(postId, userId)
    const entry = post?.platformStatuses.find((one) => one.platform === platform && one.target === target)
    if (!post || entry?.status !== 'completed' || !entry.completedAt) return null
    const slot = clock.now().getTime()
    const batch = { userId, platform, publishedBy: entry.delivery.accountId, postIds: [postId], slot }
    return collectPosts(batch, cancellationSignal(), true)
  }
}

export type RefreshMetrics = ReturnType<typeof createRefreshMetrics>
