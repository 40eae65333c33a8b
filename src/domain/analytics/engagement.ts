import { ENGAGEMENTS } from './analytics.ts'
import type { CalendarDay } from './calendar.ts'

/** The last known values of a post on a platform within an interval, by metric; null where none was known. */
export type LastKnown = Record<(typeof ENGAGEMENTS)[number], number | null>

/** The increase within an interval, by metric. */
export type Gains = Record<(typeof ENGAGEMENTS)[number], number>

export const NOTHING_KNOWN: LastKnown = { likes: null, comments: null, shares: null }

/**
 * Computes the gains of each interval over the values known before it. Intervals are in order of time. The first known value
 * counts from 0, and decreases count as 0. Only the last value of an interval counts, because fluctuating counts would otherwise
 * appear to gain with every snapshot.
 * @param hasExpired true when the first snapshots of the post may have expired; its first known value then is no gain
 */
export function computeGains(before: LastKnown, intervals: LastKnown[], hasExpired = false): Gains[] {
  const known = { ...before }
  return intervals.map((interval) => {
    const gains = { likes: 0, comments: 0, shares: 0 }
    for (const name of ENGAGEMENTS) {
      const value = interval[name]
      if (value === null) continue
      gains[name] = Math.max(0, value - (known[name] ?? (hasExpired ? value : 0)))
      known[name] = value
    }
    return gains
  })
}

export function sumGains({ likes, comments, shares }: Gains): number {
  return likes + comments + shares
}

/** Known values of a post on a platform, for the days of a window that have snapshots. */
export interface PairHistory {
  completedAt: Date
  before: LastKnown
  days: (LastKnown & { day: number })[]
}

export interface TimelineDay extends Gains {
  _id: string
  totalEngagement: number
  postCount: number
}

/**
 * Builds the engagement timeline of a window.
 * @param completions completed deliveries by index of the day
 * @param storedSince the age of the oldest snapshots that have not expired
 */
export function buildEngagementTimeline(
  days: CalendarDay[],
  pairs: PairHistory[],
  completions: ReadonlyMap<number, number>,
  storedSince: Date,
): TimelineDay[] {
  const sums = days.map(() => ({ likes: 0, comments: 0, shares: 0 }))
  for (const { before, days: known, completedAt } of pairs) {
    const inOrder = known.toSorted((one, other) => one.day - other.day)
    computeGains(before, inOrder, completedAt < storedSince).forEach((gains, index) => {
      const sum = sums[inOrder[index]!.day]!
      for (const name of ENGAGEMENTS) sum[name] += gains[name]
    })
  }
  return days.map(({ date }, day) => {
    const { likes, comments, shares } = sums[day]!
    const totalEngagement = sumGains(sums[day]!)
    return { _id: date, totalEngagement, likes, comments, shares, postCount: completions.get(day) ?? 0 }
  })
}
