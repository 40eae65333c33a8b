import { trusted, type ClientSession, type Connection, type QueryFilter } from 'mongoose'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import type { ArmedFields } from '../../domain/posts/armed-fields.ts'
import { HIGHEST_DUE_RANK } from '../../domain/posts/publish-plan.ts'
import { toPublishedKey } from '../../domain/posts/post-entries.ts'
import type { DueCheck, PlatformStatus, Post, PostStatus } from '../../domain/posts/post.ts'
import { parseOwnerId } from '../../domain/media/storage-keys.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { NewEvent } from '../../domain/events/events.ts'
import { derivePostEvents } from '../../domain/events/post-events.ts'
import { createFirstEvent, sortByTime, type TimelineEvent } from '../../domain/posts/timeline.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { anyOf, batchLoader, batcher } from '../shared/batching.ts'
import { createOlderPlatformPosts } from './older-platform-posts.ts'
import { createPlatformPosts } from './platform-posts.ts'
import { createTransitions } from './post-transitions.ts'
import { postSchema, WITHOUT_LOGS, type StoredPost } from './post-schema.ts'
import { shortenLargePosts, type ListedPost } from './shorten-posts.ts'

const LIST_DEADLINE_MS = 5 * SECOND
/** The earliest final check of owner and account by an armed delivery, in milliseconds before it is due. */
const FINAL_CHECK_LEAD_MS = MINUTE

export interface PostQuery {
  page: number
  limit: number
  statuses?: PostStatus[]
  platform?: Platform
  /** Bounds on `scheduledAt`, or on `createdAt` where that is null. */
  from?: Date
  to?: Date
  /** Searches the common text and each platform's text, ignoring case. */
  search?: string
  /** `date` is the value that `from` and `to` bound. */
  sortBy: 'createdAt' | 'scheduledAt' | 'date'
  sortOrder: 'asc' | 'desc'
}

export type PostRef = Pick<Post, '_id' | 'userId'>

interface PostStoreOptions {
  /** Called after a change that has stored events with a post. */
  onPendingEvents?(post: PostRef): void
}

/** The bounds of the sweeper's search, see `listStranded`. */
export interface StrandedBounds {
  /** Posts with `startPending`, and due posts, older than this are started again. */
  overdueBefore: Date
  /** Posts in delivery whose revision has not changed since. */
  stalledBefore: Date
  now: Date
  limit: number
}

/** The times between which unchecked posts are due, and the last post of the page before. */
interface UncheckedBounds {
  dueAfter: Date
  dueUntil: Date
  after: { dueAt: Date; postId: string } | null
  limit: number
}

/** The scheduled posts of an account before a post. */
interface PlannedBounds {
  account: { _id: string; platform: Platform; isDefault: boolean }
  after: Date
  until: Date
  exceptId?: string
  limit: number
}

const toSecondBefore = (instant: Date) => ({ $gt: new Date(instant.getTime() - SECOND), $lte: instant })

/** Keeps each of the regular queries short. */
const ARMED_PER_QUERY = 1_000
/** The paths under which a post names media. */
const MEDIA_PATHS = ['content.mediaItems', ...PLATFORMS.map((name) => `platformSpecificContent.${name}.mediaItems`)]
const REGEX_SYNTAX = /[.*+?^${}()|[\]\\]/g
/** The paths under which a post has text. */
const TEXT_PATHS = ['content.text', ...PLATFORMS.map((name) => `platformSpecificContent.${name}.text`)]
/** The fields that decide when and with what content each account receives a post. */
const PLACED_FIELDS = {
  status: 1,
  scheduledAt: 1,
  dueAt: 1,
  createdAt: 1,
  content: 1,
  platformSpecificContent: 1,
  accountSpecificContent: 1,
  'platformStatuses.platform': 1,
  'platformStatuses.accountId': 1,
} as const

export type PlacedPost = Pick<
  Post,
  | '_id'
  | 'status'
  | 'scheduledAt'
  | 'dueAt'
  | 'createdAt'
  | 'content'
  | 'platformSpecificContent'
  | 'accountSpecificContent'
