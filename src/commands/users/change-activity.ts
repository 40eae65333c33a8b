import type { Actor } from '../../domain/users/audit.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { User } from '../../domain/users/user.ts'
import { changeUser } from './change-user.ts'
import type { CommandContext } from '../context.ts'

/**
 * Disables an account, or enables it again. Requests and sockets check the record. Waiting posts, also armed ones, fail when
 * they are due, unless the account is enabled before.
 * @throws ServiceError NOT_FOUND; OWN_ACCOUNT for admins who would lock themselves out
 */
export async function changeActivity(
  deps: CommandContext,
  actor: Actor,
  userId: string,
  isActive: boolean,
): Promise<User> {
  if (!isActive && actor.id === userId) throw new ServiceError('OWN_ACCOUNT', 'You cannot disable your own account')
  const user = await changeUser(deps, actor, userId, {
    action: 'update-activity',
    set: { isDisabled: !isActive },
    facts: ({ isDisabled }) => ({ isDisabled }),
  })
  // Runs also without a change, because an earlier call may have died before this step.
  if (!isActive) await deps.posts.invalidatePrepared(userId)
  return user
}
