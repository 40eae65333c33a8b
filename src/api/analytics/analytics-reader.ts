import { accountNotFound } from '../../commands/accounts/refresh-platform.ts'
import type { Context } from '../../context.ts'
import type { Period, Ranking, Window } from '../../domain/analytics/analytics.ts'
import { listDays, toPeriodWindow } from '../../domain/analytics/calendar.ts'
import { buildEngagementTimeline } from '../../domain/analytics/engagement.ts'
import { countFollowers, buildGrowth, type Endings } from '../../domain/analytics/growth.ts'
import { buildHeatmap, buildOverview, rankPlatforms } from '../../domain/analytics/performance.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import type { Scope } from '../../store/analytics/analytics-pipelines.ts'
import type { RequestUser } from '../shared/identity.ts'
import { presentAll } from '../shared/odd-records.ts'
import { createResponseCache } from './response-cache.ts'
import { presentRanked } from './present.ts'

const MAX_ENTRIES = 2_000
/** In characters of JSON. A response can contain a hundred long posts. */
const MAX_SIZE = 32_000_000
const MAX_AGE_MS = MINUTE

interface PeriodQuery {
  period: Period
  /** The id of an account. */
  account?: string
}

interface PlatformQuery extends PeriodQuery {
  platform?: Platform
}

interface TopQuery extends PlatformQuery {
  sortBy: Ranking
  limit: number
}

type AnalyticsUser = Pick<RequestUser, 'userId' | 'timezone' | 'analyticsVersion'>

/** Computes the analytics responses of a user and caches them until new data is stored. */
export function createAnalyticsReader({ accounts, analytics, clock, logger }: Context) {
  const now = () => clock.now()
  const readCached = createResponseCache({ now, maxEntries: MAX_ENTRIES, maxSize: MAX_SIZE, maxAgeMs: MAX_AGE_MS })

  function cached<Q extends object, T extends object>(
    name: string,
    compute: (user: AnalyticsUser, query: Q) => Promise<T>,
  ) {
    return (user: AnalyticsUser, query: Q): Promise<T> => {
      const { userId, timezone, analyticsVersion } = user
      const parameters = Object.entries(query).toSorted(([one], [other]) => (one < other ? -1 : 1))
      return readCached(JSON.stringify([userId, name, timezone, parameters]), analyticsVersion, () =>
        compute(user, query),
      )
    }
  }

  const toWindow = ({ timezone }: AnalyticsUser, { period }: PeriodQuery): Window =>
    toPeriodWindow(period, now(), timezone)

  /** @throws ServiceError NOT_FOUND for an account that is not connected */
  async function toScope({ userId }: AnalyticsUser, { platform, account }: PlatformQuery): Promise<Scope> {
    if (account === undefined) return { userId, platform: platform ?? null }
    const found = (await accounts.listConnected(userId)).find(({ _id }) => _id === account)
    if (!found) throw accountNotFound()
    const { platformId } = found
    return { userId, platform: platform ?? null, account: { accountId: account, platform: found.platform, platformId } }
  }

  return {
    overview: cached('overview', async (user, query: PeriodQuery) => {
      const window = toWindow(user, query)
      const scope = await toScope(user, query)
      const [known, { pairs, publishedPosts, followers }] = await Promise.all([
        accounts.list(user.userId),
        analytics.comparedPairs(scope, window),
      ])
      const platforms = scope.account ? new Set([scope.account.platform]) : listConnectedPlatforms(known)
      return {
        ...buildOverview(pairs, publishedPosts),
        followers: countFollowers(platforms, followers, listEndings(known)),
        period: { start: window.start.toISOString(), end: window.end.toISOString() },
      }
    }),

    timeline: cached('timeline', async (user, query: PlatformQuery) => {
      const window = toWindow(user, query)
      const days = listDays(window, user.timezone)
      const { pairs, completions } = await analytics.timelinePairs(await toScope(user, query), window, days)
      return buildEngagementTimeline(days, pairs, completions)
    }),

    growth: cached('growth', async (user, query: PlatformQuery) => {
      const days = listDays(toWindow(user, query), user.timezone)
      const scope = await toScope(user, query)
      const [known, counts] = await Promise.all([accounts.list(user.userId), analytics.followerCounts(scope, days)])
      return buildGrowth(days, counts, listEndings(known))
    }),

    top: cached('top', async (user, query: TopQuery) => {
      const { sortBy, limit } = query
      const ranked = await analytics.topPairs(await toScope(user, query), toWindow(user, query), sortBy, limit)
      return presentAll(ranked, presentRanked, logger)
    }),

    platforms: cached('platforms', async (user, query: PeriodQuery) =>
      rankPlatforms(await analytics.latestPairs(await toScope(user, query), toWindow(user, query))),
    ),

    heatmap: cached('heatmap', async (user, query: PeriodQuery) =>
      buildHeatmap(await analytics.latestPairs(await toScope(user, query), toWindow(user, query)), user.timezone),
    ),
  }
}

function listConnectedPlatforms(accounts: Account[]): Set<Platform> {
  return new Set(accounts.filter(({ connected }) => connected).map(({ platform }) => platform))
}

function listEndings(accounts: Account[]): Endings {
  return Object.fromEntries(accounts.map(({ _id, endings = [] }) => [_id, endings]))
}