> & { platformStatuses: Pick<PlatformStatus, 'platform' | 'accountId'>[] }

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
  const { recordHolders, ...older } = createOlderPlatformPosts(connection, platformPosts)
  const { transition, remember } = createTransitions({
    collection,
    find,
    platformPosts,
    older: { recordHolders },
    onPendingEvents,
    now,
  })

  return {
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

    /** @param userId the owner; absent in workflow inputs of older releases, and then every shard is asked */
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

    findOwned: (userId: string, postId: string): Promise<Post | null> => find(postId, userId),

    /** The newest events of a post, oldest first; null when the user has no such post. */
    async readTimeline(userId: string, postId: string): Promise<TimelineEvent[] | null> {
      const found = await collection().findOne({ _id: postId, userId }, { projection: { timeline: 1 } })
      return found && sortByTime(found.timeline ?? [])
    },

    /** Returns whether another post of ours is recorded as this platform post. */
    async belongsToOtherPost(postId: string, platform: Platform, platformPostId: string): Promise<boolean> {
      const holder = await platformPosts.findHolder(toPublishedKey(platform, platformPostId))
      return holder !== null && holder !== postId
    },

    findByCorrelationId: (userId: string, correlationId: string): Promise<Post | null> =>
      model.findOne({ userId, correlationId }).lean<Post>().exec(),

    /** A page of posts, bounded in bytes: large posts are shortened, so that page, limit and total stay correct. */
    async list(userId: string, query: PostQuery): Promise<{ posts: ListedPost[]; total: number }> {
      const filter = toListFilter(userId, query)
      const [posts, total] = await Promise.all([
        collection()
          .aggregate<ListedPost>([...toPageStages(filter, query), ...shortenLargePosts(query.limit)], {
            maxTimeMS: LIST_DEADLINE_MS,
          })
          .toArray(),
        model.countDocuments(filter).maxTimeMS(LIST_DEADLINE_MS),
      ])
      return { posts, total }
    },

    /** Reads what armed deliveries depend on. Deleted posts are missing. */
    async findArmedFields(posts: readonly Pick<Post, '_id' | 'userId'>[]) {
      const found = new Map<string, ArmedFields>()
      for (const some of splitIntoChunks(posts, ARMED_PER_QUERY)) {
        const projection = {
          userId: 1,
          status: 1,
          dueAt: 1,
          contentVersion: 1,
          selectedPlatforms: 1,
          selectedAccounts: 1,
        }
        const filter = matchAny(some.map(({ _id: id, userId }) => ({ id, userId })))
        for (const post of await collection().find<ArmedFields>(filter, { projection }).toArray()) {
          found.set(post._id, post)
        }
      }
      return found
    },

    /** Counts the posts that are scheduled for the second before an instant, up to the rank from which on the number changes nothing. */
    countScheduled: batcher<number, Date>(async (instants, settle) => {
      const counts = new Map<number, Promise<number>>()
      instants.forEach((instant, index) => {
        const time = instant.getTime()
        const dueAt = toSecondBefore(instant)
        const limit = { limit: HIGHEST_DUE_RANK, ...ALL_SHARDS }
        const count = counts.get(time) ?? collection().countDocuments({ status: 'SCHEDULED', dueAt }, limit)
        counts.set(time, count)
        void count.then(
          (found) => settle(index, found),
          (error: Error) => settle(index, error),
        )
      })
      await Promise.allSettled(counts.values())
    }),

    /** Counts the user's posts that are scheduled for the second before an instant. */
    countScheduledOf: (userId: string, instant: Date): Promise<number> =>
      collection().countDocuments(
        { userId, scheduledAt: toSecondBefore(instant), status: 'SCHEDULED' },
        { maxTimeMS: LIST_DEADLINE_MS },
      ),

    /** The due times of the user's scheduled posts on an account in (after, until], in order; the latest ones if there are more. */
    async listPlannedTimes(userId: string, { account, after, until, exceptId, limit }: PlannedBounds): Promise<Date[]> {
      const filter = {
        userId,
        status: 'SCHEDULED' as const,
        scheduledAt: { $gt: after, $lte: until },
        platformStatuses: { $elemMatch: matchAccount(account) },
        ...(exceptId !== undefined && { _id: { $ne: exceptId } }),
      }
      const latest = await collection()
        .find<{ scheduledAt: Date }>(filter, { projection: { scheduledAt: 1 }, maxTimeMS: LIST_DEADLINE_MS })
        .sort({ scheduledAt: -1 })
        .limit(limit)
        .toArray()
      return latest.map(({ scheduledAt }) => scheduledAt).toReversed()
    },

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

    /**
     * Returns which of these media any post uses. It scans the owners' posts, because an index would cost every new post for
     * one cleanup a day.
     */
    async findNamedMedia(storageKeys: string[]): Promise<Set<string>> {
      const owners = [...new Set(storageKeys.map(parseOwnerId))]
      const filter = {
        userId: { $in: owners },
        $or: MEDIA_PATHS.map((path) => ({ [`${path}.storageKey`]: { $in: storageKeys } })),
      }
      const posts = collection().find<Pick<Post, 'content' | 'platformSpecificContent'>>(filter, {
        projection: Object.fromEntries(MEDIA_PATHS.map((path) => [`${path}.storageKey`, 1])),
      })
      const named = new Set<string>()
      for await (const { content, platformSpecificContent = {} } of posts) {
        for (const { mediaItems = [] } of [content, ...Object.values(platformSpecificContent)]) {
          for (const { storageKey } of mediaItems) named.add(storageKey)
        }
      }
      return named
    },

    /** Deletes the post. Returns its last state and its events that are not in the feed yet. */
    async remove(
      userId: string,
      postId: string,
      session?: ClientSession,
    ): Promise<{ post: Post; pendingEvents: NewEvent[] } | null> {
      const found = await collection().findOneAndDelete(
        { _id: postId, userId },
        {
          projection: { timeline: 0 },
          ...(session && { session }),
        },
      )
      if (!found) return null
      const { pendingEvents = [], ...post } = found
      await platformPosts.release(post, session)
      return { post, pendingEvents }
    },

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

    /** The ids of posts that can still be cancelled. */
    async listWaiting(userId: string, limit: number): Promise<string[]> {
      const filter = { userId, status: { $in: ['PENDING', 'SCHEDULED'] satisfies PostStatus[] } }
      const waiting = await collection()
        .find(filter, { projection: { _id: 1 }, limit })
        .toArray()
      return waiting.map(({ _id }) => _id)
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

    /** All posts of the user that match, newest first, as a stream. */
    allOf: (userId: string, query: Pick<PostQuery, 'statuses' | 'from' | 'to'> = {}): AsyncIterable<Post> =>
      collection().aggregate<Post>([
        { $match: toListFilter(userId, query) },
        { $sort: { createdAt: -1, _id: -1 } },
        { $unset: Object.keys(WITHOUT_LOGS.projection) },
      ]),

    /**
     * The user's posts that are scheduled in a time or, without a schedule, were created in it, as a stream. Posts that were cancelled or
     * failed are left out.
     */
    placedIn: (userId: string, from: Date, until: Date): AsyncIterable<PlacedPost> =>
      collection().find<PlacedPost>(
        {
          userId,
          status: { $nin: ['CANCELLED', 'FAILED'] satisfies PostStatus[] },
          $or: [
            { scheduledAt: { $gte: from, $lte: until } },
            { scheduledAt: null, createdAt: { $gte: from, $lte: until } },
          ],
        },
        { projection: PLACED_FIELDS },
      ),

    /** Up to `limit` posts of the user, in any order. */
    listSome: (userId: string, limit: number): Promise<Post[]> =>
      collection()
        .find<Post>({ userId }, { ...WITHOUT_LOGS, limit })
        .toArray(),

    async removeSome(userId: string, postIds: string[]): Promise<void> {
      await collection().deleteMany({ userId, _id: { $in: postIds } })
    },

    /** Call it once the user has no posts. */
    removePlatformPosts: (userId: string): Promise<void> => platformPosts.removeAllOf(userId),

    older,

    /** Posts with open deliveries, the next due first; all of them, or those due from an instant on. */
    streamOpenPosts: (dueFrom: Date | null): AsyncIterable<Post> =>
      collection()
        .find<Post>(
          {
            status: { $in: ['PENDING', 'SCHEDULED', 'PROCESSING'] satisfies PostStatus[] },
            ...(dueFrom && { dueAt: { $gte: dueFrom } }),
          },
          { ...WITHOUT_LOGS, ...ALL_SHARDS },
        )
        .sort({ dueAt: 1 }),

    /** Scheduled posts that are due in a time and have to be checked, the next due first. */
    listUnchecked: ({ dueAfter, dueUntil, after, limit }: UncheckedBounds): Promise<Post[]> =>
      collection()
        .find<Post>(
          {
            status: 'SCHEDULED',
            'dueCheck.at': null,
            dueAt: { $gt: dueAfter, $lte: dueUntil },
            ...(after && {
              $or: [{ dueAt: { $gt: after.dueAt } }, { dueAt: after.dueAt, _id: { $gt: after.postId } }],
            }),
          },
          { ...WITHOUT_LOGS, ...ALL_SHARDS },
        )
        .sort({ dueAt: 1, _id: 1 })
        .limit(limit)
        .maxTimeMS(LIST_DEADLINE_MS)
        .toArray(),

    /** Records a check, unless the post has changed since it was read. Changes neither revision nor `updatedAt`. */
    async saveDueCheck({ _id, userId, revision }: Post, dueCheck: DueCheck): Promise<void> {
      await collection().updateOne({ _id, userId, revision }, { $set: { dueCheck } })
    },

    /** Deliveries that may have no running workflow: unacknowledged starts, overdue posts, and stalled posts. */
    listStranded: ({ overdueBefore, stalledBefore, now: instant, limit }: StrandedBounds): Promise<Post[]> =>
      collection()
        .find<Post>(
          {
            $or: [
              { startPending: true, updatedAt: { $lte: overdueBefore } },
              {
                status: { $in: ['PENDING', 'SCHEDULED'] },
                dueAt: { $lte: overdueBefore },
                platformStatuses: matchOpenWithoutRetry(instant),
              },
              {
                status: 'PROCESSING',
                updatedAt: { $lte: stalledBefore },
                platformStatuses: matchOpenWithoutRetry(instant),
              },
            ],
          },
          { ...WITHOUT_LOGS, ...ALL_SHARDS },
        )
        // Unacknowledged starts come first, because they leave the list once acknowledged; overdue posts may stay on it for a
        // while.
        .sort({ startPending: -1, dueAt: 1 })
        .limit(limit)
        .maxTimeMS(LIST_DEADLINE_MS)
        .toArray(),
  }
}

