import { sumKnown } from './analytics.ts'
import type { CalendarDay } from './calendar.ts'
import { PLATFORMS, type Platform } from '../shared/platforms.ts'

export interface FollowerCount {
  platform: Platform
  takenAt: Date
  followers: number
}

/** Times at which a platform's account was disconnected or replaced by another. */
export type Endings = Partial<Record<Platform, Date[]>>

export interface GrowthDay {
  _id: string
  totalFollowers: number
  breakdown: Partial<Record<Platform, number>>
}

/** The last count of a day. `day` is the index in `days`; the last count before the first day has a negative one. */
export type DailyCount = FollowerCount & { day: number }

/**
 * Returns the followers of each day. A day without a count repeats the previous one until the account is disconnected or replaced.
 * Days without any known count are omitted, because 0 would be wrong.
 */
export function buildGrowth(days: CalendarDay[], counts: DailyCount[], endings: Endings): GrowthDay[] {
  const latest = new Map<Platform, FollowerCount>()
  const applyCounts = (isWanted: (day: number) => boolean) => {
    for (const count of counts) if (isWanted(count.day)) latest.set(count.platform, count)
  }
  applyCounts((day) => day < 0)
  return days.flatMap(({ date, start }, index) => {
    for (const [platform, count] of latest) {
      if (hasEnded(count, endings, start)) latest.delete(platform)
    }
    applyCounts((day) => day === index)
    if (latest.size === 0) return []
    const breakdown = collectByPlatform((platform) => latest.get(platform)?.followers)
    return { _id: date, totalFollowers: sumFollowers(breakdown) ?? 0, breakdown }
  })
}

export interface Followers {
  /** Sum of the known counts; null when accounts are connected but no count is known. */
  total: number | null
  /** Count by platform; null where it is not known yet. */
  breakdown: Partial<Record<Platform, number | null>>
}

/** Returns the followers of the connected accounts by their latest counts. */
export function countFollowers(connected: ReadonlySet<Platform>, latest: FollowerCount[], endings: Endings): Followers {
  const breakdown = collectByPlatform((platform) => {
    if (!connected.has(platform)) return undefined
    const count = latest.find((one) => one.platform === platform)
    return count && !hasEnded(count, endings) ? count.followers : null
  })
  return { total: sumFollowers(breakdown), breakdown }
}

/** Returns true when the counted account was disconnected or replaced after the count (and before `before`, if given). */
function hasEnded({ platform, takenAt }: FollowerCount, endings: Endings, before?: Date): boolean {
  return (endings[platform] ?? []).some((at) => at >= takenAt && (!before || at < before))
}

function collectByPlatform<T>(getValue: (platform: Platform) => T | undefined): Partial<Record<Platform, T>> {
  const entries = PLATFORMS.map((platform) => [platform, getValue(platform)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<Record<Platform, T>>
}

function sumFollowers(breakdown: Partial<Record<Platform, number | null>>): number | null {
  const counts = Object.values(breakdown)
  return counts.length === 0 ? 0 : sumKnown(counts)
}
