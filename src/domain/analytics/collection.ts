import { parseList } from '../shared/lists.ts'
import type { Platform } from '../shared/platforms.ts'
import type { PlatformStatus } from '../posts/post.ts'
import { DAY, MINUTE } from '../shared/times.ts'

/** How often the metrics of posts of an age are collected. The age counts from the completion of the delivery. */
export interface AgeClass {
  fromMs: number
  untilMs: number
  everyMs: number
}

/**
 * Parses `days:minutes` pairs: the maximal age of a class and the time between its snapshots.
 * @throws Error when it is not a list of such pairs with growing ages
 */
export function parseAgeClasses(line: string): AgeClass[] {
  let fromMs = 0
  const classes = parseList(line).map((pair) => {
    const [days, minutes] = /^(\d+):(\d+)$/.exec(pair)?.slice(1).map(Number) ?? []
    const ageClass = { fromMs, untilMs: (days ?? 0) * DAY, everyMs: (minutes ?? 0) * MINUTE }
    if (ageClass.untilMs <= fromMs || ageClass.everyMs === 0)
      throw new Error(`${pair} is not a days:minutes pair with growing days`)
    fromMs = ageClass.untilMs
    return ageClass
  })
  if (classes.length === 0) throw new Error('The list has no days:minutes pair')
  return classes
}

/** Returns the class of a post's age. Posts older than all classes belong to the oldest. */
export function findAgeClass(classes: AgeClass[], completedAt: Date, now: Date): AgeClass {
  const ageMs = now.getTime() - completedAt.getTime()
  return classes.find(({ untilMs }) => ageMs < untilMs) ?? classes.at(-1)!
}

/** Rounds a time down to its slot. All metrics collected within a slot belong to one snapshot. */
export function toSlot(now: Date, everyMs: number): Date {
  return new Date(Math.floor(now.getTime() / everyMs) * everyMs)
}

/**
 * Returns the time slot that a manual refresh writes to. Slots grow longer with a post's age, so the current slot may start before
 * the last collected one. The last collected slot is then used, so that slots never go backwards.
 */
export function resolveSlot(classes: AgeClass[], entry: { completedAt: Date; metricsSlot?: Date }, now: Date): Date {
  const slot = toSlot(now, findAgeClass(classes, entry.completedAt, now).everyMs)
  return entry.metricsSlot && entry.metricsSlot > slot ? entry.metricsSlot : slot
}

/**
 * Returns true when a missing post counts as deleted. Platforms may not show a new post immediately and a deletion is final, so
 * posts younger than `graceMs` do not count.
 */
export function canBeDeleted(completedAt: Date, graceMs: number, now: Date): boolean {
  return now.getTime() - completedAt.getTime() >= graceMs
}

/** Selects entries on `platforms` that were published within the bounds and whose metrics of `slot` are not collected yet. */
export interface DueBounds {
  platforms: Platform[]
  completedAfter: Date
  completedUntil: Date
  slot: Date
}

/** Returns the bounds of the entries that are due now, one per age class. */
export function listDueBounds(classes: AgeClass[], platforms: Platform[], now: Date): DueBounds[] {
  return classes.map(({ fromMs, untilMs, everyMs }) => ({
    platforms,
    completedAfter: new Date(now.getTime() - untilMs),
    completedUntil: new Date(now.getTime() - fromMs),
    slot: toSlot(now, everyMs),
  }))
}

type MetricsEntry = Pick<PlatformStatus, 'platform' | 'status' | 'platformPostId' | 'completedAt' | 'metricsSlot'>

export function isDue(entry: MetricsEntry, { platforms, completedAfter, completedUntil, slot }: DueBounds): boolean {
  const { completedAt, metricsSlot } = entry
  if (entry.status !== 'completed' || entry.platformPostId === null || completedAt === null) return false
  if (completedAt <= completedAfter || completedAt > completedUntil) return false
  return platforms.includes(entry.platform) && !(metricsSlot && metricsSlot >= slot)
}

/** Kinds of metrics that are collected. */
export const MESSAGE_TYPES = ['post', 'account'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]
