import { postDeleted } from '../../domain/events/post-events.ts'
import { collectMediaKeys } from '../../domain/posts/content.ts'
import type { Post } from '../../domain/posts/post.ts'
import { changedSinceRead } from '../../domain/shared/revisions.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import type { CommandContext } from '../context.ts'

/**
 * Deletes a post in any state, with its metrics. Without the record no delivery can be claimed, which stops everything unclaimed. A
 * draft returns the share of the allowance that it took over.
 * @param revisions the revisions of the post that are deleted; undefined for any
 * @throws ServiceError NOT_FOUND, PRECONDITION_FAILED
 */
export async function deletePost(
  deps: CommandContext,
  userId: string,
  postId: string,
  revisions?: readonly number[],
): Promise<void> {
  const { orchestrator, discardPrepared } = deps
  const post = await removeAll(deps, userId, postId, revisions)
  if (!post) throw revisions && (await deps.posts.findOwned(userId, postId)) ? changedSinceRead() : postNotFound()
  deps.events.announce([userId])
  void discardPrepared(post, post.platformStatuses)
  await deps.uploads.setNamed([...collectMediaKeys(post)], false)
  // The workflow would notice when the post is due; the signal ends it now.
  const hasWorkflow = post.status === 'PENDING' || post.status === 'SCHEDULED' || post.status === 'PROCESSING'
  if (hasWorkflow) await orchestrator.signal({ ...post, revision: post.revision + 1 }, 'cancel')
}

/** Runs as a transaction: a snapshot that is being stored either comes first and is deleted, or is not stored. */
function removeAll(
  deps: CommandContext,
  userId: string,
  postId: string,
  revisions: readonly number[] | undefined,
): Promise<Post | null> {
  return deps.database.transaction(async (session) => {
    const removed = await deps.posts.remove(userId, postId, { revisions, session })
    if (!removed) return null
    const { post, pendingEvents } = removed
    // Before the commit, because nothing repeats it after a crash. Each is stored once, whether or not the deletion succeeds.
    for (const { notification } of pendingEvents) if (notification) await deps.notifications.insertOnce(notification)
    await deps.events.append(userId, [...pendingEvents, postDeleted(post, deps.clock.now())], session)
    if (post.status === 'DRAFT' && post.duplicateOf !== undefined) {
      await deps.posts.returnAllowance({ _id: post.duplicateOf, userId }, { movedTo: postId }, session)
    }
    if (!post.publishedKeys) return post
    await deps.snapshots.removeByPost(userId, postId, session)
    await deps.deadLetters.removeByPost(userId, postId, session)
    await deps.users.raiseAnalyticsVersion(userId, session)
    return post
  }, userId)
}
