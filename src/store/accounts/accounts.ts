import { deriveAccountEvents } from '../../domain/events/account-events.ts'
import type { Lane } from '../../domain/analytics/collection.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { anyOf, batchLoader } from '../shared/batching.ts'
import type { Connected, ConnectOptions, Login } from './account-changes.ts'
import { isConnected, type Account, type ConnectedAccount } from './account-records.ts'
import { accountSchema } from './account-schema.ts'
import { createAccountVersions } from './account-versions.ts'
import { accountCollection, ACCOUNTS, createAccountWrites, type RecordAccountChange } from './account-writes.ts'
import type { EventStore } from '../events/events.ts'
import type { GroupStore } from './groups.ts'
import type { SlotStore } from './slots.ts'
import type { ClientSession } from 'mongoose'
import type { Database } from '../shared/database.ts'

export type { Account, ConnectedAccount, NewConnection, Seal, SealedAuth } from './account-records.ts'

interface AccountStoreDeps {
  database: Database
  now(): Date
  /** Whether several users may connect the same account. */
  isShared?: boolean
  /** Called in each transaction that changes which accounts a user has, so that such changes conflict with each other. */
  lockUser?(userId: string, session: ClientSession): Promise<unknown>
  /** The feed of the users; without it no events are stored. */
  events?: EventStore
  /** The groups that disconnected accounts leave. */
  groups?: GroupStore
  /** The slots that end with their accounts. */
  slots?: SlotStore
}

interface AccountPage {
  accounts: ConnectedAccount[]
  /** Where the next page begins; null on the last page. */
  next: string | null
}

