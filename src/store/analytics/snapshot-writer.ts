import type { ClientSession } from 'mongoose'
import { findNextCollection, type AgeClass } from '../../domain/analytics/collection.ts'
import { analyticsCollected } from '../../domain/events/user-events.ts'
import type { EventStore } from '../events/events.ts'
import { extendsSnapshot, findUnchangedSince, toPairKey, toSnapshotSlot } from '../../domain/analytics/snapshots.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Database } from '../shared/database.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import type { DueMetricsStore, PlannedCollection } from './due-metrics.ts'
import type { NewAccountSnapshot, PostSnapshot, SnapshotExtension, SnapshotStore } from './snapshots.ts'
import type { UserStore } from '../users/users.ts'

export interface SnapshotWriterDeps {
  database: Database
  snapshots: SnapshotStore
  published: DueMetricsStore
  users: UserStore
  events: EventStore
  collection: { ages: AgeClass[]; retentionMs: number }
}

/** The account, platform and time of a fetch. */
interface FetchDetails {
  userId: string
  platform: Platform
  /** The platform's id of the account that published the posts. */
  publishedBy: string | null
  takenAt: Date
  /** The user's. */
  timezone: string
  /** Stores a snapshot even if nothing changed. */
  isRequested: boolean
}

type FetchedMetrics = Omit<
  PostSnapshot,
  '_id' | 'removeAt' | 'slot' | 'lastSeenAt' | 'unchangedSince' | keyof FetchDetails
>

/** Users whose event of the day a process remembers. */
const MAX_LAST_EVENTS = 20_000
/** Two processes that write the same slot conflict once; a third conflict has another cause. */
const TRIES = 3

/**
 * Stores snapshots together with the fetch time of the posts and the version of the user's analytics. Posts deleted meanwhile
 * get none, and nothing is stored for a deleted user.
 */
export function createSnapshotWriter({
  database,
  snapshots,
  published,
  users,
  events,
  collection,
}: SnapshotWriterDeps) {
  const { ages, retentionMs } = collection
  /** The last event of a user that this process has stored or found. It saves a query per write. */
  const lastEvents = new Map<string, string>()

  async function raiseVersionAfter(
    userId: string,
    takenAt: Date,
    work: (session: ClientSession) => Promise<number>,
  ): Promise<number> {
    const event = analyticsCollected(userId, takenAt)
    let isAppended = false
    for (let attempt = 1; ; attempt++) {
      try {
        const count = await database.transaction(async (session) => {
          isAppended = lastEvents.get(userId) === event.id
          const stored = await work(session)
          if (stored > 0 && !isAppended) await events.append(userId, [event], session)
          if (!(await users.raiseAnalyticsVersion(userId, session))) throw new OwnerDeleted()
          return stored
        }, userId)
        if (count === 0 || isAppended) return count
        if (lastEvents.size >= MAX_LAST_EVENTS) lastEvents.clear()
        lastEvents.set(userId, event.id)
        events.announce([userId])
        return count
      } catch (error) {
        if (error instanceof OwnerDeleted) return 0
        if (!isDuplicateKey(error) || attempt === TRIES) throw error
      }
    }
  }

  /**
   * Extends the snapshots of posts with unchanged counts, and stores one of each other post.
   * @returns when the metrics of each post are collected next
   */
  async function saveFetched(
    { userId, platform, takenAt, timezone, isRequested }: FetchDetails,
    fetched: FetchedMetrics[],
    session: ClientSession,
  ): Promise<PlannedCollection[]> {
    const removeAt = new Date(takenAt.getTime() + retentionMs)
    const postIds = fetched.map(({ postId }) => postId)
    const latest = await snapshots.findLatest({ userId, platform, postIds }, session)
    const extensions: SnapshotExtension[] = []
    const records: Omit<PostSnapshot, '_id'>[] = []
    const planned: PlannedCollection[] = []
    for (const one of fetched) {
      const last = latest.get(toPairKey({ ...one, platform }))
      const unchangedSince = findUnchangedSince(last, one)
      planned.push({
        userId,
        postId: one.postId,
        dueAt: findNextCollection(ages, one.completedAt, takenAt, unchangedSince),
      })
      if (last && !isRequested && extendsSnapshot(last, one, takenAt, timezone)) {
        const { engagementRate, virality, totalEngagement, followerCountAtSnapshot } = one
        const rates = { engagementRate, virality, totalEngagement, followerCountAtSnapshot }
        extensions.push({ _id: last._id, userId, lastSeenAt: takenAt, removeAt, ...rates })
        continue
      }
      const slot = toSnapshotSlot(takenAt, last)
      records.push({ ...one, userId, platform, slot, takenAt, removeAt, ...(unchangedSince && { unchangedSince }) })
    }
    if (records.length > 0) await snapshots.save(records, session)
    if (extensions.length > 0) await snapshots.extend(extensions, session)
    return planned
  }

  return {
    /**
     * Stores snapshots of posts.
     * @param isChanged raises the version of the user's analytics even without a snapshot
     * @returns how many were stored or extended
     */
    async savePosts(fetchDetails: FetchDetails, fetched: FetchedMetrics[], isChanged: boolean): Promise<number> {
      if (fetched.length === 0 && !isChanged) return 0
      const { userId, platform, publishedBy, takenAt } = fetchDetails
      return raiseVersionAfter(userId, takenAt, async (session) => {
        if (fetched.length === 0) return 0
        const publisher = { platform, publishedBy }
        const postIds = fetched.map(({ postId }) => postId)
        const storable = await published.findStorable(publisher, { userId, postIds, takenAt }, session)
        const current = fetched.filter(({ postId }) => storable.has(postId))
        if (current.length === 0) return 0
        const planned = await saveFetched(fetchDetails, current, session)
        await published.planNext(publisher, planned, { takenAt, session })
        return current.length
      })
    },

    async saveFollowers(fetched: Omit<NewAccountSnapshot, 'removeAt'>): Promise<number> {
      const removeAt = new Date(fetched.takenAt.getTime() + retentionMs)
      return raiseVersionAfter(fetched.userId, fetched.takenAt, async (session) => {
        await snapshots.saveFollowers({ ...fetched, removeAt }, session)
        return 1
      })
    },
  }
}

export type SnapshotWriter = ReturnType<typeof createSnapshotWriter>

class OwnerDeleted extends Error {}
