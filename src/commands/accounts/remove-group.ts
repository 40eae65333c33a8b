import { groupNotFound } from '../../domain/accounts/groups.ts'
import type { CommandContext } from '../context.ts'

/**
 * Removes a group with its slots.
 * @throws ServiceError NOT_FOUND
 */
export async function removeGroup(deps: CommandContext, userId: string, groupId: string): Promise<void> {
  await deps.database.transaction(async (session) => {
    // Locks the user's record, so that no slots are set for the group meanwhile.
    await deps.users.raiseAnalyticsVersion(userId, session)
    if (!(await deps.groups.remove(userId, groupId, session))) throw groupNotFound()
    await deps.slots.removeOf(userId, [groupId], session)
  }, userId)
}
