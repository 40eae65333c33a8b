import type { Platform } from '../../domain/shared/platforms.ts'
import { isRetried, retry } from '../../domain/posts/post-moves.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import type { Move, PlatformStatus } from '../../domain/posts/post.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { DiscardPrepared } from './discard-prepared.ts'
import { notifyWorkflow, type NotifyWorkflowDeps } from '../shared/notify-workflow.ts'

export interface RetryPostDeps extends NotifyWorkflowDeps {
  posts: Pick<PostStore, 'findOwned' | 'transition' | 'acknowledgeStart'>
  discardPrepared: DiscardPrepared
}

interface RetryPostRequest {
  userId: string
  postId: string
  /** Retries only deliveries to these accounts; absent: every failed one. */
  accountIds?: string[] | undefined
}

/**
 * Retries failed platforms of a post.
 * @returns the retried platforms
 * @throws ServiceError NOT_FOUND, NO_FAILED_PLATFORMS, POST_IN_PROGRESS
 */
export async function retryPost(
  deps: RetryPostDeps,
  { userId, postId, accountIds }: RetryPostRequest,
): Promise<Platform[]> {
  const found = await deps.posts.findOwned(userId, postId)
  if (!found) throw postNotFound()
  let retrying: PlatformStatus[] = []
  const retryFailed: Move = (current, now) => {
    retrying = current.platformStatuses.filter((entry) => isRetried(entry, accountIds))
    return retry(accountIds)(current, now)
  }
  const post = await deps.posts.transition({ _id: postId, userId }, retryFailed)
  // A new round prepares again, unless an earlier call may have been accepted.
  void deps.discardPrepared(
    post,
    retrying.filter(({ delivery }) => !delivery.hadUnknownOutcome),
  )
  await notifyWorkflow(deps, post, 'retry')
  return [...new Set(retrying.map(({ platform }) => platform))]
}
