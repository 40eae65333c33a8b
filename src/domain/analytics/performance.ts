import { sumKnown } from './analytics.ts'
import { computeGains, sumGains, type LastKnown } from './engagement.ts'
import { createHourOfWeek } from './calendar.ts'
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
  completedAt: Date
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

/**
 * @param publishedPosts how many distinct posts were published in the current window
 * @param storedSince the age of the oldest snapshots that have not expired
 */
export function buildOverview(
  compared: ComparedPair[],
  publishedPosts: number,
  storedSince: Date,
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
    engagementChangePercent: computeChangePercent(compared, storedSince),
  }
  return { stats, platformPerformance }
}

/** Returns the change in percent with two decimals; null when the preceding window gained no engagement. */
function computeChangePercent(compared: ComparedPair[], storedSince: Date): number | null {
  let [before, now] = [0, 0]
  for (const pair of compared) {
    const [previous, current] = computeGains(pair.before, [pair.previous, pair.current], pair.completedAt < storedSince)
    before += sumGains(previous!)
    now += sumGains(current!)
  }
  return before === 0 ? null : Math.round(((now - before) / before) * 10_000) / 100
}

export interface HeatCell {
  /** 0 is Sunday. */
  day: number
  hour: number
  /** Mean known engagement of the posts published in that hour: 0 without posts, null when none of them has a known one. */
  value: number | null
  postCount: number
  /** 1 to 3 for the best hours, where enough posts show it. */
  rank?: number
}

const HOURS = 24
const MAX_BEST_HOURS = 3
/** Distinct posts with a known engagement that an hour needs as evidence. */
const MIN_EVIDENCE = 3

/** Builds the cells of all hours of a week in the user's timezone, and ranks the best ones. */
export function buildHeatmap(pairs: PairMetrics[], timezone: string): HeatCell[] {
  const findHour = createHourOfWeek(timezone)
  const byHour = Map.groupBy(pairs, ({ completedAt }) => {
    const { day, hour } = findHour(completedAt)
    return day * HOURS + hour
  })
  const best = findBestHours(byHour, averageEngagement(pairs) ?? 0)
  return Array.from({ length: 7 * HOURS }, (_, index) => {
    const published = byHour.get(index) ?? []
    const cell = { day: Math.floor(index / HOURS), hour: index % HOURS, postCount: published.length }
    const value = published.length === 0 ? 0 : averageEngagement(published)
    return { ...cell, value, ...(best.includes(index) && { rank: best.indexOf(index) + 1 }) }
  })
}

/** Returns the hours whose posts have the highest engagement on average, best first: with evidence, and above the average of all posts. */
function findBestHours(byHour: ReadonlyMap<number, PairMetrics[]>, average: number): number[] {
  return [...byHour]
    .map(([index, published]) => ({
      index,
      value: averageEngagement(published) ?? 0,
      evidence: new Set(published.flatMap(({ postId, totalEngagement }) => (totalEngagement === null ? [] : postId)))
        .size,
    }))
    .filter(({ value, evidence }) => evidence >= MIN_EVIDENCE && value > average)
    .toSorted((one, other) => other.value - one.value || other.evidence - one.evidence || one.index - other.index)
    .slice(0, MAX_BEST_HOURS)
    .map(({ index }) => index)
}

function averageEngagement(pairs: readonly PairMetrics[]): number | null {
  return averageKnown(pairs.map(({ totalEngagement }) => totalEngagement))
}

/** Returns the sum of the known values; 0 when none is known. */
function sumOrZero(values: (number | null)[]): number {
  return sumKnown(values) ?? 0
}

/**
 * Returns the mean of the known values; null when none is known. The last digit of a sum depends on the order of its parts, and the
 * database has none, so they are sorted: the same rates always have the same average.
 */
function averageKnown(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).toSorted((one, other) => one - other)
  const sum = sumKnown(known)
  return sum === null ? null : sum / known.length
}
