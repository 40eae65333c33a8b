import type { ClientSession, Connection } from 'mongoose'
import { isDuplicateKey } from '../mongo-errors.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import type { Database } from '../shared/database.ts'
import {
  alreadyConnected,
  chooseDefault,
  connectAccounts,
  disconnectAccounts,
  type Connected,
  type Login,
  type ConnectOptions,
} from './account-changes.ts'
import { toPlatformAccountId } from './account-id.ts'
import { isConnected, type Account, type ConnectedAccount } from './account-records.ts'

export const ACCOUNTS = 'accounts'

interface AccountWritesDeps {
  database: Database
  now(): Date
  /** Whether several users may connect the same account. */
  isShared: boolean
  /** Called in each transaction, so that changes of one user conflict with each other. */
  lockUser(userId: string, session: ClientSession): Promise<unknown>
  /** Called in each transaction, to store what follows from the change. */
  recordChange: RecordAccountChange
}

export type RecordAccountChange = (
  userId: string,
  change: { before: readonly Account[]; after: readonly Account[]; at: Date },
  session: ClientSession,
) => Promise<void>

/** Another process changed the accounts of the user after they were read. */
class AccountsChanged extends Error {}

/** Changes which accounts a user has. Each change is one transaction; it begins again when an account changes meanwhile. */
export function createAccountWrites({ database, now, isShared, lockUser, recordChange }: AccountWritesDeps) {
  const collection = accountCollection(database.connection)

  async function change<T extends { after: Account[] }>(
    userId: string,
    decide: (before: Account[], at: Date) => T,
  ): Promise<T> {
    for (;;) {
      try {
        return await database.transaction(async (session) => {
          await lockUser(userId, session)
          const before = await collection().find({ userId }, { session }).toArray()
          const at = now()
          const decided = decide(before, at)
          await write(before, decided.after, session)
          await recordChange(userId, { before, after: decided.after, at }, session)
          return decided
        }, userId)
      } catch (error) {
        if (error instanceof AccountsChanged || isDuplicateKey(error, ['version', '_id', 'userId'])) continue
        throw error
      }
    }
  }

  async function write(before: Account[], after: Account[], session: ClientSession): Promise<void> {
    const known = new Map(before.map((account) => [account._id, account]))
    const changed = after.filter((account) => known.get(account._id) !== account)
    // No moment has two defaults of a platform.
    for (const account of changed.toSorted((one, other) => Number(one.isDefault) - Number(other.isDefault))) {
      const stored = { ...account, ...toExclusive(account) }
      const earlier = known.get(account._id)
      if (!earlier) await collection().insertOne(stored, { session })
      else if (earlier.version === account.version && account.connected) {
        await assertMatched(collection().updateOne(toFilter(earlier), toFreeUpdate(account), { session }))
      } else await assertMatched(collection().replaceOne(toFilter(earlier), stored, { session }))
    }
  }

  const toExclusive = (account: Account) =>
    account.connected && !isShared ? { exclusiveId: toPlatformAccountId(account) } : {}

  return {
    /** @throws ServiceError ACCOUNT_ALREADY_CONNECTED when an account belongs to another user; ACCOUNT_LIMIT_REACHED */
    async connect(userId: string, login: Login, options: ConnectOptions): Promise<Connected> {
      try {
        return await change(userId, (before, at) => connectAccounts(userId, before, login, { ...options, at }))
      } catch (error) {
        if (!isDuplicateKey(error, ['exclusiveId'])) throw error
        const [platform] = JSON.parse((error as { keyValue: { exclusiveId: string } }).keyValue.exclusiveId)
        throw alreadyConnected(platform, error)
      }
    },

    /** @returns the removed connections */
    async disconnect(userId: string, ids: readonly string[]): Promise<ConnectedAccount[]> {
      return (await change(userId, (before, at) => disconnectAccounts(before, ids, at))).disconnected
    },

    /** @returns false when the user has no such connected account */
    async updateOwn(
      userId: string,
      id: string,
      { isDefault, label }: { isDefault?: true; label?: string | null },
    ): Promise<boolean> {
      const { isFound } = await change(userId, (before) => {
        const account = before.filter(isConnected).find(({ _id }) => _id === id)
        if (!account) return { after: before, isFound: false }
        const { after } = isDefault ? chooseDefault(before, account) : { after: before }
        return {
          after: label === undefined ? after : after.map((one) => (one._id === id ? relabel(one, label) : one)),
          isFound: true,
        }
      })
      return isFound
    },
  }
}

export function accountCollection(connection: Connection) {
  return nativeCollection<Account>(connection, ACCOUNTS)
}

/** Changes the fields that have nothing to do with the version, since a renewal may change the others at the same time. */
function toFreeUpdate({ isDefault, label }: Account) {
  return label === undefined ? { $set: { isDefault }, $unset: { label: '' as const } } : { $set: { isDefault, label } }
}

function relabel(account: Account, label: string | null): Account {
  const { label: _, ...rest } = account
  return label === null ? rest : { ...rest, label }
}

const toFilter = ({ _id, version, connected }: Account) => ({ _id, version, connected })

async function assertMatched(writing: Promise<{ matchedCount?: number }>): Promise<void> {
  if ((await writing).matchedCount !== 1) throw new AccountsChanged()
}