/** Stores connected accounts. Every write besides connecting and disconnecting is conditional on the version of the secrets. */
export function createAccountStore({
  database,
  now,
  isShared = false,
  lockUser = async () => {},
  events,
  groups,
  slots,
}: AccountStoreDeps) {
  const { connection } = database
  const model = connection.model<Account>('Account', accountSchema, ACCOUNTS)
  const collection = accountCollection(connection)
  const writes = createAccountWrites({ database, now, isShared, lockUser, recordChange })

  async function recordChange(...[userId, { before, after, at }, session]: Parameters<RecordAccountChange>) {
    const changes = deriveAccountEvents(before, after, at)
    if (changes.length > 0) await events?.append(userId, changes, session)
    const connected = new Set(after.filter(isConnected).map(({ _id }) => _id))
    const ended = before.filter((account) => isConnected(account) && !connected.has(account._id))
    if (ended.length === 0) return
    const ids = ended.map(({ _id }) => _id)
    await groups?.removeAccounts(userId, ids, session)
    await slots?.removeOf(userId, ids, session)
  }

  const load = batchLoader<{ userId: string; accounts: Account[] }>(
    async (userIds) => {
      const accounts = await collection()
        .find({ userId: anyOf(userIds) })
        .toArray()
      return [...Map.groupBy(accounts, ({ userId }) => userId)].map(toGroup)
    },
    ({ userId }) => userId,
  )

  /** All accounts that the user ever connected. */
  const list = async (userId: string): Promise<Account[]> => (await load(userId))?.accounts ?? []

  const listConnected = async (userId: string): Promise<ConnectedAccount[]> => (await list(userId)).filter(isConnected)

  return {
    list,
    listConnected,

    /** Finds the account that is meant where only the platform is named. */
    findDefault: async (userId: string, platform: Platform): Promise<ConnectedAccount | null> =>
      findDefault(await listConnected(userId), platform),

    async findOwn(userId: string, id: string): Promise<ConnectedAccount | null> {
      return (await listConnected(userId)).find(({ _id }) => _id === id) ?? null
    },

    /** Finds the connections of a platform account, by any user. */
    async findHolders(platform: Platform, platformId: string): Promise<ConnectedAccount[]> {
      // The query needs the type to match the partial index.
      const filter = { platform, platformId: { $eq: platformId, $type: 'string' as const } }
      return (await collection().find(filter).toArray()).filter(isConnected)
    },

    /** A page of connected accounts. `endsBefore`: only connections that end by then; no index is used, because it runs once a day. */
    async listPage(after: string | null, limit: number, endsBefore?: Date): Promise<AccountPage> {
      const accounts = await collection()
        .find({
          ...(after !== null && { _id: { $gt: after } }),
          connected: true,
          ...(endsBefore && { 'auth.endsAt': { $lte: endsBefore } }),
        })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray()
      const next = accounts.length < limit ? null : accounts.at(-1)!._id
      return { accounts: accounts.filter(isConnected), next }
    },

    /** Returns a server with accounts whose follower count is due, besides these; null for a platform without several. */
    async findDueServer(platform: Platform, except: (string | null)[], now: Date): Promise<string | null | undefined> {
      const due = toDueFilter({ platform, server: { $nin: except } }, now)
      const account = await collection().findOne(due, { projection: { connected: 1, server: 1 } })
      return account && isConnected(account) ? account.server : undefined
    },

    /** Claims the account in a lane whose follower count is due the longest: no other collector claims it before `until`. */
    async claimFollowers(
      lane: Lane,
      { now: dueBy, until }: { now: Date; until: Date },
    ): Promise<ConnectedAccount | null> {
      const account = await collection().findOneAndUpdate(
        toDueFilter(lane, dueBy),
        { $set: { followersDueAt: until } },
        { sort: { followersDueAt: 1 }, returnDocument: 'after' },
      )
      return account && isConnected(account) ? account : null
    },

    /** Plans the next follower count of a claimed account. It does nothing if the account was connected again meanwhile. */
    async planFollowers({ _id, followersDueAt }: ConnectedAccount, dueAt: Date): Promise<void> {
      await collection().updateOne({ _id, followersDueAt }, { $set: { followersDueAt: dueAt } })
    },

    /** The platforms on which the user has connected an account. */
    connectedPlatforms: async (userId: string): Promise<Set<Platform>> =>
      new Set((await listConnected(userId)).map(({ platform }) => platform)),

    /** The version for new secrets of one of these accounts. */
    async nextVersion(userId: string, platform: Platform): Promise<number> {
      const versions = (await list(userId)).filter((one) => one.platform === platform).map(({ version }) => version)
      return Math.max(0, ...versions) + 1
    },

    /**
     * Stores the accounts of a login that the user has proven to own, all or none.
     * @throws ServiceError ACCOUNT_ALREADY_CONNECTED when an account belongs to another user; ACCOUNT_LIMIT_REACHED
     */
    async connect(userId: string, login: Login, options: ConnectOptions): Promise<Connected> {
      const connected = await writes.connect(userId, login, options)
      events?.announce([userId])
      return connected
    },

    /**
     * Removes connections and their secrets, with those that came with the same logins.
     * @returns the removed connections
     */
    async disconnect(userId: string, ids: readonly string[]): Promise<ConnectedAccount[]> {
      const removed = await writes.disconnect(userId, ids)
      events?.announce([userId])
      return removed
    },

    /**
     * Changes what the user decides about an account.
     * @returns false when the user has no such connected account
     */
    updateOwn: writes.updateOwn,

    /** Deletes every connection and the record of earlier ones. */
    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },

    ...createAccountVersions({ model, now }),
  }
}

export type AccountStore = ReturnType<typeof createAccountStore>

export function findDefault(accounts: readonly Account[], platform: Platform): ConnectedAccount | null {
  return accounts.filter(isConnected).find((one) => one.platform === platform && one.isDefault) ?? null
}

function toDueFilter({ platform, server }: { platform: Platform; server: string | object | null }, now: Date) {
  return { connected: true, platform, server, followersDueAt: { $lte: now } }
}

function toGroup([userId, accounts]: [string, Account[]]) {
  return { userId, accounts }
}
