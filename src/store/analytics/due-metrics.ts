import type { ClientSession, Connection } from 'mongoose'
import type { DueBounds } from '../../domain/analytics/collection.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Delivery, PlatformStatus } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { METRICS_INDEX, type StoredPost } from '../posts/post-schema.ts'

const LIST_DEADLINE_MS = 20 * SECOND

/** The fields of a post that metrics collection needs. */
export interface PublishedPost {
  _id: string
  userId: string
  platformStatuses: (Pick<
    PlatformStatus,
    'platform' | 'target' | 'status' | 'platformPostId' | 'completedAt' | 'metricsSlot'
  > & {
    delivery: Pick<Delivery, 'accountId'>
  })[]
}

/** The entries of posts whose metrics are collected together. */
export interface Publisher {
  platform: Platform
  /** The platform's id of the account that published them; undefined for all accounts. */
  publishedBy?: string | null | undefined
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
    ...['platform', 'target', 'status', 'platformPostId', 'completedAt', 'metricsSlot', 'delivery.accountId'].map(
      (name) => `platformStatuses.${name}`,
    ),
  ].map((path) => [path, 1]),
)

/** Finds published posts with due metrics and records their collection. It changes neither revision nor `updatedAt`. */
export function createDueMetricsStore(connection: Connection) {
  const collection = nativeCollection<StoredPost>(connection, 'posts')

  const find = (filter: object) =>
    collection().find<PublishedPost>(filter, { projection: SHOWN, maxTimeMS: LIST_DEADLINE_MS }).hint(METRICS_INDEX)

  /** Builds the update that records a slot. Because of `$max`, a late write never moves the slot back. */
  const toSlotUpdate = (slot: Date, fetchedAt?: Date) => ({
    $max: {
      'platformStatuses.$[entry].metricsSlot': slot,
      ...(fetchedAt && { 'platformStatuses.$[entry].lastAnalyticsFetch': fetchedAt }),
    },
  })
  const toEntryFilter = ({ platform, publishedBy }: Publisher) => [
    {
      'entry.platform': platform,
      'entry.status': 'completed',
      ...(publishedBy !== undefined && { 'entry.delivery.accountId': publishedBy }),
    },
  ]

  const dueCursor = (bounds: DueBounds, { userId, untilUserId = null, limit }: DueOwners) => {
    const owners = { ...(userId !== null && { $gt: userId }), ...(untilUserId !== null && { $lte: untilUserId }) }
    return find({ ...isPublished, ...(Object.keys(owners).length > 0 && { userId: owners }), ...toDueFilter(bounds) })
      .sort({ userId: 1 })
      .limit(limit)
  }

  return {
    /** Due posts in the order of their owners. */
    listDue: (...args: Parameters<typeof dueCursor>): Promise<PublishedPost[]> => dueCursor(...args).toArray(),
    dueCursor,

    /** The owner of a random post; null when there are no posts. */
    async sampleOwner(): Promise<string | null> {
      const [post] = await collection()
        .aggregate<Pick<StoredPost, 'userId'>>([{ $sample: { size: 1 } }, { $project: { userId: 1 } }])
        .toArray()
      return post?.userId ?? null
    },

    /** Due posts of one owner, in the order of their ids. */
    listDueOf: (
      userId: string,
      bounds: DueBounds,
      after: { postId: string | null; limit: number },
    ): Promise<PublishedPost[]> =>
      find({
        ...isPublished,
        userId,
        ...(after.postId !== null && { _id: { $gt: after.postId } }),
        ...toDueFilter(bounds),
      })
        .sort({ _id: 1 })
        .limit(after.limit)
        .toArray(),

    find: (postIds: string[]): Promise<PublishedPost[]> =>
      collection()
        .find<PublishedPost>({ _id: { $in: postIds } }, { projection: SHOWN })
        .toArray(),

    /**
     * Records that the metrics of this slot are done, with `takenAt` when they were fetched.
     * @returns the posts that are still published and not fetched later; only their metrics may be stored in the same
     * transaction
     */
    async recordFetch(
      publisher: Publisher,
      postIds: string[],
      { slot, takenAt }: { slot: Date; takenAt?: Date },
      session: ClientSession,
    ): Promise<Set<string>> {
      // A fetch that started before the stored one does not overwrite it.
      const isLatest = takenAt && { lastAnalyticsFetch: { $not: { $gt: takenAt } } }
      const published = {
        platformStatuses: {
          $elemMatch: { ...toPublisherFilter(publisher), status: 'completed' as const, ...isLatest },
        },
      }
      const fetchable = await collection()
        .find({ _id: { $in: postIds }, ...published }, { projection: { _id: 1 }, session })
        .toArray()
      const ids = fetchable.map(({ _id }) => _id)
      // A concurrent deletion makes the transaction start again.
      await collection().updateMany({ _id: { $in: ids } }, toSlotUpdate(slot, takenAt), {
        arrayFilters: toEntryFilter(publisher),
        session,
      })
      return new Set(ids)
    },

    /** Marks the slot done for posts without metrics. */
    async markSlotDone(publisher: Publisher, postIds: string[], slot: Date): Promise<void> {
      await collection().updateMany({ _id: { $in: postIds } }, toSlotUpdate(slot), {
        arrayFilters: toEntryFilter(publisher),
      })
    },

    /** Like `markSlotDone`, for all due posts of an owner. */
    async markDueDone(userId: string, publisher: Publisher, bounds: DueBounds): Promise<void> {
      await collection().updateMany({ ...isPublished, userId, ...toDueFilter(bounds) }, toSlotUpdate(bounds.slot), {
        arrayFilters: toEntryFilter(publisher),
        hint: METRICS_INDEX,
      })
    },
  }
}

export type DueMetricsStore = ReturnType<typeof createDueMetricsStore>

/** The condition of the partial index; corresponds to `isDue` in the domain. */
const isPublished = { publishedKeys: { $exists: true } }

function toPublisherFilter({ platform, publishedBy }: Publisher) {
  return { platform, ...(publishedBy !== undefined && { 'delivery.accountId': publishedBy }) }
}

function toDueFilter({ platforms, completedAfter, completedUntil, slot }: DueBounds) {
  return {
    platformStatuses: {
      $elemMatch: {
        completedAt: { $gt: completedAfter, $lte: completedUntil },
        metricsSlot: { $not: { $gte: slot } },
        platform: { $in: platforms },
        status: 'completed' as const,
        platformPostId: { $ne: null },
      },
    },
  }
}
