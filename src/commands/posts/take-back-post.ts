import { listFailedRemovals } from '../../domain/notifications/notifications.ts'
import type { Post } from '../../domain/posts/post.ts'
import { requestRemoval } from '../../domain/posts/take-back.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import type { BackgroundBacklog } from '../shared/background-backlog.ts'
import type { CommandContext } from '../context.ts'
import type { Parts } from '../parts.ts'

const SUMMARY = 'Remove published posts from their platforms'

interface TakeBackRequest {
  userId: string
  postId: string
  /** Absent: every account. */
  accountIds?: string[] | undefined
  /** The id of the user, or of the key after `key:`. */
  requestedBy: string
}

/**
 * Requests that the platforms remove what is published of a post. A workflow does it, and repeats it until each platform has answered.
 * @throws ServiceError NOT_FOUND, POST_IN_PROGRESS, NOTHING_PUBLISHED
 */
export async function takeBackPost(
  { posts, notifications, orchestrator }: CommandContext,
  { userId, postId, accountIds, requestedBy }: TakeBackRequest,
): Promise<Post> {
  if (!(await posts.findOwned(userId, postId))) throw postNotFound()
  const post = await posts.transition({ _id: postId, userId }, requestRemoval(requestedBy, accountIds))
  for (const warning of listFailedRemovals(post)) await notifications.insertOnce(warning)
  // Otherwise the sweeper starts it.
  if (post.removalDueAt) await orchestrator.startWork('takeBack', postId, { summary: SUMMARY, fairnessKey: userId })
  return post
}

/** Posts with a removal that is due and may have no workflow. */
export const takeBackBacklog = ({ posts }: Parts): BackgroundBacklog => ({
  work: 'takeBack',
  summary: SUMMARY,
  listUnstarted: (before, limit) => posts.listUnremoved(before, limit),
})
