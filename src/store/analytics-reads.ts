import type { Connection } from 'mongoose'
import type { DerivedFigures, PostCounts, Ranking, Window } from '../domain/analytics.ts'
import type { CalendarDay } from '../domain/calendar.ts'
import { NOTHING_KNOWN, type PairHistory } from '../domain/engagement.ts'
import type { DailyCount, FollowerCount } from '../domain/growth.ts'
import type { ComparedPair, PairFigures } from '../domain/performance.ts'
import type { Platform } from '../domain/platforms.ts'
import type { Post } from '../domain/post.ts'
import { SECOND } from '../domain/times.ts'
import {
  comparedPairs,
  followerCounts,
  latestOfPost,
  latestPairs,
  timelinePairs,
  topPairs,
  type Aggregation,
  type Scope,
} from './analytics-pipelines.ts'
import type { PostSnapshot } from './snapshots.ts'

/** Below that of a request, so that what goes wrong can be told. */
const DEADLINE_MS = 4 * SECOND

/** One of the best, with the post as it is now. */
export interface RankedPair extends PostCounts, DerivedFigures {
  postId: string
  platform: Platform
  takenAt: Date
  post: Post
}

/** What the snapshots of one user say, each read in one aggregation over an index. */
export function createAnalyticsReads(connection: Connection) {
  function run<T extends object>({ collection, stages }: Aggregation): Promise<T[]> {
    return connection
      .collection(collection)
      .aggregate<T>(stages, { maxTimeMS: DEADLINE_MS, readConcern: 'majority' })
      .toArray()
  }

  return {
    latestPairs: (userId: string, window: Window): Promise<PairFigures[]> => run(latestPairs(userId, window)),

    topPairs: (scope: Scope, window: Window, sortBy: Ranking, limit: number): Promise<RankedPair[]> =>
      run(topPairs(scope, window, sortBy, limit)),

    /** With the number of deliveries completed by the place of the day. */
    async timelinePairs(scope: Scope, window: Window, days: CalendarDay[]) {
      const rows = await run<StoredHistory | Completions>(timelinePairs(scope, window, days))
      const pairs: PairHistory[] = []
      const completions = new Map<number, number>()
      for (const row of rows) {
        if ('completed' in row) completions.set(row.day, row.completed)
        else pairs.push({ days: row.days, before: row.before ?? NOTHING_KNOWN })
      }
      return { pairs, completions }
    },

    /** With the last count of every account. */
    async comparedPairs(userId: string, window: Window) {
      const rows = await run<StoredComparison | { counted: FollowerCount }>(comparedPairs(userId, window))
      const pairs: ComparedPair[] = []
      const followers: FollowerCount[] = []
      for (const row of rows) {
        if ('counted' in row) followers.push(row.counted)
        else pairs.push({ ...row, before: row.before ?? NOTHING_KNOWN })
      }
      return { pairs, followers }
    },

    followerCounts: (scope: Scope, days: CalendarDay[]): Promise<DailyCount[]> => run(followerCounts(scope, days)),

    latestOfPost: (postId: string): Promise<PostSnapshot[]> => run(latestOfPost(postId)),
  }
}

export type AnalyticsReads = ReturnType<typeof createAnalyticsReads>

type Absent<T> = Omit<T, 'before'> & { before?: PairHistory['before'] }
type StoredHistory = Absent<PairHistory>
type StoredComparison = Absent<ComparedPair>

interface Completions {
  day: number
  completed: number
}
