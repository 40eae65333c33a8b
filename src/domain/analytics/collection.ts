import { parseList } from '../shared/lists.ts'
import type { Platform } from '../shared/platforms.ts'
import type { PlatformStatus } from '../posts/post.ts'
import { DAY, MINUTE } from '../shared/times.ts'

/** Posts of this age, which counts from their completion, are asked about so often. */
export interface AgeClass {
  fromMs: number
  untilMs: number
  everyMs: number
}

/**
 * Reads `days:minutes` pairs: up to so many days of age, so many minutes between two snapshots.
 * @throws Error when it is not a list of such pairs with growing ages
 */
export function parseAgeClasses(line: string): AgeClass[] {
  let fromMs = 0
  const classes = parseList(line).map((pair) => {
    const [days, minutes] = /^(\d+):(\d+)$/.exec(pair)?.slice(1).map(Number) ?? []
    const ageClass = { fromMs, untilMs: (days ?? 0) * DAY, everyMs: (minutes ?? 0) * MINUTE }
    if (ageClass.untilMs <= fromMs || ageClass.everyMs === 0) throw new Error(`${pair} is no age and interval`)
    fromMs = ageClass.untilMs
    return ageClass
  })
  if (classes.length === 0) throw new Error('It names no age and interval')
  return classes
}

/** The class of a post's age; what is older than all of them counts as the oldest. */
export function findAgeClass(classes: AgeClass[], completedAt: Date, now: Date): AgeClass {
  const ageMs = now.getTime() - completedAt.getTime()
  return classes.find(({ untilMs }) => ageMs < untilMs) ?? classes.at(-1)!
}

/** The instant rounded down: what is taken until the next one is the same snapshot. */
export function toSlot(now: Date, everyMs: number): Date {
  return new Date(Math.floor(now.getTime() / everyMs) * everyMs)
}

/**
 * The slot that somebody who asks now gets a snapshot of. Slots grow longer with a post's age, so the one of now may have begun
 * before the last one that was seen to: then it is still that one, since a later slot is always a later look.
 */
export function resolveSlot(classes: AgeClass[], entry: { completedAt: Date; metricsSlot?: Date }, now: Date): Date {
  const slot = toSlot(now, findAgeClass(classes, entry.completedAt, now).everyMs)
  return entry.metricsSlot && entry.metricsSlot > slot ? entry.metricsSlot : slot
}

/** A platform may not show yet what is just out, and a deletion is final: it counts once the post has been out for so long. */
export function canBeDeleted(completedAt: Date, graceMs: number, now: Date): boolean {
  return now.getTime() - completedAt.getTime() >= graceMs
}

/** Entries on these platforms that were published in this time, and whose metrics of this slot nobody has seen to. */
export interface DueBounds {
  platforms: Platform[]
  completedAfter: Date
  completedUntil: Date
  slot: Date
}

/** What is due now, an age class each. */
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

/** What the collection is asked for (spec 6.3). */
export const MESSAGE_TYPES = ['post', 'account'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]
