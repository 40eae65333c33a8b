import { accountNotFound } from '../../commands/accounts/refresh-platform.ts'
import type { Context } from '../../context.ts'
import type { Period, Ranking, Window } from '../../domain/analytics/analytics.ts'
import { listDays } from '../../domain/analytics/calendar.ts'
import { buildEngagementTimeline } from '../../domain/analytics/engagement.ts'
import { countFollowers, buildGrowth, type Endings } from '../../domain/analytics/growth.ts'
import { buildHeatmap, buildOverview, rankPlatforms } from '../../domain/analytics/performance.ts'
import { findComparedSince, toWindow } from '../../domain/analytics/period.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { DAY, MINUTE } from '../../domain/shared/times.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import type { Scope } from '../../store/analytics/analytics-pipelines.ts'
import { findFilteredAccounts, parseRange } from '../posts/list-query.ts'
import type { RequestUser } from '../shared/identity.ts'
import { presentAll } from '../shared/odd-records.ts'
import { createResponseCache } from './response-cache.ts'
import { presentRanked } from './present.ts'

const MAX_ENTRIES = 2_000
/** In characters of JSON. A response can contain a hundred long posts. */
const MAX_SIZE = 32_000_000
const MAX_AGE_MS = MINUTE

export interface ReadQuery {
  period?: Period
  from?: string
  to?: string
  platform?: Platform
  /** Account ids. */
  accounts?: string[]
  /** Ids or names of groups. */
  group?: string[]
}

interface TopQuery extends ReadQuery {
  sortBy: Ranking
  limit: number
}

type AnalyticsUser = Pick<RequestUser, 'userId' | 'timezone' | 'analyticsVersion'>

/** Computes the analytics responses of a user and caches them until new data is stored. */
export function createAnalyticsReader({ accounts, analytics, clock, config, groups, logger }: Context) {
  const retentionDays = config.ANALYTICS_RETENTION_DAYS
  const now = () => clock.now()
  const getStoredSince = () => new Date(now().getTime() - retentionDays * DAY)
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

  /** @throws ServiceError VALIDATION_FAILED */
  const findWindow = ({ timezone }: AnalyticsUser, { period, ...range }: ReadQuery): Window =>
    toWindow({ ...(period && { period }), ...parseRange(range, timezone) }, { now: now(), timezone, retentionDays })

  /**
   * The only place where filters become accounts.
   * @throws ServiceError NOT_FOUND for an account that is not connected, VALIDATION_FAILED for an unknown group
   */
  async function toScope({ userId }: AnalyticsUser, { platform, ...named }: ReadQuery): Promise<Scope> {
    const scope = { userId, platform: platform ?? null }
    const ids = await findFilteredAccounts({ groups }, userId, named)
    if (!ids) return scope
    const connected = await accounts.listConnected(userId)
    const chosen = ids.map((id) => {
      const found = connected.find(({ _id }) => _id === id)
      if (!found) throw accountNotFound()
      return { accountId: id, platform: found.platform, platformId: found.platformId }
    })
    return { ...scope, accounts: chosen }
  }

  return {
    overview: cached('overview', async (user, query: ReadQuery) => {
      const window = findWindow(user, query)
      const storedSince = getStoredSince()
      const scope = await toScope(user, query)
      const [known, { pairs, publishedPosts, followers }] = await Promise.all([
        accounts.list(user.userId),
        analytics.comparedPairs(scope, window, findComparedSince(window, storedSince)),
      ])
      const platforms = listConnectedPlatforms(known, scope)
      return {
        ...buildOverview(pairs, publishedPosts, storedSince),
        followers: countFollowers(platforms, followers, listEndings(known), window.end),
        period: { start: window.start.toISOString(), end: window.end.toISOString() },
      }
    }),

    timeline: cached('timeline', async (user, query: ReadQuery) => {
      const window = findWindow(user, query)
      const days = listDays(window, user.timezone)
      const { pairs, completions } = await analytics.timelinePairs(await toScope(user, query), window, days)
      return buildEngagementTimeline(days, pairs, completions, getStoredSince())
    }),

    growth: cached('growth', async (user, query: ReadQuery) => {
      const window = findWindow(user, query)
      const days = listDays(window, user.timezone)
      const scope = await toScope(user, query)
      const [known, counts] = await Promise.all([
        accounts.list(user.userId),
        analytics.followerCounts(scope, window, days),
      ])
      return buildGrowth(days, counts, listEndings(known))
    }),

    top: cached('top', async (user, query: TopQuery) => {
      const { sortBy, limit } = query
      const ranked = await analytics.topPairs(await toScope(user, query), findWindow(user, query), sortBy, limit)
      return presentAll(ranked, presentRanked, logger)
    }),

    platforms: cached('platforms', async (user, query: ReadQuery) =>
      rankPlatforms(await analytics.latestPairs(await toScope(user, query), findWindow(user, query))),
    ),

    heatmap: cached('heatmap', async (user, query: ReadQuery) =>
      buildHeatmap(await analytics.latestPairs(await toScope(user, query), findWindow(user, query)), user.timezone),
    ),
  }
}

function listConnectedPlatforms(known: Account[], { platform, accounts }: Scope): Set<Platform> {
  const shown = known.filter(
    (account) =>
      account.connected &&
      (platform === null || account.platform === platform) &&
      (!accounts || accounts.some(({ accountId }) => accountId === account._id)),
  )
  return new Set(shown.map((account) => account.platform))
}

function listEndings(accounts: Account[]): Endings {
  return Object.fromEntries(accounts.map(({ _id, endings = [] }) => [_id, endings]))
}
