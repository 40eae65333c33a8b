import { SECOND } from '../shared/times.ts'
import { LOT_LIFE_MS } from './lease.ts'
import type { CallLimit, CallPurpose } from './limits.ts'

/** Tokens ahead of calls at a lower rate would mostly expire unused. */
const LOWEST_RATE = 2
const RATE_TIME_MS = SECOND / 4
/** The share of a limit that one process may hold ahead of its calls. All of it is lost when the process is killed. */
const LOT_SHARE = 0.05
/** The calls of one publication share a lease, where the limit is renewed so fast that a few unused tokens are no loss. */
const CALLS_PER_PUBLICATION = 4
const RENEWED_PER_SECOND = 1

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

interface Demand {
  purpose: CallPurpose
  /** Calls that wait for a token now. */
  waiting: number
  perSecond: number
  limits: readonly Pick<CallLimit, 'limit' | 'windowMs'>[]
}

/** Returns the number of tokens to lease: those of the waiting calls and of the next second, but only a small part of a limit ahead. */
export function toLotSize({ purpose, waiting, perSecond, limits }: Demand): number {
  const isRenewedSoon = limits.every(({ limit, windowMs }) => limit / windowMs >= RENEWED_PER_SECOND / SECOND)
  const isPublication = purpose === 'publishing' && waiting > 0 && isRenewedSoon
  const expected = perSecond < LOWEST_RATE ? 0 : Math.ceil(perSecond)
  const ahead = isPublication ? Math.max(CALLS_PER_PUBLICATION - waiting, expected) : expected
  return waiting + Math.max(0, Math.min(ahead, ...limits.map(({ limit }) => Math.floor(limit * LOT_SHARE))))
}

/** Returns whether to lease more tokens before the ones in hand are used up. */
export function shouldRenew(tokens: number, perSecond: number): boolean {
  return perSecond >= LOWEST_RATE && tokens < perSecond / 4
}
