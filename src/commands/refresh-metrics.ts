import { platformLabel, type Platform } from '../domain/platforms.ts'
import { entryOf } from '../domain/post-entries.ts'
import { ServiceError } from '../domain/service-error.ts'
import { SECOND } from '../domain/times.ts'
import type { PublishOrchestrator } from '../integrations/orchestrator.ts'
import type { PostStore } from '../store/posts.ts'
import type { PostSnapshot, SnapshotStore } from '../store/snapshots.ts'

/** Spec section 8: about 5 seconds. */
const LONGEST_WAIT_MS = 5 * SECOND

export interface RefreshMetricsDeps {
  posts: Pick<PostStore, 'findOwned'>
  snapshots: Pick<SnapshotStore, 'latest'>
  orchestrator: Pick<PublishOrchestrator, 'refreshMetrics'>
  limits: { analyticsRefresh: { take(key: string): Promise<void> } }
}

/**
 * Has the metrics of a post taken now, and answers the latest snapshot after some seconds, `fresh` or not. What cannot be asked for
 * costs nothing of the user's allowance.
 * @throws ServiceError NOT_FOUND, BAD_REQUEST when the post is not published there, RATE_LIMITED
 */
export async function refreshMetrics(
  { posts, snapshots, orchestrator, limits }: RefreshMetricsDeps,
  { userId, postId, platform }: { userId: string; postId: string; platform: Platform },
): Promise<{ snapshot: PostSnapshot | null; fresh: boolean }> {
  const post = await posts.findOwned(userId, postId)
  if (!post) throw new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
  const entry = entryOf(post, platform)
  if (entry?.status !== 'completed' || entry.platformPostId === null) {
    throw new ServiceError('BAD_REQUEST', `The post is not published on ${platformLabel(platform)}`)
  }
  await limits.analyticsRefresh.take(userId)
  const fresh = await orchestrator.refreshMetrics(postId, platform, LONGEST_WAIT_MS)
  return { snapshot: await snapshots.latest(postId, platform), fresh }
}
