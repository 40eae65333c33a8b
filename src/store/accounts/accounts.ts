import { ServiceError } from '../../domain/shared/service-error.ts'
import { deriveAccountEvents } from '../../domain/events/account-events.ts'
import type { OwnerRange } from '../../domain/analytics/shards.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { anyOf, batchLoader } from '../shared/batching.ts'
import { alreadyConnected, type Connected, type Connections, type ConnectOptions } from './account-changes.ts'
import { isConnected, type Account, type ConnectedAccount, type Seal, type UpdateVersion } from './account-records.ts'
import { accountSchema } from './account-schema.ts'
import { createOwnerSample, toOwnerFilter } from '../shared/owners.ts'
import { createAccountVersions } from './account-versions.ts'
import { accountCollection, ACCOUNTS, createAccountWrites, type RecordAccountEvents } from './account-writes.ts'
import { createOlderAccounts } from './older-accounts.ts'
import type { EventStore } from '../events/events.ts'
import type { ClientSession } from 'mongoose'
import type { Database } from '../shared/database.ts'

export type { Account, ConnectedAccount, NewConnection, Seal, SealedAuth } from './account-records.ts'

interface AccountStoreDeps {
  database: Pick<Database, 'connection' | 'transaction'>
  now(): Date
  /** Whether several users may connect the same account. */
  isShared?: boolean
  /** Called in each transaction that changes which accounts a user has, so that such changes conflict with each other. */
  lockUser?(userId: string, session: ClientSession): Promise<unknown>
  /** The feed of the users; without it no events are stored. */
  events?: Pick<EventStore, 'append' | 'announce'>
}

interface AccountPage {
  accounts: ConnectedAccount[]
  /** Where the next page begins; null on the last page. */
  next: string | null
}

/** Begins the places of pages of records. Older releases place pages by users, and so do pages of what they stored. */
const RECORD = 'record/'

