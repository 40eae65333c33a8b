import { SECOND } from '../shared/times.ts'
import { LOT_LIFE_MS } from './lease.ts'

/** Tokens ahead of calls at a lower rate would mostly expire unused. */
const LOWEST_RATE = 2
const RATE_TIME_MS = SECOND / 4
/** The share of a limit that one process may hold ahead of its calls. All of it is lost when the process is killed. */
const LOT_SHARE = 0.05

/** Calls per second, measured since an instant. All instants are milliseconds of one clock. */
export interface CallRate {
  perSecond: number
  calls: number
  since: number
}

/** Measures the rate again once enough time has passed; older rates count less the more time has passed. */
export function updateRate(rate: CallRate, now: number): CallRate {
  const elapsed = now - rate.since
  if (elapsed < RATE_TIME_MS) return rate
  const current = (rate.calls / elapsed) * SECOND
  const weight = Math.min(1, elapsed / LOT_LIFE_MS)
  return { perSecond: rate.perSecond * (1 - weight) + current * weight, calls: 0, since: now }
}

/** Returns the number of tokens to lease ahead of calls: those of the next second, and a small part of the limit at most. */
export function toLotSize(perSecond: number, limit: number): number {
  if (perSecond < LOWEST_RATE) return 0
  return Math.min(Math.ceil(perSecond), Math.floor(limit * LOT_SHARE))
}

/** Returns whether to lease more tokens before the ones in hand are used up. */
export function shouldRenew(tokens: number, perSecond: number): boolean {
  return perSecond >= LOWEST_RATE && tokens < perSecond / 4
}
