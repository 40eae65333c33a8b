import type { ClientSession, Connection } from 'mongoose'
import { findDueLane, type Lane } from '../../domain/analytics/collection.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Delivery, PlatformStatus, PublishedPart } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { METRICS_INDEX, type StoredPost } from '../posts/post-schema.ts'

const POSTS = 'posts'
const LIST_DEADLINE_MS = 20 * SECOND

/** The fields of a post that metrics collection needs. */
export interface PublishedPost {
  _id: string
  userId: string
  platformStatuses: (Pick<
    PlatformStatus,
    'platform' | 'target' | 'server' | 'status' | 'platformPostId' | 'completedAt' | 'metricsDueAt' | 'endsAt'
  > & {
    /** The posts of a thread, or the post below which a comment is. */
    parts?: Pick<PublishedPart, 'platformPostId'>[]
    delivery: Pick<Delivery, 'accountId'>
  })[]
}

/** The entries of posts whose metrics are collected together. */
export interface Publisher {
  platform: Platform
  /** The platform's id of the account that published them. */
  publishedBy: string | null
}

/** When the metrics of a post are collected next; null for no more. */
export interface PlannedCollection {
  userId: string
  postId: string
  dueAt: Date | null
}

/** Owners in the order of their ids: one, or those after `after` and up to `until`. */
type Owners = string | { after: string; until?: string }

const SHOWN = Object.fromEntries(
  [
    'userId',
    ...[
      'platform',
      'target',
      'server',
      'status',
      'platformPostId',
      'completedAt',
      'metricsDueAt',
      'endsAt',
      'parts.platformPostId',
      'delivery.accountId',
    ].map((name) => `platformStatuses.${name}`),
  ].map((path) => [path, 1]),
)

