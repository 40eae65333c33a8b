import { canTransferAllowance, copyAsDraft, postChanged } from '../../domain/posts/post-moves.ts'
import type { Post, PostMetadata } from '../../domain/posts/post.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import { newId } from '../../store/shared/schema.ts'
import { holdMedia } from './hold-media.ts'
import type { CommandContext } from '../context.ts'

/**
 * Creates a draft with the content of a post in any status. It uses one post of the allowance, unless the original ended
 * without reaching any platform. Then the draft takes over the original's use, once, and a retry of the original counts again.
 * @throws ServiceError NOT_FOUND, POST_LIMIT_REACHED, POST_IN_PROGRESS when the post changes concurrently
 */
export async function duplicatePost(
  deps: CommandContext,
  request: { userId: string; postId: string; metadata: PostMetadata },
): Promise<Post> {
  const original = await deps.posts.findOwned(request.userId, request.postId)
  if (!original) throw postNotFound()
  // Deleted files stay listed in the draft, and are reported when it is published.
  await holdMedia(deps, original)
  const draft = copyAsDraft(original, { _id: newId(), metadata: request.metadata }, deps.clock.now())
  if (canTransferAllowance(original)) await storeInPlaceOf(deps, original, draft)
  else await deps.storePost(draft)
  return draft
}

async function storeInPlaceOf(
  { database, eventRelay, posts }: CommandContext,
  original: Post,
  draft: Post,
): Promise<void> {
  await database.transaction(async (session) => {
    if (!(await posts.moveAllowance(original, draft._id, session))) {
      throw postChanged()
    }
    await posts.insert([draft], session)
  })
  eventRelay.add([draft])
}
