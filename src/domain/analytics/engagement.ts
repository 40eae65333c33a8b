import { ENGAGEMENTS } from './analytics.ts'
import type { CalendarDay } from './calendar.ts'

/** By metric what was last known of a pair of post and platform in some interval; null where nothing was known in it. */
export type LastKnown = Record<(typeof ENGAGEMENTS)[number], number | null>

/** By metric what an interval brought. */
export type Gains = Record<(typeof ENGAGEMENTS)[number], number>

export const NOTHING_KNOWN: LastKnown = { likes: null, comments: null, shares: null }

/**
 * What each interval brought over what was known before it; the intervals in order of time. The very first known value counts
 * from 0, and what a platform takes back is no gain. Only the last value of an interval counts: a platform whose counts waver
 * would otherwise seem to gain with every look.
 */
export function computeGains(before: LastKnown, intervals: LastKnown[]): Gains[] {
  const known = { ...before }
  return intervals.map((interval) => {
    const gains = { likes: 0, comments: 0, shares: 0 }
    for (const name of ENGAGEMENTS) {
      const value = interval[name]
      if (value === null) continue
      gains[name] = Math.max(0, value - (known[name] ?? 0))
      known[name] = value
    }
    return gains
  })
}

export function sumGains({ likes, comments, shares }: Gains): number {
  return likes + comments + shares
}

/** What is known of one pair, by the days of a window that it has snapshots of. */
export interface PairHistory {
  before: LastKnown
  days: (LastKnown & { day: number })[]
}

export interface TimelineDay extends Gains {
  _id: string
  totalEngagement: number
  postCount: number
}

/** `completions` has by day how many deliveries were completed. */
export function buildEngagementTimeline(
  days: CalendarDay[],
  pairs: PairHistory[],
  completions: ReadonlyMap<number, number>,
): TimelineDay[] {
  const sums = days.map(() => ({ likes: 0, comments: 0, shares: 0 }))
  for (const { before, days: known } of pairs) {
    const inOrder = known.toSorted((one, other) => one.day - other.day)
    computeGains(before, inOrder).forEach((gains, index) => {
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
