import { platformLabel, type Platform } from '../shared/platforms.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../shared/times.ts'
import { bisect } from '../shared/lists.ts'
import type { CallLimit, QuotaSubject, ReportedLimit } from './limits.ts'
import { computeFree, listEnds, type CountedTokens, type SpanRecord } from './span-record.ts'

/** The posts that platforms accept of one account in a sliding window (docs/reference/platforms.md). Facebook publishes none. */
export const PUBLICATION_LIMITS = {
  bluesky: [
    { span: 'hour', limit: 1_666, windowMs: HOUR },
    { span: 'day', limit: 11_666, windowMs: DAY },
  ],
  // The documentation states 50 and 100. The lower one applies until Instagram reports the account's own.
  instagram: [{ span: 'day', limit: 50, windowMs: DAY }],
  mastodon: [{ span: 'statuses', limit: 300, windowMs: 3 * HOUR }],
  threads: [{ span: 'day', limit: 250, windowMs: DAY }],
  tumblr: [{ span: 'day', limit: 250, windowMs: DAY }],
} as const satisfies Partial<Record<Platform, readonly CallLimit[]>>

/** A delivery that waits until its account may publish again. */
export interface WaitingPublication {
  /** Identifies the delivery. */
  id: string
  dueAt: Date
  /** When it leaves the queue unless it has asked again. */
  until: Date
}

/** The stored use of the publication quota of one account. */
export interface PublicationRecord {
  spans: Record<string, SpanRecord>
  /** In due order. */
  waiting: WaitingPublication[]
}

export const UNUSED: PublicationRecord = { spans: {}, waiting: [] }

/** A platform's statement about the publications of an account. */
export type PublicationReport = ReportedLimit

export interface PublicationRequest {
  id: string
  dueAt: Date
  limits: QuotaSubject['limits']
  /** The longest time until the publication reaches the platform, milliseconds. */
  arrivalMs: number
}

/** The counters of a granted publication, by span. */
export type PublicationGrant = Record<string, Date>

/** The number of publications in a window. */
export interface PublicationLimit {
  limit: number
  windowMs: number
}

/** The grant, or the time until it is the turn of this publication, milliseconds, and the limit that it waits for. */
export type PublicationTurn = { grant: PublicationGrant } | { waitMs: number; limit: PublicationLimit }

const PLURALS = { post: 'posts', reply: 'replies' }

/** Returns a clause such as "Threads accepts 250 posts of an account in 24 hours". */
export function describePublicationLimit(
  platform: Platform,
  { limit, windowMs }: PublicationLimit,
  what: keyof typeof PLURALS = 'post',
): string {
  const hours = Math.round(windowMs / HOUR)
  const posts = limit === 1 ? `one ${what}` : `${limit} ${PLURALS[what]}`
  return `${platformLabel(platform)} accepts ${posts} of an account in ${hours <= 1 ? 'an hour' : `${hours} hours`}`
}

/** The quotas of publications, shared by all processes. Keys are those of `QuotaSubject`. */
export interface PublicationLedger {
  /** Grants a publication, or states the wait until its turn. */
  request(key: string, request: PublicationRequest): Promise<PublicationTurn>
  /** Takes back a grant whose publication certainly did not reach the platform. */
  takeBack(key: string, grant: PublicationGrant): Promise<void>
  report(key: string, reports: readonly PublicationReport[]): Promise<void>
  /** Returns the use of each quota; unused ones are included. */
  read(keys: readonly string[]): Promise<Map<string, PublicationState>>
}

/** A record with the time of the database at which it was read. */
export interface PublicationState {
  record: PublicationRecord
  now: Date
}

/** A delivery that does not come back this long after its turn leaves the queue. */
const GRACE_MS = 2 * MINUTE
/** Deliveries beyond these are not queued. They ask again when the last of these has its turn. */
const MAX_WAITING = 1_000
/** A bounded number of counters covers any window. */
const COUNTERS_PER_WINDOW = 144

/**
 * Grants publications in due order, unless earlier due ones need the free tokens. A publication that is not granted is queued in due
 * order. A grant counts until a whole window has passed since the last instant at which the publication can arrive, so no sliding window
 * has more of them than its limit.
 * @returns the turns in the order of the requests
 */
