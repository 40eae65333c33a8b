import type { Platform } from '../domain/platforms.ts'
import { retry } from '../domain/post-moves.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { PlatformStatus } from '../domain/post.ts'
import type { PostStore } from '../store/posts.ts'
import type { DiscardPrepared } from './discard-prepared.ts'
import { handOver, type HandOverDeps } from './hand-over.ts'

export interface RetryPostDeps extends HandOverDeps {
  posts: Pick<PostStore, 'findOwned' | 'transition' | 'acknowledgeStart'>
  discardPrepared: DiscardPrepared
}

/**
 * Sends every failed platform of a post round again; returns which.
 * @throws ServiceError NOT_FOUND, NO_FAILED_PLATFORMS, POST_IN_PROGRESS
 */
export async function retryPost(deps: RetryPostDeps, userId: string, postId: string): Promise<Platform[]> {
  if (!(await deps.posts.findOwned(userId, postId)))
    throw new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
  let retrying: PlatformStatus[] = []
  const post = await deps.posts.transition(postId, (current, now) => {
    retrying = current.platformStatuses.filter(({ status }) => status === 'failed')
    return retry()(current, now)
  })
  // A new round prepares anew, unless an earlier call may have been accepted.
  void deps.discardPrepared(
    post,
    retrying.filter(({ delivery }) => !delivery.doubted),
  )
  await handOver(deps, post, 'retry')
  return retrying.map(({ platform }) => platform)
}
