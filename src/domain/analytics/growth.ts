import { sumKnown } from './analytics.ts'
import type { CalendarDay } from './calendar.ts'
import { PLATFORMS, type Platform } from '../shared/platforms.ts'

export interface FollowerCount {
  platform: Platform
  accountId: string
  takenAt: Date
  followers: number
}

/** Times at which accounts were disconnected or replaced by another, by account id. */
export type Endings = Partial<Record<string, Date[]>>

export interface GrowthDay {
  _id: string
  totalFollowers: number
  /** The sum of the accounts of each platform. */
  breakdown: Partial<Record<Platform, number>>
  /** Followers by account id, where several accounts of a platform are counted. */
  accounts?: Record<string, number>
}

/** The last count of a day. `day` is the index in `days`; the last count before the first day has a negative one. */
export type DailyCount = FollowerCount & { day: number }

/**
 * Returns the followers of each day. A day without a count repeats the previous one until the account is disconnected or replaced.
 * Days without any known count are omitted, because 0 would be wrong.
 */
export function buildGrowth(days: CalendarDay[], counts: DailyCount[], endings: Endings): GrowthDay[] {
  const latest = new Map<string, FollowerCount>()
  const applyCounts = (isWanted: (day: number) => boolean) => {
    for (const count of counts) {
      const known = latest.get(count.accountId)
      if (isWanted(count.day) && !(known && known.takenAt > count.takenAt)) latest.set(count.accountId, count)
    }
  }
  applyCounts((day) => day < 0)
  return days.flatMap(({ date, start }, index) => {
    for (const [accountId, count] of latest) {
      if (hasEnded(count, endings, start)) latest.delete(accountId)
    }
    applyCounts((day) => day === index)
    if (latest.size === 0) return []
    const counted = [...latest.values()]
    const breakdown = collectByPlatform((platform) => {
      const mine = counted.filter((count) => count.platform === platform)
      return mine.length === 0 ? undefined : sumOf(mine)
    })
    return { _id: date, totalFollowers: sumFollowers(breakdown) ?? 0, breakdown, ...listByAccount(counted) }
  })
}

export interface Followers {
  /** Sum of the known counts; null when accounts are connected but no count is known. */
  total: number | null
  /** Count by platform; null where it is not known yet. */
  breakdown: Partial<Record<Platform, number | null>>
  /** Count by account id, where several accounts of a platform are counted. */
  accounts?: Record<string, number>
}

/**
 * Returns the followers at an instant by the last counts until then, and null for each connected platform without one.
 * @param connected the platforms that are connected now
 */
export function countFollowers(
  connected: ReadonlySet<Platform>,
  latest: FollowerCount[],
  endings: Endings,
  at: Date,
): Followers {
  const current = latest.filter((count) => !hasEnded(count, endings, new Date(at.getTime() + 1)))
  const breakdown = collectByPlatform((platform) => {
    const mine = current.filter((count) => count.platform === platform)
    if (mine.length === 0) return connected.has(platform) ? null : undefined
    return sumOf(mine)
  })
  return { total: sumFollowers(breakdown), breakdown, ...listByAccount(current) }
}

/** Returns the followers by account, if a platform has several counted accounts. */
function listByAccount(counts: readonly FollowerCount[]): { accounts?: Record<string, number> } {
  const hasSeveral = new Set(counts.map(({ platform }) => platform)).size < counts.length
  return hasSeveral
    ? { accounts: Object.fromEntries(counts.map(({ accountId, followers }) => [accountId, followers])) }
    : {}
}

const sumOf = (counts: readonly FollowerCount[]): number => counts.reduce((sum, { followers }) => sum + followers, 0)

/** Returns true when the counted account was disconnected or replaced after the count and before `before`. */
function hasEnded({ accountId, takenAt }: FollowerCount, endings: Endings, before: Date): boolean {
  return (endings[accountId] ?? []).some((at) => at >= takenAt && at < before)
}

function collectByPlatform<T>(getValue: (platform: Platform) => T | undefined): Partial<Record<Platform, T>> {
  const entries = PLATFORMS.map((platform) => [platform, getValue(platform)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<Record<Platform, T>>
}

function sumFollowers(breakdown: Partial<Record<Platform, number | null>>): number | null {
  const counts = Object.values(breakdown)
  return counts.length === 0 ? 0 : sumKnown(counts)
}
