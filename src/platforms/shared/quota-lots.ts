import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { withDeadline } from '../../deadlines.ts'
import { LOT_LIFE_MS, type Lease, type LeaseRequest, type QuotaLedger } from '../../domain/quotas/lease.ts'
import type { CallPurpose, QuotaSubject } from '../../domain/quotas/limits.ts'
import { shouldRenew, toLotSize, updateRate, type CallRate } from '../../domain/quotas/lots.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../errors.ts'

/** A limit as a response reports it. */
export interface ReportedLimit {
  span: string
  limit: number
  remaining: number
  /** The time until the platform grants the whole limit again, milliseconds. */
  resetsInMs: number
}

interface Lot extends Record<CallPurpose, number> {
  expiresAt: number
  /** The longest deadline of a call that may use these tokens, milliseconds. */
  deadlineMs: number
}

interface Waiting {
  deadlineMs: number
  resolve: () => void
  reject: (error: unknown) => void
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
  /** A pause that the ledger does not have yet. */
  pausedUntil: number | null
  reportedAt: number
  isLeasing: boolean
  /** True when a report or a pause waits for the next lease. */
  hasNews: boolean
}

const MAX_SUBJECTS = 20_000
/** Longer than the ledger takes while it works. */
const LEASE_DEADLINE_MS = 5 * SECOND
/** Reports of one window state its end with this precision. */
const RESET_PRECISION_MS = 1.5 * SECOND
const PURPOSES = ['publishing', 'counting'] as const

/**
 * Holds the tokens that this process has leased. Calls of the same subject share leases, and a subject with many calls leases
 * ahead, so that its calls do not wait for the ledger.
 */
export function createQuotaLots({ label, ledger, deadlineMs: usualDeadlineMs }: LotOptions) {
  const states = new LRUCache<string, SubjectState>({ max: MAX_SUBJECTS })

  function getState(subject: QuotaSubject): SubjectState {
    const known = states.get(subject.key)
    if (known) return known
    const since = performance.now()
    const rate = (): CallRate => ({ perSecond: 0, calls: 0, since })
    const state: SubjectState = {
      subject,
      lots: [],
      waiting: { publishing: [], counting: [] },
      rates: { publishing: rate(), counting: rate() },
      refusals: {},
      spans: {},
      reports: new Map(),
      underway: 0,
      pausedUntil: null,
      reportedAt: -Infinity,
      isLeasing: false,
      hasNews: false,
    }
    states.set(subject.key, state)
    return state
  }

  /** Takes a token for one call. @throws PlatformError `rate_limited` when none is free, `transient` without the ledger */
  async function take(subject: QuotaSubject, purpose: CallPurpose, deadlineMs: number): Promise<void> {
    const state = getState(subject)
    const rate = updateRate(state.rates[purpose], performance.now())
    state.rates[purpose] = { ...rate, calls: rate.calls + 1 }
    if (takeFromLots(state, purpose, deadlineMs)) {
      const isLow = shouldRenew(countTokens(state, purpose), rate.perSecond)
      if (isLow && !findRefusal(state, purpose)) leaseInBackground(state)
      return
    }
    const refusal = findRefusal(state, purpose)
    if (refusal) throw refusal
    await new Promise<void>((resolve, reject) => {
      state.waiting[purpose].push({ deadlineMs, resolve, reject })
      leaseInBackground(state)
    })
  }

  function findRefusal({ refusals }: SubjectState, purpose: CallPurpose): PlatformError | null {
    const refusal = refusals[purpose]
    const now = performance.now()
    return refusal && refusal.askAgainAt > now ? toRefusal(label, purpose, refusal.freeAt - now) : null
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
    const { waiting, pausedUntil } = state
    state.waiting = { publishing: [], counting: [] }
    state.hasNews = false
    const all = [...waiting.publishing, ...waiting.counting]
    const deadlineMs = Math.max(usualDeadlineMs, ...all.map((call) => call.deadlineMs))
    const requestedAt = performance.now()
    const request = toRequest(state, waiting, LOT_LIFE_MS + deadlineMs)
    try {
      const lease = await withDeadline(ledger.lease(request), LEASE_DEADLINE_MS, () => new Error('No lease in time'))
      const isPausedSince = state.pausedUntil !== pausedUntil
      if (!isPausedSince) state.pausedUntil = null
      if (isPausedSince || lease.isPaused) state.lots = []
      state.spans = lease.spans
      const granted = isPausedSince ? { publishing: 0, counting: 0 } : lease.granted
      const lot = { ...granted, expiresAt: requestedAt + LOT_LIFE_MS, deadlineMs }
      serve(state, lot, waiting, lease)
      state.lots.push(lot)
    } catch (cause) {
      const message = `The quota of ${label} could not be checked, because the database did not answer`
      for (const call of all) call.reject(new PlatformError('transient', message, { certain: true, cause }))
    }
  }

  function toRequest(state: SubjectState, waiting: SubjectState['waiting'], arrivalMs: number): LeaseRequest {
    const { subject, rates, spans, reports, pausedUntil } = state
    const now = performance.now()
    const pauseMs = pausedUntil === null ? 0 : Math.ceil(pausedUntil - now)
    const limit = Math.min(...subject.limits.map((one) => spans[one.span]?.limit ?? one.limit))
    const [publishing, counting] = PURPOSES.map((purpose) => {
      rates[purpose] = updateRate(rates[purpose], now)
      return waiting[purpose].length + toLotSize(rates[purpose].perSecond, limit)
    }) as [number, number]
    return {
      ...subject,
      publishing,
      counting,
      arrivalMs,
      outstanding: state.underway + countTokens(state, 'publishing'),
      reports: [...reports.values()].map(({ at, ...report }) => ({ ...report, ageMs: Math.ceil(now - at) })),
      ...(pauseMs > 0 && { pauseMs }),
    }
  }

  /** Gives the tokens of a lot to the calls that waited for it, and refuses the others. */
  function serve(state: SubjectState, lot: Lot, waiting: SubjectState['waiting'], { waitMs }: Lease): void {
    const now = performance.now()
    for (const purpose of PURPOSES) {
      const served = waiting[purpose].filter((call) => {
        const isServed = takeFromLot(state, lot, purpose)
        if (isServed) call.resolve()
        return isServed
      })
      const refused = waiting[purpose].slice(served.length)
      const wait = waitMs[purpose]
      if (wait > 0) state.refusals[purpose] = { askAgainAt: now + Math.min(wait, LOT_LIFE_MS), freeAt: now + wait }
      for (const call of refused) call.reject(toRefusal(label, purpose, wait))
    }
  }

  /** Stores what a response reports, and sends it to the ledger when the ledger expects more. */
  function report(subject: QuotaSubject, reported: ReportedLimit[]): void {
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
  }

  return {
    take,
    report,

    /** Records that a call with a token has ended. */
    finish(subject: QuotaSubject): void {
      const state = getState(subject)
      state.underway = Math.max(0, state.underway - 1)
    },

    /** Stops the calls of the subject in all processes, here immediately. */
    pause(subject: QuotaSubject, ms: number): void {
      const state = getState(subject)
      const now = performance.now()
      state.lots = []
      state.pausedUntil = Math.max(state.pausedUntil ?? 0, now + ms)
      const refusal = { askAgainAt: now + Math.min(ms, LOT_LIFE_MS), freeAt: now + ms }
      state.refusals = { publishing: refusal, counting: refusal }
      state.hasNews = true
      leaseInBackground(state)
    },
  }
}

