import { ServiceError } from '../../domain/shared/service-error.ts'
import { replaceAvatar } from './replace-avatar.ts'
import type { CommandContext } from '../context.ts'

/**
 * Sets an uploaded picture as the avatar.
 * @throws ServiceError VALIDATION_FAILED when it is no picture of this user's in our storage, SERVICE_UNAVAILABLE
 */
export async function updateAvatar(
  deps: CommandContext,
  { userId, imageUrl }: { userId: string; imageUrl: string },
): Promise<void> {
  const problem = await deps.avatars.findProblem(userId, imageUrl)
  if (problem !== null) {
    throw new ServiceError('VALIDATION_FAILED', `The avatar ${problem}`, {
      errors: [{ path: 'imageUrl', code: 'AVATAR_NOT_ALLOWED', message: problem }],
    })
  }
  await replaceAvatar(deps, userId, imageUrl)
}
