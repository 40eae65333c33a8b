import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TSchema } from '@sinclair/typebox'
import { refreshMetrics } from '../../commands/refresh-metrics.ts'
import type { Context } from '../../context.ts'
import { IdParam, pageOf } from '../schemas/common.ts'
import { errorResponses, ok, success } from '../schemas/envelope.ts'
import { presentSnapshot, presentSnapshots } from '../schemas/snapshot.ts'
import { createAnalyticsAnswers } from './answers.ts'
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

const described = <Q extends TSchema, T extends TSchema>(summary: string, querystring: Q, data: T) => ({
  schema: { tags: ['analytics'], summary, querystring, response: { 200: success(data), ...errorResponses } },
})

/** Spec 4.4, for authenticated users. */
export const analyticsRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const answers = createAnalyticsAnswers(context)

  app.get(
    '/overview',
    described('Figures, followers and platforms at a glance', PeriodQuery, Overview),
    async ({ user, query }) => ok('Analytics overview fetched', await answers.overview(user, query)),
  )

  app.get('/timeline', described('What every day brought', PlatformQuery, Timeline), async ({ user, query }) =>
    ok('Analytics timeline fetched', await answers.timeline(user, query)),
  )

  app.get(
    '/growth',
    described('How many followers there were, day by day', PlatformQuery, Growth),
    async ({ user, query }) => ok('Follower growth fetched', await answers.growth(user, query)),
  )

  app.get(
    '/posts/top',
    described('The best posts; those of which the figure is not known come last', TopQuery, TopPosts),
    async ({ user, query }) => {
      const { limit } = pageOf({ page: 1, limit: query.limit })
      return ok('Top posts fetched', await answers.top(user, { ...query, limit }))
    },
  )

  app.get(
    '/platforms',
    described('Totals of each platform, the best first', PeriodQuery, PlatformList),
    async ({ user, query }) => ok('Platform performance fetched', await answers.platforms(user, query)),
  )

  app.get('/heatmap', described('When what was published did well', PeriodQuery, Heatmap), async ({ user, query }) =>
    ok('Engagement heatmap fetched', await answers.heatmap(user, query)),
  )

  app.post(
    '/posts/:postId/refresh',
    {
      schema: {
        ...described('Ask a platform for the metrics of a post now', RefreshQuery, RefreshedMetrics).schema,
        description: 'Once in 15 minutes. Waits about five seconds, and answers the latest snapshot either way.',
        params: IdParam('postId'),
      },
    },
    async ({ user: { userId }, params: { postId }, query: { platform } }) => {
      const { snapshot, fresh } = await refreshMetrics(context, { userId, postId, platform })
      const analytics = presentSnapshots(await context.analytics.latestOfPost(postId))
      return ok('Post analytics fetched', {
        platform,
        snapshot: snapshot && presentSnapshot(snapshot),
        analytics,
        fresh,
      })
    },
  )
}
