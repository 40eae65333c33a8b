import type { Connection } from 'mongoose'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { dropIndex } from '../shared/drop-index.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import type { PlatformPosts } from './platform-posts.ts'
import type { StoredPost } from './post-schema.ts'

const PAGE = 500
const OLDER_INDEX = { publishedKeys: 1 }

/**
 * Platform posts of older releases, which record them only on their posts, under a unique index. The index stays until no process of
 * such a release runs, and `npm run setup -- --finish-upgrade` drops it (ADR 46).
 */
export function createOlderPlatformPosts(connection: Connection, platformPosts: Pick<PlatformPosts, 'record'>) {
  const posts = nativeCollection<StoredPost>(connection, 'posts')

  /** Records a page of posts as holders, and returns its last id. */
  async function recordPage(filter: object): Promise<{ last: string | null; recorded: number }> {
    const page = await posts()
      .find(filter, { projection: { userId: 1, publishedKeys: 1 }, ...ALL_SHARDS })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray()
    const holders = page.flatMap(({ _id: postId, userId, publishedKeys = [] }) =>
      publishedKeys.map((_id) => ({ _id, userId, postId })),
    )
    await platformPosts.record(holders)
    return { last: page.at(-1)?._id ?? null, recorded: page.length }
  }

  return {
    /** Records the posts that hold these platform posts. */
    recordHolders: async (keys: string[]): Promise<void> => void (await recordPage({ publishedKeys: { $in: keys } })),

    /** Records the platform posts of all posts while the older index exists. It may be interrupted and repeated. */
    async recordAll(onProgress: (posts: number) => void): Promise<void> {
      const indexes = await posts().indexes()
      if (!indexes.some(({ key }) => JSON.stringify(key) === JSON.stringify(OLDER_INDEX))) return
      let [after, total]: [string | null, number] = [null, 0]
      for (;;) {
        const { last, recorded } = await recordPage({
          publishedKeys: { $exists: true },
          ...(after !== null && { _id: { $gt: after } }),
        })
        if (last === null) return
        ;[after, total] = [last, total + recorded]
        onProgress(total)
      }
    },

    dropOlderIndex: (): Promise<void> => dropIndex(posts(), OLDER_INDEX),
  }
}
