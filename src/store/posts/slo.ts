import { ALL_SHARDS } from '../shared/all-shards.ts'
import type { Connection, PipelineStage } from 'mongoose'
import type { EntryGroup } from '../../domain/posts/slo.ts'
import { SECOND } from '../../domain/shared/times.ts'

const DEADLINE_MS = 10 * SECOND

export interface SloWindow {
  /** Posts scheduled after this and up to `until`. */
  since: Date
  until: Date
  missAfterMs: number
  /** The maximum number of posts to read, the latest ones. */
  maxPosts: number
}

/**
 * Builds the pipeline that counts the deliveries of the window. It reads posts by the index on `scheduledAt` and groups entries
 * with equal lateness in milliseconds. The result is exact and does not grow with the number of punctual posts.
 */
export function sloPipeline({ since, until, missAfterMs, maxPosts }: SloWindow): PipelineStage[] {
  const bound = new Date(until.getTime() - missAfterMs)
  const entry = '$platformStatuses'
  return [
    { $match: { scheduledAt: { $gt: since, $lte: until }, status: { $ne: 'DRAFT' } } },
    { $sort: { scheduledAt: -1 } },
    { $limit: maxPosts },
    { $project: { scheduledAt: 1, dueAt: 1, status: 1, platformStatuses: 1 } },
    { $unwind: { path: entry, includeArrayIndex: 'index' } },
    {
      $group: {
        _id: {
          platform: `${entry}.platform`,
          postStatus: '$status',
          status: `${entry}.status`,
          errorCode: `${entry}.errorCode`,
          isRetried: { $gt: [`${entry}.delivery.round`, 0] },
          isPastBound: { $lt: ['$dueAt', bound] },
          latenessMs: { $subtract: [`${entry}.completedAt`, '$scheduledAt'] },
        },
        entries: { $sum: 1 },
        posts: { $sum: { $cond: [{ $eq: ['$index', 0] }, 1, 0] } },
        oldest: { $min: '$scheduledAt' },
      },
    },
  ]
}

/** Reads the punctuality of scheduled posts. */
export function createSloStore(connection: Connection) {
  return {
    /** Returns a later `since` than requested when there were more than `maxPosts` posts. */
    async read(window: SloWindow): Promise<{ groups: EntryGroup[]; since: Date }> {
      const found = await connection
        .collection('posts')
        .aggregate<Found>(sloPipeline(window), { maxTimeMS: DEADLINE_MS, allowDiskUse: true, ...ALL_SHARDS })
        .toArray()
      const groups = found.map(({ _id, entries, posts }) => ({ ..._id, entries, posts }))
      const isCut = groups.reduce((total, { posts }) => total + posts, 0) >= window.maxPosts
      const oldest = Math.min(...found.map((group) => group.oldest.getTime()))
      return { groups, since: isCut ? new Date(oldest) : window.since }
    },
  }
}

interface Found extends Pick<EntryGroup, 'entries' | 'posts'> {
  _id: Omit<EntryGroup, 'entries' | 'posts'>
  oldest: Date
}