export function requestPublications(
  record: PublicationRecord,
  requests: readonly PublicationRequest[],
  now: Date,
): { record: PublicationRecord; turns: PublicationTurn[] } {
  const asking = new Set(requests.map(({ id }) => id))
  const others = record.waiting.filter(({ id, until }) => !asking.has(id) && until > now)
  const turns = new Map<string, PublicationTurn>()
  const waiting: WaitingPublication[] = []
  let freeTokens = createFreeTokens(dropExpired(record.spans, now), now)
  for (const one of [...others, ...requests].toSorted(compareDue)) {
    if ('until' in one) {
      waiting.push(one)
      continue
    }
    const { id, dueAt, limits, arrivalMs } = one
    const { at: turnAt, limit } = freeTokens.findTurn(limits, Math.min(waiting.length, MAX_WAITING))
    if (turnAt <= now) {
      const grant = Object.fromEntries(limits.map((limit) => [limit.span, toCounterEnd(limit, arrivalMs, now)]))
      freeTokens = createFreeTokens(changeTokens(freeTokens.spans, grant, 1), now)
      turns.set(id, { grant })
    } else {
      waiting.push({ id, dueAt, until: new Date(turnAt.getTime() + GRACE_MS) })
      turns.set(id, { waitMs: turnAt.getTime() - now.getTime(), limit })
    }
  }
  return {
    record: { spans: freeTokens.spans, waiting: waiting.slice(0, MAX_WAITING) },
    turns: requests.map(({ id }) => turns.get(id)!),
  }
}

/** Takes back a grant whose publication certainly did not reach the platform. */
export function takeBackPublication(record: PublicationRecord, grant: PublicationGrant): PublicationRecord {
  return { ...record, spans: changeTokens(record.spans, grant, -1) }
}

/** Applies what the platform states. A report counts until its reset, and a reported limit replaces the default. */
export function applyReports(
  record: PublicationRecord,
  reports: readonly PublicationReport[],
  now: Date,
): PublicationRecord {
  const spans = { ...record.spans }
  for (const { span, limit, remaining, resetsInMs } of reports) {
    const report = { left: remaining, until: new Date(now.getTime() + Math.min(resetsInMs, DAY)), at: now }
    spans[span] = { counted: [], ...spans[span], limit, report }
  }
  return { ...record, spans }
}

/** The use of one limit of an account, as users see it. */
export interface PublicationUse extends PublicationLimit {
  used: number
  /** When the next publication is possible; null when one is possible now. Deliveries that wait come first. */
  nextFreeAt: Date | null
  /** When the whole limit is free again; null when it is. */
  resetsAt: Date | null
  waiting: number
}

export function describeUse(
  { spans, waiting }: PublicationRecord,
  limits: QuotaSubject['limits'],
  now: Date,
): PublicationUse[] {
  const current = waiting.filter(({ until }) => until > now).length
  return limits.map((limit) => {
    const { limit: inForce, free } = computeFree(limit, spans[limit.span], now)
    const { at: turnAt } = createFreeTokens(spans, now).findTurn([limit], current)
    const resetsAt = listEnds(spans[limit.span], now).at(-1) ?? null
    return {
      limit: inForce,
      used: inForce - free,
      windowMs: limit.windowMs,
      nextFreeAt: turnAt > now ? turnAt : null,
      resetsAt,
      waiting: current,
    }
  })
}

/** A limit that a planned post would exceed. */
export interface ExpectedDelay extends PublicationLimit {
  /** When the post would be published. */
  freeAt: Date
}

/** The planned posts that are read to forecast a delay. Limits that are not below cannot be forecast. */
export const MAX_PLANNED = 2_000

/** Returns how far before a post others can delay it, milliseconds. */
export function toLookbackMs(limits: QuotaSubject['limits']): number {
  return Math.max(...limits.map(({ windowMs }) => 4 * windowMs))
}

/** A delay that is not longer is not worth a warning. */
const SHORTEST_DELAY_MS = 10 * SECOND

/** The planned posts of an account that come before a post, by their index in the list. */
interface PlannedRange {
  from: number
  to: number
}

/**
 * Forecasts the delays of posts: the posts before each are published at their times, or when their account may publish again. The record is
 * examined once, and each post costs a step per window.
 */
export function createDelayForecast(record: PublicationRecord, limits: QuotaSubject['limits'], now: Date) {
  const known = limits.map((limit) => {
    const { limit: inForce } = computeFree(limit, record.spans[limit.span], now)
    const waiting = record.waiting.filter(({ until }) => until > now).map(() => now)
    return {
      limit: inForce,
      windowMs: limit.windowMs,
      uses: [...listUses(limit, record.spans[limit.span], now), ...waiting],
    }
  })

  /** @param planned the due times of posts of the account, in order; by default all of them come first */
  return function forecastDelay(
    planned: readonly Date[],
    dueAt: Date,
    range: PlannedRange = { from: 0, to: planned.length },
  ): ExpectedDelay | null {
    const delays = known.flatMap(({ uses, limit, windowMs }): ExpectedDelay[] => {
      const freeAt = findFreeTime(uses, { planned, range }, { limit, windowMs }, dueAt)
      const isLate = limit < MAX_PLANNED && freeAt.getTime() - dueAt.getTime() > SHORTEST_DELAY_MS
      return isLate ? [{ limit, windowMs, freeAt }] : []
    })
    return delays.toSorted((one, other) => other.freeAt.getTime() - one.freeAt.getTime())[0] ?? null
  }
}