/** Stores connected accounts. Every write besides connecting and disconnecting is conditional on the version of the secrets. */
export function createAccountStore({
  database,
  now,
  isShared = false,
  lockUser = async () => {},
  events,
}: AccountStoreDeps) {
  const { connection } = database
  const model = connection.model<Account>('Account', accountSchema, ACCOUNTS)
  const collection = accountCollection(connection)
  const older = createOlderAccounts({ database, now, isShared, recordEvents })
  const records = createAccountWrites({ database, now, isShared, lockUser, recordEvents })

  async function recordEvents(...[userId, { before, after, at }, session]: Parameters<RecordAccountEvents>) {
    const changes = deriveAccountEvents(before, after, at)
    if (changes.length > 0) await events?.append(userId, changes, session)
  }

  const load = batchLoader<{ userId: string; accounts: Account[] }>(
    async (userIds) => [...Map.groupBy(await readAll(userIds), ({ userId }) => userId)].map(toGroup),
    ({ userId }) => userId,
  )

  async function readAll(userIds: string[]): Promise<Account[]> {
    const read = () =>
      collection()
        .find({ userId: anyOf(userIds) })
        .toArray()
    if (await older.areGone()) return read()
    // In this order, a user whose accounts are moved meanwhile is found in both places rather than in none.
    const notMoved = await older.list(userIds)
    const accounts = await read()
    const moved = new Set(accounts.map(({ userId }) => userId))
    return [...accounts, ...notMoved.filter(({ userId }) => !moved.has(userId))]
  }

  /** The page of accounts that older releases stored; null after the last one. */
  async function listOlder(
    after: string | null,
    limit: number,
    { isWanted, range }: { isWanted: (account: ConnectedAccount) => boolean; range?: OwnerRange },
  ): Promise<AccountPage | null> {
    if (toRecordPlace(after) !== null || (await older.areGone())) return null
    const page = await older.listPage(after, limit, range)
    return page && { accounts: page.accounts.filter(isConnected).filter(isWanted), next: page.last }
  }

  /** All accounts that the user ever connected. */
  const list = async (userId: string): Promise<Account[]> => (await load(userId))?.accounts ?? []

  const listConnected = async (userId: string): Promise<ConnectedAccount[]> => (await list(userId)).filter(isConnected)

  const updateRecord: UpdateVersion = async (version, fields, { condition, session } = {}) => {
    const { userId, platform } = version
    const { matchedCount } = await model.updateOne(
      { userId, platform, version: version.version, connected: true, ...condition },
      { $set: fields },
      { ...(session && { session }) },
    )
    return matchedCount === 1
  }

  /** Accounts only move from the older form, so the record is tried last. */
  const update: UpdateVersion = async (...args) =>
    (!(await older.areGone()) && (await older.update(...args))) || (await updateRecord(...args))

  /** Runs a change that older releases could not understand. */
  async function changeRecords<T>(userId: string, change: () => Promise<T>): Promise<T> {
    await moveIfAllowed(userId)
    return change()
  }

  async function moveIfAllowed(userId: string): Promise<void> {
    if (await older.areGone()) return
    await assertSeveralAllowed()
    await older.move(userId)
  }

  /** @throws ServiceError SERVICE_UNAVAILABLE while processes of an older release may run, which know one account per platform */
  async function assertSeveralAllowed(): Promise<void> {
    if ((await older.areGone()) || (await older.mayMove())) return
    const message = 'This is available once the operator has finished an upgrade. Try again later.'
    throw new ServiceError('SERVICE_UNAVAILABLE', message)
  }

  /** The index of the records does not include the accounts of users that are not moved yet. */
  async function refuseNotMovedHolders(userId: string, connections: Connections): Promise<void> {
    if (isShared) return
    for (const [platform, seal] of Object.entries(connections) as [Platform, Seal | null][]) {
      const holders = seal ? await older.findHolders(platform, seal(0).platformId) : []
      if (holders.some((holder) => holder.userId !== userId)) throw alreadyConnected(platform)
    }
  }

  async function connect(userId: string, connections: Connections, options: ConnectOptions): Promise<Connected> {
    if (await older.areGone()) return records.connect(userId, connections, options)
    if (options.replace) {
      const connected = await older.connect(userId, connections)
      if (connected) return connected
    }
    await refuseNotMovedHolders(userId, connections)
    return changeRecords(userId, () => records.connect(userId, connections, options))
  }

  async function disconnect(userId: string, ids: readonly string[]): Promise<ConnectedAccount[]> {
    if (await older.areGone()) return records.disconnect(userId, ids)
    const removed = await older.disconnect(userId, ids)
    return removed ?? changeRecords(userId, () => records.disconnect(userId, ids))
  }

  return {
    list,
    listConnected,
    assertSeveralAllowed,

    /** Finds the account that is meant where only the platform is named. */
    findDefault: async (userId: string, platform: Platform): Promise<ConnectedAccount | null> =>
      findDefault(await listConnected(userId), platform),

    async findOwn(userId: string, id: string): Promise<ConnectedAccount | null> {
      return (await listConnected(userId)).find(({ _id }) => _id === id) ?? null
    },

    /** Finds the connections of a platform account, by any user. */
    async findHolders(platform: Platform, platformId: string): Promise<ConnectedAccount[]> {
      const olderHolders = (await older.areGone()) ? [] : await older.findHolders(platform, platformId)
      // The query needs the type to match the partial index.
      const filter = { platform, platformId: { $eq: platformId, $type: 'string' as const } }
      return [...olderHolders, ...(await collection().find(filter).toArray()).filter(isConnected)]
    },

    /** A page of connected accounts. `endsBefore`: only connections that end by then; no index is used, because it runs once a day. */
    async listPage(after: string | null, limit: number, endsBefore?: Date): Promise<AccountPage> {
      const isWanted = ({ auth }: ConnectedAccount) =>
        endsBefore === undefined || (auth.endsAt !== null && auth.endsAt <= endsBefore)
      const olderPage = await listOlder(after, limit, { isWanted })
      if (olderPage) return olderPage
      const last = toRecordPlace(after)
      const accounts = await collection()
        .find({
          ...(last !== null && { _id: { $gt: last } }),
          connected: true,
          ...(endsBefore && { 'auth.endsAt': { $lte: endsBefore } }),
        })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray()
      const next = accounts.length < limit ? null : RECORD + accounts.at(-1)!._id
      return { accounts: accounts.filter(isConnected), next }
    },

    /** A page of the accounts that owners in a range have connected on a platform, in the order of their owners. */
    async listOfOwners(
      { platform, range }: { platform: Platform; range: OwnerRange },
      after: string | null,
      limit: number,
    ): Promise<AccountPage> {
      const isWanted = (account: ConnectedAccount) => account.platform === platform
      const olderPage = await listOlder(after, limit, { isWanted, range })
      if (olderPage) return olderPage
      const [userId, version] = toRecordPlace(after)?.split('/') ?? []
      // The rest of the owner who was last on the page before, then the owners after them, in the order of the unique index.
      const rest = userId === undefined ? [] : [{ userId, version: { $gt: Number(version) } }]
      const others = toOwnerFilter({ ...range, ...(userId !== undefined && { afterUserId: userId }) })
      const accounts = await collection()
        .find({ platform, connected: true, $or: [...rest, others] })
        .sort({ userId: 1, platform: 1, version: 1 })
        .limit(limit)
        .toArray()
      const last = accounts.at(-1)
      const next = accounts.length < limit || !last ? null : `${RECORD}${last.userId}/${last.version}`
      return { accounts: accounts.filter(isConnected), next }
    },

    ...createOwnerSample(connection, ACCOUNTS),

    /** The platforms on which the user has connected an account. */
    connectedPlatforms: async (userId: string): Promise<Set<Platform>> =>
      new Set((await listConnected(userId)).map(({ platform }) => platform)),

    /** The version for new secrets of one of these accounts. */
    async nextVersion(userId: string, platform: Platform): Promise<number> {
      const versions = (await list(userId)).filter((one) => one.platform === platform).map(({ version }) => version)
      return Math.max(0, ...versions) + 1
    },

    /**
     * Stores accounts that the user has proven to own, all or none.
     * @throws ServiceError ACCOUNT_ALREADY_CONNECTED when an account belongs to another user; ACCOUNT_LIMIT_REACHED; SERVICE_UNAVAILABLE while
     * only one account per platform can be stored
     */
    async connect(userId: string, connections: Connections, options: ConnectOptions): Promise<Connected> {
      const connected = await connect(userId, connections, options)
      events?.announce([userId])
      return connected
    },

    /**
     * Removes connections and their secrets.
     * @returns the removed connections
     */
    async disconnect(userId: string, ids: readonly string[]): Promise<ConnectedAccount[]> {
      const removed = await disconnect(userId, ids)
      events?.announce([userId])
      return removed
    },

    /**
     * Changes what the user decides about an account.
     * @returns false when the user has no such connected account
     */
    updateOwn: (userId: string, id: string, choice: { isDefault?: true; label?: string | null }): Promise<boolean> =>
      changeRecords(userId, () => records.updateOwn(userId, id, choice)),

    /** Deletes every connection and the record of earlier ones. */
    async removeAllOf(userId: string): Promise<void> {
      await older.removeAllOf(userId)
      await collection().deleteMany({ userId })
    },

    /** Moves what older releases stored, once none of their processes runs. See `finish` of the older accounts. */
    finishUpgrade: older.finish,

    /** False while accounts may be stored as older releases do. */
    isUpgradeFinished: (): Promise<boolean> => older.areGone(),

    ...createAccountVersions({ update, now }),
  }
}

export type AccountStore = ReturnType<typeof createAccountStore>

function toRecordPlace(after: string | null): string | null {
  return after?.startsWith(RECORD) ? after.slice(RECORD.length) : null
}

export function findDefault(accounts: readonly Account[], platform: Platform): ConnectedAccount | null {
  return accounts.filter(isConnected).find((one) => one.platform === platform && one.isDefault) ?? null
}

function toGroup([userId, accounts]: [string, Account[]]) {
  return { userId, accounts }
}
