import { cancellationSignal } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { resolveSlot, type AgeClass } from '../../domain/analytics/collection.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { DueMetricsStore } from '../../store/analytics/due-metrics.ts'
import type { CollectedBatch } from '../../workflows/messages/analytics.ts'
import type { CollectPosts } from './collect-posts.ts'

interface RefreshMetricsDeps {
  published: Pick<DueMetricsStore, 'find'>
  clock: Clock
  ages: AgeClass[]
  collectPosts: CollectPosts
}

/** Collects the metrics of one post on one platform, whether or not they are due. */
export function createRefreshMetrics({ published, clock, ages, collectPosts }: RefreshMetricsDeps) {
  /** @returns null when the post is not, or no longer, published there */
  return async function refreshMetrics(postId: string, platform: Platform): Promise<CollectedBatch | null> {
    const [post] = await published.find([postId])
    const entry = post?.platformStatuses.find((one) => one.platform === platform)
    if (!post || entry?.status !== 'completed' || !entry.completedAt) return null
    const { completedAt, metricsSlot } = entry
    const slot = resolveSlot(ages, { completedAt, ...(metricsSlot && { metricsSlot }) }, clock.now()).getTime()
    return collectPosts({ userId: post.userId, platform, postIds: [postId], slot }, cancellationSignal(), true)
  }
}

export type RefreshMetrics = ReturnType<typeof createRefreshMetrics>
