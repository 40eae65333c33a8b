import type { ClientSession } from 'mongoose'
import { ALL_OWNERS, type OwnerRange } from '../../domain/analytics/shards.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { anyOf } from '../shared/batching.ts'
import type { Database } from '../shared/database.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { toOwnerFilter } from '../shared/owners.ts'
import { newId } from '../shared/schema.ts'
import {
  alreadyConnected,
  connectAccounts,
  disconnectAccounts,
  type Connected,
  type Connections,
} from './account-changes.ts'
import { toAccountId, toPlatformAccountId } from './account-id.ts'
import {
  isConnected,
  type Account,
  type ConnectedAccount,
  type DisconnectedAccount,
  type UpdateVersion,
} from './account-records.ts'
import { accountCollection, type RecordAccountEvents } from './account-writes.ts'

const COLLECTION = 'platformAccounts'
const STATE = 'accountsState'
/** A process that was killed inside a transaction blocks its documents until MongoDB aborts the transaction, after a minute by default. */
const MAX_BLOCKED_MS = 2 * MINUTE

/** How older releases store an account: as a field of one document per user. */
type OlderAccount = (
  | (Omit<ConnectedAccount, 'platformId' | 'server' | OwnField> & { accountId: string; serviceUrl: string | null })
  | Omit<DisconnectedAccount, OwnField>
) & { endings?: Date[] }
type OwnField = '_id' | 'userId' | 'platform' | 'isDefault' | 'label' | 'exclusiveId'

type OlderAccounts = { _id: string; userId: string } & Partial<Record<Platform, OlderAccount>>

/** `areRecords`: new accounts are stored as records, so no document is created any more. `isMoved`: no document is left. */
interface State {
  _id: 'accounts'
  areRecords: boolean
  isMoved?: boolean
  writes?: number
}

interface OlderAccountsDeps {
  database: Pick<Database, 'connection' | 'transaction'>
  now(): Date
  isShared: boolean
  recordEvents: RecordAccountEvents
}

/** The accounts are stored as records by now. */
class AreRecords extends Error {}
class DocumentChanged extends Error {}

/**
 * Accounts as older releases store them: one per platform. While processes of such a release may run, nothing else is stored. `npm run setup
 * -- --finish-upgrade` then moves the documents of all users to records (ADR 40). A new database has no such documents.
 */
