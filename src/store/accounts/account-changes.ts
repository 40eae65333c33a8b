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

/** The connections to store, by platform; null: the platform has no account to be connected with the others. */
export type Connections = Partial<Record<Platform, Seal | null>>

export interface ConnectOptions {
  /** Whether a new account takes the place of the platform's default account. */
  replace: boolean
  /** The number of accounts that the user may have connected. */
  limit: number
}

export interface Connected {
  /** The connected accounts, in the order of `connections`. */
  accounts: ConnectedAccount[]
  /** The connections that ended: of replaced accounts, and of those that were connected before. */
  replaced: ConnectedAccount[]
}

/** All accounts of a user after a change. */
type Changed<T = object> = T & { after: Account[] }

/**
 * Connects accounts: a connected one gets its new login, a new one replaces the default account of its platform or is added to it.
 * `seal` is called with the new version.
 * @throws ServiceError ACCOUNT_LIMIT_REACHED
 */
export function connectAccounts(
  userId: string,
  before: readonly Account[],
  connections: Connections,
  { replace, limit, at }: ConnectOptions & { at: Date },
): Changed<Connected> {
  const accounts: ConnectedAccount[] = []
  const replaced: ConnectedAccount[] = []
  const after = new Map(before.map((account) => [account._id, account]))
  for (const [platform, seal] of Object.entries(connections) as [Platform, Seal | null][]) {
    const mine = [...after.values()].filter((account) => account.platform === platform)
    const current = mine.filter(isConnected).find(({ isDefault }) => isDefault)
    if (!seal) {
      if (current && replace) end(current)
      continue
    }
    const version = Math.max(0, ...mine.map((account) => account.version)) + 1
    const connection = seal(version)
    const _id = toAccountId(userId, { platform, ...connection })
    const known = after.get(_id)
    if (known?.connected) replaced.push(known)
    else if (current && replace) end(current)
    const account: ConnectedAccount = {
      ...{ _id, userId, platform, connected: true, version, ...connection },
      isDefault: known?.connected ? known.isDefault : !current || replace,
      health: { status: 'active', lastError: null, checkedAt: at },
      connectedAt: at,
      refreshLease: null,
      followersDueAt: at,
      ...pickPreserved(known),
    }
    after.set(_id, account)
    accounts.push(account)
  }
  refuseTooMany(before, [...after.values()], limit)
  return { accounts, replaced, after: withDefaults([...after.values()]) }

  function end(account: ConnectedAccount): void {
    after.set(account._id, toDisconnected(account, at))
    replaced.push(account)
  }
}

/** Removes connections and their secrets. Another account of the platform becomes its default. */
export function disconnectAccounts(
  before: readonly Account[],
  ids: readonly string[],
  at: Date,
): Changed<{ disconnected: ConnectedAccount[] }> {
  const disconnected = before.filter(isConnected).filter(({ _id }) => ids.includes(_id))
  const after = before.map((account) =>
    account.connected && ids.includes(account._id) ? toDisconnected(account, at) : account,
  )
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
