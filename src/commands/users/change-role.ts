import type { Actor } from '../../domain/users/audit.ts'
import type { Role, User } from '../../domain/users/user.ts'
import { changeUser } from './change-user.ts'
import type { CommandContext } from '../context.ts'

/** @throws ServiceError NOT_FOUND */
export function changeRole(deps: CommandContext, actor: Actor, userId: string, role: Role): Promise<User> {
  return changeUser(deps, actor, userId, {
    action: 'update-role',
    set: { role },
    facts: (user) => ({ role: user.role }),
  })
}
