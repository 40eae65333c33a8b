import { resolveGroups } from '../../domain/accounts/groups.ts'
import { validationFailed } from '../../domain/shared/service-error.ts'
import type { CommandContext } from '../context.ts'

/**
 * Returns the ids of the accounts that ids or names of groups mean, each once; empty for groups without accounts.
 * @param path of the names in the request
 * @throws ServiceError VALIDATION_FAILED for a group that the user does not have
 */
export async function findGroupAccounts(
  { groups }: Pick<CommandContext, 'groups'>,
  userId: string,
  names: readonly string[],
  path: string,
): Promise<string[]> {
  const { found, problems } = resolveGroups(await groups.listOf(userId), names, { path })
  if (problems.length > 0) throw validationFailed(problems)
  return [...new Set(found.flatMap(({ accountIds }) => accountIds))]
}
