import { ServiceError } from '../../domain/shared/service-error.ts'

/** Returns the error for a post that does not exist. A post of another user gets the same error. */
export function postNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
}
