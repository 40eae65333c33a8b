import { bisect } from '../shared/lists.ts'
import { SECOND } from '../shared/times.ts'
import { countReserved, type CallLimit, type CallPurpose, type QuotaSubject } from './limits.ts'

/** How long a process may use the tokens of a lease. A pause therefore reaches every process within this time. */
export const LOT_LIFE_MS = 2 * SECOND

/** A limit as a response reports it. */
export interface LimitReport {
  span: string
  limit: number
  remaining: number
  /** The time until the platform grants the whole limit again, milliseconds. */
  resetsInMs: number
  /** The time since the response arrived, milliseconds. */
  ageMs: number
}

export interface LeaseRequest extends QuotaSubject, Record<CallPurpose, number> {
  /** Identifies the holder of the tokens. A lessee leases one lot of a subject at a time. */
  lessee: string
  /** The longest time between the lease and the arrival of a call that uses its tokens, milliseconds. */
  arrivalMs: number
  /** Tokens of earlier leases of this lessee whose calls have not been made or answered. */
  outstanding: number
  reports: readonly LimitReport[]
  /** Stops all calls of the subject for this time, milliseconds. */
  pauseMs?: number
}

/**
 * The granted tokens, and the time until the next one is free for each purpose, milliseconds. It is a window at most: platforms
 * with aligned windows grant the whole limit again by then.
 */
export interface Lease {
  granted: Record<CallPurpose, number>
  waitMs: Record<CallPurpose, number>
  /** True when the calls of the subject are paused, including those with tokens of earlier leases. */
  isPaused: boolean
  /** The limits in force, and the tokens that are left of each. */
  spans: Record<string, { limit: number; free: number }>
}

/** Shares the quotas of platforms among all processes. */
export interface QuotaLedger {
  /** Leases tokens. Tokens that are not used remain counted until their window has passed. */
  lease(request: LeaseRequest): Promise<Lease>
}

/** Tokens that count until an instant. */
export interface CountedTokens {
  until: Date
  tokens: number
}

/** The use of one limit as it is stored. */
export interface SpanRecord {
  /** Absent until a response reports another limit than the default. */
  limit?: number
  counted: CountedTokens[]
  /** What the platform last reported, less the tokens granted since; it applies until the platform's reset. */
  report?: { left: number; until: Date; at: Date } | null
}

export interface QuotaRecord {
  pausedUntil?: Date | null
  spans?: Record<string, SpanRecord>
}

const PARTS = 30

/**
 * Returns the precision with which tokens of a window are counted, milliseconds. A bounded number of counters then covers any
 * window.
 */
export function toCounterMs(windowMs: number): number {
  return Math.max(1, Math.ceil(windowMs / PARTS))
}

/** Older reports are ignored, because they may miss calls that have arrived since. */
export function isCurrentReport({ ageMs }: LimitReport): boolean {
  return ageMs <= LOT_LIFE_MS
}

/** Returns the limit in force and the tokens that are left of it. */
export function computeFree({ limit }: CallLimit, record: SpanRecord | undefined, now: Date) {
  const inForce = record?.limit ?? limit
  const counted = (record?.counted ?? []).filter(({ until }) => until > now)
  const left = inForce - counted.reduce((total, { tokens }) => total + tokens, 0)
  const report = record?.report && record.report.until > now ? record.report.left : Infinity
  return { limit: inForce, free: Math.max(0, Math.min(left, report)) }
}

/** Returns the instants at which tokens become free, in order. Until the next one, their number stays. It never falls by itself. */
export function listEnds(record: SpanRecord | undefined, now: Date): Date[] {
  const { counted = [], report } = record ?? {}
  return [...counted.map(({ until }) => until), ...(report ? [report.until] : [])]
    .filter((end) => end > now)
    .toSorted((one, other) => one.getTime() - other.getTime())
}

/** Returns the time until a token is free for the purpose, milliseconds; 0 when one is free. */
export function computeWaitMs(
  { limits, purpose }: { limits: readonly CallLimit[]; purpose: CallPurpose },
  { pausedUntil, spans = {} }: QuotaRecord,
  now: Date,
): number {
  const paused = pausedUntil ? pausedUntil.getTime() - now.getTime() : 0
  const waits = limits.map((limit) => computeSpanWaitMs({ limit, purpose }, spans[limit.span], now))
  return Math.max(0, paused, ...waits)
}

function computeSpanWaitMs(
  { limit, purpose }: { limit: CallLimit; purpose: CallPurpose },
  record: SpanRecord | undefined,
  now: Date,
): number {
  if (!record) return 0
  const isFreeAt = (instant: Date) => {
    const { limit: inForce, free } = computeFree(limit, record, instant)
    return free > (purpose === 'counting' ? countReserved(inForce) : 0)
  }
  const instants = [now, ...listEnds(record, now)]
  const freeAt = instants[bisect(instants, isFreeAt)]
  return Math.min(limit.windowMs, freeAt ? freeAt.getTime() - now.getTime() : Infinity)
}
