import { trusted, type ClientSession, type Connection, type QueryFilter } from 'mongoose'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { toPublishedKey } from '../../domain/posts/post-entries.ts'
import type { Post, PostStatus } from '../../domain/posts/post.ts'
import { parseOwnerId } from '../../domain/media/storage-keys.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { createFirstEvent, sortByTime, type TimelineEvent } from '../../domain/posts/timeline.ts'
import { driverCollection } from '../shared/native-collection.ts'
import { anyOf, createBatchedRead, createBatches } from '../shared/batching.ts'
import { createTransitions } from './post-transitions.ts'
import { postSchema, type StoredPost } from './post-schema.ts'
import { shortenLargePosts, type ListedPost } from './shorten-posts.ts'

const LIST_DEADLINE_MS = 5 * SECOND
/** Nothing looks at owner and account earlier than this before the instant for the last time. */
const LONGEST_AHEAD_MS = MINUTE

export interface PostQuery {
  page: number
  limit: number
  statuses?: PostStatus[]
  platform?: Platform
  /** Bounds on `scheduledAt`, or `createdAt` where there is none. */
  from?: Date
  to?: Date
  /** In the text for all platforms or for one, in any case. */
  search?: string
  /** `date` is what `from` and `to` are bounds of. */
  sortBy: 'createdAt' | 'scheduledAt' | 'date'
  sortOrder: 'asc' | 'desc'
}

/** Which posts the sweeper has to look at, see `listStranded`. */
export interface StrandedBounds {
  /** `startPending` and due posts older than this are taken up. */
  overdueBefore: Date
  /** Posts in delivery whose revision has not moved since. */
  stalledBefore: Date
  now: Date
  limit: number
}

/** Where a post names media: for all platforms, and for one instead. */
const MEDIA_PATHS = ['content.mediaItems', ...PLATFORMS.map((name) => `platformSpecificContent.${name}.mediaItems`)]
const REGEX_SYNTAX = /[.*+?^${}()|[\]\\]/g
/** Where a post has text. */
const TEXT_PATHS = ['content.text', ...PLATFORMS.map((name) => `platformSpecificContent.${name}.text`)]
const WITHOUT_TIMELINE = { projection: { timeline: 0 } } as const

