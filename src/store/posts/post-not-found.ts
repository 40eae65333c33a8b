import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'

/** Returns the error for a post that does not exist. A post of another user gets the same error. */
export function postNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
}

/** Returns null when the post was deleted meanwhile: it needs nothing. */
export async function ignoreNotFound(changing: Promise<Post>): Promise<Post | null> {
  try {
    return await changing
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return null
    throw error
  }
}
