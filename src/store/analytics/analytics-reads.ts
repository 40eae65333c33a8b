import type { Connection } from 'mongoose'
import type { DerivedMetrics, PostCounts, Ranking, Window } from '../../domain/analytics/analytics.ts'
import type { CalendarDay } from '../../domain/analytics/calendar.ts'
import { NOTHING_KNOWN, type LastKnown, type PairHistory } from '../../domain/analytics/engagement.ts'
import type { DailyCount, FollowerCount } from '../../domain/analytics/growth.ts'
import type { ComparedPair, PairMetrics } from '../../domain/analytics/performance.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import {
  comparedPairs,
  followerCounts,
  latestOfPosts,
  latestPairs,
  SUMMED,
  timelinePairs,
  topPairs,
  type Aggregation,
  type Scope,
} from './analytics-pipelines.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import type { ListedPost } from '../posts/shorten-posts.ts'
import type { PostSnapshot } from './snapshots.ts'

/** Shorter than a request's deadline, so that the error reaches the client. */
const DEADLINE_MS = 4 * SECOND

/** A ranked pair with its current post. */
export interface RankedPair extends PostCounts, DerivedMetrics {
  postId: string
  platform: Platform
  /** The account, if the user chose it for the post. */
  target: string | null
  /** The account that published it. */
  accountId: string
  takenAt: Date
  lastSeenAt?: Date | null
  post: ListedPost
}

/** Reads the snapshots of one user, each in one aggregation over an index. */
export function createAnalyticsReads(connection: Connection) {
  function run<T extends object>({ collection, stages }: Aggregation): Promise<T[]> {
    return nativeCollection(connection, collection)()
      .aggregate<T>(stages, { maxTimeMS: DEADLINE_MS, readConcern: 'majority' })
      .toArray()
  }

  return {
    latestPairs: async (scope: Scope, window: Window): Promise<PairMetrics[]> =>
      (await run<PairMetrics>(latestPairs(scope, window))).filter(isWhole),

    topPairs: (scope: Scope, window: Window, sortBy: Ranking, limit: number): Promise<RankedPair[]> =>
      run(topPairs(scope, window, sortBy, limit)),

    /** Also returns the number of completed deliveries by day index. */
    async timelinePairs(scope: Scope, window: Window, days: CalendarDay[]) {
      const rows = await run<PairBucket<Without<PairHistory>> | Completions>(timelinePairs(scope, window, days))
      const completions = new Map<number, number>()
      for (const row of rows) if ('completed' in row) completions.set(row.day, row.completed)
      return { pairs: rows.flatMap((row) => ('pairs' in row ? joinKnownBefore(row) : [])), completions }
    },

    /**
     * Also returns the number of posts published in the window and the last count of every account until its end.
     * @param since the start of the time with which the window is compared
     */
    async comparedPairs(scope: Scope, window: Window, since: Date) {
      type Row = PairBucket<Without<ComparedPair>> | { publishedPosts: number } | { counted: FollowerCount }
      const rows = await run<Row>(comparedPairs(scope, window, since))
      return {
        pairs: rows
          .flatMap((row) => ('pairs' in row ? joinKnownBefore(row) : []))
          .map((pair) => ({ ...pair, latest: pair.latest && isWhole(pair.latest) ? pair.latest : null })),
        publishedPosts: rows.flatMap((row) => ('publishedPosts' in row ? row.publishedPosts : []))[0] ?? 0,
        followers: rows.flatMap((row) => ('counted' in row && isCount(row.counted.followers) ? row.counted : [])),
      }
    },

    followerCounts: (scope: Scope, window: Window, days: CalendarDay[]): Promise<DailyCount[]> =>
      run(followerCounts(scope, window, days)),

    latestOfPosts: (userId: string, postIds: string[]): Promise<PostSnapshot[]> => run(latestOfPosts(userId, postIds)),
  }
}

/** Whether a stored count is a number, or null for unknown. */
const isCount = (value: unknown): boolean => value === null || typeof value === 'number'

/** Whether a pair has everything that sums need. One with an odd record is left out, so that the others are still summed. */
function isWhole(pair: PairMetrics): boolean {
  return (
    pair.completedAt instanceof Date && SUMMED.every((field) => pair[field] === null || typeof pair[field] === 'number')
  )
}

interface Pair {
  postId: string
  platform: Platform
  target: string | null
}

/** Pairs, and the values known before the window for those that had any. */
interface PairBucket<T> {
  pairs: (Pair & T)[]
  before: (Pair & LastKnown)[]
}

type Without<T> = Omit<T, 'before'>

function joinKnownBefore<T>({ pairs, before }: PairBucket<T>): (T & { before: LastKnown })[] {
  const toPairKey = ({ postId, platform, target }: Pair) => `${postId} ${target ?? platform}`
  const known = new Map(before.map((pair) => [toPairKey(pair), pair]))
  return pairs.map((pair) => ({ ...pair, before: known.get(toPairKey(pair)) ?? NOTHING_KNOWN }))
}

interface Completions {
  day: number
  completed: number
}
