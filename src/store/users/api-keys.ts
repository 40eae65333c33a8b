import { Schema, type ClientSession, type Connection } from 'mongoose'
import { MAX_API_KEYS, toUsedHour, type ApiKey } from '../../domain/users/api-keys.ts'
import { anyOf, batchLoader } from '../shared/batching.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions } from '../shared/schema.ts'

const apiKeySchema = new Schema<ApiKey>(
  {
    _id: required(String),
    keyId: required(String),
    userId: required(String),
    name: required(String),
    scopes: { type: [String], required: true },
    lastCharacters: required(String),
    createdAt: required(Date),
    expiresAt: nullable(Date),
    lastUsedAt: nullable(Date),
    lastUsedNetwork: nullable(String),
  },
  schemaOptions,
)

apiKeySchema.index({ userId: 1, createdAt: -1 })
// Keys without an expiry stay.
apiKeySchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

/** Stores API keys under their hashes. */
export function createApiKeyStore(connection: Connection, now: () => Date) {
  connection.model<ApiKey>('ApiKey', apiKeySchema, 'apiKeys')

  const collection = nativeCollection<ApiKey>(connection, 'apiKeys')

  /** Selects the keys that have not expired; the database removes the others up to a minute later. */
  const toActiveFilter = (userId: string) => ({
    userId,
    $or: [{ expiresAt: null }, { expiresAt: { $gt: now() } }],
  })

  return {
    /** Reads a key by its hash. Concurrent reads share a query, because every request with a key needs one. */
    find: batchLoader<ApiKey>(
      (hashes) =>
        collection()
          .find({ _id: anyOf(hashes) })
          .toArray(),
      ({ _id }) => _id,
    ),

    /** Returns false when the user has the largest number of keys. Callers lock the user, so that concurrent calls are counted. */
    async insert(key: ApiKey, session: ClientSession): Promise<boolean> {
      const count = await collection().countDocuments(toActiveFilter(key.userId), { session })
      if (count >= MAX_API_KEYS) return false
      await collection().insertOne(key, { session })
      return true
    },

    /** The active keys of the user, newest first. */
    listOf: (userId: string): Promise<ApiKey[]> =>
      collection().find(toActiveFilter(userId)).sort({ createdAt: -1, _id: -1 }).toArray(),

    /** Returns false when the user has no such key. */
    async removeOwned(userId: string, keyId: string): Promise<boolean> {
      const { deletedCount } = await collection().deleteOne({ userId, keyId })
      return deletedCount === 1
    },

    /** Stores a use in this hour, unless one is stored. */
    async recordUse({ _id }: Pick<ApiKey, '_id'>, network: string | null): Promise<void> {
      const lastUsedAt = toUsedHour(now())
      await collection().updateOne(
        { _id, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lt: lastUsedAt } }] },
        { $set: { lastUsedAt, lastUsedNetwork: network } },
      )
    },

    async removeAllOf(userId: string, session?: ClientSession): Promise<void> {
      await collection().deleteMany({ userId }, { ...(session && { session }) })
    },
  }
}

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>
