import type { Model } from 'mongoose'
import { PLATFORMS, platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { newId } from '../shared/schema.ts'
import type {
  ConnectedAccount,
  DisconnectedAccount,
  PlatformAccount,
  PlatformAccounts,
  Replaced,
  Seal,
} from './platform-account-records.ts'

/** More endings than any user has in the longest analytics period. */
const MAX_ENDINGS = 50

interface AccountConnectionsDeps {
  model: Model<PlatformAccounts>
  find(userId: string): Promise<PlatformAccounts | null>
  now(): Date
}

/** Connects and disconnects accounts. Every write is conditional on the versions that it replaces. */
export function createAccountConnections({ model, find, now }: AccountConnectionsDeps) {
  /** Replaces whole accounts, all or none, unless the version of one has changed. */
  async function replace(
    userId: string,
    before: PlatformAccounts | null,
    accounts: Partial<Record<Platform, PlatformAccount>>,
  ) {
    const platforms = PLATFORMS.filter((platform) => accounts[platform])
    const versions = platforms.map((platform) => [`${platform}.version`, before?.[platform]?.version ?? null])
    const { matchedCount } = await model.updateOne({ userId, ...Object.fromEntries(versions) }, { $set: accounts })
    return matchedCount === 1
  }

  return {
    /**
     * Stores connections in place of existing ones, all or none, and returns the replaced ones. `seal` is called with the new
     * version, again after a concurrent change. A null removes the connection.
     * @throws ServiceError ACCOUNT_ALREADY_CONNECTED when a platform account belongs to another user
     */
    async connect(
      userId: string,
      connections: Partial<Record<Platform, Seal | null>>,
    ): Promise<{ accounts: Partial<Record<Platform, PlatformAccount>>; replaced: Replaced[] }> {
      await model.updateOne({ userId }, { $setOnInsert: { _id: newId() } }, { upsert: true })
      for (;;) {
        const before = await find(userId)
        const at = now()
        const accounts: Partial<Record<Platform, PlatformAccount>> = {}
        for (const [platform, seal] of Object.entries(connections) as [Platform, Seal | null][]) {
          const known = before?.[platform]
          if (seal) accounts[platform] = buildConnectedAccount(known, seal, at)
          else if (known?.connected) accounts[platform] = buildDisconnectedAccount(known, at)
        }
        try {
          if (await replace(userId, before, accounts)) return { accounts, replaced: findReplaced(before, accounts) }
        } catch (error) {
          if (!isDuplicateKey(error)) throw error
          throw alreadyConnected(error, Object.keys(connections) as Platform[])
        }
      }
    },

    /**
     * Removes the connection and its secrets.
     * @returns the removed connection; null when there was none
     */
    async disconnect(userId: string, platform: Platform): Promise<ConnectedAccount | null> {
      for (;;) {
        const before = await find(userId)
        const account = before?.[platform]
        if (!account?.connected) return null
        if (await replace(userId, before, { [platform]: buildDisconnectedAccount(account, now()) })) return account
      }
    },
  }
}

function buildConnectedAccount(known: PlatformAccount | undefined, seal: Seal, at: Date): ConnectedAccount {
  const version = (known?.version ?? 0) + 1
  const connection = seal(version)
  const isOther = known?.connected === true && known.accountId !== connection.accountId
  const endings = isOther ? addEnding(known, at) : known?.endings
  return {
    connected: true,
    version,
    ...connection,
    health: { status: 'active', lastError: null, checkedAt: at },
    connectedAt: at,
    refreshLease: null,
    ...(endings && { endings }),
  }
}

function buildDisconnectedAccount(account: ConnectedAccount, at: Date): DisconnectedAccount {
  return { connected: false, version: account.version + 1, endings: addEnding(account, at) }
}

function addEnding({ endings = [] }: ConnectedAccount, at: Date): Date[] {
  return [...endings, at].slice(-MAX_ENDINGS)
}

function findReplaced(
  before: PlatformAccounts | null,
  accounts: Partial<Record<Platform, PlatformAccount>>,
): Replaced[] {
  return (Object.keys(accounts) as Platform[]).flatMap((platform) => {
    const account = before?.[platform]
    return account?.connected ? [{ platform, account }] : []
  })
}

function alreadyConnected(error: unknown, platforms: Platform[]): ServiceError {
  const [index = ''] = Object.keys((error as { keyPattern?: object }).keyPattern ?? {})
  const platform = platforms.find((one) => index.startsWith(`${one}.`)) ?? platforms[0]!
  const message = `This ${platformLabel(platform)} account is already connected by another user`
  return new ServiceError('ACCOUNT_ALREADY_CONNECTED', message, { cause: error })
}
