import { sumKnown } from './analytics.ts'
import { computeGains, sumGains, type LastKnown } from './engagement.ts'
import { toHourOfWeek } from './calendar.ts'
import type { Platform } from '../shared/platforms.ts'

/** The latest snapshot of one post on one platform within a window. */
export interface PairMetrics {
  postId: string
  platform: Platform
  /** The account that published it. */
  accountId: string
  completedAt: Date
  totalEngagement: number | null
  engagementRate: number | null
  impressions: number | null
  reach: number | null
}

interface Performance {
  totalEngagement: number
  /** Published posts; a post counts once per account. */
  totalPosts: number
  avgEngagementRate: number | null
}

export interface PlatformPerformance extends Performance {
  _id: Platform
  /** Best first, where the posts are from several accounts. */
  accounts?: (Performance & { accountId: string })[]
}

/** Summarizes the platforms, the one with the most engagement first. */
export function rankPlatforms(pairs: PairMetrics[]): PlatformPerformance[] {
  const platforms = [...Map.groupBy(pairs, ({ platform }) => platform)].map(([_id, own]) => {
    const accounts = rank(
      [...Map.groupBy(own, ({ accountId }) => accountId)].map(([accountId, those]) => ({
        accountId,
        ...measure(those),
      })),
      ({ accountId }) => accountId,
    )
    return { _id, ...measure(own), ...(accounts.length > 1 && { accounts }) }
  })
  return rank(platforms, ({ _id }) => _id)
}

function measure(pairs: PairMetrics[]): Performance {
  return {
    totalEngagement: sumOrZero(pairs.map(({ totalEngagement }) => totalEngagement)),
    totalPosts: pairs.length,
    avgEngagementRate: averageKnown(pairs.map(({ engagementRate }) => engagementRate)),
  }
}

function rank<P extends Performance>(rows: P[], getName: (row: P) => string): P[] {
  return rows.toSorted(
    (one, other) => other.totalEngagement - one.totalEngagement || (getName(one) < getName(other) ? -1 : 1),
  )
}

/** One post on one platform over two consecutive windows. */
export interface ComparedPair {
  /** Latest snapshot of the current window; null when there is none. */
  latest: PairMetrics | null
  /** Last known values before both windows, in the first, and in the current one. */
  before: LastKnown
  previous: LastKnown
  current: LastKnown
}

export interface OverviewStats {
  bestPlatform: Platform | null
  /** Distinct posts published in the window. */
  totalPosts: number
  totalEngagement: number
  /** Null when no platform reports any. */
  totalImpressions: number | null
  /** Null when no platform reports any. */
  totalReach: number | null
  avgEngagementRate: number | null
  /** Change of the gained engagement against the preceding window; null when that one gained none. */
  engagementChangePercent: number | null
}

/** @param publishedPosts how many distinct posts were published in the current window */
export function buildOverview(
  compared: ComparedPair[],
  publishedPosts: number,
): {
  stats: OverviewStats
  platformPerformance: PlatformPerformance[]
} {
  const pairs = compared.flatMap(({ latest }) => latest ?? [])
  const platformPerformance = rankPlatforms(pairs)
  const stats = {
    bestPlatform: platformPerformance[0]?._id ?? null,
    totalPosts: publishedPosts,
    totalEngagement: sumOrZero(pairs.map(({ totalEngagement }) => totalEngagement)),
    totalImpressions: sumKnown(pairs.map(({ impressions }) => impressions)),
    totalReach: sumKnown(pairs.map(({ reach }) => reach)),
    avgEngagementRate: averageKnown(pairs.map(({ engagementRate }) => engagementRate)),
    engagementChangePercent: computeChangePercent(compared),
  }
  return { stats, platformPerformance }
}

/** Returns the change in percent with two decimals; null when the preceding window gained no engagement. */
function computeChangePercent(compared: ComparedPair[]): number | null {
  let [before, now] = [0, 0]
  for (const pair of compared) {
    const [previous, current] = computeGains(pair.before, [pair.previous, pair.current])
    before += sumGains(previous!)
    now += sumGains(current!)
  }
  return before === 0 ? null : Math.round(((now - before) / before) * 10_000) / 100
}

export interface HeatCell {
  /** 0 is Sunday. */
  day: number
  hour: number
  /** Mean known engagement of the posts published in that hour. */
  value: number
  postCount: number
}

const HOURS = 24

/** Builds the cells of all hours of a week in the user's timezone. */
export function buildHeatmap(pairs: PairMetrics[], timezone: string): HeatCell[] {
  const cells = Array.from({ length: 7 * HOURS }, (): (number | null)[] => [])
  for (const { completedAt, totalEngagement } of pairs) {
    const { day, hour } = toHourOfWeek(completedAt, timezone)
    cells[day * HOURS + hour]!.push(totalEngagement)
  }
  return cells.map((engagements, index) => ({
    day: Math.floor(index / HOURS),
    hour: index % HOURS,
    value: averageKnown(engagements) ?? 0,
    postCount: engagements.length,
  }))
}

/** Returns the sum of the known values; 0 when none is known. */
function sumOrZero(values: (number | null)[]): number {
  return sumKnown(values) ?? 0
}

/** Returns the mean of the known values; null when none is known. */
function averageKnown(values: (number | null)[]): number | null {
  const sum = sumKnown(values)
  return sum === null ? null : sum / values.filter((value) => value !== null).length
}
