import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { withDeadline } from '../../flow/deadlines.ts'
import {
  LOT_LIFE_MS,
  type Lease,
  type LeaseRequest,
  type LimitReport,
  type QuotaLedger,
} from '../../domain/quotas/lease.ts'
import type { CallPurpose, QuotaSubject } from '../../domain/quotas/limits.ts'
import { shouldRenew, toLotSize, updateRate, type CallRate } from '../../domain/quotas/lots.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../errors.ts'

/** A limit as a response reports it. */
export type ReportedLimit = Omit<LimitReport, 'ageMs'>

/** Records what happens to quotas, for operators. */
export interface QuotaObserver {
  leaseEnded(platform: Platform, outcome: 'granted' | 'refused' | 'failed'): void
  callRefused(platform: Platform, purpose: CallPurpose): void
  /** Receives the tokens that the ledger has left of each limit of a subject, after a lease. */
  spansLeft(platform: Platform, subject: QuotaSubject, spans: Lease['spans']): void
  /** The platform refused a call. Called once in a pause. */
  paused(platform: Platform, subject: QuotaSubject, ms: number): void
}

/** Instants are those of `performance.now()`. */
interface Lot extends Record<CallPurpose, number> {
  expiresAt: number
  /** A call with one of these tokens starts until then. */
  startBy: number
  /** The longest deadline of a call that may use these tokens, milliseconds. */
  deadlineMs: number
}

/** The right to make one call. */
export interface Token {
  lot: Lot
  purpose: CallPurpose
}

interface Waiting {
  resolve: (token: Token) => void
  reject: (error: unknown) => void
  deadlineMs: number
}

interface StoredReport extends ReportedLimit {
  at: number
}

/** Everything that this process knows about one subject. Instants are those of `performance.now()`. */
interface SubjectState {
  subject: QuotaSubject
  lots: Lot[]
  waiting: Record<CallPurpose, Waiting[]>
  rates: Record<CallPurpose, CallRate>
  /** Until `askAgainAt` calls are refused without asking the ledger; the next token is free at `freeAt`. */
  refusals: Partial<Record<CallPurpose, { askAgainAt: number; freeAt: number }>>
  spans: Lease['spans']
  reports: Map<string, StoredReport>
  /** Calls that have a token and no response yet. */
  underway: number
  /** The end of the latest known pause. */
  pauseEndsAt: number
  /** A pause that the ledger does not have yet. */
  unsentPauseUntil: number | null
  reportedAt: number
  isLeasing: boolean
  /** True when a report or a pause waits for the next lease. */
  hasNews: boolean
}

const MAX_SUBJECTS = 20_000
/** The longest time for which a call waits for its tokens. It is longer than the ledger takes while it works. */
const LONGEST_WAIT_MS = 5 * SECOND
/** Reports of one window state its end with this precision, and so do refusals. */
const RESET_PRECISION_MS = 1.5 * SECOND
const PURPOSES = ['publishing', 'counting'] as const

interface LotOptions {
  platform: Platform
  ledger: QuotaLedger
  observer: QuotaObserver
  /** The deadline of a call that states none, milliseconds. */
  deadlineMs: number
}

/**
 * Holds the tokens that this process has leased. Calls of the same subject share leases, and a subject with many calls leases
 * ahead, so that its calls do not wait for the ledger.
 */
