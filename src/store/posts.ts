import { trusted, type ClientSession, type Connection, type QueryFilter } from 'mongoose'
import { PLATFORMS, type Platform } from '../domain/platforms.ts'
import { EffectTaken } from '../domain/delivery-moves.ts'
import { publishedKey } from '../domain/post-entries.ts'
import type { Move, Post, PostStatus } from '../domain/post.ts'
import { ServiceError } from '../domain/service-error.ts'
import { ownerOf } from '../domain/storage-keys.ts'
import { MINUTE, SECOND } from '../domain/times.ts'
import { eventsOf, firstEvent, TIMELINE_LENGTH, type TimelineEvent } from '../domain/timeline.ts'
import { isDuplicateKey } from './database.ts'
import { driverCollection } from './driver.ts'
import { anyOf, createBatchedRead, createBatches, createLine } from './line.ts'
import { postSchema, type StoredPost } from './post-schema.ts'

const LIST_DEADLINE_MS = 5 * SECOND
/** Nothing looks at owner and account earlier than this before the instant for the last time. */
const LONGEST_AHEAD_MS = MINUTE

export interface PostQuery {
  page: number
  limit: number
  status?: PostStatus
  platform?: Platform
  /** Bounds on `scheduledAt`, or `createdAt` where there is none. */
  from?: Date
  to?: Date
  sortBy: 'createdAt' | 'scheduledAt'
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

/** What goes with a move besides the move itself. */
export interface TransitionOptions {
  /** The workflow run on whose behalf it is made; goes into the timeline. */
  runId?: string
  /** What happened since the last move and has not been told yet. */
  notes?: TimelineEvent[]
  /**
   * The post is likely to be as this process last saw it, so the first try goes without reading it. Not for moves that look
   * at `startPending`, which changes without the revision.
   */
  isKnown?: boolean
}

type Asked = { move: Move } & TransitionOptions

/** Where a post names media: for all platforms, and for one instead. */
const MEDIA_PATHS = ['content.mediaItems', ...PLATFORMS.map((name) => `platformSpecificContent.${name}.mediaItems`)]
const WITHOUT_TIMELINE = { projection: { timeline: 0 } } as const
/** Posts on their way through this process, the latest state it saw of each. */
const KNOWN_POSTS = 2_000

/** Posts, and the only way to change a stored one. */
export function createPostStore(connection: Connection, now: () => Date) {
  const model = connection.model<StoredPost>('Post', postSchema, 'posts')
  const collection = driverCollection<StoredPost>(connection, 'posts')
  const inLine = createLine<Post, Asked>(applyMoves)
  const known = new Map<string, Post>()

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

  function remember(post: Post): void {
    const { revision = -1 } = known.get(post._id) ?? {}
    if (post.revision < revision) return
    known.delete(post._id)
    known.set(post._id, post)
    if (known.size > KNOWN_POSTS) known.delete(known.keys().next().value!)
  }

  /** At most one read and one conditional write for all moves that met; each gets its own post or its own error. */
  async function applyMoves(postId: string, asked: Asked[], settle: (index: number, result: Post | Error) => void) {
    let remembered = asked.every(({ isKnown }) => isKnown) ? known.get(postId) : undefined
    for (;;) {
      const stored = remembered ?? (await find(postId))
      if (!stored) {
        asked.forEach((_, index) => settle(index, new ServiceError('NOT_FOUND', 'Post not found or unauthorized')))
        return
      }
      const { post, results, events } = afterMoves(stored, asked, now())
      // A refusal holds only of the post as it is now; a write proves by the revision that nothing changed meanwhile.
      const isConclusive = !remembered || (post !== stored && results.every((result) => !(result instanceof Error)))
      const written = isConclusive && (post === stored || (await replace(stored, post, events)))
      if (written === 'taken') return applyOneByOne(postId, asked, settle)
      if (written) {
        if (remembered !== undefined || asked.some(({ isKnown }) => isKnown)) remember(post)
        results.forEach((result, index) => settle(index, result instanceof Error ? result : post))
        return
      }
      known.delete(postId)
      remembered = undefined
    }
  }

  /** One of the moves takes what another post holds: it fails, and the others are made without it. */
  async function applyOneByOne(...[postId, asked, settle]: Parameters<typeof applyMoves>): Promise<void> {
    if (asked.length === 1) return settle(0, new EffectTaken())
    for (const [index, one] of asked.entries()) {
      await applyMoves(postId, [{ ...one, isKnown: false }], (_, result) => settle(index, result))
    }
  }

  async function replace(stored: Post, post: Post, events: TimelineEvent[]): Promise<boolean | 'taken'> {
    try {
      const { matchedCount } = await collection().updateOne(
        { _id: stored._id, revision: stored.revision },
        {
          $set: difference(stored, post),
          $push: { timeline: { $each: events, $slice: -TIMELINE_LENGTH } },
        },
      )
      return matchedCount === 1
    } catch (error) {
      if (isDuplicateKey(error)) return 'taken'
      throw error
    }
  }

  return {
    /** @throws a duplicate key error when a user already has a post with this `correlationId` */
    async insert(posts: Post[], session: ClientSession): Promise<void> {
      const records = posts.map((post) => ({ ...post, timeline: [firstEvent(post)] }))
      await collection().insertMany(records, { session })
    },

    find,

    async findOwned(userId: string, postId: string): Promise<Post | null> {
      const post = await find(postId)
      return post?.userId === userId ? post : null
    },

    /** The newest events of a post, oldest first. */
    async timelineOf(userId: string, postId: string): Promise<TimelineEvent[] | null> {
      const found = await collection().findOne({ _id: postId, userId }, { projection: { timeline: 1 } })
      return found && (found.timeline ?? [])
    },

    /** Whether the platform's post is on record as that of another post of ours. */
    async isTaken(postId: string, platform: Platform, platformPostId: string): Promise<boolean> {
      const filter = { publishedKeys: publishedKey(platform, platformPostId) }
      const holder = await collection().findOne(filter, { projection: { _id: 1 } })
      return holder !== null && holder._id !== postId
    },

    findByCorrelationId: (userId: string, correlationId: string): Promise<Post | null> =>
      model.findOne({ userId, correlationId }).lean<Post>().exec(),

    async list(userId: string, query: PostQuery): Promise<{ posts: Post[]; total: number }> {
      const filter = listFilter(userId, query)
      const direction = query.sortOrder === 'asc' ? 1 : -1
      const [posts, total] = await Promise.all([
        model
          .find(filter)
          .sort({ [query.sortBy]: direction, _id: direction })
          .skip((query.page - 1) * query.limit)
          .limit(query.limit)
          .maxTimeMS(LIST_DEADLINE_MS)
          .lean<Post[]>(),
        model.countDocuments(filter).maxTimeMS(LIST_DEADLINE_MS),
      ])
      return { posts, total }
    },

    /**
     * Applies a pure move to the stored post: reads it, and writes the result under the condition that its revision is
     * still the one read, else reads again. So of two moves that exclude each other exactly one wins, whoever asks.
     * Moves of one post that meet in this process share a read and a write.
     * @throws ServiceError NOT_FOUND when the post is gone, EffectTaken, and whatever the move throws
     */
    transition: (postId: string, move: Move, options: TransitionOptions = {}): Promise<Post> =>
      inLine(postId, { move, ...options }),

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
      const owners = [...new Set(storageKeys.map(ownerOf))]
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

    async remove(userId: string, postId: string): Promise<boolean> {
      const { deletedCount } = await model.deleteOne({ _id: postId, userId })
      return deletedCount === 1
    },

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
  if (query.status) filter.status = query.status
  if (query.platform) filter.selectedPlatforms = query.platform
  if (query.from || query.to) {
    const range = { ...(query.from ? { $gte: query.from } : {}), ...(query.to ? { $lte: query.to } : {}) }
    filter.$or = [{ scheduledAt: trusted(range) }, { scheduledAt: null, createdAt: trusted(range) }]
  }
  return filter
}

/** The moves one after the other on one post: the post they leave, each one's result, and what is to be told of it. */
function afterMoves(stored: Post, asked: Asked[], at: Date) {
  const results: (Post | Error)[] = []
  const events: TimelineEvent[] = []
  let post = stored
  for (const { move, notes = [], runId } of asked) {
    try {
      const moved = move(post, at)
      if (moved !== post) {
        const told = [...notes, ...eventsOf(post, moved, at)]
        events.push(...(runId === undefined ? told : told.map((event) => ({ ...event, runId }))))
        post = { ...moved, revision: stored.revision + 1, updatedAt: at }
      }
      results.push(post)
    } catch (error) {
      results.push(error as Error)
    }
  }
  return { post, results, events }
}

/** The fields a move changed, entry by entry, so that what other writers own (`lastAnalyticsFetch`) is left alone. */
function difference(before: Post, after: Post): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  const sameEntries =
    before.platformStatuses.length === after.platformStatuses.length &&
    before.platformStatuses.every((entry, index) => entry.platform === after.platformStatuses[index]?.platform)
  for (const name of Object.keys(after) as (keyof Post)[]) {
    if (after[name] === before[name] || (name === 'platformStatuses' && sameEntries)) continue
    changes[name] = after[name]
  }
  if (sameEntries) {
    after.platformStatuses.forEach((entry, index) => {
      const old = before.platformStatuses[index]!
      if (entry === old) return
      for (const name of Object.keys(entry) as (keyof typeof entry)[]) {
        if (entry[name] !== old[name]) changes[`platformStatuses.${index}.${name}`] = entry[name]
      }
    })
  }
  return changes
}
