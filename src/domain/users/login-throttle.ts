import { DAY, MINUTE, SECOND } from '../shared/times.ts'

/** How long a device that logged in stays known: as long as browsers keep a cookie at most. Each login renews it. */
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
 * The delay after an attempt that raised the level to `level`. It doubles with each failure, from 1 s to 15 minutes.
 * @param free failures without a delay
 */
export function computeDelay(level: number, free: number): number {
  const over = Math.ceil(level - free)
  return over <= 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (over - 1))
}

/** How long an unknown device has to wait before its next attempt, in milliseconds; 0 means: it may try now. */
export function computeWait(state: FailureLevel | null, now: Date): number {
  return Math.max(0, (state?.notBefore.getTime() ?? 0) - now.getTime())
}

/** Counts an attempt as failed before its password is checked, so that parallel attempts cannot share one place. */
export function countAttempt(state: FailureLevel | null, now: Date, free: number): FailureLevel {
  const level = Math.min(free + MAX_STEPS, computeLevel(state, now) + 1)
  return { level, at: now, notBefore: new Date(now.getTime() + computeDelay(level, free)) }
}

/** Takes back an attempt whose password was right. */
export function uncountAttempt(state: FailureLevel, now: Date): FailureLevel {
  return { level: Math.max(0, computeLevel(state, now) - 1), at: now, notBefore: now }
}

/** When the level will have fallen to 0. */
export function computeResetTime({ level, at, notBefore }: FailureLevel): Date {
  return new Date(Math.max(notBefore.getTime(), at.getTime() + level * LEVEL_DECAY_MS))
}

function computeLevel(state: FailureLevel | null, now: Date): number {
  if (!state) return 0
  return Math.max(0, state.level - Math.max(0, now.getTime() - state.at.getTime()) / LEVEL_DECAY_MS)
}
