import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { toAccountId } from './account-id.ts'
import {
  isConnected,
  type Account,
  type ConnectedAccount,
  type DisconnectedAccount,
  type Seal,
} from './account-records.ts'

/** More endings than any user has in the longest analytics period. */
const MAX_ENDINGS = 50

/** The accounts that one login connects. */
export interface Login {
  platform: Platform
  seal: Seal
  /** Accounts of other platforms that come with it; null: there is none any more, absent: as before. */
  companions?: Partial<Record<Platform, Seal | null>>
}

export interface ConnectOptions {
  /** Whether a new account takes the place of the platform's default account. */
  replace: boolean
  /** The number of accounts that the user may have connected. */
  limit: number
}

export interface Connected {
  /** The connected accounts, that of the login's platform first. */
  accounts: ConnectedAccount[]
  /** The connections that ended: of replaced accounts, and of those that were connected before. */
  replaced: ConnectedAccount[]
}

/** All accounts of a user after a change. */
type Changed<T = object> = T & { after: Account[] }

/**
 * Connects the accounts of a login: a connected one gets its new login, a new one replaces the default account of its platform or is added to
 * it. Companions replace only companions of the same account, since those of another login are not theirs. `seal` is called with the new version.
 * @throws ServiceError ACCOUNT_LIMIT_REACHED
 */
export function connectAccounts(
  userId: string,
  before: readonly Account[],
  { platform, seal, companions = {} }: Login,
  { replace, limit, at }: ConnectOptions & { at: Date },
): Changed<Connected> {
  const replaced: ConnectedAccount[] = []
  const after = new Map(before.map((account) => [account._id, account]))
  const main = sealNew(platform, seal)
  const others = (Object.entries(companions) as [Platform, Seal | null][]).flatMap(([one, sealOne]) =>
    sealOne ? sealNew(one, sealOne) : [],
  )
  const isNew = ({ _id }: Account) => [main, ...others].some((one) => one._id === _id)
  const listConnected = (one?: Platform) =>
    [...after.values()].filter(isConnected).filter((account) => one === undefined || account.platform === one)

  const current = listConnected(platform).find(({ isDefault }) => isDefault)
  const isReplacing = replace && !after.get(main._id)?.connected
  if (current && isReplacing) end(current)
  for (const account of listConnected()) {
    const isRenewed = account.companionOf === main._id && account.platform in companions
    const isLeft = isRenewed || (isReplacing && account.companionOf === current?._id)
    if (account.companionOf !== undefined && isLeft && !isNew(account)) end(account)
  }
  const accounts = [put(main, {}), ...others.map((one) => put(one, { companionOf: main._id }))]
  refuseTooMany(before, [...after.values()], limit)
  return { accounts, replaced, after: withDefaults([...after.values()]) }

  function sealNew(one: Platform, sealOne: Seal) {
    const versions = before.filter((account) => account.platform === one).map(({ version }) => version)
    const version = Math.max(0, ...versions) + 1
    const connection = sealOne(version)
    return { _id: toAccountId(userId, { platform: one, ...connection }), platform: one, version, ...connection }
  }

  function put(
    { problem = null, ...one }: ReturnType<typeof sealNew>,
    companion: Pick<ConnectedAccount, 'companionOf'>,
  ): ConnectedAccount {
    const known = after.get(one._id)
    if (known?.connected) replaced.push(known)
    const account: ConnectedAccount = {
      ...{ ...one, ...companion, userId, connected: true },
      isDefault: known?.connected ? known.isDefault : !listConnected(one.platform).some(({ isDefault }) => isDefault),
      health: { status: problem === null ? 'active' : 'error', lastError: problem, checkedAt: at },
      connectedAt: at,
      refreshLease: null,
      followersDueAt: at,
      ...pickPreserved(known),
    }
    after.set(one._id, account)
    return account
  }

  function end(account: ConnectedAccount): void {
    after.set(account._id, toDisconnected(account, at))
    replaced.push(account)
  }
}

/** Removes connections and their secrets, with their companions. Another account of the platform becomes its default. */
export function disconnectAccounts(
  before: readonly Account[],
  ids: readonly string[],
  at: Date,
): Changed<{ disconnected: ConnectedAccount[] }> {
  const disconnected = before
    .filter(isConnected)
    .filter(({ _id, companionOf }) => ids.includes(_id) || (companionOf !== undefined && ids.includes(companionOf)))
  const ended = new Map(disconnected.map((account) => [account._id, toDisconnected(account, at)]))
  const after = before.map((account) => ended.get(account._id) ?? account)
  return { disconnected, after: withDefaults(after) }
}

/** Makes a connected account the default of its platform. */
export function chooseDefault(before: readonly Account[], { _id, platform }: ConnectedAccount): Changed {
  return {
    after: before.map((account) => {
      const isDefault = account.platform === platform ? account._id === _id : account.isDefault
      return account.isDefault === isDefault ? account : { ...account, isDefault }
    }),
  }
}

/** Makes the account that was connected first the default, on platforms that have lost theirs. */
function withDefaults(accounts: Account[]): Account[] {
  const missing = new Map<Platform, ConnectedAccount>()
  for (const account of accounts.filter(isConnected)) {
    const hasDefault = accounts.some((one) => one.platform === account.platform && one.isDefault)
    const first = missing.get(account.platform)
    if (!hasDefault && (!first || account.connectedAt < first.connectedAt)) missing.set(account.platform, account)
  }
  return accounts.map((account) =>
    missing.get(account.platform) === account ? { ...account, isDefault: true } : account,
  )
}

function toDisconnected(account: ConnectedAccount, at: Date): DisconnectedAccount {
  const { _id, userId, platform, version, label } = account
  const endings = [...(account.endings ?? []), at].slice(-MAX_ENDINGS)
  return { _id, userId, platform, connected: false, version, isDefault: false, ...(label && { label }), endings }
}

function pickPreserved(known: Account | undefined): Pick<Account, 'label' | 'endings'> {
  return {
    ...(known?.label !== undefined && { label: known.label }),
    ...(known?.endings && { endings: known.endings }),
  }
}

function refuseTooMany(before: readonly Account[], after: readonly Account[], limit: number): void {
  const count = after.filter(isConnected).length
  if (count <= limit || count <= before.filter(isConnected).length) return
  throw new ServiceError(
    'ACCOUNT_LIMIT_REACHED',
    `Your plan allows ${limit} connected accounts. Disconnect one, or upgrade your plan.`,
    { details: { usage: count - 1, limit } },
  )
}

export function alreadyConnected(platform: Platform, cause?: unknown): ServiceError {
  const message = `This ${platformLabel(platform)} account is already connected by another user`
  return new ServiceError('ACCOUNT_ALREADY_CONNECTED', message, { cause })
}
