import { parseList } from '../shared/lists.ts'
import type { Platform } from '../shared/platforms.ts'
import type { PlatformStatus } from '../posts/post.ts'
import { DAY, MINUTE } from '../shared/times.ts'

/** How often the metrics of posts of an age are collected. The age counts from the completion of the delivery. */
export interface AgeClass {
  untilMs: number
  everyMs: number
}

/** A post whose counts always change is collected some 55 times in its life, a silent one some 20 times. */
export const DEFAULT_AGES = '0.25:60,1:180,7:720,30:2880,90:10080,400:43200'

/**
 * Parses `days:minutes` pairs: the maximal age of a class and the time between its collections.
 * @throws Error when it is not a list of such pairs with growing ages
 */
export function parseAgeClasses(line: string): AgeClass[] {
  let fromMs = 0
  const classes = parseList(line).map((pair) => {
    const [days, minutes] = /^(\d+(?:\.\d+)?):(\d+)$/.exec(pair)?.slice(1).map(Number) ?? []
    const ageClass = { untilMs: (days ?? 0) * DAY, everyMs: (minutes ?? 0) * MINUTE }
    if (ageClass.untilMs <= fromMs || ageClass.everyMs === 0)
      throw new Error(`${pair} is not a days:minutes pair with growing days`)
    fromMs = ageClass.untilMs
    return ageClass
  })
  if (classes.length === 0) throw new Error('The list has no days:minutes pair')
  return classes
}

/** Rounds a time down to its slot. All metrics collected within a slot belong to one snapshot. */
export function toSlot(now: Date, everyMs: number): Date {
  return new Date(Math.floor(now.getTime() / everyMs) * everyMs)
}

/**
 * Returns true when a missing post counts as deleted. Platforms may not show a new post immediately and a deletion is final, so
 * posts younger than `graceMs` do not count.
 */
export function canBeDeleted(completedAt: Date, graceMs: number, now: Date): boolean {
  return now.getTime() - completedAt.getTime() >= graceMs
}

/** The platform may remove a story this long before its recorded end. */
const END_MARGIN_MS = 10 * MINUTE

/** Returns whether the platform has removed a post by itself, which is no deletion. It reports no metrics of it any more. */
export function hasEnded({ endsAt }: Pick<PlatformStatus, 'endsAt'>, now: Date): boolean {
  return endsAt !== undefined && now.getTime() >= endsAt.getTime() - END_MARGIN_MS
}

/** A post whose counts do not change is read at least once in this many intervals of its age. */
const LONGEST_WAIT_INTERVALS = 4

/**
 * Returns when the metrics of a post are collected next, or null when it is older than all classes. The wait is the interval of the
 * post's age, or as long as its counts have not changed, up to four intervals.
 * @param unchangedSince null when the counts have just changed or are unknown
 */
export function findNextCollection(
  classes: readonly AgeClass[],
  completedAt: Date,
  now: Date,
  unchangedSince: Date | null = null,
): Date | null {
  const everyMs = findInterval(classes, completedAt, now)
  if (everyMs === null) return null
  const silentMs = unchangedSince ? now.getTime() - unchangedSince.getTime() : 0
  const waitMs = Math.min(Math.max(everyMs, silentMs), LONGEST_WAIT_INTERVALS * everyMs)
  const next = new Date(now.getTime() + waitMs)
  return findInterval(classes, completedAt, next) === null ? null : next
}

/** Returns the time between two collections of a post of this age; null when it is older than all classes. */
function findInterval(classes: readonly AgeClass[], completedAt: Date, now: Date): number | null {
  const ageMs = now.getTime() - completedAt.getTime()
  return classes.find(({ untilMs }) => ageMs < untilMs)?.everyMs ?? null
}

/** The accounts of one server. `server` is null on a platform that is a single server. */
export interface Lane {
  platform: Platform
  server: string | null
}

type MetricsEntry = Pick<
  PlatformStatus,
  'platform' | 'server' | 'status' | 'platformPostId' | 'completedAt' | 'metricsDueAt'
>

/** Returns the lane in which the metrics of an entry are due; null when they are not due. */
export function findDueLane(entry: MetricsEntry, now: Date): Lane | null {
  const { platform, server = null, status, platformPostId, completedAt, metricsDueAt } = entry
  if (status !== 'completed' || platformPostId === null || completedAt === null) return null
  return metricsDueAt && metricsDueAt <= now ? { platform, server } : null
}

/** Kinds of metrics that are collected. */
export const MESSAGE_TYPES = ['post', 'account'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]
