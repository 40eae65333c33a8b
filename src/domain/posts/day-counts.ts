import type { Problem } from '../shared/service-error.ts'
import { DAY, HOUR } from '../shared/times.ts'
import type { PostStatus } from './post.ts'

export const MAX_RANGE_DAYS = 400

/** The number of posts with one status in a slot of time that no day begins in. */
export interface SlotCount {
  /** The start of the slot. */
  at: Date
  status: PostStatus
  count: number
}

export interface DayCounts {
  date: string
  total: number
  /** Only statuses that posts have. */
  statuses: Partial<Record<PostStatus, number>>
}

/** Returns a problem when a range is too long or ends before it begins, else null. */
export function findRangeProblem({ from, to }: { from: Date; to: Date }, maxDays = MAX_RANGE_DAYS): Problem | null {
  const length = to.getTime() - from.getTime()
  if (length < 0) return { path: 'to', code: 'INVALID', message: 'to must not be before from. Exchange them.' }
  // A day can have 25 hours.
  if (length < maxDays * DAY + HOUR) return null
  const message = `The range must have at most ${maxDays} days. Shorten it.`
  return { path: 'to', code: 'TOO_LONG', message }
}

/**
 * Adds up the posts of each day.
 * @param days in order, without gaps; earlier slots belong to the first one, later slots to the last one
 */
export function sumByDay(days: readonly { date: string; start: Date }[], slots: readonly SlotCount[]): DayCounts[] {
  const sums = days.map(({ date }): DayCounts => ({ date, total: 0, statuses: {} }))
  let index = 0
  for (const { at, status, count } of slots.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
    while (index + 1 < days.length && days[index + 1]!.start <= at) index += 1
    const day = sums[index]!
    day.total += count
    day.statuses[status] = (day.statuses[status] ?? 0) + count
  }
  return sums
}
