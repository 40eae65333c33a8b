import type { ClientSession, Connection } from 'mongoose'
import type { DueBounds } from '../../domain/analytics/collection.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Delivery, PlatformStatus } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { createOwnerSample, toOwnerFilter } from '../shared/owners.ts'
import { METRICS_INDEX, type StoredPost } from '../posts/post-schema.ts'

const POSTS = 'posts'
const LIST_DEADLINE_MS = 20 * SECOND

/** The fields of a post that metrics collection needs. */
export interface PublishedPost {
  _id: string
  userId: string
  platformStatuses: (Pick<
    PlatformStatus,
    'platform' | 'target' | 'server' | 'status' | 'platformPostId' | 'completedAt' | 'metricsDueAt'
  > & {
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

/** A range of owners: after `userId`, up to `untilUserId`. */
interface DueOwners {
  userId: string | null
  untilUserId?: string | null
  limit: number
}

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

  const dueCursor = (bounds: DueBounds, { userId, untilUserId = null, limit }: DueOwners) => {
    return find({ ...isPublished, ...toOwnerFilter({ afterUserId: userId, untilUserId }), ...toDueFilter(bounds) })
      .sort({ userId: 1 })
      .limit(limit)
  }

  return {
    /** Due posts in the order of their owners. */
    listDue: (...args: Parameters<typeof dueCursor>): Promise<PublishedPost[]> => dueCursor(...args).toArray(),
    dueCursor,

    ...createOwnerSample(connection, POSTS),

    find: (userId: string, postIds: string[]): Promise<PublishedPost[]> =>
      collection()
        .find<PublishedPost>({ _id: { $in: postIds }, userId }, { projection: SHOWN })
        .toArray(),

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
          $elemMatch: { ...toPublisherFilter(publisher), status: 'completed' as const, ...isLatest },
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

    /** Lists all due posts of a user on a platform, for collections that would fail in the same way. */
    listDueOfUser: (userId: string, platform: Platform, dueBy: Date): Promise<PublishedPost[]> =>
      find({ ...isPublished, userId, ...toDueFilter({ platforms: [platform], dueBy }) }).toArray(),
  }
}

const DUE_AT = 'platformStatuses.$[entry].metricsDueAt'

export type DueMetricsStore = ReturnType<typeof createDueMetricsStore>

/** The condition of the partial index; corresponds to `isDue` in the domain. */
const isPublished = { publishedKeys: { $exists: true } }

function toPublisherFilter({ platform, publishedBy }: Publisher) {
  return { platform, 'delivery.accountId': publishedBy }
}

function toDueFilter({ platforms, completedAfter, completedUntil, dueBy }: DueBounds) {
  return {
    platformStatuses: {
      $elemMatch: {
        metricsDueAt: { $lte: dueBy },
        completedAt: {
          $ne: null,
          ...(completedAfter && { $gt: completedAfter }),
          ...(completedUntil && { $lte: completedUntil }),
        },
        platform: { $in: platforms },
        status: 'completed' as const,
        platformPostId: { $ne: null },
      },
    },
  }
}