/** Finds published posts with due metrics and records their collection. It changes neither revision nor `updatedAt`. */
export function createDueMetricsStore(connection: Connection) {
  const collection = nativeCollection<StoredPost>(connection, POSTS)

  const find = (filter: object) =>
    collection()
      .find<PublishedPost>(filter, {
        projection: SHOWN,
        maxTimeMS: LIST_DEADLINE_MS,
        ...(!('userId' in filter) && ALL_SHARDS),
      })
      .hint(METRICS_INDEX)

  /** Updates that plan the next collection. Because of `$max`, a late write never moves it back. */
  const toUpdates = (publisher: Publisher, planned: PlannedCollection[], fetchedAt?: Date) =>
    planned.map(({ userId, postId, dueAt }) => ({
      updateOne: {
        filter: { _id: postId, userId },
        update: {
          ...(!dueAt && { $set: { [DUE_AT]: null } }),
          $max: {
            ...(dueAt && { [DUE_AT]: dueAt }),
            ...(fetchedAt && { 'platformStatuses.$[entry].lastAnalyticsFetch': fetchedAt }),
          },
        },
        arrayFilters: toEntryFilter(publisher),
      },
    }))

  const toEntryFilter = ({ platform, publishedBy }: Publisher) => [
    {
      'entry.platform': platform,
      'entry.status': 'completed',
      'entry.delivery.accountId': publishedBy,
    },
  ]

  const dueCursor = (lane: Lane, owners: Owners, now: Date, limit = 0) =>
    find({ ...isPublished, userId: toOwnerFilter(owners), ...toDueFilter(toLaneFilter(lane), now) })
      .sort({ userId: 1 })
      .limit(limit)

  return {
    /** The posts that are due in a lane, in the order of their owners. */
    listDue: (...args: Parameters<typeof dueCursor>): Promise<PublishedPost[]> => dueCursor(...args).toArray(),
    dueCursor,

    /** Returns a server of the platform with due posts, besides these; null for a platform without several, undefined for none. */
    async findDueServer(platform: Platform, except: (string | null)[], now: Date): Promise<string | null | undefined> {
      const [post] = await find({ ...isPublished, ...toDueFilter({ platform, server: { $nin: except } }, now) })
        .limit(1)
        .toArray()
      const lanes = post?.platformStatuses.map((entry) => findDueLane(entry, now)) ?? []
      return lanes.find((lane) => lane?.platform === platform && !except.includes(lane.server))?.server
    },

    /** Returns the owner of a random post; an empty string when there is none. */
    async findRandomOwner(): Promise<string> {
      const [post] = await collection()
        .aggregate<PublishedPost>([{ $sample: { size: 1 } }, { $project: { userId: 1 } }], ALL_SHARDS)
        .toArray()
      return post?.userId ?? ''
    },

    /**
     * Claims those of these posts that are still due: no other collector claims them before `until`.
     * @returns the ids of the claimed posts
     */
    async claim(
      publisher: Publisher,
      { userId, postIds, until }: { userId: string; postIds: string[]; until: Date },
      now: Date,
    ): Promise<Set<string>> {
      const entries = (metricsDueAt: object) => ({
        ...{ _id: { $in: postIds }, userId },
        platformStatuses: { $elemMatch: { ...toPublisherFilter(publisher), metricsDueAt } },
      })
      const isStillDue = { $lte: now }
      const { modifiedCount } = await collection().updateMany(
        entries(isStillDue),
        { $set: { [DUE_AT]: until } },
        { arrayFilters: toEntryFilter(publisher).map((entry) => ({ ...entry, 'entry.metricsDueAt': isStillDue })) },
      )
      if (modifiedCount === 0 || modifiedCount === postIds.length) return new Set(modifiedCount === 0 ? [] : postIds)
      const claimed = await collection()
        .find(entries({ $eq: until }), { projection: { _id: 1 } })
        .toArray()
      return new Set(claimed.map(({ _id }) => _id))
    },

    findOne: (postId: string, userId: string): Promise<PublishedPost | null> =>
      collection().findOne<PublishedPost>({ _id: postId, userId }, { projection: SHOWN }),

    /**
     * Returns which of these posts are still published and were not fetched after `takenAt`. Only their metrics may be stored in the
     * same transaction.
     */
    async findStorable(
      publisher: Publisher,
      { userId, postIds, takenAt }: { userId: string; postIds: string[]; takenAt?: Date },
      session: ClientSession,
    ): Promise<Set<string>> {
      // A fetch that started before the stored one does not overwrite it.
      const isLatest = takenAt && { lastAnalyticsFetch: { $not: { $gt: takenAt } } }
      const published = {
        platformStatuses: {
          $elemMatch: { ...toPublisherFilter(publisher), ...isLatest },
        },
      }
      const storable = await collection()
        .find({ _id: { $in: postIds }, userId, ...published }, { projection: { _id: 1 }, session })
        .toArray()
      return new Set(storable.map(({ _id }) => _id))
    },

    /**
     * Plans the next collection of posts, with `takenAt` when they were fetched. In a transaction, a concurrent deletion makes it start
     * again.
     */
    async planNext(
      publisher: Publisher,
      planned: PlannedCollection[],
      { takenAt, session }: { takenAt?: Date; session?: ClientSession } = {},
    ): Promise<void> {
      if (planned.length === 0) return
      await collection().bulkWrite(toUpdates(publisher, planned, takenAt), {
        ...(session && { session }),
        ordered: false,
      })
    },
  }
}

const DUE_AT = 'platformStatuses.$[entry].metricsDueAt'

export type DueMetricsStore = ReturnType<typeof createDueMetricsStore>

/** The condition of the partial index; corresponds to `findDueLane` in the domain. */
const isPublished = { publishedKeys: { $exists: true } }

function toPublisherFilter({ platform, publishedBy }: Publisher) {
  return { platform, 'delivery.accountId': publishedBy, status: 'completed' as const }
}

function toOwnerFilter(owners: Owners) {
  if (typeof owners === 'string') return owners
  return { $gt: owners.after, ...(owners.until !== undefined && { $lte: owners.until }) }
}

/** A comparison with null would read two ranges of the index, and sort. */
function toLaneFilter({ platform, server }: Lane) {
  return { platform, server: server ?? { $exists: false } }
}

function toDueFilter(lane: { platform: Platform; server: string | object }, now: Date) {
  return {
    platformStatuses: {
      $elemMatch: {
        ...lane,
        metricsDueAt: { $lte: now },
        completedAt: { $ne: null },
        status: 'completed' as const,
        platformPostId: { $ne: null },
      },
    },
  }
}
