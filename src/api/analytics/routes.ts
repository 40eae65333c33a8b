import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refreshMetrics } from '../../commands/analytics/refresh-metrics.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { IdParam, toPage } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentSnapshot, presentSnapshots } from '../shared/schemas/snapshot.ts'
import { createAnalyticsReader } from './analytics-reader.ts'
import {
  Growth,
  Heatmap,
  Overview,
  PeriodQuery,
  PlatformList,
  PlatformQuery,
  RefreshedMetrics,
  RefreshQuery,
  Timeline,
  TopPosts,
  TopQuery,
} from './schema.ts'

const READING = { keyScope: 'analytics:read', errors: ['NOT_FOUND'] } as const

/** Analytics of the signed-in user. */
export const analyticsRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const reader = createAnalyticsReader(context)

  app.get(
    '/overview',
    {
      schema: {
        ...operation('analytics', 'getOverview', 'Get totals, followers and platform performance', READING),
        querystring: PeriodQuery,
        response: { 200: success(Overview), ...errorResponses },
      },
    },
    async ({ user, query }) => ok('Analytics overview fetched', await reader.overview(user, query)),
  )

  app.get(
    '/timeline',
    {
      schema: {
        ...operation('analytics', 'getTimeline', 'Get daily engagement', READING),
        querystring: PlatformQuery,
        response: { 200: success(Timeline), ...errorResponses },
      },
    },
    async ({ user, query }) => ok('Analytics timeline fetched', await reader.timeline(user, query)),
  )

  app.get(
    '/growth',
    {
      schema: {
        ...operation('analytics', 'getFollowerGrowth', 'Get daily follower counts', READING),
        querystring: PlatformQuery,
        response: { 200: success(Growth), ...errorResponses },
      },
    },
    async ({ user, query }) => ok('Follower growth fetched', await reader.growth(user, query)),
  )

  app.get(
    '/posts/top',
    {
      schema: {
        ...operation('analytics', 'getTopPosts', 'Get the top posts; posts without the metric come last', READING),
        querystring: TopQuery,
        response: { 200: success(TopPosts), ...errorResponses },
      },
    },
    async ({ user, query }) => {
      const { limit } = toPage({ page: 1, limit: query.limit })
      return ok('Top posts fetched', await reader.top(user, { ...query, limit }))
    },
  )

  app.get(
    '/platforms',
    {
      schema: {
        ...operation('analytics', 'getPlatformPerformance', 'Get totals per platform, best first', READING),
        querystring: PeriodQuery,
        response: { 200: success(PlatformList), ...errorResponses },
      },
    },
    async ({ user, query }) => ok('Platform performance fetched', await reader.platforms(user, query)),
  )

  app.get(
    '/heatmap',
    {
      schema: {
        ...operation('analytics', 'getHeatmap', 'Get engagement by weekday and hour', READING),
        querystring: PeriodQuery,
        response: { 200: success(Heatmap), ...errorResponses },
      },
    },
    async ({ user, query }) => ok('Engagement heatmap fetched', await reader.heatmap(user, query)),
  )

  app.post(
    '/posts/:postId/refresh',
    {
      schema: {
        ...operation('analytics', 'refreshPostMetrics', 'Refresh the metrics of a post from its platform', {
          keyScope: 'analytics:read',
          description:
            'Allowed once per 15 minutes; a failed refresh does not count. Waits about five seconds and always returns the latest snapshot.',
        }),
        querystring: RefreshQuery,
        params: IdParam('postId'),
        response: { 200: success(RefreshedMetrics), ...errorResponses },
      },
    },
    async ({ user: { userId }, params: { postId }, query: { platform, account: accountId } }) => {
      const { snapshot, fresh } = await refreshMetrics(context, { userId, postId, platform, accountId })
      return ok('Post analytics fetched', {
        platform,
        snapshot: snapshot && presentSnapshot(snapshot),
        ...presentSnapshots(await context.analytics.latestOfPosts(userId, [postId])),
        fresh,
      })
    },
  )
}
