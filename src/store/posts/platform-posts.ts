import { Schema, type ClientSession, type Connection } from 'mongoose'
import type { Post } from '../../domain/posts/post.ts'
import { batcher } from '../shared/batching.ts'
import { insertMissing } from '../shared/insert-missing.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { required, schemaOptions } from '../shared/schema.ts'

/** A post on a platform and the post of ours that it belongs to. */
export interface PlatformPost {
  /** See `toPublishedKey`. */
  _id: string
  userId: string
  postId: string
}

const platformPostSchema = new Schema<PlatformPost>(
  { _id: required(String), userId: required(String), postId: required(String) },
  schemaOptions,
)

platformPostSchema.index({ userId: 1 })

/**
 * Records which post of ours each platform post belongs to: the first that claims it, of any user (docs/design/exactly-once.md). Posts are
 * sharded by user, and a unique index of them cannot span shards.
 */
export function createPlatformPosts(connection: Connection) {
  connection.model<PlatformPost>('PlatformPost', platformPostSchema, 'platformPosts')
  const collection = nativeCollection<PlatformPost>(connection, 'platformPosts')

  const claimOne = batcher<boolean, PlatformPost>(async (claims, settle) => {
    const existing = await insertMissing(collection(), claims)
    const holders = await findHolders([...existing].map((index) => claims[index]!._id))
    claims.forEach(({ _id, postId }, index) => settle(index, !existing.has(index) || holders.get(_id) === postId))
  })

  async function findHolders(keys: string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map()
    const holders = await collection()
      .find({ _id: { $in: keys } })
      .toArray()
    return new Map(holders.map(({ _id, postId }) => [_id, postId]))
  }

  return {
    /** Claims platform posts for a post. Can be repeated. Returns false if another post has one of them. */
    async claim({ _id: postId, userId }: Pick<Post, '_id' | 'userId'>, keys: string[]): Promise<boolean> {
      const claimed = await Promise.all([...new Set(keys)].map((_id) => claimOne({ _id, userId, postId })))
      return claimed.every(Boolean)
    },

    /** Returns the id of the post that a platform post belongs to. */
    findHolder: async (key: string): Promise<string | null> =>
      (await collection().findOne({ _id: key }))?.postId ?? null,

    /** Releases the platform posts of a deleted post. */
    async release({ _id: postId, publishedKeys = [] }: Post, session?: ClientSession): Promise<void> {
      if (publishedKeys.length === 0) return
      await collection().deleteMany({ _id: { $in: publishedKeys }, postId }, { ...(session && { session }) })
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}

export type PlatformPosts = ReturnType<typeof createPlatformPosts>
