import type { ArmedFields } from '../../domain/posts/armed-fields.ts'
import type { DueCheck, Post, PostStatus } from '../../domain/posts/post.ts'
import { HIGHEST_DUE_RANK } from '../../domain/posts/publish-plan.ts'
import type { WaitingGroup } from '../../domain/posts/waiting.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { batcher } from '../shared/batching.ts'
import { LIST_DEADLINE_MS, matchAny } from './match-posts.ts'
import { WITHOUT_LOGS, type PostCollection } from './post-schema.ts'

/** Keeps each of the regular queries short. */
const ARMED_PER_QUERY = 1_000

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

/** Reads of posts with open deliveries by their times: for the order of a further post, for checks before they are due, and for the sweeper. */
export function createDuePosts(collection: PostCollection) {
  return {
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

    /** Finds the scheduled posts that take slots of an account or group: at these times, in its name or on any of these accounts. Returns their ids by time. */
    async findTakenSlots(
      userId: string,
      { slotOf, slots, accountIds }: { slotOf: string; slots: readonly Date[]; accountIds: readonly string[] },
    ): Promise<Map<number, string>> {
      if (slots.length === 0) return new Map()
      const filter = {
        userId,
        scheduledAt: { $in: [...slots] },
        // As the unique index: whatever has become of a post that has a slot.
        $or: [{ slotOf }, { status: 'SCHEDULED' as const, 'platformStatuses.accountId': { $in: [...accountIds] } }],
      }
      const found = await collection()
        .find<{ _id: string; scheduledAt: Date }>(filter, {
          projection: { scheduledAt: 1 },
          maxTimeMS: LIST_DEADLINE_MS,
        })
        .toArray()
      return new Map(found.map(({ _id, scheduledAt }) => [scheduledAt.getTime(), _id]))
    },

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

    /** Posts that were due until an instant and have deliveries that are open or have failed, in no order. */
    streamUnpublished: (dueUntil: Date): AsyncIterable<Post> =>
      collection().find<Post>(
        {
          status: { $in: ['PENDING', 'SCHEDULED', 'PROCESSING', 'FAILED', 'PARTIAL_SUCCESS'] satisfies PostStatus[] },
          dueAt: { $lte: dueUntil },
        },
        { ...WITHOUT_LOGS, ...ALL_SHARDS },
      ),

    /** Due posts with a delivery that waits for a server and is not being called now, the next due first. */
    streamHeld: (server: string, now: Date): AsyncIterable<Post> =>
      collection()
        .find<Post>(
          {
            status: { $in: ['PENDING', 'SCHEDULED', 'PROCESSING'] satisfies PostStatus[] },
            dueAt: { $lte: now },
            platformStatuses: {
              $elemMatch: {
                status: { $in: ['pending', 'processing'] },
                'delivery.outage.server': server,
                'delivery.leaseUntil': null,
              },
            },
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

    /** Posts with a pending change of what is published that was due before an instant, longest due first. */
    async listUnchanged(before: Date, limit: number): Promise<{ id: string; userId: string }[]> {
      const found = await collection()
        .find<Pick<Post, '_id' | 'userId'>>(
          { changeDueAt: { $lte: before } },
          { projection: { userId: 1 }, sort: { changeDueAt: 1 }, limit, ...ALL_SHARDS },
        )
        .toArray()
      return found.map(({ _id: id, userId }) => ({ id, userId }))
    },

    /** Counts posts that were due before an instant and whose delivery has not begun, up to `limit`. */
    countUnstarted: (dueBefore: Date, limit: number): Promise<number> =>
      collection().countDocuments(
        { status: { $in: ['PENDING', 'SCHEDULED'] satisfies PostStatus[] }, dueAt: { $lte: dueBefore } },
        { limit, maxTimeMS: LIST_DEADLINE_MS, ...ALL_SHARDS },
      ),

    /** Groups the open deliveries of posts that are due, of the `limit` longest due posts. */
    async groupWaiting(now: Date, limit: number): Promise<{ groups: WaitingGroup[]; isComplete: boolean }> {
      const due = {
        status: { $in: ['PENDING', 'SCHEDULED', 'PROCESSING'] satisfies PostStatus[] },
        dueAt: { $lte: now },
      }
      const [found, count] = await Promise.all([
        collection()
          .aggregate<{ _id: Omit<WaitingGroup, 'deliveries' | 'oldestDueAt'>; deliveries: number; oldestDueAt: Date }>(
            [
              { $match: due },
              { $sort: { dueAt: 1 } },
              { $limit: limit },
              { $project: { dueAt: 1, entry: '$platformStatuses' } },
              { $unwind: '$entry' },
              { $match: { 'entry.status': { $in: ['pending', 'processing'] } } },
              {
                $group: {
                  _id: {
                    hasOutage: { $gt: ['$entry.delivery.outage', null] },
                    isLeased: { $gt: ['$entry.delivery.leaseUntil', null] },
                    outcome: '$entry.delivery.outcome',
                    errorCode: '$entry.errorCode',
                  },
                  deliveries: { $sum: 1 },
                  oldestDueAt: { $min: '$dueAt' },
                },
              },
            ],
            { maxTimeMS: LIST_DEADLINE_MS, ...ALL_SHARDS },
          )
          .toArray(),
        collection().countDocuments(due, { limit: limit + 1, maxTimeMS: LIST_DEADLINE_MS, ...ALL_SHARDS }),
      ])
      const groups = found.map(({ _id, deliveries, oldestDueAt }) => ({ ..._id, deliveries, oldestDueAt }))
      return { groups, isComplete: count <= limit }
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
          groups: 1,
        }
        const filter = matchAny(some.map(({ _id: id, userId }) => ({ id, userId })))
        for (const post of await collection().find<ArmedFields>(filter, { projection }).toArray()) {
          found.set(post._id, post)
        }
      }
      return found
    },
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
