import mongoose, { type ClientSession, type Connection } from 'mongoose'
import type { StoredHealth } from '../../domain/accounts/account-health.ts'
import { PLATFORMS, platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { isDuplicateKey } from '../shared/database.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { anyOf, batchLoader } from '../shared/batching.ts'
import { accountsSchema } from './platform-account-schema.ts'
import { newId } from '../shared/schema.ts'

export interface AccountProfile {
  displayName: string
  handle: string
  avatar: string | null
  description?: string
}

/** The secrets of one connection, sealed for the account's `version`. */
export interface SealedAuth {
  accessToken: string
  /** Absent where a platform has none, and in what was stored before there were any. */
  tokenSecret?: string
  refreshToken: string | null
  /** When the access token ends. */
  expiresAt: Date | null
  /** When the connection ends unless it is renewed before. */
  endsAt: Date | null
}

/**
 * Who renews the tokens of `version`, until when. Without a holder it is a pause after a renewal that could not be made:
 * nobody tries before `until`.
 */
export interface RefreshLease {
  version: number
  holder: string | null
  until: Date
}

export interface ConnectedAccount {
  connected: true
  /** Grows with every change of the secrets and never repeats, over disconnecting and connecting again as well. */
  version: number
  /** The account's id on the platform, for Bluesky the DID. */
  accountId: string
  handle: string
  serviceUrl: string | null
  profile: AccountProfile
  health: StoredHealth
  connectedAt: Date
  auth: SealedAuth
  refreshLease: RefreshLease | null
  endings?: Date[]
}

/** What remains of a connection that was cut, so that versions go on growing. */
export interface DisconnectedAccount {
  connected: false
  version: number
  /** When accounts were disconnected or gave way to others, the latest of them; absent before the first. */
  endings?: Date[]
}

export type PlatformAccount = ConnectedAccount | DisconnectedAccount

/** The platform account document, one per user (spec section 2). */
export type PlatformAccounts = { _id: string; userId: string } & Partial<Record<Platform, PlatformAccount>>

/** Far more than anybody makes in the time that is looked back on. */
const MAX_ENDINGS = 50

/** What a new connection is made of; the store adds the rest. */
export type NewConnection = Pick<ConnectedAccount, 'accountId' | 'handle' | 'serviceUrl' | 'profile' | 'auth'>

/** Makes the connection with the secrets sealed for this version. */
export type Seal = (version: number) => NewConnection

export interface Replaced {
  platform: Platform
  account: ConnectedAccount
}

/** What a renewal brings. */
export type RenewedConnection = Pick<ConnectedAccount, 'handle' | 'serviceUrl' | 'auth'>

interface EndingQuery {
  /** The last user of the page before; null for the first page. */
  after: string | null
  endsBefore: Date
  limit: number
}

/**
 * Platform accounts. Every write but connecting and disconnecting is conditional on the version of the secrets it was made with,
 * and tells whether it applied: a late renewal or refusal never touches an account that was reconnected or disconnected meanwhile.
 */
export function createPlatformAccountStore(connection: Connection, now: () => Date) {
  const model = connection.model<PlatformAccounts>('PlatformAccounts', accountsSchema, 'platformAccounts')

  const collection = nativeCollection<PlatformAccounts>(connection, 'platformAccounts')

  const find = batchLoader<PlatformAccounts>(
    (userIds) =>
      collection()
        .find({ userId: anyOf(userIds) })
        .toArray(),
    ({ userId }) => userId,
  )

  async function findAccount(userId: string, platform: Platform): Promise<PlatformAccount | null> {
    return (await find(userId))?.[platform] ?? null
  }

  /** Sets fields of the connected account that still has this version. */
  async function change(
    userId: string,
    platform: Platform,
    version: number,
    fields: Fields,
    condition: object = {},
    session?: ClientSession,
  ) {
    const filter = { userId, [`${platform}.connected`]: true, [`${platform}.version`]: version, ...condition }
    const { matchedCount } = await model.updateOne(
      filter,
      { $set: under(platform, fields) },
      { ...(session && { session }) },
    )
    return matchedCount === 1
  }

  /** Puts whole accounts in the place of those there were, all of them, unless one changed its version meanwhile. */
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
    find,

    async findConnected(userId: string, platform: Platform): Promise<ConnectedAccount | null> {
      const account = await findAccount(userId, platform)
      return account?.connected ? account : null
    },

    /** The connection of a platform account, whosever it is. */
    async findHolder(
      platform: Platform,
      accountId: string,
    ): Promise<{ userId: string; account: ConnectedAccount } | null> {
      // Only with the type does the query fit the partial index.
      const holder = await collection().findOne({ [`${platform}.accountId`]: { $eq: accountId, $type: 'string' } })
      const account = holder?.[platform]
      return holder && account?.connected ? { userId: holder.userId, account } : null
    },

    /**
     * A page of the users with a connection that ends by then, in the order of their ids; without an index, since it is asked for
     * once a day and goes through the collection once.
     */
    listEnding: ({ after, endsBefore, limit }: EndingQuery): Promise<PlatformAccounts[]> =>
      collection()
        .find({
          ...(after !== null && { userId: { $gt: after } }),
          $or: PLATFORMS.map((platform) => ({ [`${platform}.auth.endsAt`]: { $lte: endsBefore } })),
        })
        .sort({ userId: 1 })
        .limit(limit)
        .toArray(),

    /** A page of all users who ever connected an account, in the order of their ids. */
    listAll: (after: string | null, limit: number): Promise<PlatformAccounts[]> =>
      collection()
        .find(after === null ? {} : { userId: { $gt: after } })
        .sort({ userId: 1 })
        .limit(limit)
        .toArray(),

    /** The platforms a post of this user could go to. */
    async connectedPlatforms(userId: string): Promise<Set<Platform>> {
      const accounts = await find(userId)
      return new Set(PLATFORMS.filter((platform) => accounts?.[platform]?.connected))
    },

    /**
     * Stores connections in the place of whatever there was, all of them or none, and returns those that were replaced. `seal` is
     * asked for a connection with the version it will have, again when another change came first; null in its place forgets one.
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
          if (seal) accounts[platform] = connectedAccount(known, seal, at)
          else if (known?.connected) accounts[platform] = disconnectedAccount(known, at)
        }
        try {
          if (await replace(userId, before, accounts)) return { accounts, replaced: replacedOf(before, accounts) }
        } catch (error) {
          if (!isDuplicateKey(error)) throw error
          throw alreadyConnected(error, Object.keys(connections) as Platform[])
        }
      }
    },

    /** Forgets the connection and its secrets; returns what was forgotten. */
    async disconnect(userId: string, platform: Platform): Promise<ConnectedAccount | null> {
      for (;;) {
        const before = await find(userId)
        const account = before?.[platform]
        if (!account?.connected) return null
        if (await replace(userId, before, { [platform]: disconnectedAccount(account, now()) })) return account
      }
    },

    /** Forgets every connection, and that there were any. */
    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },

    /** Saves renewed secrets, sealed for `version + 1`. */
    saveRenewed: (userId: string, platform: Platform, version: number, renewed: RenewedConnection): Promise<boolean> =>
      change(userId, platform, version, {
        ...renewed,
        version: version + 1,
        health: { status: 'active', lastError: null, checkedAt: now() },
        refreshLease: null,
      }),

    saveProfile: (userId: string, platform: Platform, version: number, profile: AccountProfile): Promise<boolean> =>
      change(userId, platform, version, {
        profile,
        handle: profile.handle,
        health: { status: 'active', lastError: null, checkedAt: now() },
      }),

    /** Marks a connection that the user has to make again; false also when it already was. */
    markBroken: (
      userId: string,
      platform: Platform,
      version: number,
      status: 'expired' | 'error',
      reason: string,
      session?: ClientSession,
    ): Promise<boolean> =>
      change(
        userId,
        platform,
        version,
        { health: { status, lastError: reason, checkedAt: now() }, refreshLease: null },
        { [`${platform}.health.status`]: mongoose.trusted({ $ne: status }) },
        session,
      ),

    /**
     * Takes the lease for renewing the secrets of `version`; false while another lease or pause of that version runs, and
     * once the connection has expired: who read the account before that must not ask the platform again.
     */
    takeLease: (userId: string, platform: Platform, version: number, holder: string, until: Date): Promise<boolean> =>
      change(
        userId,
        platform,
        version,
        { refreshLease: { version, holder, until } },
        {
          [`${platform}.health.status`]: mongoose.trusted({ $ne: 'expired' }),
          $or: [
            { [`${platform}.refreshLease`]: null },
            { [`${platform}.refreshLease.version`]: mongoose.trusted({ $ne: version }) },
            { [`${platform}.refreshLease.until`]: mongoose.trusted({ $lte: now() }) },
          ],
        },
      ),

    /** Gives the lease back after a renewal that could not be made; nobody takes it again before `until`. */
    pauseLease: (userId: string, platform: Platform, version: number, holder: string, until: Date): Promise<boolean> =>
      change(
        userId,
        platform,
        version,
        { refreshLease: { version, holder: null, until } },
        { [`${platform}.refreshLease.holder`]: holder },
      ),
  }
}

export type PlatformAccountStore = ReturnType<typeof createPlatformAccountStore>

function connectedAccount(known: PlatformAccount | undefined, seal: Seal, at: Date): ConnectedAccount {
  const version = (known?.version ?? 0) + 1
  const connection = seal(version)
  const isOther = known?.connected === true && known.accountId !== connection.accountId
  const endings = isOther ? endedAt(known, at) : known?.endings
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

function disconnectedAccount(account: ConnectedAccount, at: Date): DisconnectedAccount {
  return { connected: false, version: account.version + 1, endings: endedAt(account, at) }
}

function endedAt({ endings = [] }: ConnectedAccount, at: Date): Date[] {
  return [...endings, at].slice(-MAX_ENDINGS)
}

function replacedOf(before: PlatformAccounts | null, accounts: Partial<Record<Platform, PlatformAccount>>): Replaced[] {
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

type Fields = Partial<Omit<ConnectedAccount, 'connected' | 'accountId' | 'connectedAt'>>

function under(platform: Platform, fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${platform}.${name}`, value]))
}
