import { findFirstCollection, type AgeClass } from '../../domain/analytics/collection.ts'
import { mergeFetches, toPairKey, toSnapshotId, toSnapshotSlot } from '../../domain/analytics/snapshots.ts'
import type { StoredPost } from '../posts/post-schema.ts'
import type { Database } from '../shared/database.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { anyOf } from '../shared/batching.ts'
import { dropIndex } from '../shared/drop-index.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import type { UserStore } from '../users/users.ts'
import { ANALYTICS_PROGRESS, POST_SNAPSHOTS } from './collections.ts'
import type { PostSnapshot } from './snapshots.ts'

const PAGE = 500
const PAGE_KEYS = { postId: 1, userId: 1 } as const

const OLDER_METRICS_INDEX = { userId: 1, 'platformStatuses.completedAt': 1, 'platformStatuses.metricsSlot': 1 }

interface OlderAnalyticsDeps {
  database: Pick<Database, 'connection' | 'transaction'>
  users: Pick<UserStore, 'findTimezones'>
  ages: readonly AgeClass[]
  now(): Date
}

/** How far the snapshots are moved: all posts up to `afterPostId`, or all posts. */
interface State {
  _id: string
  afterPostId: string | null
  moved: number
  isDone: boolean
}

/** Called after each page with the number of moved snapshots. */
type OnProgress = (moved: number) => void

/**
 * Moves analytics that older releases stored: one snapshot per collection with a random id, and posts without the time of their next
 * collection. It may be interrupted, and then continues. The service reads both forms.
 */
export function createOlderAnalytics({ database, users, ages, now }: OlderAnalyticsDeps) {
  const { connection, transaction } = database
  const snapshots = nativeCollection<PostSnapshot>(connection, POST_SNAPSHOTS)
  const posts = nativeCollection<StoredPost>(connection, 'posts')
  const states = nativeCollection<State>(connection, ANALYTICS_PROGRESS)

  /** Merges the older snapshots of a post, and gives them ids by account and slot. */
  async function movePost(own: PostSnapshot[], timezone: string): Promise<void> {
    const newer = new Set(own.filter(isMoved).map(({ _id }) => _id))
    const older = own.filter((snapshot) => !isMoved(snapshot))
    const pairs = [...Map.groupBy(older, toPairKey).values()]
    const merged = pairs.flatMap((fetches) => mergeFetches(fetches.toSorted(byTime), timezone))
    const records = new Map(
      merged.map((snapshot): [string, PostSnapshot] => {
        const slot = toSnapshotSlot(snapshot.takenAt)
        const _id = toSnapshotId(snapshot, slot)
        return [_id, { ...snapshot, _id, slot }]
      }),
    )
    const missing = [...records.values()].filter(({ _id }) => !newer.has(_id))
    const { userId } = own[0]!
    await transaction(async (session) => {
      const ids = older.map(({ _id }) => _id)
      const { deletedCount } = await snapshots().deleteMany({ _id: { $in: ids }, userId }, { session })
      // The post is being deleted, or a process of the older release has replaced a snapshot. The next pass moves what is left.
      if (deletedCount !== ids.length) throw new SnapshotsChanged()
      if (missing.length > 0) await snapshots().insertMany(missing, { session })
    })
  }

  async function movePage(afterPostId: string | null): Promise<{ last: string | null; moved: number }> {
    const page = await snapshots()
      .find(afterPostId === null ? {} : { postId: { $gt: afterPostId } }, { projection: PAGE_KEYS, ...ALL_SHARDS })
      .sort({ postId: 1 })
      .limit(PAGE)
      .toArray()
    if (page.length === 0) return { last: null, moved: 0 }
    const postIds = [...new Set(page.map(({ postId }) => postId))]
    const userId = anyOf(page.map((snapshot) => snapshot.userId))
    const all = await snapshots()
      .find({ userId, postId: { $in: postIds } })
      .toArray()
    const unmoved = [...Map.groupBy(all, ({ postId }) => postId).values()].filter((own) => !own.every(isMoved))
    const timezones = await users.findTimezones([...new Set(unmoved.map(([first]) => first!.userId))])
    for (const own of unmoved) {
      await movePost(own, timezones.get(own[0]!.userId) ?? 'UTC').catch((error: unknown) => {
        if (!(error instanceof SnapshotsChanged)) throw error
      })
    }
    return { last: postIds.at(-1)!, moved: unmoved.flat().filter((one) => !isMoved(one)).length }
  }

  return {
    /**
     * Moves all snapshots of older releases.
     * @param name names the pass; a pass that was finished is not repeated
     */
    async moveSnapshots(name: string, onProgress: OnProgress): Promise<void> {
      const _id = `snapshots/${name}`
      const state = await states().findOne({ _id })
      if (state?.isDone) return
      let [after, total] = [state?.afterPostId ?? null, state?.moved ?? 0]
      for (;;) {
        const { last, moved } = await movePage(after)
        total += moved
        after = last ?? after
        await states().updateOne(
          { _id },
          { $set: { afterPostId: after, moved: total, isDone: last === null } },
          { upsert: true },
        )
        if (last === null) return
        if (moved > 0) onProgress(total)
      }
    },

    /** Plans the next collection of posts that an older release published. Their collections are spread over the interval of their age. */
    async planCollections(onProgress: OnProgress): Promise<void> {
      let planned = 0
      for (;;) {
        const page = await posts()
          .find(
            {
              publishedKeys: { $exists: true },
              platformStatuses: {
                $elemMatch: { status: 'completed', completedAt: { $ne: null }, metricsDueAt: { $exists: false } },
              },
            },
            ALL_SHARDS,
          )
          .limit(PAGE)
          .toArray()
        if (page.length === 0) return
        await posts().bulkWrite(
          page.flatMap(({ _id, userId, platformStatuses }) =>
            platformStatuses.flatMap((entry, index) => {
              if (entry.status !== 'completed' || !entry.completedAt || entry.metricsDueAt !== undefined) return []
              const path = `platformStatuses.${index}`
              const dueAt = findFirstCollection(ages, entry.completedAt, now(), Math.random())
              const filter = { _id, userId, [`${path}.metricsDueAt`]: { $exists: false } }
              const update = {
                $set: { [`${path}.metricsDueAt`]: dueAt },
                $unset: { [`${path}.metricsSlot`]: 1 as const },
              }
              return { updateOne: { filter, update } }
            }),
          ),
          { ordered: false },
        )
        planned += page.length
        onProgress(planned)
      }
    },

    /** Removes the index that the queries of older releases name. */
    dropOlderIndexes: (): Promise<void> => dropIndex(posts(), OLDER_METRICS_INDEX),
  }
}

class SnapshotsChanged extends Error {}

/** Older releases stored random ids of 24 hexadecimal digits. */
function isMoved({ _id }: Pick<PostSnapshot, '_id'>): boolean {
  return _id.includes('/')
}

function byTime(one: PostSnapshot, other: PostSnapshot): number {
  return one.takenAt.getTime() - other.takenAt.getTime()
}
