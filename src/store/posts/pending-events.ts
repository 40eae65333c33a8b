import type { Post } from '../../domain/posts/post.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { LIST_DEADLINE_MS, matchAny } from './match-posts.ts'
import type { PostCollection, StoredPost } from './post-schema.ts'

export type PostRef = Pick<Post, '_id' | 'userId'>

/** The events that a change has stored with its post, until they are in the feed. */
export function createPendingEvents(collection: PostCollection) {
  return {
    /** The events of these posts that are not in the feed yet, in their order. Posts without any are missing. */
    listPendingEvents(
      posts: readonly PostRef[],
    ): Promise<Required<Pick<StoredPost, keyof PostRef | 'pendingEvents'>>[]> {
      return collection()
        .find<Required<Pick<StoredPost, keyof PostRef | 'pendingEvents'>>>(
          { ...matchAny(posts.map(({ _id: id, userId }) => ({ id, userId }))), 'pendingEvents.0': { $exists: true } },
          { projection: { userId: 1, pendingEvents: 1 } },
        )
        .toArray()
    },

    /** Removes events that are in the feed. Changes neither revision nor `updatedAt`. */
    async removePendingEvents(posts: readonly PostRef[], eventIds: string[]): Promise<void> {
      const filter = matchAny(posts.map(({ _id: id, userId }) => ({ id, userId })))
      await collection().updateMany(filter, { $pull: { pendingEvents: { id: { $in: eventIds } } } })
    },

    /** Posts with an event from before an instant that is not in the feed, the oldest first. */
    listUnrelayed: (before: Date, limit: number): Promise<PostRef[]> =>
      collection()
        .find<PostRef>(
          { 'pendingEvents.occurredAt': { $lte: before } },
          { projection: { userId: 1 }, maxTimeMS: LIST_DEADLINE_MS, ...ALL_SHARDS },
        )
        .sort({ 'pendingEvents.occurredAt': 1 })
        .limit(limit)
        .toArray(),
  }
}
