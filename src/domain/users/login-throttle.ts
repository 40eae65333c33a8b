import { DAY, MINUTE, SECOND } from '../shared/times.ts'

/** How long a device stays known after a login: the longest lifetime that browsers allow for a cookie. Each login renews it. */
export const KNOWN_DEVICE_MS = 400 * DAY

/** Failed logins of one account from unknown devices. The level rises by one with each failure and falls by one every 15 minutes. */
export interface FailureLevel {
  level: number
  /** When `level` was computed. */
  at: Date
  /** The next attempt is refused before this instant. */
  notBefore: Date
}

const FIRST_DELAY_MS = SECOND
const LONGEST_DELAY_MS = 15 * MINUTE
const LEVEL_DECAY_MS = 15 * MINUTE
/** Failures until the longest delay. The level stops there: an attack must not delay the account for days after its end. */
const MAX_STEPS = Math.ceil(Math.log2(LONGEST_DELAY_MS / FIRST_DELAY_MS)) + 1

/**
 * Returns the delay after an attempt that raised the level to `level`, milliseconds. It doubles per failure, from 1 s to 15 minutes.
 * @param free number of failures without a delay
 */
export function computeDelay(level: number, free: number): number {
  const exceeding = Math.ceil(level - free)
  return exceeding <= 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (exceeding - 1))
}

/** Returns how long an unknown device must wait before its next attempt, milliseconds; 0 when it may try now. */
export function computeWait(state: FailureLevel | null, now: Date): number {
  return Math.max(0, (state?.notBefore.getTime() ?? 0) - now.getTime())
}

/** Counts an attempt as failed before its password is checked, so that parallel attempts cannot bypass the limit. */
export function countAttempt(state: FailureLevel | null, now: Date, free: number): FailureLevel {
  const level = Math.min(free + MAX_STEPS, computeLevel(state, now) + 1)
  return { level, at: now, notBefore: new Date(now.getTime() + computeDelay(level, free)) }
}

/** Reverts the count of an attempt whose password was correct. */
export function refundAttempt(state: FailureLevel, now: Date): FailureLevel {
  return { level: Math.max(0, computeLevel(state, now) - 1), at: now, notBefore: now }
}

/** Returns when the level will have fallen to 0. */
export function computeResetTime({ level, at, notBefore }: FailureLevel): Date {
  return new Date(Math.max(notBefore.getTime(), at.getTime() + level * LEVEL_DECAY_MS))
}

function computeLevel(state: FailureLevel | null, now: Date): number {
  if (!state) return 0
  return Math.max(0, state.level - Math.max(0, now.getTime() - state.at.getTime()) / LEVEL_DECAY_MS)
}
