import type { ClientSession, Connection } from 'mongoose'
import type { DueBounds } from '../../domain/analytics/collection.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Delivery, PlatformStatus } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { METRICS_INDEX, type StoredPost } from '../posts/post-schema.ts'

const LIST_DEADLINE_MS = 20 * SECOND

/** What the collection of metrics has to know of a post. */
export interface PublishedPost {
  _id: string
  userId: string
  platformStatuses: (Pick<PlatformStatus, 'platform' | 'status' | 'platformPostId' | 'completedAt' | 'metricsSlot'> & {
    delivery: Pick<Delivery, 'accountId'>
  })[]
}

/** Those after this one, up to the other one. */
interface DueOwners {
  userId: string | null
  untilUserId?: string | null
  limit: number
}

const SHOWN = Object.fromEntries(
  [
    'userId',
    ...['platform', 'status', 'platformPostId', 'completedAt', 'metricsSlot', 'delivery.accountId'].map(
      (name) => `platformStatuses.${name}`,
    ),
  ].map((path) => [path, 1]),
)

/** Posts as the collection of metrics sees them. What it writes moves neither revision nor `updatedAt`. */
export function createDueMetricsStore(connection: Connection) {
  const collection = nativeCollection<StoredPost>(connection, 'posts')

  const find = (filter: object) =>
    collection().find<PublishedPost>(filter, { projection: SHOWN, maxTimeMS: LIST_DEADLINE_MS }).hint(METRICS_INDEX)

  /** `$max`: what comes late takes nothing back. */
  const settling = (slot: Date, fetchedAt?: Date) => ({
    $max: {
      'platformStatuses.$[entry].metricsSlot': slot,
      ...(fetchedAt && { 'platformStatuses.$[entry].lastAnalyticsFetch': fetchedAt }),
    },
  })
  const entriesOn = (platform: Platform) => [{ 'entry.platform': platform, 'entry.status': 'completed' }]

  const dueCursor = (bounds: DueBounds, { userId, untilUserId = null, limit }: DueOwners) => {
    const owners = { ...(userId !== null && { $gt: userId }), ...(untilUserId !== null && { $lte: untilUserId }) }
    return find({ ...isOut, ...(Object.keys(owners).length > 0 && { userId: owners }), ...dueEntry(bounds) })
      .sort({ userId: 1 })
      .limit(limit)
  }

  return {
    /** In the order of their owners, whose posts come together. */
    listDue: (...asked: Parameters<typeof dueCursor>): Promise<PublishedPost[]> => dueCursor(...asked).toArray(),
    dueCursor,

    /** Somebody who has posts, by chance; null when nobody has. */
    async sampleOwner(): Promise<string | null> {
      const [post] = await collection()
        .aggregate<Pick<StoredPost, 'userId'>>([{ $sample: { size: 1 } }, { $project: { userId: 1 } }])
        .toArray()
      return post?.userId ?? null
    },

    /** Of one owner, in the order of their ids. */
    listDueOf: (
      userId: string,
      bounds: DueBounds,
      after: { postId: string | null; limit: number },
    ): Promise<PublishedPost[]> =>
      find({ ...isOut, userId, ...(after.postId !== null && { _id: { $gt: after.postId } }), ...dueEntry(bounds) })
        .sort({ _id: 1 })
        .limit(after.limit)
        .toArray(),

    find: (postIds: string[]): Promise<PublishedPost[]> =>
      collection()
        .find<PublishedPost>({ _id: { $in: postIds } }, { projection: SHOWN })
        .toArray(),

    /**
     * The metrics of this slot were seen to, at `takenAt` where they were fetched. Answers which of the posts are still there and
     * published, and not fetched later: only of those may anything be stored in the same transaction.
     */
    async recordFetch(
      platform: Platform,
      postIds: string[],
      { slot, takenAt }: { slot: Date; takenAt?: Date },
      session: ClientSession,
    ): Promise<Set<string>> {
      // A look that began before the one that is stored takes nothing back.
      const isLatest = takenAt && { lastAnalyticsFetch: { $not: { $gt: takenAt } } }
      const published = { platformStatuses: { $elemMatch: { platform, status: 'completed' as const, ...isLatest } } }
      const there = await collection()
        .find({ _id: { $in: postIds }, ...published }, { projection: { _id: 1 }, session })
        .toArray()
      const ids = there.map(({ _id }) => _id)
      // Who deletes one of them meanwhile makes the transaction begin anew.
      await collection().updateMany({ _id: { $in: ids } }, settling(slot, takenAt), {
        arrayFilters: entriesOn(platform),
        session,
      })
      return new Set(ids)
    },

    /** Nobody has to ask for their metrics of this slot, although there are none. */
    async markSlotDone(platform: Platform, postIds: string[], slot: Date): Promise<void> {
      await collection().updateMany({ _id: { $in: postIds } }, settling(slot), { arrayFilters: entriesOn(platform) })
    },

    /** The same for all posts of an account that are due. */
    async markDueDone(userId: string, bounds: DueBounds): Promise<void> {
      for (const platform of bounds.platforms) {
        await collection().updateMany({ ...isOut, userId, ...dueEntry(bounds) }, settling(bounds.slot), {
          arrayFilters: entriesOn(platform),
          hint: METRICS_INDEX,
        })
      }
    },
  }
}

export type DueMetricsStore = ReturnType<typeof createDueMetricsStore>

/** What the index holds; as `isDue` of the domain says it. */
const isOut = { publishedKeys: { $exists: true } }

function dueEntry({ platforms, completedAfter, completedUntil, slot }: DueBounds) {
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
