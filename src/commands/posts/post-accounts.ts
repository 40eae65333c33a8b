import { chooseAccounts, findAccountFor, type Selection } from '../../domain/accounts/selection.ts'
import { POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import type { PreflightTarget } from '../../domain/posts/preflight.ts'
import type { ChosenAccount } from '../../domain/posts/targets.ts'
import type { Problem } from '../../domain/shared/service-error.ts'
import type { AccountStore, ConnectedAccount } from '../../store/accounts/accounts.ts'
import { loadRules, type CurrentRulesDeps } from './current-rules.ts'

export interface PostAccountsDeps extends CurrentRulesDeps {
  accounts: Pick<AccountStore, 'listConnected' | 'assertSeveralAllowed'>
}

/** The accounts of a post, as they are now. */
export interface PostAccounts {
  chosen: ChosenAccount[]
  /** Why the selection is not allowed. */
  problems: Problem[]
  /** Describes the entries of the post for `preflight`, with the connected accounts that they would be published with. */
  toTargets(entries: readonly ChosenAccount[]): (PreflightTarget & { account: ConnectedAccount | null })[]
}

/**
 * Reads the accounts that a selection means, with the limits of their servers.
 * @throws ServiceError SERVICE_UNAVAILABLE for chosen accounts before an upgrade is finished
 */
export async function loadPostAccounts(
  deps: PostAccountsDeps,
  userId: string,
  selection: Selection,
): Promise<PostAccounts> {
  if (selection.selectedAccounts?.length) await deps.accounts.assertSeveralAllowed()
  const connected = await deps.accounts.listConnected(userId)
  const { chosen, problems } = chooseAccounts(connected, selection)
  const rules = new Map(
    await Promise.all(
      chosen.map(async (one) => [toServerKey(one), await loadRules(deps, one.platform, one.server)] as const),
    ),
  )

  function toTargets(entries: readonly ChosenAccount[]) {
    const indices = { selectedPlatforms: 0, selectedAccounts: 0 }
    return entries.map((entry) => {
      const list = entry.target === undefined ? 'selectedPlatforms' : 'selectedAccounts'
      const account = findAccountFor(entry, entries, connected)
      return {
        ...entry,
        path: `${list}.${indices[list]++}`,
        account,
        isConnected: account !== null,
        rules: rules.get(toServerKey(entry)) ?? POSTING_RULES[entry.platform],
      }
    })
  }

  return { chosen, problems, toTargets }
}

const toServerKey = (chosen: ChosenAccount): string => `${chosen.platform} ${chosen.server ?? ''}`
