import { findGroupNameProblems, groupNameTaken, type GroupFields } from '../../domain/accounts/groups.ts'
import { validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import type { CommandContext } from '../context.ts'

type Session = Parameters<CommandContext['groups']['insert']>[1]

/**
 * Checks the given fields of a group, then writes it in a transaction that conflicts with every change of the user's accounts and groups.
 * @throws ServiceError VALIDATION_FAILED, GROUP_NAME_TAKEN, or the error of `write`
 */
export async function writeGroup<T>(
  deps: CommandContext,
  userId: string,
  { name, accountIds = [] }: Partial<GroupFields>,
  write: (session: Session) => Promise<T>,
): Promise<T> {
  const nameProblems = name === undefined ? [] : findGroupNameProblems(name)
  if (nameProblems.length > 0) throw validationFailed(nameProblems)
  try {
    return await deps.database.transaction(async (session) => {
      // Locks the user's record. Analytics of the group are computed again.
      await deps.users.raiseAnalyticsVersion(userId, session)
      const problems = accountIds.length > 0 ? await findAccountProblems(deps, userId, accountIds) : []
      if (problems.length > 0) throw validationFailed(problems)
      return write(session)
    }, userId)
  } catch (error) {
    if (isDuplicateKey(error, ['nameKey'])) throw groupNameTaken(error)
    throw error
  }
}

async function findAccountProblems({ accounts }: CommandContext, userId: string, ids: string[]): Promise<Problem[]> {
  const connected = new Set((await accounts.listConnected(userId)).map(({ _id }) => _id))
  return ids.flatMap((id, index): Problem[] => {
    const message = `You have no connected account ${JSON.stringify(id)}`
    return connected.has(id) ? [] : [{ path: `accountIds.${index}`, code: 'ACCOUNT_NOT_FOUND', message }]
  })
}