export function createOlderAccounts({ database, now, isShared, recordEvents }: OlderAccountsDeps) {
  const { connection } = database
  const documents = nativeCollection<OlderAccounts>(connection, COLLECTION)
  const records = accountCollection(connection)
  const states = nativeCollection<State>(connection, STATE)
  let isGone = false

  async function areGone(): Promise<boolean> {
    if (isGone) return true
    const exists = (await connection.db!.listCollections({ name: COLLECTION }, { nameOnly: true }).toArray()).length > 0
    isGone = !exists || (await states().findOne({ _id: 'accounts' }))?.isMoved === true
    return isGone
  }

  /**
   * Changes a user's document in a transaction that conflicts with the switch to records.
   * @returns null when accounts are stored as records
   */
  async function change<T extends { after: Account[] }>(
    userId: string,
    decide: (before: Account[], at: Date) => T,
  ): Promise<T | null> {
    await states().updateOne({ _id: 'accounts' }, { $setOnInsert: { areRecords: false } }, { upsert: true })
    for (;;) {
      try {
        return await database.transaction(async (session) => {
          const { matchedCount } = await states().updateOne(
            { _id: 'accounts', areRecords: false },
            { $inc: { writes: 1 } },
            { session },
          )
          if (matchedCount === 0) throw new AreRecords()
          const document = await documents().findOne({ userId }, { session })
          const at = now()
          const before = document ? toAccounts(document) : []
          const decided = decide(before, at)
          await write(userId, document, decided.after, session)
          await recordEvents(userId, { before, after: decided.after, at }, session)
          return decided
        })
      } catch (error) {
        if (error instanceof AreRecords) return null
        if (!(error instanceof DocumentChanged) && !isDuplicateKey(error, ['userId'])) throw error
      }
    }
  }

  async function write(
    userId: string,
    document: OlderAccounts | null,
    after: Account[],
    session: ClientSession,
  ): Promise<void> {
    const fields = toFields(after)
    if (!document) return void (await documents().insertOne({ _id: newId(), userId, ...fields }, { session }))
    const { matchedCount } = await documents().updateOne({ _id: document._id }, { $set: fields }, { session })
    if (matchedCount === 0) throw new DocumentChanged()
  }

  const update: UpdateVersion = async ({ userId, platform, version }, fields, { condition = {}, session } = {}) => {
    const { server, ...rest } = fields
    const changed = { ...rest, ...(server !== undefined && { serviceUrl: server }) }
    const { matchedCount } = await documents().updateOne(
      {
        userId,
        [`${platform}.connected`]: true,
        [`${platform}.version`]: version,
        ...prefixKeys(platform, condition),
      },
      { $set: prefixKeys(platform, changed) },
      { ...(session && { session }) },
    )
    return matchedCount === 1
  }

  /** Moves the accounts of a user to records. It may be repeated, by any number of processes. */
  /** Moves a user, and waits while a transaction of a killed process blocks the document. */
  async function moveWhenFree(userId: string): Promise<void> {
    for (const end = Date.now() + MAX_BLOCKED_MS; ;) {
      try {
        return await move(userId)
      } catch (error) {
        const isBlocked = error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE'
        if (!isBlocked || Date.now() > end) throw error
      }
    }
  }

  async function move(userId: string): Promise<void> {
    await database.transaction(async (session) => {
      const document = await documents().findOneAndDelete({ userId }, { session })
      if (!document) return
      const accounts = toAccounts(document).map((account) => ({ ...account, ...toExclusive(account) }))
      if (accounts.length > 0) await records().insertMany(accounts, { session })
    })
  }

  const toExclusive = (account: Account) =>
    account.connected && !isShared ? { exclusiveId: toPlatformAccountId(account) } : {}

  return {
    areGone,
    update,
    move,

    async list(userIds: string[]): Promise<Account[]> {
      return (
        await documents()
          .find({ userId: anyOf(userIds) })
          .toArray()
      ).flatMap(toAccounts)
    },

    /** The accounts of a page of users in `range`, in the order of their ids, with the last user; null after the last page. */
    async listPage(
      after: string | null,
      limit: number,
      range: OwnerRange = ALL_OWNERS,
    ): Promise<{ accounts: Account[]; last: string } | null> {
      const page = await documents()
        .find(toOwnerFilter({ ...range, ...(after !== null && { afterUserId: after }) }))
        .sort({ userId: 1 })
        .limit(limit)
        .toArray()
      return page.length === 0 ? null : { accounts: page.flatMap(toAccounts), last: page.at(-1)!.userId }
    },

    /** The connections of a platform account. */
    async findHolders(platform: Platform, platformId: string): Promise<ConnectedAccount[]> {
      // The query needs the type to match the partial index of older releases.
      const found = await documents()
        .find({ [`${platform}.accountId`]: { $eq: platformId, $type: 'string' } })
        .toArray()
      return found
        .flatMap(toAccounts)
        .filter(isConnected)
        .filter((account) => account.platform === platform)
    },

    /**
     * Like `connect` of the records, for one account per platform.
     * @returns null when accounts are stored as records
     */
    async connect(userId: string, connections: Connections): Promise<Connected | null> {
      try {
        const options = { replace: true, limit: Infinity }
        return await change(userId, (before, at) => connectAccounts(userId, before, connections, { ...options, at }))
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        const [index = ''] = Object.keys((error as { keyPattern?: object }).keyPattern ?? {})
        throw alreadyConnected(
          PLATFORMS.find((one) => index.startsWith(`${one}.`))!,
          error,
        )
      }
    },

    /** @returns the removed connections; null when accounts are stored as records */
    async disconnect(userId: string, ids: readonly string[]): Promise<ConnectedAccount[] | null> {
      return (await change(userId, (before, at) => disconnectAccounts(before, ids, at)))?.disconnected ?? null
    },

    /**
     * Moves all documents to records, after the last process of an older release has stopped. It may be interrupted and repeated.
     * @param beforeMove is called with the accounts of each user, maybe several times
     * @returns the number of moved users
     */
    async finish(beforeMove: (accounts: Account[]) => Promise<void> = async () => {}): Promise<number> {
      if (await areGone()) return 0
      await states().updateOne({ _id: 'accounts' }, { $set: { areRecords: true } }, { upsert: true })
      let moved = 0
      for await (const document of documents().find()) {
        await beforeMove(toAccounts(document))
        await moveWhenFree(document.userId)
        moved += 1
      }
      await states().updateOne({ _id: 'accounts' }, { $set: { isMoved: true } })
      return moved
    },

    /** Whether users may be moved, because no process of an older release runs. */
    mayMove: async (): Promise<boolean> => (await states().findOne({ _id: 'accounts' }))?.areRecords === true,

    async removeAllOf(userId: string): Promise<void> {
      await documents().deleteMany({ userId })
    },
  }
}

function toAccounts({ _id, userId, ...fields }: OlderAccounts): Account[] {
  return PLATFORMS.flatMap((platform): Account[] => {
    const stored = (fields as OlderAccounts)[platform]
    if (!stored) return []
    const { endings, version } = stored
    const kept = { userId, platform, version, ...(endings && { endings }) }
    // Its platform id is unknown, so another account never continues it.
    if (!stored.connected) return [{ ...kept, _id: `${_id}${platform}`, connected: false, isDefault: false }]
    const { accountId: platformId, serviceUrl: server, ...rest } = stored
    const id = toAccountId(userId, { platform, platformId, server })
    return [{ ...rest, ...kept, _id: id, connected: true, isDefault: true, platformId, server }]
  })
}

/** The fields of a user's document: on each platform the connected account, or else what remains of the latest one. */
function toFields(accounts: Account[]): Partial<Record<Platform, OlderAccount>> {
  const entries = PLATFORMS.flatMap((platform): [Platform, OlderAccount][] => {
    const mine = accounts.filter((account) => account.platform === platform)
    if (mine.length === 0) return []
    const endings = mine
      .flatMap((account) => account.endings ?? [])
      .toSorted((one, other) => Number(one) - Number(other))
    const kept = endings.length > 0 ? { endings } : {}
    const connected = mine.find(isConnected)
    if (!connected) {
      const version = Math.max(...mine.map((account) => account.version)) + 1
      return [[platform, { connected: false, version, ...kept }]]
    }
    const { _id, userId: _user, platform: _platform, isDefault: _default, label: _label, ...fields } = connected
    const { platformId: accountId, server: serviceUrl, exclusiveId: _exclusive, endings: _endings, ...rest } = fields
    return [[platform, { ...rest, accountId, serviceUrl, ...kept }]]
  })
  return Object.fromEntries(entries)
}

/** Puts the platform before each field name of a filter or an update. */
function prefixKeys(platform: Platform, fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) =>
      name.startsWith('$') && Array.isArray(value)
        ? [name, value.map((part) => prefixKeys(platform, part as Record<string, unknown>))]
        : [`${platform}.${name}`, value],
    ),
  )
}
