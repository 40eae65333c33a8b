import { groupNotFound, normalizeGroup, type AccountGroup, type GroupFields } from '../../domain/accounts/groups.ts'
import { changedSinceRead } from '../../domain/shared/revisions.ts'
import { writeGroup } from './write-group.ts'
import type { CommandContext } from '../context.ts'

interface ChangeGroup {
  userId: string
  groupId: string
  change: Partial<GroupFields>
  /** The revisions of the group to which the change applies; undefined for any. */
  revisions: readonly number[] | undefined
}

/**
 * Changes the given fields of a group. Posts that are stored keep the accounts that they have.
 * @throws ServiceError NOT_FOUND, VALIDATION_FAILED, GROUP_NAME_TAKEN, PRECONDITION_FAILED
 */
export async function changeGroup(
  deps: CommandContext,
  { userId, groupId, change, revisions }: ChangeGroup,
): Promise<AccountGroup> {
  const changed = await writeGroup(deps, userId, change, (session) =>
    deps.groups.change({ _id: groupId, userId }, normalizeGroup(change), { revisions, session }),
  )
  if (changed) return changed
  throw (await deps.groups.find(userId, groupId)) ? changedSinceRead() : groupNotFound()
}