export function createQuotaLots({ platform, ledger, observer, deadlineMs: usualDeadlineMs }: LotOptions) {
  const lessee = randomUUID()
  const states = new LRUCache<string, SubjectState>({ max: MAX_SUBJECTS })

  function getState(subject: QuotaSubject): SubjectState {
    const known = states.get(subject.key)
    if (known) return known
    const state = createState(subject)
    states.set(subject.key, state)
    return state
  }

  /** Takes a token for one call. @throws PlatformError `rate_limited` when none is free, `transient` without the ledger */
  async function take(subject: QuotaSubject, purpose: CallPurpose, deadlineMs: number): Promise<Token> {
    const state = getState(subject)
    const rate = updateRate(state.rates[purpose], performance.now())
    state.rates[purpose] = { ...rate, calls: rate.calls + 1 }
    const refusedForMs = findRefusedForMs(state, purpose)
    const token = takeFromLots(state, purpose, deadlineMs)
    if (token) {
      const isLow = shouldRenew(countTokens(state, purpose), rate.perSecond)
      if (isLow && refusedForMs === null) leaseInBackground(state)
      return token
    }
    if (refusedForMs !== null) throw refuse(purpose, refusedForMs)
    return new Promise((resolve, reject) => {
      state.waiting[purpose].push({ deadlineMs, resolve, reject })
      leaseInBackground(state)
    })
  }

  /** Leases until no call waits. Waiting calls receive the errors. */
  function leaseInBackground(state: SubjectState): void {
    if (state.isLeasing) return
    state.isLeasing = true
    void (async () => {
      do await leaseOnce(state)
      while (state.hasNews || PURPOSES.some((purpose) => state.waiting[purpose].length > 0))
    })().finally(() => (state.isLeasing = false))
  }

  async function leaseOnce(state: SubjectState): Promise<void> {
    // Calls of the same turn of the event loop share the lease.
    await nextTurn()
    const { waiting, unsentPauseUntil } = state
    state.waiting = { publishing: [], counting: [] }
    state.hasNews = false
    const all = [...waiting.publishing, ...waiting.counting]
    const deadlineMs = Math.max(usualDeadlineMs, ...all.map((call) => call.deadlineMs))
    const requestedAt = performance.now()
    const startBy = requestedAt + LOT_LIFE_MS + LONGEST_WAIT_MS
    const request = toRequest(state, waiting, startBy + deadlineMs - requestedAt)
    try {
      const lease = await withDeadline(ledger.lease(request), LONGEST_WAIT_MS, () => new Error('No lease in time'))
      state.spans = lease.spans
      observer.spansLeft(platform, state.subject, lease.spans)
      if (state.unsentPauseUntil !== unsentPauseUntil) {
        // A pause has begun since the request. The next lease reports it.
        for (const purpose of PURPOSES) refuseAll(waiting[purpose], purpose, state.pauseEndsAt - performance.now())
        return
      }
      state.unsentPauseUntil = null
      if (lease.isPaused) endLots(state, performance.now() + lease.waitMs.publishing)
      const lot = { ...lease.granted, expiresAt: requestedAt + LOT_LIFE_MS, startBy, deadlineMs }
      const isServed = serve(state, lot, waiting, lease)
      state.lots.push(lot)
      serveLater(state)
      observer.leaseEnded(platform, isServed ? 'granted' : 'refused')
    } catch (cause) {
      observer.leaseEnded(platform, 'failed')
      for (const call of all) call.reject(toLateError(cause))
    }
  }

  function toRequest(state: SubjectState, waiting: SubjectState['waiting'], arrivalMs: number): LeaseRequest {
    const { subject, rates, spans, reports, unsentPauseUntil } = state
    const now = performance.now()
    const pauseMs = unsentPauseUntil === null ? 0 : Math.ceil(unsentPauseUntil - now)
    const limits = subject.limits.map((one) => ({ ...one, limit: spans[one.span]?.limit ?? one.limit }))
    const [publishing, counting] = PURPOSES.map((purpose) => {
      rates[purpose] = updateRate(rates[purpose], now)
      const { perSecond } = rates[purpose]
      return toLotSize({ purpose, waiting: waiting[purpose].length, perSecond, limits })
    }) as [number, number]
    return {
      ...subject,
      lessee,
      publishing,
      counting,
      arrivalMs,
      outstanding: state.underway + countTokens(state, 'publishing'),
      reports: [...reports.values()].map(({ at, ...report }) => ({ ...report, ageMs: Math.ceil(now - at) })),
      ...(pauseMs > 0 && { pauseMs }),
    }
  }

  /** Gives the tokens of a lot to the calls that waited for it, and refuses the others. Returns whether all were served. */
  function serve(state: SubjectState, lot: Lot, waiting: SubjectState['waiting'], { waitMs }: Lease): boolean {
    const refused = PURPOSES.map((purpose) => {
      if (waitMs[purpose] > 0) state.refusals[purpose] = toRefusal(waitMs[purpose])
      const unserved = waiting[purpose].filter((call) => {
        const token = takeFromLot(state, lot, purpose)
        if (token) call.resolve(token)
        return !token
      })
      refuseAll(unserved, purpose, waitMs[purpose])
      return unserved.length
    })
    return refused.every((count) => count === 0)
  }

  /** Gives the tokens that are left to calls that came after the request. The next lease serves the others. */
  function serveLater(state: SubjectState): void {
    for (const purpose of PURPOSES) {
      state.waiting[purpose] = state.waiting[purpose].filter((call) => {
        const token = takeFromLots(state, purpose, call.deadlineMs)
        if (token) call.resolve(token)
        return !token
      })
    }
  }

  function refuseAll(calls: Waiting[], purpose: CallPurpose, waitMs: number): void {
    for (const call of calls) call.reject(refuse(purpose, waitMs))
  }

  function refuse(purpose: CallPurpose, waitMs: number): PlatformError {
    observer.callRefused(platform, purpose)
    const label = platformLabel(platform)
    const message =
      purpose === 'publishing'
        ? `${label} accepts no more calls for now`
        : `The remaining calls to ${label} are reserved for publishing`
    const retryAfterMs = Math.max(1, Math.ceil(waitMs))
    return new PlatformError('rate_limited', message, { certain: true, retryAfterMs })
  }

  function toLateError(cause: unknown): PlatformError {
    const message = `The quota of ${platformLabel(platform)} could not be checked in time`
    return new PlatformError('transient', message, { certain: true, cause })
  }

  return {
    take,

    /** @throws PlatformError when tokens waited for others until it was too late to use them */
    assertUsable(tokens: Token[]): void {
      const now = performance.now()
      if (tokens.some(({ lot }) => lot.startBy < now)) throw toLateError(new Error('Tokens have expired'))
    },

    /** Returns the token of a call that is not made. */
    giveBack(subject: QuotaSubject, { lot, purpose }: Token): void {
      lot[purpose] += 1
      endCall(getState(subject))
    },

    /** Records that a call with a token has ended. */
    finish: (subject: QuotaSubject): void => endCall(getState(subject)),

    /** Stores what a response reports, and sends it to the ledger when the ledger expects more. */
    report(subject: QuotaSubject, reported: ReportedLimit[]): void {
      const state = getState(subject)
      const at = performance.now()
      for (const one of reported) state.reports.set(one.span, mergeReport(state.reports.get(one.span), { ...one, at }))
      const isNews = reported.some(({ span, limit, remaining }) => {
        const known = state.spans[span]
        return known !== undefined && (known.limit !== limit || remaining < known.free)
      })
      if (!isNews || at - state.reportedAt < LOT_LIFE_MS) return
      state.reportedAt = at
      state.hasNews = true
      leaseInBackground(state)
    },

    /** Stops the calls of the subject in all processes, here immediately. */
    pause(subject: QuotaSubject, ms: number): void {
      const state = getState(subject)
      const now = performance.now()
      // Several calls of one moment receive the same refusal.
      if (now + ms <= state.pauseEndsAt + RESET_PRECISION_MS && now < state.pauseEndsAt) return
      if (now >= state.pauseEndsAt) observer.paused(platform, subject, ms)
      endLots(state, now + ms)
      state.unsentPauseUntil = state.pauseEndsAt
      state.refusals = { publishing: toRefusal(ms), counting: toRefusal(ms) }
      state.hasNews = true
      leaseInBackground(state)
    },
  }
}

