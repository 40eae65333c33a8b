import { ServiceError } from '../../domain/shared/service-error.ts'
import type { ApiKeyStore } from '../../store/users/api-keys.ts'

/**
 * Deletes a key of the user. Requests with it fail from now on.
 * @throws ServiceError NOT_FOUND, also for another user's key
 */
export async function deleteApiKey(
  { apiKeys }: { apiKeys: ApiKeyStore },
  userId: string,
  keyId: string,
): Promise<void> {
  if (!(await apiKeys.removeOwned(userId, keyId))) throw new ServiceError('NOT_FOUND', 'API key not found')
}
