import type { Actor } from '../../domain/users/audit.ts'
import type { Role, User } from '../../domain/users/user.ts'
import { changeUser, type ChangeUserDeps } from './change-user.ts'

/** @throws ServiceError NOT_FOUND */
export function changeRole(deps: ChangeUserDeps, actor: Actor, userId: string, role: Role): Promise<User> {
  return changeUser(deps, actor, userId, {
    action: 'update-role',
    set: { role },
    facts: (user) => ({ role: user.role }),
  })
}
