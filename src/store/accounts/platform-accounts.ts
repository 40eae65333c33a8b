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
  /** The last user of the previous page; null for the first page. */
  after: string | null
  endsBefore: Date
  limit: number
}

/** Stores platform accounts. Every write besides connecting and disconnecting is conditional on the version of the secrets. */
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

    /** Finds the user who connected a platform account, with the connection. */
    async findHolder(
      platform: Platform,
      accountId: string,
    ): Promise<{ userId: string; account: ConnectedAccount } | null> {
      // The query needs the type to match the partial index.
      const holder = await collection().findOne({ [`${platform}.accountId`]: { $eq: accountId, $type: 'string' } })
      const account = holder?.[platform]
      return holder && account?.connected ? { userId: holder.userId, account } : null
    },

    /**
     * A page of users with a connection that ends by then, in the order of their ids. It uses no index, because it runs once a
     * day over the whole collection.
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

    /** The platforms that the user has connected. */
    async connectedPlatforms(userId: string): Promise<Set<Platform>> {
      const accounts = await find(userId)
      return new Set(PLATFORMS.filter((platform) => accounts?.[platform]?.connected))
    },

    /** Deletes every connection and the record of earlier ones. */
    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },

    ...createAccountConnections({ model, find, now }),
    ...createAccountVersions({ model, now }),
  }
}

export type PlatformAccountStore = ReturnType<typeof createPlatformAccountStore>
