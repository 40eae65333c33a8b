import { chooseAccounts, findAccountFor, type Selection } from '../../domain/accounts/selection.ts'
import { POSTING_RULES, type PostingRules } from '../../domain/posts/posting-rules.ts'
import type { PreflightTarget } from '../../domain/posts/preflight.ts'
import type { ChosenAccount } from '../../domain/posts/targets.ts'
import type { Problem } from '../../domain/shared/service-error.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import { loadRules } from './current-rules.ts'
import type { CommandContext } from '../context.ts'

/** The accounts of a post, as they are now. */
export interface PostAccounts {
  chosen: ChosenAccount[]
  /** Why the selection is not allowed. */
  problems: Problem[]
  /** Describes the entries of the post for `preflight`, with the connected accounts that they would be published with. */
  toTargets(entries: readonly ChosenAccount[]): (PreflightTarget & { account: ConnectedAccount | null })[]
}

/**
 * Returns the accounts that a selection means, with the limits of their servers.
 * @param recorded the entries whose accounts stay, see `chooseAccounts`
 */
export type FindPostAccounts = (selection: Selection, recorded?: readonly ChosenAccount[]) => Promise<PostAccounts>

/** Reads the accounts that a selection means. */
export async function loadPostAccounts(
  deps: CommandContext,
  userId: string,
  ...selection: Parameters<FindPostAccounts>
): Promise<PostAccounts> {
  const { findPostAccounts } = await loadUserAccounts(deps, userId)
  return findPostAccounts(...selection)
}

/** Reads the accounts of a user once, for any number of posts. The limits of each server are read once as well. */
export async function loadUserAccounts(
  deps: CommandContext,
  userId: string,
): Promise<{ connected: ConnectedAccount[]; findPostAccounts: FindPostAccounts }> {
  const connected = await deps.accounts.listConnected(userId)
  const rules = new Map<string, Promise<PostingRules>>()

  function findRules(one: ChosenAccount): Promise<PostingRules> {
    const key = toServerKey(one)
    const found = rules.get(key) ?? loadRules(deps, one.platform, one.server)
    rules.set(key, found)
    return found
  }

  const findPostAccounts: FindPostAccounts = async (selection, recorded) => {
    const { chosen, problems } = chooseAccounts(connected, selection, recorded)
    const ofServers = new Map(
      await Promise.all(chosen.map(async (one) => [toServerKey(one), await findRules(one)] as const)),
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
          rules: ofServers.get(toServerKey(entry)) ?? POSTING_RULES[entry.platform],
        }
      })
    }

    return { chosen, problems, toTargets }
  }

  return { connected, findPostAccounts }
}

const toServerKey = (chosen: ChosenAccount): string => `${chosen.platform} ${chosen.server ?? ''}`
