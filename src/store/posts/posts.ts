import type { ClientSession, Connection } from 'mongoose'
import type { Platform } from '../../domain/shared/platforms.ts'
import { toPublishedKey } from '../../domain/posts/post-entries.ts'
import { collectMediaKeys, listMediaItems, type Contents } from '../../domain/posts/content.ts'
import { needsMedia } from '../../domain/posts/media-files.ts'
import type { MediaItem, Post, PostStatus } from '../../domain/posts/post.ts'
import { parseOwnerId } from '../../domain/media/storage-keys.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { derivePostEvents } from '../../domain/events/post-events.ts'
import type { NotifiedEvent } from '../../domain/notifications/post-notifications.ts'
import { createFirstEvent, sortByTime, type TimelineEvent } from '../../domain/posts/timeline.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { anyOf, batchLoader, batcher } from '../shared/batching.ts'
import { createDuePosts } from './due-posts.ts'
import { LIST_DEADLINE_MS, matchAny, type PostKey } from './match-posts.ts'
import { createPendingEvents, type PostRef } from './pending-events.ts'
import { createPlatformPosts } from './platform-posts.ts'
import { createPostLists } from './post-lists.ts'
import { createTransitions } from './post-transitions.ts'
import { CONTENT_PATHS, postSchema, WITHOUT_LOGS, type StoredPost } from './post-schema.ts'

/** The earliest final check of owner and account by an armed delivery, in milliseconds before it is due. */
const FINAL_CHECK_LEAD_MS = MINUTE

interface PostStoreOptions {
  /** Called after a change that has stored events with a post. */
  onPendingEvents?(post: PostRef): void
}

/** The posts that use an upload. */
export interface MediaUses {
  count: number
  /** The newest 20. */
  posts: { postId: string; status: PostStatus }[]
  /** Up to 20 posts that still have to be published with it. */
  needing: string[]
  /** Its media item in the newest post. */
  item: MediaItem
}

const MAX_LISTED_USES = 20

/** The paths under which a post names media. */
const MEDIA_PATHS = CONTENT_PATHS.flatMap((path) => [`${path}.mediaItems`, `${path}.link.image`])