interface LotOptions {
  /** The platform's name for people. */
  label: string
  ledger: QuotaLedger
  /** The deadline of a call that states none, milliseconds. */
  deadlineMs: number
}

/** Within one window the number of remaining calls only falls, but responses overtake each other. */
function mergeReport(before: StoredReport | undefined, report: StoredReport): StoredReport {
  if (!before) return report
  const isSameWindow = before.at + before.resetsInMs + RESET_PRECISION_MS >= report.at + report.resetsInMs
  return isSameWindow ? { ...report, remaining: Math.min(before.remaining, report.remaining) } : report
}

function countTokens(state: SubjectState, purpose: CallPurpose): number {
  const now = performance.now()
  state.lots = state.lots.filter(({ publishing, counting, expiresAt }) => expiresAt > now && publishing + counting > 0)
  return state.lots.reduce((total, lot) => total + lot.counting + (purpose === 'publishing' ? lot.publishing : 0), 0)
}

function takeFromLots(state: SubjectState, purpose: CallPurpose, deadlineMs: number): boolean {
  const now = performance.now()
  return state.lots.some(
    (lot) => lot.expiresAt > now && lot.deadlineMs >= deadlineMs && takeFromLot(state, lot, purpose),
  )
}

/** Publishing also uses the tokens for counts, never the other way around. */
function takeFromLot(state: SubjectState, lot: Lot, purpose: CallPurpose): boolean {
  const from = (purpose === 'publishing' ? PURPOSES : [purpose]).find((one) => lot[one] > 0)
  if (!from) return false
  lot[from] -= 1
  state.underway += 1
  return true
}

function toRefusal(label: string, purpose: CallPurpose, retryAfterMs: number): PlatformError {
  const message =
    purpose === 'publishing'
      ? `${label} accepts no more calls for now`
      : `The remaining calls to ${label} are reserved for publishing`
  return new PlatformError('rate_limited', message, {
    certain: true,
    retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)),
  })
}
