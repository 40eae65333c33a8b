import { cancel } from '../../domain/posts/post-moves.ts'
import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { CommandContext } from '../context.ts'

/**
 * Cancels a post while no delivery of it is claimed.
 * @throws ServiceError NOT_FOUND, with one message for every reason
 */
export async function cancelPost(
  { posts, orchestrator, discardPrepared }: CommandContext,
  userId: string,
  postId: string,
): Promise<Post> {
  if (!(await posts.findOwned(userId, postId))) throw notCancellable()
  let post: Post
  try {
    post = await posts.transition({ _id: postId, userId }, cancel())
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') throw notCancellable(error)
    throw error
  }
  void discardPrepared(post, post.platformStatuses)
  await orchestrator.signal(post, 'cancel')
  return post
}

function notCancellable(cause?: unknown): ServiceError {
  return new ServiceError('NOT_FOUND', 'Post not found, unauthorized, or not in a cancellable state', { cause })
}
