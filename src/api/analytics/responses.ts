import type { Context } from '../../context.ts'
import type { Period, Ranking, Window } from '../../domain/analytics/analytics.ts'
import { listDays, toPeriodWindow } from '../../domain/analytics/calendar.ts'
import { buildEngagementTimeline } from '../../domain/analytics/engagement.ts'
import { countFollowers, buildGrowth, type Endings } from '../../domain/analytics/growth.ts'
import { buildHeatmap, buildOverview, rankPlatforms } from '../../domain/analytics/performance.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { PlatformAccounts } from '../../store/accounts/platform-accounts.ts'
import type { RequestUser } from '../shared/identity.ts'
import { createAnswerCache } from './cache.ts'
import { presentRanked } from './present.ts'

const MAX_ENTRIES = 2_000
/** A hundred posts of one answer may be long. */
const MAX_SIZE = 32_000_000
const MAX_AGE_MS = MINUTE

interface Query {
  period: Period
}

interface OnePlatform extends Query {
  platform?: Platform
}

interface TopQuery extends OnePlatform {
  sortBy: Ranking
  limit: number
}

export type AnalyticsAnswersDeps = Pick<Context, 'accounts' | 'analytics' | 'clock'>

type Reader = Pick<RequestUser, 'userId' | 'timezone' | 'analyticsVersion'>

/** The analytics of a user as the routes show them (contract section 6), worked out anew when there is something new. */
export function createAnalyticsAnswers({ accounts, analytics, clock }: AnalyticsAnswersDeps) {
  const now = () => clock.now()
  const answer = createAnswerCache({ now, maxEntries: MAX_ENTRIES, maxSize: MAX_SIZE, maxAgeMs: MAX_AGE_MS })

  function cached<Q extends object, T extends object>(name: string, work: (user: Reader, query: Q) => Promise<T>) {
    return (user: Reader, query: Q): Promise<T> => {
      const { userId, timezone, analyticsVersion } = user
      const asked = Object.entries(query).toSorted(([one], [other]) => (one < other ? -1 : 1))
      return answer(JSON.stringify([userId, name, timezone, asked]), analyticsVersion, () => work(user, query))
    }
  }

  const toWindow = ({ timezone }: Reader, { period }: Query): Window => toPeriodWindow(period, now(), timezone)

  return {
    overview: cached('overview', async (user, query: Query) => {
      const { userId } = user
      const window = toWindow(user, query)
      const [connected, { pairs, publishedPosts, followers }] = await Promise.all([
        accounts.find(userId),
        analytics.comparedPairs(userId, window),
      ])
      return {
        ...buildOverview(pairs, publishedPosts),
        followers: countFollowers(connectedOf(connected), followers, endingsOf(connected)),
        period: { start: window.start.toISOString(), end: window.end.toISOString() },
      }
    }),

    timeline: cached('timeline', async (user, query: OnePlatform) => {
      const window = toWindow(user, query)
      const days = listDays(window, user.timezone)
      const { pairs, completions } = await analytics.timelinePairs(scopeOf(user, query), window, days)
      return buildEngagementTimeline(days, pairs, completions)
    }),

    growth: cached('growth', async (user, query: OnePlatform) => {
      const days = listDays(toWindow(user, query), user.timezone)
      const [connected, counts] = await Promise.all([
        accounts.find(user.userId),
        analytics.followerCounts(scopeOf(user, query), days),
      ])
      return buildGrowth(days, counts, endingsOf(connected))
    }),

    top: cached('top', async (user, query: TopQuery) => {
      const { sortBy, limit } = query
      const ranked = await analytics.topPairs(scopeOf(user, query), toWindow(user, query), sortBy, limit)
      return ranked.map(presentRanked)
    }),

    platforms: cached('platforms', async (user, query: Query) =>
      rankPlatforms(await analytics.latestPairs(user.userId, toWindow(user, query))),
    ),

    heatmap: cached('heatmap', async (user, query: Query) =>
      buildHeatmap(await analytics.latestPairs(user.userId, toWindow(user, query)), user.timezone),
    ),
  }
}

function scopeOf({ userId }: Reader, { platform = null }: { platform?: Platform | null }) {
  return { userId, platform }
}

function connectedOf(accounts: PlatformAccounts | null): Set<Platform> {
  return new Set(PLATFORMS.filter((platform) => accounts?.[platform]?.connected))
}

function endingsOf(accounts: PlatformAccounts | null): Endings {
  return Object.fromEntries(PLATFORMS.map((platform) => [platform, accounts?.[platform]?.endings ?? []]))
}
