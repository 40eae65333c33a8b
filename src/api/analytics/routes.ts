import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { refreshMetrics } from '../../commands/analytics/refresh-metrics.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { CSV_TYPE } from '../shared/csv.ts'
import { IdParam, toPage } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentSnapshot, presentSnapshots } from '../shared/schemas/snapshot.ts'
import { createAnalyticsReader } from './analytics-reader.ts'
import {
  tabulateGrowth,
  tabulateHeatmap,
  tabulateOverview,
  tabulatePlatforms,
  tabulateTimeline,
  tabulateTopPosts,
  toCsv,
  type Table,
} from './csv.ts'
import {
  figures,
  Growth,
  Heatmap,
  Overview,
  PlatformList,
  ReadQuery,
  RefreshedMetrics,
  RefreshQuery,
  Timeline,
  TopPosts,
  TopQuery,
} from './schema.ts'

const READING = {
  keyScope: 'analytics:read',
  errors: ['NOT_FOUND'],
  responseHeaders: { 200: ['Content-Disposition'] },
} as const

/** Analytics of the signed-in user. */
export const analyticsRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const reader = createAnalyticsReader(context)

  app.get(
    '/overview',
    {
      schema: {
        ...operation('analytics', 'getOverview', 'Get totals, followers and platform performance', READING),
        querystring: ReadQuery,
        response: { 200: figures(Overview), ...errorResponses },
      },
    },
    async ({ user, query: { format, ...query } }, reply) => {
      const data = await reader.overview(user, query)
      if (format === 'csv') return sendCsv(reply, tabulateOverview(data))
      return ok('Analytics overview fetched', data)
    },
  )

  app.get(
    '/timeline',
    {
      schema: {
        ...operation('analytics', 'getTimeline', 'Get daily engagement', READING),
        querystring: ReadQuery,
        response: { 200: figures(Timeline), ...errorResponses },
      },
    },
    async ({ user, query: { format, ...query } }, reply) => {
      const data = await reader.timeline(user, query)
      if (format === 'csv') return sendCsv(reply, tabulateTimeline(data))
      return ok('Analytics timeline fetched', data)
    },
  )

  app.get(
    '/growth',
    {
      schema: {
        ...operation('analytics', 'getFollowerGrowth', 'Get daily follower counts', READING),
        querystring: ReadQuery,
        response: { 200: figures(Growth), ...errorResponses },
      },
    },
    async ({ user, query: { format, ...query } }, reply) => {
      const data = await reader.growth(user, query)
      if (format === 'csv') return sendCsv(reply, tabulateGrowth(data))
      return ok('Follower growth fetched', data)
    },
  )

  app.get(
    '/posts/top',
    {
      schema: {
        ...operation('analytics', 'getTopPosts', 'Get the top posts; posts without the metric come last', READING),
        querystring: TopQuery,
        response: { 200: figures(TopPosts), ...errorResponses },
      },
    },
    async ({ user, query: { format, ...query } }, reply) => {
      const data = await reader.top(user, { ...query, limit: toPage({ page: 1, limit: query.limit }).limit })
      if (format === 'csv') return sendCsv(reply, tabulateTopPosts(data))
      return ok('Top posts fetched', data)
    },
  )

  app.get(
    '/platforms',
    {
      schema: {
        ...operation('analytics', 'getPlatformPerformance', 'Get totals per platform, best first', READING),
        querystring: ReadQuery,
        response: { 200: figures(PlatformList), ...errorResponses },
      },
    },
    async ({ user, query: { format, ...query } }, reply) => {
      const data = await reader.platforms(user, query)
      if (format === 'csv') return sendCsv(reply, tabulatePlatforms(data))
      return ok('Platform performance fetched', data)
    },
  )

  app.get(
    '/heatmap',
    {
      schema: {
        ...operation('analytics', 'getHeatmap', 'Get engagement by weekday and hour', READING),
        querystring: ReadQuery,
        response: { 200: figures(Heatmap), ...errorResponses },
      },
    },
    async ({ user, query: { format, ...query } }, reply) => {
      const data = await reader.heatmap(user, query)
      if (format === 'csv') return sendCsv(reply, tabulateHeatmap(data))
      return ok('Engagement heatmap fetched', data)
    },
  )

  app.post(
    '/posts/:postId/refresh',
    {
      schema: {
        ...operation('analytics', 'refreshPostMetrics', 'Refresh the metrics of a post from its platforms', {
          keyScope: 'analytics:read',
          description:
            'Allowed once per 15 minutes, for one platform or all of them; a failed refresh does not count. Waits about five seconds and always returns the latest snapshot.',
        }),
        querystring: RefreshQuery,
        params: IdParam('postId'),
        response: { 200: success(RefreshedMetrics), ...errorResponses },
      },
    },
    async ({ user: { userId }, params: { postId }, query: { platform: asked, account: accountId } }) => {
      const refresh = { userId, postId, platform: asked, accountId }
      const { platform, snapshot, fresh } = await refreshMetrics(context, refresh)
      return ok('Post analytics fetched', {
        platform,
        snapshot: snapshot && presentSnapshot(snapshot),
        ...presentSnapshots(await context.analytics.latestOfPosts(userId, [postId])),
        fresh,
      })
    },
  )
}

/** Sends the figures as a file with the name of their route. */
function sendCsv(reply: FastifyReply, table: Table): string {
  const name = reply.request.routeOptions.url!.replace('/api/', '').replaceAll('/', '-')
  reply.type(CSV_TYPE).header('content-disposition', `attachment; filename="postonce-${name}.csv"`)
  return toCsv(table)
}
