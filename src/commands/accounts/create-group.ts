import { groupLimitReached, normalizeGroup, type AccountGroup, type GroupFields } from '../../domain/accounts/groups.ts'
import { newId } from '../../store/shared/schema.ts'
import { writeGroup } from './write-group.ts'
import type { CommandContext } from '../context.ts'

/**
 * Creates a group of the user's connected accounts.
 * @throws ServiceError VALIDATION_FAILED, GROUP_NAME_TAKEN, GROUP_LIMIT_REACHED
 */
export async function createGroup(deps: CommandContext, userId: string, fields: GroupFields): Promise<AccountGroup> {
  const group = {
    ...{ _id: newId(), userId, revision: 0, createdAt: deps.clock.now() },
    ...normalizeGroup(fields),
  } as AccountGroup
  await writeGroup(deps, userId, fields, async (session) => {
    if (!(await deps.groups.insert(group, session))) throw groupLimitReached()
  })
  return group
}
