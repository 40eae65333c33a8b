import { ServiceError } from '../../domain/shared/service-error.ts'

/** The same error for a post that does not exist and for a post of another user. */
export function postNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
}
