import { listFailedChanges } from '../../domain/notifications/notifications.ts'
import type { Move, Post } from '../../domain/posts/post.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import type { BackgroundBacklog } from '../shared/background-backlog.ts'
import type { CommandContext } from '../context.ts'
import type { Parts } from '../parts.ts'

const SUMMARY = 'Change published posts on their platforms'

/** A request to change what is published of a post. */
export interface ChangeRequest {
  userId: string
  postId: string
  /** Absent: every account. */
  accountIds?: string[] | undefined
  /** The id of the user, or of the key after `key:`. */
  requestedBy: string
}

/** Stores a request to change what is published. A workflow carries it out, and repeats it until each platform has answered. */
export async function changePublished(
  { posts, notifications, orchestrator }: CommandContext,
  { userId, postId }: Pick<ChangeRequest, 'userId' | 'postId'>,
  request: Move,
): Promise<Post> {
  if (!(await posts.findOwned(userId, postId))) throw postNotFound()
  const post = await posts.transition({ _id: postId, userId }, request)
  for (const warning of listFailedChanges(post)) await notifications.insertOnce(warning)
  // Otherwise the sweeper starts it.
  if (post.changeDueAt)
    await orchestrator.startWork('changePublished', postId, { summary: SUMMARY, fairnessKey: userId })
  return post
}

/** Posts with a change that is due and may have no workflow. */
export const changeBacklog = ({ posts }: Parts): BackgroundBacklog => ({
  work: 'changePublished',
  summary: SUMMARY,
  listUnstarted: (before, limit) => posts.listUnchanged(before, limit),
})