/** Stores posts. Stored posts change only through `transition`. Each change stores its events with the post, for the relay to the feed. */
export function createPostStore(
  connection: Connection,
  now: () => Date,
  { onPendingEvents = () => {} }: PostStoreOptions = {},
) {
  const model = connection.model<StoredPost>('Post', postSchema, 'posts')
  const collection = nativeCollection<StoredPost>(connection, 'posts')

  const load = batchLoader<Post, PostKey>(
    async (keys) => {
      const filter = matchAny(keys)
      const posts = await collection()
        .find<Post>(filter, { ...WITHOUT_LOGS, ...(!('userId' in filter) && ALL_SHARDS) })
        .toArray()
      for (const post of posts) remember(post)
      return posts
    },
    ({ _id }) => _id,
    ({ id }) => id,
  )
  const find = async (id: string, userId?: string): Promise<Post | null> => {
    const post = await load({ id, userId })
    return userId === undefined || post?.userId === userId ? post : null
  }
  const platformPosts = createPlatformPosts(connection)
  const { transition, remember } = createTransitions({
    collection,
    find,
    platformPosts,
    onPendingEvents,
    now,
  })

  /**
   * Posts with any of these media, and those with content for single accounts, whose paths a query cannot name. It scans the owners'
   * posts, because an index would cost every new post for few reads.
   */
  function findWithMedia(owners: string[], storageKeys: string[], options: { maxTimeMS?: number } = {}) {
    const named = MEDIA_PATHS.map((path) => ({ [`${path}.storageKey`]: { $in: storageKeys } }))
    const filter = { userId: { $in: owners }, $or: [...named, { accountSpecificContent: { $exists: true } }] }
    const paths = [...MEDIA_PATHS, 'accountSpecificContent', 'status']
    return collection().find<Contents & Pick<Post, '_id' | 'status'>>(filter, {
      projection: Object.fromEntries(paths.map((path) => [path, 1])),
      ...options,
    })
  }

  return {
    ...createPostLists(model, collection),
    ...createDuePosts(collection),
    ...createPendingEvents(collection),

    /**
     * Inserts in a transaction. Call the relay once it is committed.
     * @throws a duplicate key error when the user already has a post with this `correlationId`
     */
    async insert(posts: Post[], session: ClientSession): Promise<void> {
      const records = posts.map((post) => ({
        ...post,
        timeline: [createFirstEvent(post)],
        pendingEvents: derivePostEvents(null, post, post.createdAt),
      }))
      await collection().insertMany(records, { session })
    },

    /** @param userId the owner; administrators do not know it, and then every shard is asked */
    find,

    /**
     * Records that the draft took over the post's allowance. Returns false, without a change, when the post has changed since
     * it was read.
     */
    async moveAllowance({ _id, userId, revision }: Post, draftId: string, session: ClientSession): Promise<boolean> {
      const filter = { _id, userId, revision, allowanceMovedTo: { $exists: false } }
      const change = { $set: { allowanceMovedTo: draftId, updatedAt: now() }, $inc: { revision: 1 } }
      const { modifiedCount } = await collection().updateOne(filter, change, { session })
      return modifiedCount === 1
    },

    /** Gives the post a share of its own again, unless another draft took it over since. Returns whether it has changed. */
    async returnAllowance(
      { _id, userId }: PostRef,
      { movedTo }: { movedTo: string },
      session: ClientSession,
    ): Promise<boolean> {
      const filter = { _id, userId, allowanceMovedTo: movedTo }
      const change = { $unset: { allowanceMovedTo: 1 as const }, $set: { updatedAt: now() }, $inc: { revision: 1 } }
      const { modifiedCount } = await collection().updateOne(filter, change, { session })
      return modifiedCount === 1
    },

    findOwned: (userId: string, postId: string): Promise<Post | null> => find(postId, userId),

    /** The newest events of a post, oldest first; null when the user has no such post. */
    async readTimeline(userId: string, postId: string): Promise<TimelineEvent[] | null> {
      const found = await collection().findOne({ _id: postId, userId }, { projection: { timeline: 1 } })
      return found && sortByTime(found.timeline)
    },

    /** Returns the id of the other post of ours that is recorded as this platform post; null when none is. */
    async findOtherHolder(postId: string, platform: Platform, platformPostId: string): Promise<string | null> {
      const holder = await platformPosts.findHolder(toPublishedKey(platform, platformPostId))
      return holder === postId ? null : holder
    },

    findByCorrelationId: (userId: string, correlationId: string): Promise<Post | null> =>
      model.findOne({ userId, correlationId }).lean<Post>().exec(),

    transition,

    /**
     * Clears `startPending`, unless the post has changed since. Changes neither revision nor `updatedAt`.
     * @returns false when the post was changed or deleted
     */
    acknowledgeStart: batcher<boolean, Post>(async (posts, settle) => {
      const userId = anyOf(posts.map((post) => post.userId))
      const acknowledged = { userId, $or: posts.map(({ _id, revision }) => ({ _id, revision })) }
      const clear = { $set: { startPending: false } }
      const { matchedCount } = await collection().updateMany({ ...acknowledged, startPending: true }, clear)
      if (matchedCount === posts.length) {
        posts.forEach((_, index) => settle(index, true))
        return
      }
      const unchanged = await collection()
        .find(acknowledged, { projection: { _id: 1 } })
        .toArray()
      const ids = new Set(unchanged.map(({ _id }) => _id))
      posts.forEach(({ _id }, index) => settle(index, ids.has(_id)))
    }),

    /**
     * Invalidates what the user's imminent deliveries prepared: a claim with it is refused as stale, so they check owner and
     * account again. Call it after such a change is stored and before it is acknowledged, because an armed delivery checks them
     * for the last time shortly before it is due.
     */
    async invalidatePrepared(userId: string): Promise<void> {
      const dueAt = { $lte: new Date(now().getTime() + FINAL_CHECK_LEAD_MS) }
      await collection().updateMany(
        { userId, status: { $in: ['PENDING', 'SCHEDULED'] }, dueAt },
        { $inc: { contentVersion: 1, revision: 1 }, $set: { 'dueCheck.at': null } },
      )
    },

    /** Returns which of these media any post uses. */
    async findNamedMedia(storageKeys: string[], options: { maxTimeMS?: number } = {}): Promise<Set<string>> {
      const owners = [...new Set(storageKeys.map(parseOwnerId))]
      const named = new Set<string>()
      for await (const post of findWithMedia(owners, storageKeys, options))
        for (const key of collectMediaKeys(post)) named.add(key)
      return named
    },

    /** Returns how a user's posts use these media, by storage key. It has no entry for unused ones. */
    async findMediaUses(userId: string, storageKeys: string[]): Promise<Map<string, MediaUses>> {
      const uses = new Map<string, MediaUses>()
      if (storageKeys.length === 0) return uses
      const wanted = new Set(storageKeys)
      const found = findWithMedia([userId], storageKeys, { maxTimeMS: LIST_DEADLINE_MS })
      for await (const { _id, status, ...post } of found.sort({ createdAt: -1, _id: -1 })) {
        const items = new Map(listMediaItems(post).map((item) => [item.storageKey, item]))
        for (const [key, item] of items) {
          if (!wanted.has(key)) continue
          const { count = 0, posts = [], needing = [], item: newest = item } = uses.get(key) ?? {}
          if (posts.length < MAX_LISTED_USES) posts.push({ postId: _id, status })
          if (needsMedia(status) && needing.length < MAX_LISTED_USES) needing.push(_id)
          uses.set(key, { count: count + 1, posts, needing, item: newest })
        }
      }
      return uses
    },

    /**
     * Deletes the post. Returns its last state and its events that are not in the feed yet; null when there is no such post.
     * @param revisions the revisions that are deleted; undefined for any
     */
    async remove(
      userId: string,
      postId: string,
      { revisions, session }: { revisions?: readonly number[] | undefined; session?: ClientSession } = {},
    ): Promise<{ post: Post; pendingEvents: NotifiedEvent[] } | null> {
      const found = await collection().findOneAndDelete(
        { _id: postId, userId, ...(revisions && { revision: { $in: [...revisions] } }) },
        {
          projection: { timeline: 0 },
          ...(session && { session }),
        },
      )
      if (!found) return null
      const { pendingEvents, ...post } = found
      await platformPosts.release(post, session)
      return { post, pendingEvents }
    },

    /** Returns the time until which platform calls for this user may run; null when there are none. */
    async leasedUntil(userId: string): Promise<Date | null> {
      const path = 'platformStatuses.delivery.leaseUntil'
      const [latest] = await collection()
        .find(
          { userId, [path]: { $gt: now() } },
          { projection: { platformStatuses: 1 }, sort: { [path]: -1 }, limit: 1 },
        )
        .toArray()
      const leases = latest?.platformStatuses.map(({ delivery }) => delivery.leaseUntil?.getTime() ?? 0)
      return leases ? new Date(Math.max(...leases)) : null
    },

    async removeSome(userId: string, postIds: string[]): Promise<void> {
      await collection().deleteMany({ userId, _id: { $in: postIds } })
    },

    /** Call it once the user has no posts. */
    removePlatformPosts: (userId: string): Promise<void> => platformPosts.removeAllOf(userId),
  }
}

export type PostStore = ReturnType<typeof createPostStore>
