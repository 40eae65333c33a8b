import type { Problem } from '../shared/service-error.ts'
import { formatTime, roundUpToSecond, SECOND } from '../shared/times.ts'

/** How many posts of one user become due at one instant, and how many in each second after it. */
export interface BurstLimits {
  atInstant: number
  perSecond: number
}

/** The rank of a scheduled post among the others of its second, and the delay that follows from it. */
export interface DueOrder {
  /** How many posts of all users were already scheduled for the second (`Post.dueRank`). */
  dueRank: number
  /** How long after its time the post becomes due, milliseconds; more than 0 only in a burst of one user. */
  delayMs: number
}

/**
 * Returns how long after its time a post becomes due, milliseconds. The posts of one user at one instant become due one after the other
 * from a number on, because publishing thousands of them occupies Temporal so long that the posts of other users would be late.
 * @param userRank how many posts of the user were already scheduled for the second
 */
export function toBurstDelayMs(userRank: number, { atInstant, perSecond }: BurstLimits): number {
  const excess = userRank - atInstant + 1
  return excess <= 0 ? 0 : Math.ceil((excess / perSecond) * SECOND)
}

/** Warns that a post becomes due later than its time; nothing when it does not. */
export function warnOfBurst(
  { scheduledAt, dueAt, timezone }: { scheduledAt: Date | null; dueAt: Date | null; timezone: string },
  { atInstant }: BurstLimits,
): Problem[] {
  if (!scheduledAt || !dueAt || dueAt <= scheduledAt) return []
  const reason = `More than ${atInstant} of your posts are scheduled for the same second`
  const time = formatTime(roundUpToSecond(dueAt), timezone)
  const message = `${reason}, so this one would be published at ${time}. Choose another time to publish it sooner.`
  return [{ path: 'scheduledAt', code: 'TIME_CROWDED', message, nextFreeAt: dueAt.toISOString() }]
}