function createState(subject: QuotaSubject): SubjectState {
  const rate: CallRate = { perSecond: 0, calls: 0, since: performance.now() }
  return {
    subject,
    lots: [],
    waiting: { publishing: [], counting: [] },
    rates: { publishing: rate, counting: rate },
    refusals: {},
    spans: {},
    reports: new Map(),
    underway: 0,
    pauseEndsAt: -Infinity,
    unsentPauseUntil: null,
    reportedAt: -Infinity,
    isLeasing: false,
    hasNews: false,
  }
}

function endLots(state: SubjectState, pauseEndsAt: number): void {
  state.lots = []
  state.pauseEndsAt = Math.max(state.pauseEndsAt, pauseEndsAt)
}

function endCall(state: SubjectState): void {
  state.underway = Math.max(0, state.underway - 1)
}

/** Within one window the number of remaining calls only falls, but responses overtake each other. */
function mergeReport(before: StoredReport | undefined, report: StoredReport): StoredReport {
  if (!before) return report
  const isSameWindow = before.at + before.resetsInMs + RESET_PRECISION_MS >= report.at + report.resetsInMs
  return isSameWindow ? { ...report, remaining: Math.min(before.remaining, report.remaining) } : report
}

function countTokens(state: SubjectState, purpose: CallPurpose): number {
  const now = performance.now()
  state.lots = state.lots.filter(({ expiresAt }) => expiresAt > now)
  return state.lots.reduce((total, lot) => total + lot.counting + (purpose === 'publishing' ? lot.publishing : 0), 0)
}

function takeFromLots(state: SubjectState, purpose: CallPurpose, deadlineMs: number): Token | null {
  const now = performance.now()
  for (const lot of state.lots) {
    const token = lot.expiresAt > now && lot.deadlineMs >= deadlineMs ? takeFromLot(state, lot, purpose) : null
    if (token) return token
  }
  return null
}

/** Publishing also uses the tokens for counts, never the other way around. */
function takeFromLot(state: SubjectState, lot: Lot, purpose: CallPurpose): Token | null {
  const from = (purpose === 'publishing' ? PURPOSES : [purpose]).find((one) => lot[one] > 0)
  if (!from) return null
  lot[from] -= 1
  state.underway += 1
  return { lot, purpose: from }
}

function toRefusal(waitMs: number): { askAgainAt: number; freeAt: number } {
  const now = performance.now()
  return { askAgainAt: now + Math.min(waitMs, LOT_LIFE_MS), freeAt: now + waitMs }
}

/** Returns the wait until the next token is free, or null when the ledger may have one. */
function findRefusedForMs({ refusals }: SubjectState, purpose: CallPurpose): number | null {
  const refusal = refusals[purpose]
  const now = performance.now()
  return refusal && refusal.askAgainAt > now ? refusal.freeAt - now : null
}
