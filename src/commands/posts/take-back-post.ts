import type { Post } from '../../domain/posts/post.ts'
import { requestRemoval } from '../../domain/posts/take-back.ts'
import type { CommandContext } from '../context.ts'
import { changePublished, type ChangeRequest } from './change-published.ts'

/**
 * Requests that the platforms remove what is published of a post.
 * @throws ServiceError NOT_FOUND, POST_IN_PROGRESS, NOTHING_PUBLISHED
 */
export function takeBackPost(deps: CommandContext, request: ChangeRequest): Promise<Post> {
  return changePublished(deps, request, requestRemoval(request.requestedBy, request.accountIds))
}