/** Posts, and the only way to change a stored one. */
export function createPostStore(connection: Connection, now: () => Date) {
  const model = connection.model<StoredPost>('Post', postSchema, 'posts')
  const collection = driverCollection<StoredPost>(connection, 'posts')

  const find = createBatchedRead<Post>(
    async (ids) => {
      const posts = await collection()
        .find<Post>({ _id: anyOf(ids) }, WITHOUT_TIMELINE)
        .toArray()
      for (const post of posts) remember(post)
      return posts
    },
    ({ _id }) => _id,
  )
  const { transition, remember } = createTransitions({ collection, find, now })

  return {
    /** @throws a duplicate key error when a user already has a post with this `correlationId` */
    async insert(posts: Post[], session: ClientSession): Promise<void> {
      const records = posts.map((post) => ({ ...post, timeline: [createFirstEvent(post)] }))
      await collection().insertMany(records, { session })
    },

    find,

    /** Notes that the draft took over the post's allowance. Returns false, and changes nothing, when the post changed since it was read. */
    async moveAllowance({ _id, userId, revision }: Post, draftId: string, session: ClientSession): Promise<boolean> {
      const filter = { _id, userId, revision, allowanceMovedTo: { $exists: false } }
      const change = { $set: { allowanceMovedTo: draftId, updatedAt: now() }, $inc: { revision: 1 } }
      const { modifiedCount } = await collection().updateOne(filter, change, { session })
      return modifiedCount === 1
    },

    async findOwned(userId: string, postId: string): Promise<Post | null> {
      const post = await find(postId)
      return post?.userId === userId ? post : null
    },

    /** The newest events of a post, oldest first. */
    async timelineOf(userId: string, postId: string): Promise<TimelineEvent[] | null> {
      const found = await collection().findOne({ _id: postId, userId }, { projection: { timeline: 1 } })
      return found && sortByTime(found.timeline ?? [])
    },

    /** Whether the platform's post is on record as that of another post of ours. */
    async isTaken(postId: string, platform: Platform, platformPostId: string): Promise<boolean> {
      const filter = { publishedKeys: toPublishedKey(platform, platformPostId) }
      const holder = await collection().findOne(filter, { projection: { _id: 1 } })
      return holder !== null && holder._id !== postId
    },

    findByCorrelationId: (userId: string, correlationId: string): Promise<Post | null> =>
      model.findOne({ userId, correlationId }).lean<Post>().exec(),

    /** A page of posts, bounded in bytes whatever is stored: large posts are shortened, so that page, limit and total hold. */
    async list(userId: string, query: PostQuery): Promise<{ posts: ListedPost[]; total: number }> {
      const filter = listFilter(userId, query)
      const [posts, total] = await Promise.all([
        collection()
          .aggregate<ListedPost>([...pageStages(filter, query), ...shortenLargePosts(query.limit)], {
            maxTimeMS: LIST_DEADLINE_MS,
          })
          .toArray(),
        model.countDocuments(filter).maxTimeMS(LIST_DEADLINE_MS),
      ])
      return { posts, total }
    },

    transition,

    /** Forgets that a workflow start is owed, unless the post changed since. Moves neither revision nor `updatedAt`. */
    acknowledgeStart: createBatches<void, Post>(async (posts, settle) => {
      const asToldOf = posts.map(({ _id, revision }) => ({ _id, revision }))
      await collection().updateMany({ $or: asToldOf, startPending: true }, { $set: { startPending: false } })
      posts.forEach((_, index) => settle(index, undefined))
    }),

    /**
     * Makes the deliveries of a user that are about to go out look at owner and account again: a claim for what they prepared
     * is refused as stale. To be called after a change of either is stored and before it is acknowledged, because an armed
     * delivery looks at them for the last time some moments before its instant.
     */
    async unsettle(userId: string): Promise<void> {
      const dueAt = { $lte: new Date(now().getTime() + LONGEST_AHEAD_MS) }
      await collection().updateMany(
        { userId, status: { $in: ['PENDING', 'SCHEDULED'] }, dueAt },
        { $inc: { contentVersion: 1, revision: 1 } },
      )
    },

    /**
     * Which of these media any post names, whether or not all platforms get it. Their owners' posts are looked through: that
     * needs no index of its own, which every new post would pay for and one clean-up a day would use.
     */
    async namedMedia(storageKeys: string[]): Promise<Set<string>> {
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

    /** The post as it was at its end. */
    remove: (userId: string, postId: string, session?: ClientSession): Promise<Post | null> =>
      collection().findOneAndDelete({ _id: postId, userId }, { ...WITHOUT_TIMELINE, ...(session && { session }) }),

    /** The ids of posts that can still be cancelled. */
    async listWaiting(userId: string, limit: number): Promise<string[]> {
      const filter = { userId, status: { $in: ['PENDING', 'SCHEDULED'] satisfies PostStatus[] } }
      const waiting = await collection()
        .find(filter, { projection: { _id: 1 }, limit })
        .toArray()
      return waiting.map(({ _id }) => _id)
    },

    /** Until when calls to platforms may be on their way for this user; null when there are none. */
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

    /** Newest first, without ever holding all of them. */
    allOf: (userId: string): AsyncIterable<Post> =>
      collection().find<Post>({ userId }, WITHOUT_TIMELINE).sort({ createdAt: -1, _id: -1 }),

    /** Any posts of the user, so many at most. */
    listSome: (userId: string, limit: number): Promise<Post[]> =>
      collection()
        .find<Post>({ userId }, { ...WITHOUT_TIMELINE, limit })
        .toArray(),

    async removeSome(userId: string, postIds: string[]): Promise<void> {
      await collection().deleteMany({ userId, _id: { $in: postIds } })
    },

    /** Posts with something left to deliver, the next due first; from the instant they are due, or all of them. */
    openPosts: (dueFrom: Date | null): AsyncIterable<Post> =>
      collection()
        .find<Post>(
          {
            status: { $in: ['PENDING', 'SCHEDULED', 'PROCESSING'] satisfies PostStatus[] },
            ...(dueFrom && { dueAt: { $gte: dueFrom } }),
          },
          WITHOUT_TIMELINE,
        )
        .sort({ dueAt: 1 }),

    /** Deliveries that nobody may be moving on: a start that was never acknowledged, an overdue post, a stalled one. */
    listStranded: ({ overdueBefore, stalledBefore, now: instant, limit }: StrandedBounds): Promise<Post[]> =>
      collection()
        .find<Post>(
          {
            $or: [
              { startPending: true, updatedAt: { $lte: overdueBefore } },
              {
                status: { $in: ['PENDING', 'SCHEDULED'] },
                dueAt: { $lte: overdueBefore },
                platformStatuses: unattended(instant),
              },
              { status: 'PROCESSING', updatedAt: { $lte: stalledBefore }, platformStatuses: unattended(instant) },
            ],
          },
          WITHOUT_TIMELINE,
        )
        // What a workflow was not told leaves the list once it is; overdue posts may stay for a while and must not bar the way.
        .sort({ startPending: -1, dueAt: 1 })
        .limit(limit)
        .maxTimeMS(LIST_DEADLINE_MS)
        .toArray(),
  }
}

export type PostStore = ReturnType<typeof createPostStore>

/** An open entry that nothing is said to look at later. */
function unattended(instant: Date) {
  return {
    $elemMatch: {
      status: { $in: ['pending', 'processing'] },
      $or: [{ 'delivery.nextAttemptAt': null }, { 'delivery.nextAttemptAt': { $lte: instant } }],
    },
  }
}

function listFilter(userId: string, query: PostQuery): QueryFilter<Post> {
  const filter: QueryFilter<Post> = { userId }
  if (query.statuses) filter.status = trusted({ $in: query.statuses })
  if (query.platform) filter.selectedPlatforms = query.platform
  if (query.from || query.to) {
    const range = { ...(query.from ? { $gte: query.from } : {}), ...(query.to ? { $lte: query.to } : {}) }
    filter.$or = [{ scheduledAt: trusted(range) }, { scheduledAt: null, createdAt: trusted(range) }]
  }
  if (query.search !== undefined) {
    const words = trusted({ $regex: query.search.replace(REGEX_SYNTAX, '\\$&'), $options: 'i' })
    filter.$and = [{ $or: TEXT_PATHS.map((path) => ({ [path]: words })) }]
  }
  return filter
}

/** The fields that an index sorts by are sorted without computing anything. */
function pageStages(filter: QueryFilter<Post>, { sortBy, sortOrder, page, limit }: PostQuery): object[] {
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
