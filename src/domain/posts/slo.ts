import type { FailureCode } from './failure.ts'
import { HOUR } from '../shared/times.ts'
import { PLATFORMS, type Platform } from '../shared/platforms.ts'
import type { DeliveryStatus, PostStatus } from './post.ts'

/** Platform entries of scheduled posts with the same result, counted together. */
export interface EntryGroup {
  platform: Platform
  postStatus: PostStatus
  status: DeliveryStatus
  errorCode: FailureCode | null
  /** True in a later round than the first: the user retried. */
  isRetried: boolean
  /** True when the post (or its retry) has been due for longer than the bound. */
  isPastBound: boolean
  /** Time from `scheduledAt` until the platform's response was recorded; null for unpublished entries. */
  latenessMs: number | null
  entries: number
  /** Number of posts. Each counts with its first entry only. */
  posts: number
}

/** The same of one UTC hour. */
export interface HourlyEntryGroup extends EntryGroup {
  /** The start of the hour. */
  hour: Date
}

/** Punctuality of the deliveries that were scheduled in one UTC hour. */
export interface PunctualHour {
  hour: Date
  onTime: number
  misses: number
  /** Share of `onTime` in both; null without any. */
  share: number | null
}

export interface Lateness {
  count: number
  p50: number | null
  p95: number | null
  p99: number | null
  max: number | null
}

export interface DeliveryStats {
  total: number
  onTime: number
  late: number
  failed: number
  overdue: number
  open: number
  refused: number
  retried: number
  /** `late`, `failed` and `overdue` together. */
  misses: number
  failures: Partial<Record<FailureCode, number>>
  lateness: Lateness
}

export interface PostStats {
  scheduled: number
  delivered: number
  partiallyDelivered: number
  failed: number
  overdue: number
  open: number
  cancelled: number
}

export interface SloSummary {
  posts: PostStats
  deliveries: DeliveryStats
  platforms: Partial<Record<Platform, DeliveryStats>>
}

/** Failures that only the user can resolve. No scheduler could have published such a post, so they are not misses. */
const USER_CAUSED: ReadonlySet<FailureCode> = new Set([
  'unauthorized',
  'permission',
  'not_found',
  'validation',
  'duplicate',
  'blocked_by_platform',
  'PLATFORM_NOT_CONNECTED',
  'PLATFORM_NOT_SUPPORTED',
  'ACCOUNT_DISABLED',
  'MEDIA_UNAVAILABLE',
  'CANCELLED',
])

/** Summarizes how punctually scheduled posts were delivered (docs/operations/monitoring.md#what-counts-as-a-miss). */
export function summarizeSlo(groups: readonly EntryGroup[], missAfterMs: number): SloSummary {
  const delivered = groups.filter(({ postStatus }) => postStatus !== 'CANCELLED')
  const used = PLATFORMS.filter((name) => delivered.some(({ platform }) => platform === name))
  return {
    posts: countPosts(groups),
    deliveries: countDeliveries(delivered, missAfterMs),
    platforms: Object.fromEntries(
      used.map((name) => [
        name,
        countDeliveries(
          delivered.filter(({ platform }) => platform === name),
          missAfterMs,
        ),
      ]),
    ),
  }
}

/** Computes the punctuality of each UTC hour from the hour of `since` to that of `until`, oldest first. */
export function summarizeHours(
  groups: readonly HourlyEntryGroup[],
  { since, until, missAfterMs }: { since: Date; until: Date; missAfterMs: number },
): PunctualHour[] {
  const first = Math.floor(since.getTime() / HOUR)
  const count = Math.floor(until.getTime() / HOUR) - first + 1
  const byHour = Map.groupBy(groups, ({ hour }) => hour.getTime())
  return Array.from({ length: count }, (_, index) => {
    const start = (first + index) * HOUR
    const ofHour = (byHour.get(start) ?? []).filter(({ postStatus }) => postStatus !== 'CANCELLED')
    const { onTime, misses } = countDeliveries(ofHour, missAfterMs)
    return { hour: new Date(start), onTime, misses, share: onTime + misses === 0 ? null : onTime / (onTime + misses) }
  })
}

function countPosts(groups: readonly EntryGroup[]): PostStats {
  const count = (fits: (group: EntryGroup) => boolean) => sum(groups.filter(fits).map(({ posts }) => posts))
  const isOpen = ({ postStatus }: EntryGroup) => ['SCHEDULED', 'PENDING', 'PROCESSING'].includes(postStatus)
  const countStatus = (status: PostStatus) => count(({ postStatus }) => postStatus === status)
  return {
    scheduled: count(() => true),
    delivered: countStatus('COMPLETED'),
    partiallyDelivered: countStatus('PARTIAL_SUCCESS'),
    failed: countStatus('FAILED'),
    overdue: count((group) => isOpen(group) && group.isPastBound),
    open: count((group) => isOpen(group) && !group.isPastBound),
    cancelled: countStatus('CANCELLED'),
  }
}

type Kind = 'onTime' | 'late' | 'failed' | 'overdue' | 'open' | 'refused' | 'retried'

function classifyEntry(group: EntryGroup, missAfterMs: number): Kind {
  if (group.isRetried) return 'retried'
  switch (group.status) {
    case 'completed':
    case 'deleted':
      return (group.latenessMs ?? 0) <= missAfterMs ? 'onTime' : 'late'
    case 'failed':
      return group.errorCode && USER_CAUSED.has(group.errorCode) ? 'refused' : 'failed'
    case 'pending':
    case 'processing':
      return group.isPastBound ? 'overdue' : 'open'
  }
}

function countDeliveries(groups: readonly EntryGroup[], missAfterMs: number): DeliveryStats {
  const select = (...kinds: Kind[]) => groups.filter((group) => kinds.includes(classifyEntry(group, missAfterMs)))
  const count = (...kinds: Kind[]) => sum(select(...kinds).map(({ entries }) => entries))
  const failures: DeliveryStats['failures'] = {}
  for (const { errorCode, entries } of select('failed', 'refused')) {
    const code = errorCode ?? 'INTERNAL'
    failures[code] = (failures[code] ?? 0) + entries
  }
  return {
    total: sum(groups.map(({ entries }) => entries)),
    onTime: count('onTime'),
    late: count('late'),
    failed: count('failed'),
    overdue: count('overdue'),
    open: count('open'),
    refused: count('refused'),
    retried: count('retried'),
    misses: count('late', 'failed', 'overdue'),
    failures,
    lateness: summarizeLateness(select('onTime', 'late')),
  }
}

/** Returns percentiles by nearest rank: the smallest lateness that at least that share of deliveries did not exceed. */
function summarizeLateness(groups: readonly EntryGroup[]): Lateness {
  const ascending = groups
    .flatMap(({ latenessMs, entries }) => (latenessMs === null ? [] : [{ latenessMs, entries }]))
    .toSorted((a, b) => a.latenessMs - b.latenessMs)
  const total = sum(ascending.map(({ entries }) => entries))
  const atRank = (rank: number) => {
    let counted = 0
    return ascending.find(({ entries }) => (counted += entries) >= rank)?.latenessMs ?? null
  }
  return {
    count: total,
    p50: atRank(Math.ceil(total * 0.5)),
    p95: atRank(Math.ceil(total * 0.95)),
    p99: atRank(Math.ceil(total * 0.99)),
    max: ascending.at(-1)?.latenessMs ?? null,
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
