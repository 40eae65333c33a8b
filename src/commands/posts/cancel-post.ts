import { cancel, isStopped } from '../../domain/posts/post-moves.ts'
import type { Move, PlatformStatus, Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { CommandContext } from '../context.ts'

interface CancelPostRequest {
  userId: string
  postId: string
  /** Ends only the waiting deliveries to these accounts; absent: the whole post. */
  accountIds?: string[] | undefined
}

/**
 * Cancels a post that certainly was not sent, or some of its waiting deliveries.
 * @throws ServiceError NOT_FOUND, with one message for every reason
 */
export async function cancelPost(
  { posts, orchestrator, discardPrepared }: CommandContext,
  { userId, postId, accountIds }: CancelPostRequest,
): Promise<Post> {
  if (!(await posts.findOwned(userId, postId))) throw notCancellable()
  let post: Post
  let stopped: PlatformStatus[] = []
  const cancelUnsent: Move = (current, now) => {
    stopped = current.platformStatuses.filter((entry) => !accountIds || isStopped(entry, accountIds))
    return cancel(accountIds)(current, now)
  }
  try {
    post = await posts.transition({ _id: postId, userId }, cancelUnsent)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') throw notCancellable(error)
    throw error
  }
  void discardPrepared(post, stopped)
  await orchestrator.signal(post, 'cancel')
  return post
}

function notCancellable(cause?: unknown): ServiceError {
  return new ServiceError('NOT_FOUND', 'Post not found, unauthorized, or not in a cancellable state', { cause })
}
