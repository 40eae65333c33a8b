import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TSchema } from '@sinclair/typebox'
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

const read = <Q extends TSchema, T extends TSchema>(
  documentation: ReturnType<typeof operation>,
  querystring: Q,
  data: T,
) => ({ schema: { ...documentation, querystring, response: { 200: success(data), ...errorResponses } } })

/** Spec 4.4, for authenticated users. */
export const analyticsRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const reader = createAnalyticsReader(context)

  app.get(
    '/overview',
    read(operation('analytics', 'getOverview', 'Figures, followers and platforms at a glance'), PeriodQuery, Overview),
    async ({ user, query }) => ok('Analytics overview fetched', await reader.overview(user, query)),
  )

  app.get(
    '/timeline',
    read(operation('analytics', 'getTimeline', 'What every day brought'), PlatformQuery, Timeline),
    async ({ user, query }) => ok('Analytics timeline fetched', await reader.timeline(user, query)),
  )

  app.get(
    '/growth',
    read(
      operation('analytics', 'getFollowerGrowth', 'How many followers there were, day by day'),
      PlatformQuery,
      Growth,
    ),
    async ({ user, query }) => ok('Follower growth fetched', await reader.growth(user, query)),
  )

  app.get(
    '/posts/top',
    read(
      operation('analytics', 'getTopPosts', 'The best posts; those of which the figure is not known come last'),
      TopQuery,
      TopPosts,
    ),
    async ({ user, query }) => {
      const { limit } = toPage({ page: 1, limit: query.limit })
      return ok('Top posts fetched', await reader.top(user, { ...query, limit }))
    },
  )

  app.get(
    '/platforms',
    read(
      operation('analytics', 'getPlatformPerformance', 'Totals of each platform, the best first'),
      PeriodQuery,
      PlatformList,
    ),
    async ({ user, query }) => ok('Platform performance fetched', await reader.platforms(user, query)),
  )

  app.get(
    '/heatmap',
    read(operation('analytics', 'getHeatmap', 'When what was published did well'), PeriodQuery, Heatmap),
    async ({ user, query }) => ok('Engagement heatmap fetched', await reader.heatmap(user, query)),
  )

  app.post(
    '/posts/:postId/refresh',
    {
      schema: {
        ...operation('analytics', 'refreshPostMetrics', 'Ask a platform for the metrics of a post now', {
          description:
            'Once in 15 minutes; a refresh that fails does not count. Waits about five seconds, and answers the latest snapshot either way.',
        }),
        querystring: RefreshQuery,
        params: IdParam('postId'),
        response: { 200: success(RefreshedMetrics), ...errorResponses },
      },
    },
    async ({ user: { userId }, params: { postId }, query: { platform } }) => {
      const { snapshot, fresh } = await refreshMetrics(context, { userId, postId, platform })
      const analytics = presentSnapshots(await context.analytics.latestOfPosts([postId]))
      return ok('Post analytics fetched', {
        platform,
        snapshot: snapshot && presentSnapshot(snapshot),
        analytics,
        fresh,
      })
    },
  )
}
