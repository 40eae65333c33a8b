import { requestEdit } from '../../domain/posts/edit-published.ts'
import { listNamed } from '../../domain/posts/published-changes.ts'
import type { Post } from '../../domain/posts/post.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import type { CommandContext } from '../context.ts'
import { changePublished, type ChangeRequest } from './change-published.ts'
import { loadRules } from './current-rules.ts'

/**
 * Requests that the platforms replace the text of what is published, of a thread that of its first post.
 * @throws ServiceError NOT_FOUND, POST_NOT_EDITABLE, VALIDATION_FAILED
 */
export async function editPublishedPost(
  deps: CommandContext,
  { text, accountIds, requestedBy, ...ref }: ChangeRequest & { text: string },
): Promise<Post> {
  const post = await deps.posts.findOwned(ref.userId, ref.postId)
  if (!post) throw postNotFound()
  const rules = new Map(
    await Promise.all(
      listNamed(post, accountIds).map(
        async (entry) => [toTarget(entry), await loadRules(deps, entry.platform, entry.server)] as const,
      ),
    ),
  )
  return changePublished(
    deps,
    ref,
    requestEdit({
      ...{ text, accountIds, requestedBy },
      rulesOf: (entry) => rules.get(toTarget(entry)) ?? POSTING_RULES[entry.platform],
    }),
  )
}
