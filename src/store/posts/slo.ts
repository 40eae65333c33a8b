import { ALL_SHARDS } from '../shared/all-shards.ts'
import type { Connection, PipelineStage } from 'mongoose'
import type { EntryGroup, HourlyEntryGroup } from '../../domain/posts/slo.ts'
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
  return [...entriesOf({ since, until, maxPosts }), groupEntries({ until, missAfterMs }, { latenessMs: LATENESS })]
}

/** Builds the pipeline that counts the same deliveries by UTC hour. It separates only punctual from late ones, so that its groups stay few. */
export function hourlySloPipeline({ missAfterMs, ...window }: SloWindow): PipelineStage[] {
  const latenessMs = { $cond: [{ $gt: [LATENESS, missAfterMs] }, missAfterMs + 1, 0] }
  const hour = { $dateTrunc: { date: '$scheduledAt', unit: 'hour' } }
  return [...entriesOf(window), groupEntries({ ...window, missAfterMs }, { latenessMs, hour })]
}

const ENTRY = '$platformStatuses'
const LATENESS = { $subtract: [`${ENTRY}.completedAt`, '$scheduledAt'] }

function entriesOf({ since, until, maxPosts }: Omit<SloWindow, 'missAfterMs'>): PipelineStage[] {
  return [
    { $match: { scheduledAt: { $gt: since, $lte: until }, status: { $ne: 'DRAFT' } } },
    { $sort: { scheduledAt: -1 } },
    { $limit: maxPosts },
    { $project: { scheduledAt: 1, dueAt: 1, status: 1, platformStatuses: 1 } },
    { $unwind: { path: ENTRY, includeArrayIndex: 'index' } },
  ]
}

function groupEntries(
  { until, missAfterMs }: Pick<SloWindow, 'until' | 'missAfterMs'>,
  further: object,
): PipelineStage {
  return {
    $group: {
      _id: {
        platform: `${ENTRY}.platform`,
        postStatus: '$status',
        status: `${ENTRY}.status`,
        errorCode: `${ENTRY}.errorCode`,
        isRetried: { $gt: [`${ENTRY}.delivery.round`, 0] },
        isPastBound: { $lt: ['$dueAt', new Date(until.getTime() - missAfterMs)] },
        ...further,
      },
      entries: { $sum: 1 },
      posts: { $sum: { $cond: [{ $eq: ['$index', 0] }, 1, 0] } },
      oldest: { $min: '$scheduledAt' },
    },
  }
}

/** Reads the punctuality of scheduled posts. */
export function createSloStore(connection: Connection) {
  async function read<Group extends EntryGroup>(window: SloWindow, stages: PipelineStage[]) {
    const found = await connection
      .collection('posts')
      .aggregate<Found<Group>>(stages, { maxTimeMS: DEADLINE_MS, allowDiskUse: true, ...ALL_SHARDS })
      .toArray()
    const groups = found.map(({ _id, entries, posts }) => ({ ..._id, entries, posts }) as Group)
    const isCut = groups.reduce((total, { posts }) => total + posts, 0) >= window.maxPosts
    const oldest = Math.min(...found.map((group) => group.oldest.getTime()))
    return { groups, since: isCut ? new Date(oldest) : window.since }
  }

  /** Both return a later `since` than requested when there were more than `maxPosts` posts. */
  return {
    read: (window: SloWindow) => read<EntryGroup>(window, sloPipeline(window)),
    readHours: (window: SloWindow) => read<HourlyEntryGroup>(window, hourlySloPipeline(window)),
  }
}

interface Found<Group extends EntryGroup> extends Pick<EntryGroup, 'entries' | 'posts'> {
  _id: Omit<Group, 'entries' | 'posts'>
  oldest: Date
}
