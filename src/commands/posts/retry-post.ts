import type { Platform } from '../../domain/shared/platforms.ts'
import { postEnded } from '../../domain/notifications/notifications.ts'
import { isRetried, retry } from '../../domain/posts/post-moves.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import type { Move, PlatformStatus, Post } from '../../domain/posts/post.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { DiscardPrepared } from './discard-prepared.ts'
import { notifyWorkflow, type NotifyWorkflowDeps } from '../shared/notify-workflow.ts'

export interface RetryPostDeps extends NotifyWorkflowDeps {
  posts: PostStore
  notifications: NotificationStore
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
  let before: Post = found
  let retrying: PlatformStatus[] = []
  const retryFailed: Move = (current, now) => {
    before = current
    retrying = current.platformStatuses.filter((entry) => isRetried(entry, accountIds))
    return retry(accountIds)(current, now)
  }
  const post = await deps.posts.transition({ _id: postId, userId }, retryFailed)
  // A worker that was killed at the end of the last round may not have stored this notification, and the post no longer shows
  // it.
  const ending = postEnded(before)
  if (ending) await deps.notifications.insertOnce(ending)
  // A new round prepares again, unless an earlier call may have been accepted.
  void deps.discardPrepared(
    post,
    retrying.filter(({ delivery }) => !delivery.hadUnknownOutcome),
  )
  await notifyWorkflow(deps, post, 'retry')
  return [...new Set(retrying.map(({ platform }) => platform))]
}
