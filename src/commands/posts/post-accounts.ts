import { resolveGroups, type AccountGroup } from '../../domain/accounts/groups.ts'
import { chooseAccounts, findAccountFor, type Selection } from '../../domain/accounts/selection.ts'
import type { PostGroup } from '../../domain/posts/post.ts'
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
  groups: readonly PostGroup[]
  /** Why the selection is not allowed. */
  problems: Problem[]
  /** Describes the entries of the post for `preflight`, with the connected accounts that they would be published with. */
  toTargets(entries: readonly ChosenAccount[]): (PreflightTarget & { account: ConnectedAccount | null })[]
}

/** The targets of a post as a request names them. */
export interface NamedTargets extends Omit<Selection, 'groups'> {
  /** Ids or names. */
  selectedGroups?: readonly string[] | undefined
}

/** What was recorded for a post earlier, and stays. */
export interface RecordedTargets {
  accounts: readonly ChosenAccount[]
  groups: readonly PostGroup[]
}

/** Returns the accounts that a request names, with the limits of their servers. */
export type FindNamedAccounts = (named: NamedTargets, recorded?: RecordedTargets) => Promise<PostAccounts>

/** Reads the accounts that a request names. */
export async function loadPostAccounts(
  deps: CommandContext,
  userId: string,
  ...named: Parameters<FindNamedAccounts>
): Promise<PostAccounts> {
  const { findNamedAccounts } = await loadUserAccounts(deps, userId)
  return findNamedAccounts(...named)
}

/** Reads the accounts of a user once, for any number of posts. The groups and the limits of each server are read once as well. */
export async function loadUserAccounts(deps: CommandContext, userId: string) {
  const connected = await deps.accounts.listConnected(userId)
  const rules = new Map<string, Promise<PostingRules>>()

  function findRules(one: ChosenAccount): Promise<PostingRules> {
    const key = toServerKey(one)
    const found = rules.get(key) ?? loadRules(deps, one.platform, one.server)
    rules.set(key, found)
    return found
  }

  let groups: Promise<AccountGroup[]> | undefined
  const listGroups = () => (groups ??= deps.groups.listOf(userId))

  /** @param recorded the entries whose accounts stay, see `chooseAccounts` */
  async function findPostAccounts(selection: Selection, recorded?: readonly ChosenAccount[]): Promise<PostAccounts> {
    const { groups: ofGroups = [] } = selection
    const { chosen, problems } = chooseAccounts(connected, selection, recorded)
    const ofServers = new Map(
      await Promise.all(chosen.map(async (one) => [toServerKey(one), await findRules(one)] as const)),
    )

    function toTargets(entries: readonly ChosenAccount[]) {
      const indices = { selectedPlatforms: 0, selectedAccounts: 0 }
      function toPath({ target }: ChosenAccount): string {
        if (target === undefined) return `selectedPlatforms.${indices.selectedPlatforms++}`
        const group = ofGroups.findIndex(({ accountIds }) => accountIds.includes(target))
        const isNamed = group < 0 || selection.selectedAccounts?.includes(target)
        return isNamed ? `selectedAccounts.${indices.selectedAccounts++}` : `selectedGroups.${group}`
      }
      return entries.map((entry) => {
        const account = findAccountFor(entry, entries, connected)
        return {
          ...entry,
          path: toPath(entry),
          account,
          isConnected: account !== null,
          rules: ofServers.get(toServerKey(entry)) ?? POSTING_RULES[entry.platform],
        }
      })
    }

    return { chosen, groups: ofGroups, problems, toTargets }
  }

  async function findNamedAccounts(...[named, recorded]: Parameters<FindNamedAccounts>): Promise<PostAccounts> {
    const { selectedGroups = [], ...selection } = named
    const all = selectedGroups.length > 0 ? await listGroups() : []
    const resolved = resolveGroups(all, selectedGroups, { path: 'selectedGroups', recorded: recorded?.groups })
    const found = await findPostAccounts({ ...selection, groups: resolved.found }, recorded?.accounts)
    return { ...found, problems: [...resolved.problems, ...found.problems] }
  }

  return { connected, listGroups, findPostAccounts, findNamedAccounts }
}

const toServerKey = (chosen: ChosenAccount): string => `${chosen.platform} ${chosen.server ?? ''}`
