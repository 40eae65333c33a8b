import type { Connection } from 'mongoose'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { anyOf, batchLoader } from '../shared/batching.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { createAccountConnections } from './account-connections.ts'
import { createAccountVersions } from './account-versions.ts'
import type { ConnectedAccount, PlatformAccount, PlatformAccounts } from './platform-account-records.ts'
import { accountsSchema } from './platform-account-schema.ts'

export type {
  ConnectedAccount,
  NewConnection,
  PlatformAccount,
  PlatformAccounts,
  Seal,
  SealedAuth,
} from './platform-account-records.ts'

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

    /** Forgets every connection, and that there were any. */
    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },

    ...createAccountConnections({ model, find, now }),
    ...createAccountVersions({ model, now }),
  }
}

export type PlatformAccountStore = ReturnType<typeof createPlatformAccountStore>
