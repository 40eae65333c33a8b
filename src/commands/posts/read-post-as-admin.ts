import type { Actor } from '../../domain/users/audit.ts'
import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { TimelineEvent } from '../../domain/posts/timeline.ts'
import type { PostQuery } from '../../store/posts/post-lists.ts'
import type { ListedPost } from '../../store/posts/shorten-posts.ts'
import { newAuditEntry } from '../shared/audit-entry.ts'
import type { CommandContext } from '../context.ts'

/**
 * Reads any user's post for an admin. The read is in the audit log before the post is returned.
 * @throws ServiceError NOT_FOUND
 */
export async function readPostAsAdmin(deps: CommandContext, actor: Actor, postId: string): Promise<Post> {
  return readAudited(deps, actor, postId, 'read-post')
}

/**
 * Reads the timeline of any user's post for an admin, oldest first. The read is in the audit log before the timeline is
 * returned.
 * @throws ServiceError NOT_FOUND
 */
export async function readTimelineAsAdmin(
  deps: CommandContext,
  actor: Actor,
  postId: string,
): Promise<TimelineEvent[]> {
  const { userId } = await readAudited(deps, actor, postId, 'read-timeline')
  const events = await deps.posts.readTimeline(userId, postId)
  if (!events) throw notFound()
  return events
}

/**
 * Reads a page of any user's posts for an admin. The read is in the audit log before the posts are returned.
 * @throws ServiceError NOT_FOUND without such a user
 */
export async function listPostsAsAdmin(
  { users, posts, audit, clock }: CommandContext,
  actor: Actor,
  userId: string,
  query: PostQuery,
): Promise<{ posts: ListedPost[]; total: number }> {
  if (!(await users.findById(userId))) throw new ServiceError('NOT_FOUND', 'User not found')
  await audit.insert(
    newAuditEntry(actor, clock.now(), { action: 'read-posts', subjectId: userId, before: {}, after: {} }),
  )
  return posts.list(userId, query)
}

async function readAudited(
  { posts, audit, clock }: CommandContext,
  actor: Actor,
  postId: string,
  action: 'read-post' | 'read-timeline',
): Promise<Post> {
  const post = await posts.find(postId)
  if (!post) throw notFound()
  await audit.insert(
    newAuditEntry(actor, clock.now(), { action, subjectId: post.userId, before: { postId }, after: {} }),
  )
  return post
}

function notFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Post not found')
}
