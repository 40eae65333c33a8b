import { toTarget, type Target } from '../posts/targets.ts'
import { DAY, HOUR, MINUTE } from '../shared/times.ts'
import type { Platform } from '../shared/platforms.ts'
import { ENGAGEMENTS, NO_COUNTS, type PostCounts, type ThreadCounts } from './analytics.ts'
import { isSameDay } from './calendar.ts'
import { toSlot } from './collection.ts'

/** A second fetch within this time replaces the snapshot of the first. */
const SNAPSHOT_SLOT_MS = 15 * MINUTE

/** The longest time between the first and the last fetch of a snapshot: a day of the user, which may have 25 hours. */
export const LONGEST_SNAPSHOT_MS = 26 * HOUR

/** Counts that a platform reported at one time: of a post, of a thread those of its first post. */
export interface FetchedCounts extends PostCounts {
  /** Absent for a post without a thread. */
  thread?: ThreadCounts
}

/** Counts of a post on one account, and how long the platform reported them. */
export interface SeenCounts extends FetchedCounts {
  /** The slot of the fetch that stored the snapshot. */
  slot: Date
  /** When these counts were fetched first. */
  takenAt: Date
  /** When they were fetched last; absent when that was at `takenAt`. */
  lastSeenAt?: Date | null
  /** When the counts changed last, if an older snapshot has the same ones. */
  unchangedSince?: Date | null
}

/** A post on an account. */
interface Pair {
  postId: string
  platform: Platform
  /** The account, if the user chose it for the post. */
  target: string | null
}

/** Names the post and the account of a snapshot. */
export function toPairKey({ postId, platform, target }: Pair): string {
  return `${postId} ${target ?? platform}`
}

/** Identifies a snapshot: one per post, account and slot. Ids of a post sort by account, then by time. */
export function toSnapshotId({ postId, platform, target }: Pair, slot: Date): string {
  const account: Target = toTarget({ platform, ...(target && { target }) })
  return `${postId}/${account}/${slot.toISOString().slice(0, MINUTES_OF_ISO)}Z`
}

const MINUTES_OF_ISO = 'YYYY-MM-DDTHH:MM'.length

/** Returns the slot of a fetch. It never precedes that of the last snapshot, whose process may have a faster clock. */
export function toSnapshotSlot(takenAt: Date, last?: Pick<SeenCounts, 'slot'>): Date {
  const slot = toSlot(takenAt, SNAPSHOT_SLOT_MS)
  return last && last.slot > slot ? last.slot : slot
}

/** Returns the time of the platform's last response with these counts. */
export function findFetchTime({ takenAt, lastSeenAt }: Pick<SeenCounts, 'takenAt' | 'lastSeenAt'>): Date {
  return lastSeenAt && lastSeenAt > takenAt ? lastSeenAt : takenAt
}

/**
 * Returns whether a scheduled fetch extends the last snapshot instead of storing another: nothing changed, on the same day of the
 * user.
 */
export function extendsSnapshot(last: SeenCounts, fetched: FetchedCounts, takenAt: Date, timezone: string): boolean {
  return takenAt >= findFetchTime(last) && hasSameCounts(last, fetched) && isSameDay(last.takenAt, takenAt, timezone)
}

/** Returns when the counts changed last, if that was before this fetch; null otherwise. */
export function findUnchangedSince(last: SeenCounts | undefined, fetched: FetchedCounts): Date | null {
  return last && hasSameCounts(last, fetched) ? (last.unchangedSince ?? last.takenAt) : null
}

function hasSameCounts(one: FetchedCounts, other: FetchedCounts): boolean {
  const [parts, others] = [one, other].map(({ thread }) => thread?.parts ?? [])
  return (
    isSame(one, other) &&
    parts!.length === others!.length &&
    parts!.every((counts, index) => isSame(counts ?? NO_COUNTS, others![index] ?? NO_COUNTS))
  )
}

function isSame(one: PostCounts, other: PostCounts): boolean {
  return (Object.keys(NO_COUNTS) as (keyof PostCounts)[]).every((name) => one[name] === other[name])
}

/** Reads compare 30 days until now with as long before, whose parts are not whole days, and include snapshots that began before these. */
const COMPLETE_HISTORY_MS = 60 * DAY + DAY + LONGEST_SNAPSHOT_MS
const WEEK_MS = 7 * DAY

/** Returns the instant until which snapshots are downsampled now: the end of a week, because once a week is often enough. */
export function findDownsampledUntil(now: Date): Date {
  return toSlot(new Date(now.getTime() - COMPLETE_HISTORY_MS), WEEK_MS)
}

/**
 * Selects the snapshots that downsampling removes, because reads of whole days do not need them: the last one of a day remains, and the
 * one with the last known value of each metric.
 * @param ofDay the snapshots of a post on one account on one day of the user, in the order of time
 */
export function selectSuperseded<S extends Pick<PostCounts, (typeof ENGAGEMENTS)[number]>>(ofDay: readonly S[]): S[] {
  const unknown = new Set<(typeof ENGAGEMENTS)[number]>(ENGAGEMENTS)
  return ofDay
    .toReversed()
    .filter((snapshot, index) => {
      const known = [...unknown].filter((name) => snapshot[name] !== null)
      for (const name of known) unknown.delete(name)
      return index > 0 && known.length === 0
    })
    .toReversed()
}