export type PostStore = ReturnType<typeof createPostStore>

interface PostKey {
  id: string
  userId: string | undefined
}

/** Selects posts by id, and by their owners if all are known. */
function matchAny(keys: readonly PostKey[]) {
  const owners = keys.flatMap(({ userId }) => userId ?? [])
  return {
    _id: anyOf(keys.map(({ id }) => id)),
    ...(owners.length === keys.length && { userId: anyOf(owners) }),
  }
}

/** Matches the entries of an account. Those without one are published with the default account. */
function matchAccount({ _id, platform, isDefault }: PlannedBounds['account']) {
  return { platform, accountId: isDefault ? { $in: [_id, null] } : _id }
}

/** Matches an open entry without a later attempt. */
function matchOpenWithoutRetry(instant: Date) {
  return {
    $elemMatch: {
      status: { $in: ['pending', 'processing'] },
      $or: [{ 'delivery.nextAttemptAt': null }, { 'delivery.nextAttemptAt': { $lte: instant } }],
    },
  }
}

function toListFilter(
  userId: string,
  query: Pick<PostQuery, 'statuses' | 'platform' | 'from' | 'to' | 'search'>,
): QueryFilter<Post> {
  const filter: QueryFilter<Post> = { userId }
  if (query.statuses) filter.status = trusted({ $in: query.statuses })
  if (query.platform) filter.selectedPlatforms = query.platform
  if (query.from || query.to) {
    const range = { ...(query.from ? { $gte: query.from } : {}), ...(query.to ? { $lte: query.to } : {}) }
    filter.$or = [{ scheduledAt: trusted(range) }, { scheduledAt: null, createdAt: trusted(range) }]
  }
  if (query.search !== undefined) {
    const pattern = trusted({ $regex: query.search.replace(REGEX_SYNTAX, '\\$&'), $options: 'i' })
    filter.$and = [{ $or: TEXT_PATHS.map((path) => ({ [path]: pattern })) }]
  }
  return filter
}

/** Sorts indexed fields without computing them. */
function toPageStages(filter: QueryFilter<Post>, { sortBy, sortOrder, page, limit }: PostQuery): object[] {
  const direction = sortOrder === 'asc' ? 1 : -1
  const date = { $ifNull: ['$scheduledAt', '$createdAt'] }
  return [
    { $match: filter },
    ...(sortBy === 'date' ? [{ $set: { date } }] : []),
    { $sort: { [sortBy]: direction, _id: direction } },
    { $skip: (page - 1) * limit },
    { $limit: limit },
    { $unset: 'date' },
  ]
}
