import { ServiceError } from '../domain/service-error.ts'
import type { PublishOrchestrator } from '../integrations/orchestrator.ts'
import type { PostStore } from '../store/posts.ts'
import type { DiscardPrepared } from './discard-prepared.ts'

export interface DeletePostDeps {
  posts: Pick<PostStore, 'remove'>
  orchestrator: Pick<PublishOrchestrator, 'signal'>
  discardPrepared: DiscardPrepared
}

/**
 * Deletes the record in any state. Without it no claim can be had any more, which stops all that is not yet claimed.
 * @throws ServiceError NOT_FOUND
 */
export async function deletePost(
  { posts, orchestrator, discardPrepared }: DeletePostDeps,
  userId: string,
  postId: string,
): Promise<void> {
  const post = await posts.remove(userId, postId)
  if (!post) throw new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
  void discardPrepared(post, post.platformStatuses)
  // The workflow would find out by itself when the post is due; told now, it ends now.
  const isWaited = post.status === 'PENDING' || post.status === 'SCHEDULED' || post.status === 'PROCESSING'
  if (isWaited) await orchestrator.signal({ ...post, revision: post.revision + 1 }, 'cancel')
}
