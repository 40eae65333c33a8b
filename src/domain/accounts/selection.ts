import type { PostGroup } from '../posts/post.ts'
import { toTarget, type ChosenAccount } from '../posts/targets.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Problem } from '../shared/service-error.ts'

/** The accounts of a post besides the default ones of its platforms. */
export const MAX_POST_ACCOUNTS = 50

/** A connected account of a user. */
export interface SelectableAccount {
  _id: string
  platform: Platform
  /** Whether it is meant where only the platform is named. A platform with accounts has exactly one. */
  isDefault: boolean
  handle?: string
  server?: string | null
}

/** What a post is for: the default accounts of platforms, single accounts, and those of groups. */
export interface Selection {
  selectedPlatforms: readonly Platform[]
  selectedAccounts?: readonly string[] | undefined
  groups?: readonly PostGroup[] | undefined
}

/**
 * Returns the selection of a post after a change by a client that may not know accounts. It gets the platforms of all entries as
 * `selectedPlatforms`, so a platform that the post has only through accounts or groups means those, and not its default account as well.
 * Without `selectedAccounts` the accounts on the platforms that stay remain, and so do those of its groups without `groups`.
 */
export function changeSelection(
  post: { platformStatuses: readonly ChosenAccount[] } & Pick<Selection, 'selectedAccounts' | 'groups'>,
  change: { [Name in keyof Selection]?: Selection[Name] | undefined },
  connected: readonly SelectableAccount[],
): { selectedPlatforms: Platform[]; selectedAccounts: string[]; groups: PostGroup[] } {
  const { selectedPlatforms } = change
  const entries = post.platformStatuses
  const platforms = new Map([
    ...connected.map(({ _id, platform }) => [_id, platform] as const),
    ...entries.map(({ platform, target, accountId }) => [target ?? accountId, platform] as const),
  ])
  const isStaying = (id: string) => selectedPlatforms?.some((platform) => platform === platforms.get(id)) ?? true
  const accounts = change.selectedAccounts ?? post.selectedAccounts?.filter(isStaying) ?? []
  const groups = change.groups ?? keepAccounts(post.groups ?? [], isStaying)
  const defaults = entries.filter(({ target }) => target === undefined).map(({ platform }) => platform)
  const isThroughAccounts = (platform: Platform) =>
    !defaults.includes(platform) &&
    entries.some((entry) => entry.platform === platform) &&
    listNamed({ selectedAccounts: accounts, groups }).some(({ id }) => platforms.get(id) === platform)
  return {
    selectedPlatforms: selectedPlatforms?.filter((platform) => !isThroughAccounts(platform)) ?? defaults,
    selectedAccounts: [...accounts],
    groups: [...groups],
  }
}

function keepAccounts(groups: readonly PostGroup[], isStaying: (id: string) => boolean): PostGroup[] {
  return groups
    .map((group) => ({ ...group, accountIds: group.accountIds.filter(isStaying) }))
    .filter(({ accountIds }) => accountIds.length > 0)
}

/** Returns the named accounts of a selection, each once and with the path of its first mention. */
function listNamed({ selectedAccounts = [], groups = [] }: Omit<Selection, 'selectedPlatforms'>) {
  const all = [
    ...selectedAccounts.map((id, index) => ({ id, path: `selectedAccounts.${index}` })),
    ...groups.flatMap(({ accountIds }, index) => accountIds.map((id) => ({ id, path: `selectedGroups.${index}` }))),
  ]
  const ids = new Set<string>()
  return all.filter(({ id }) => !ids.has(id) && ids.add(id))
}

/**
 * Returns the accounts that a selection means, each once however often it is selected, and why it is not allowed. A platform without an
 * account is selected without one.
 * @param recorded entries that stay on the account that they record, also when it is gone or no longer the default one
 */
export function chooseAccounts(
  accounts: readonly SelectableAccount[],
  { selectedPlatforms, groups = [], ...selection }: Selection,
  recorded: readonly ChosenAccount[] = [],
): { chosen: ChosenAccount[]; problems: Problem[] } {
  const problems: Problem[] = []
  const defaults = selectedPlatforms.map((platform): ChosenAccount => {
    const earlier = recorded.find((one) => one.platform === platform && one.target === undefined && one.accountId)
    if (earlier) return earlier
    const account = accounts.find((one) => one.platform === platform && one.isDefault)
    return { platform, ...(account && describeSelected(account)) }
  })
  const named = listNamed({ ...selection, groups })
    .filter(({ id }) => !defaults.some(({ accountId }) => accountId === id))
    .flatMap(({ id, path }): ChosenAccount[] => {
      const account = accounts.find((one) => one._id === id)
      if (account) return [{ platform: account.platform, target: id, ...describeSelected(account) }]
      const earlier = recorded.find(({ target }) => target === id)
      if (earlier) return [earlier]
      const message = id === '' ? 'The id of an account is empty' : `You have no connected account ${id}`
      problems.push({ path, code: 'ACCOUNT_NOT_FOUND', message })
      return []
    })
  if (named.length > MAX_POST_ACCOUNTS) {
    const message = `The groups have more accounts than the ${MAX_POST_ACCOUNTS} that a post can have. Select fewer.`
    problems.push({ path: 'selectedGroups', code: 'TOO_LONG', message })
  }
  problems.push(
    ...groups.flatMap(({ name, accountIds }, index): Problem[] => {
      if (accountIds.length > 0) return []
      const message = `The group ${JSON.stringify(name)} has no accounts. Add accounts to it, or select others.`
      return [{ path: `selectedGroups.${index}`, code: 'GROUP_EMPTY', message }]
    }),
  )
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
