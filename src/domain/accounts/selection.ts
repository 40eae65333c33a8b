import { toTarget, type ChosenAccount } from '../posts/targets.ts'
import { platformLabel, type Platform } from '../shared/platforms.ts'
import type { Problem } from '../shared/service-error.ts'

/** A connected account of a user. */
export interface SelectableAccount {
  _id: string
  platform: Platform
  /** Whether it is meant where only the platform is named. A platform with accounts has exactly one. */
  isDefault: boolean
  handle?: string
  server?: string | null
}

export interface Selection {
  selectedPlatforms: readonly Platform[]
  selectedAccounts?: readonly string[] | undefined
}

/**
 * Returns the selection of a post after a change by a client that may not know accounts. It gets the platforms of all entries as
 * `selectedPlatforms`, so a platform that the post has only through accounts means those, and not its default account as well. Without
 * `selectedAccounts` the accounts on the platforms that stay remain.
 */
export function changeSelection(
  entries: readonly ChosenAccount[],
  { selectedPlatforms, selectedAccounts }: { [Name in keyof Selection]?: Selection[Name] | undefined },
  connected: readonly SelectableAccount[],
): { selectedPlatforms: Platform[]; selectedAccounts: string[] } {
  const named = entries.filter(({ target }) => target !== undefined)
  const defaults = entries.filter(({ target }) => target === undefined).map(({ platform }) => platform)
  const staying = named.filter(({ platform }) => selectedPlatforms?.includes(platform) ?? true)
  const accounts = selectedAccounts ?? staying.map(({ target }) => target!)
  const hasAccount = (platform: Platform) =>
    [...named, ...connected.map(({ _id, ...one }) => ({ ...one, target: _id }))].some(
      (one) => one.platform === platform && accounts.includes(one.target!),
    )
  const isThroughAccounts = (platform: Platform) =>
    !defaults.includes(platform) && named.some((one) => one.platform === platform) && hasAccount(platform)
  return {
    selectedPlatforms: selectedPlatforms?.filter((platform) => !isThroughAccounts(platform)) ?? defaults,
    selectedAccounts: [...accounts],
  }
}

/**
 * Returns the accounts that a selection means, and why it is not allowed. A platform without an account is selected without one.
 * @param recorded entries that stay on the account that they record, also when it is gone or no longer the default one
 */
export function chooseAccounts(
  accounts: readonly SelectableAccount[],
  { selectedPlatforms, selectedAccounts = [] }: Selection,
  recorded: readonly ChosenAccount[] = [],
): { chosen: ChosenAccount[]; problems: Problem[] } {
  const problems: Problem[] = []
  const defaults = selectedPlatforms.map((platform): ChosenAccount => {
    const earlier = recorded.find((one) => one.platform === platform && one.target === undefined && one.accountId)
    if (earlier) return earlier
    const account = accounts.find((one) => one.platform === platform && one.isDefault)
    return { platform, ...(account && describeSelected(account)) }
  })
  const taken = new Set(defaults.map(({ accountId }) => accountId))
  const named = selectedAccounts.flatMap((id, index): ChosenAccount[] => {
    const path = `selectedAccounts.${index}`
    const account = accounts.find((one) => one._id === id)
    const earlier = recorded.find(({ target }) => target === id)
    if (!account && earlier) return [earlier]
    if (!account) {
      const message = id === '' ? 'The id of an account is empty' : `You have no connected account ${id}`
      problems.push({ path, code: 'ACCOUNT_NOT_FOUND', message })
      return []
    }
    const { platform } = account
    if (taken.has(id)) {
      const message = `This ${platformLabel(platform)} account is selected twice: select the platform or the account`
      problems.push({ path, code: 'ACCOUNT_SELECTED_TWICE', message, platform })
      return []
    }
    taken.add(id)
    return [{ platform, target: id, ...describeSelected(account) }]
  })
  return { chosen: [...defaults, ...named], problems }
}

/** Returns the fields of an entry that name its account. */
export function describeSelected({
  _id,
  handle,
  server,
}: SelectableAccount): Omit<ChosenAccount, 'platform' | 'target'> {
  return { accountId: _id, ...(handle !== undefined && { accountName: handle }), ...(server && { server }) }
}

/** Returns the handle of an account that is not the user's only one on its platform; undefined for the only one. */
export function nameAmongSeveral(
  accounts: readonly { platform: Platform; version: number; handle: string }[],
  { platform, version }: { platform: Platform; version: number },
): string | undefined {
  const onPlatform = accounts.filter((account) => account.platform === platform)
  return onPlatform.length > 1 ? onPlatform.find((account) => account.version === version)?.handle : undefined
}

/**
 * Returns the account that an entry is published with now; null without one. The account that an entry records has no replacement. An entry
 * that was created while its platform had no account gets the present default one, unless another entry of the post is for it.
 */
export function findAccountFor<A extends SelectableAccount>(
  entry: ChosenAccount,
  entries: readonly ChosenAccount[],
  accounts: readonly A[],
): A | null {
  const onPlatform = accounts.filter(({ platform }) => platform === entry.platform)
  const recorded = entry.target ?? entry.accountId
  if (recorded !== undefined) return onPlatform.find(({ _id }) => _id === recorded) ?? null
  const present = onPlatform.find(({ isDefault }) => isDefault)
  const isTaken = entries.some((other) => toTarget(other) !== toTarget(entry) && other.accountId === present?._id)
  return present && !isTaken ? present : null
}
