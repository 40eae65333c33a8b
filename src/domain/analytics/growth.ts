import { sumKnown } from './analytics.ts'
import type { CalendarDay } from './calendar.ts'
import { PLATFORMS, type Platform } from '../shared/platforms.ts'

export interface FollowerCount {
  platform: Platform
  takenAt: Date
  followers: number
}

/** By platform when its account was disconnected or gave way to another. */
export type Endings = Partial<Record<Platform, Date[]>>

export interface GrowthDay {
  _id: string
  totalFollowers: number
  breakdown: Partial<Record<Platform, number>>
}

/** The last counts of days, by their place in `days`; what was last counted before them has a negative one. */
export type DailyCount = FollowerCount & { day: number }

/**
 * How many followers there were on each day: a day without a count has the one before it, until the account is gone. Days on
 * which nothing was known of any account are left out, since a zero would be a lie.
 */
export function buildGrowth(days: CalendarDay[], counts: DailyCount[], endings: Endings): GrowthDay[] {
  const latest = new Map<Platform, FollowerCount>()
  const applyCounts = (wanted: (day: number) => boolean) => {
    for (const count of counts) if (wanted(count.day)) latest.set(count.platform, count)
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
  /** The sum of the known counts: null when accounts are connected and none of their counts is known. */
  total: number | null
  /** Null where the count is not known yet. */
  breakdown: Partial<Record<Platform, number | null>>
}

/** How many followers the connected accounts have, by what was counted last. */
export function countFollowers(connected: ReadonlySet<Platform>, latest: FollowerCount[], endings: Endings): Followers {
  const breakdown = collectByPlatform((platform) => {
    if (!connected.has(platform)) return undefined
    const count = latest.find((one) => one.platform === platform)
    return count && !hasEnded(count, endings) ? count.followers : null
  })
  return { total: sumFollowers(breakdown), breakdown }
}

/** Whether the account that was counted is no longer the one that is connected, before an instant or at all. */
function hasEnded({ platform, takenAt }: FollowerCount, endings: Endings, before?: Date): boolean {
  return (endings[platform] ?? []).some((at) => at >= takenAt && (!before || at < before))
}

function collectByPlatform<T>(valueOf: (platform: Platform) => T | undefined): Partial<Record<Platform, T>> {
  const entries = PLATFORMS.map((platform) => [platform, valueOf(platform)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<Record<Platform, T>>
}

function sumFollowers(breakdown: Partial<Record<Platform, number | null>>): number | null {
  const counts = Object.values(breakdown)
  return counts.length === 0 ? 0 : sumKnown(counts)
}