/** Each publication waits until a window has passed since the one that is `limit` before it: among the planned ones, then the uses. */
function findFreeTime(
  uses: readonly Date[],
  { planned, range }: { planned: readonly Date[]; range: PlannedRange },
  { limit, windowMs }: PublicationLimit,
  dueAt: Date,
): Date {
  const count = uses.length + range.to - range.from
  let freeAt = dueAt.getTime()
  for (let windows = 1; count - windows * limit >= 0; windows++) {
    const index = count - windows * limit
    const earlier = index < uses.length ? uses[index]! : planned[range.from + index - uses.length]!
    freeAt = Math.max(freeAt, earlier.getTime() + windows * windowMs)
  }
  return new Date(freeAt)
}

/** Returns about when the tokens that still count were used, oldest first. A lower report counts as uses that end with it. */
function listUses(limit: CallLimit, record: SpanRecord | undefined, now: Date): Date[] {
  const { limit: inForce, free } = computeFree(limit, record, now)
  const counted = (record?.counted ?? []).filter(({ until }) => until > now)
  const uses = counted.flatMap(({ until, tokens }) => Array.from({ length: tokens }, () => until))
  const unknown = Math.max(0, inForce - free - uses.length)
  const reported = Array.from({ length: unknown }, () => record!.report!.until)
  return [...uses, ...reported]
    .map((until) => new Date(until.getTime() - limit.windowMs))
    .toSorted((one, other) => one.getTime() - other.getTime())
}

/** Orders deliveries by their due time, and those of one instant by their ids. */
function compareDue(
  one: Pick<WaitingPublication, 'id' | 'dueAt'>,
  other: Pick<WaitingPublication, 'id' | 'dueAt'>,
): number {
  return one.dueAt.getTime() - other.dueAt.getTime() || (one.id < other.id ? -1 : 1)
}

/** The free tokens of spans as they are now. */
function createFreeTokens(spans: PublicationRecord['spans'], now: Date) {
  const endsBySpan = new Map<string, Date[]>()

  function findSpanTurn(limit: CallLimit, inForce: number, ahead: number): number {
    const record = spans[limit.span]
    const needed = (ahead % inForce) + 1
    let ends = endsBySpan.get(limit.span)
    if (!ends) endsBySpan.set(limit.span, (ends = listEnds(record, now)))
    const hasRoom = (instant: Date) => computeFree(limit, record, instant).free >= needed
    const first = hasRoom(now) ? now : (ends[bisect(ends, hasRoom)] ?? ends.at(-1)!)
    return first.getTime() + Math.floor(ahead / inForce) * (limit.windowMs + toCounterMs(limit))
  }

  return {
    spans,

    /** Returns when more tokens than `ahead` are free in every span, and the limit of the last one. */
    findTurn(limits: QuotaSubject['limits'], ahead: number): { at: Date; limit: PublicationLimit } {
      const turns = limits.map((limit) => {
        const { limit: inForce } = computeFree(limit, spans[limit.span], now)
        const at = new Date(findSpanTurn(limit, inForce, ahead))
        return { at, limit: { limit: inForce, windowMs: limit.windowMs } }
      })
      return turns.toSorted((one, other) => other.at.getTime() - one.at.getTime())[0]!
    },
  }
}

function toCounterMs({ windowMs }: CallLimit): number {
  return Math.ceil(windowMs / COUNTERS_PER_WINDOW)
}

function toCounterEnd(limit: CallLimit, arrivalMs: number, now: Date): Date {
  const counterMs = toCounterMs(limit)
  return new Date(Math.ceil((now.getTime() + arrivalMs + limit.windowMs) / counterMs) * counterMs)
}

function dropExpired(spans: PublicationRecord['spans'], now: Date): PublicationRecord['spans'] {
  return mapSpans(spans, (span) => ({
    ...span,
    counted: span.counted.filter(({ until }) => until > now),
    report: span.report && span.report.until > now ? span.report : null,
  }))
}

function changeTokens(spans: PublicationRecord['spans'], grant: PublicationGrant, change: 1 | -1) {
  const counted = { ...Object.fromEntries(Object.keys(grant).map((name) => [name, { counted: [] }])), ...spans }
  return mapSpans(counted, (span, name) => {
    const end = grant[name]
    if (!end) return span
    const { report } = span
    return {
      ...span,
      counted: addTokens(span.counted, end, change),
      ...(report && { report: { ...report, left: report.left - change } }),
    }
  })
}

function addTokens(counted: readonly CountedTokens[], end: Date, change: 1 | -1): CountedTokens[] {
  const at = end.getTime()
  const tokens = counted.find(({ until }) => until.getTime() === at)?.tokens ?? 0
  const others = counted.filter(({ until }) => until.getTime() !== at)
  return tokens + change > 0 ? [...others, { until: end, tokens: tokens + change }] : others
}

function mapSpans(
  spans: PublicationRecord['spans'],
  change: (span: SpanRecord, name: string) => SpanRecord,
): PublicationRecord['spans'] {
  return Object.fromEntries(Object.entries(spans).map(([name, span]) => [name, change(span, name)]))
}
