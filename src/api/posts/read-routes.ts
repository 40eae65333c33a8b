import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Context } from '../../context.ts'
import { listDays } from '../../domain/analytics/calendar.ts'
import { MAX_RANGE_DAYS, sumByDay } from '../../domain/posts/day-counts.ts'
import { findNextAttempt } from '../../domain/posts/post-entries.ts'
import type { Post } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { PostSnapshot } from '../../store/analytics/snapshots.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import { operation } from '../openapi/operation.ts'
import { parseETags, toETag } from '../shared/etags.ts'
import { IdParam, toPage, toPageResult } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentSnapshots } from '../shared/schemas/snapshot.ts'
import { toPostFilter, toRangeFilter } from './list-query.ts'
import { presentCalendarPost, presentListedPost, presentPost, presentProgress, presentTimeline } from './present.ts'
import { Calendar, ListPostsQuery, PostCounts, PostList, RangeQuery } from './schemas/list.ts'
import { PostDetail } from './schemas/post.ts'
import { ConditionalHeaders, PostProgress, PostTimeline } from './schemas/progress.ts'
import { presentAll } from '../shared/odd-records.ts'

const POLL_AFTER_SECONDS = 1
/** Reading metrics loads every snapshot of a post, which can be hundreds after 30 days. */
const MAX_PAGE_WITH_METRICS = 50
const MAX_CALENDAR_POSTS = 1_000

const PostId = IdParam('postId')

/** Routes that read posts, their delivery status and their timeline. */
export const readRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.get(
    '/',
    {
      schema: {
        ...operation('posts', 'listPosts', 'List posts', {
          keyScope: 'posts:read',
          description:
            "Returns a page of the caller's posts. Filters are combined. `status` accepts several values, repeated or separated by commas. " +
            'A post larger than 2 MiB divided by `limit` is shortened and marked with `isShortened`.',
        }),
        querystring: ListPostsQuery,
        response: { 200: success(PostList), ...errorResponses },
      },
    },
    async ({ query, user, log }) => {
      const page = toPage(query)
      if (query.include === 'metrics') page.limit = Math.min(page.limit, MAX_PAGE_WITH_METRICS)
      const { posts, total } = await context.posts.list(user.userId, {
        ...page,
        ...{ sortBy: query.sortBy, sortOrder: query.sortOrder },
        ...(await toPostFilter(context, user.userId, query, user.timezone)),
      })
      const metrics = query.include === 'metrics' ? await findLatestMetrics(user.userId, posts) : null
      const listed = presentAll(posts, (post) => presentListedPost(post, metrics), log)
      return ok('Posts fetched successfully', { posts: listed, ...toPageResult(total, page) })
    },
  )

  app.get(
    '/counts',
    {
      schema: {
        ...operation('posts', 'countPosts', 'Count the posts of each day', {
          keyScope: 'posts:read',
          description: `Returns the number of posts by status for every day of a range of at most ${MAX_RANGE_DAYS} days.`,
        }),
        querystring: RangeQuery,
        response: { 200: success(PostCounts), ...errorResponses },
      },
    },
    async ({ query, user }) => {
      const timezone = query.timezone ?? user.timezone
      const filter = await toRangeFilter(context, user.userId, query, timezone)
      const slots = await context.posts.countPerSlot(user.userId, filter)
      const days = listDays({ start: filter.from, end: filter.to }, timezone)
      return ok('Posts counted successfully', { timezone, days: sumByDay(days, slots) })
    },
  )

  app.get(
    '/calendar',
    {
      schema: {
        ...operation('posts', 'getCalendar', 'Get the posts of a calendar', {
          keyScope: 'posts:read',
          description: `Returns the earliest ${MAX_CALENDAR_POSTS} posts of a range of at most ${MAX_RANGE_DAYS} days, each in a short form.`,
        }),
        querystring: RangeQuery,
        response: { 200: success(Calendar), ...errorResponses },
      },
    },
    async ({ query, user, log }) => {
      const filter = await toRangeFilter(context, user.userId, query, query.timezone ?? user.timezone)
      const posts = await context.posts.calendarOf(user.userId, filter, MAX_CALENDAR_POSTS + 1)
      const shown = presentAll(posts.slice(0, MAX_CALENDAR_POSTS), presentCalendarPost, log)
      return ok('Calendar fetched successfully', { posts: shown, isComplete: posts.length <= MAX_CALENDAR_POSTS })
    },
  )

  app.get(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'getPost', 'Get a post', {
          keyScope: 'posts:read',
          description:
            'Includes the latest metrics of each platform. The ETag is the version of the post without them.',
          responseHeaders: { 200: ['ETag'] },
        }),
        params: PostId,
        response: { 200: success(PostDetail), ...errorResponses },
      },
    },
    async ({ params, user }, reply) => {
      const [post, snapshots] = await Promise.all([
        findOwnedPost(user.userId, params.postId),
        context.analytics.latestOfPosts(user.userId, [params.postId]),
      ])
      reply.header('etag', toETag(post))
      return ok('Post fetched successfully', { post: presentPost(post), ...presentSnapshots(snapshots) })
    },
  )

  app.get(
    '/:postId/status',
    {
      schema: {
        ...operation('posts', 'getPostStatus', 'Get the delivery status of a post', {
          keyScope: 'posts:read',
          description: 'Sends an ETag, and `Retry-After` while the delivery is in progress.',
          documented: { headers: ConditionalHeaders },
          responseHeaders: { 200: ['ETag', 'Retry-After'], 304: ['ETag', 'Retry-After'] },
        }),
        params: PostId,
        response: {
          200: success(PostProgress),
          304: { type: 'null', description: 'The status has not changed' },
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const post = await findOwnedPost(request.user.userId, request.params.postId)
      const progress = presentProgress(post)
      const etag = `"${createHash('sha256').update(JSON.stringify(progress)).digest('base64url')}"`
      reply.header('etag', etag).header('cache-control', 'private, no-cache')
      if (progress.status === 'PENDING' || progress.status === 'PROCESSING')
        reply.header('retry-after', toPollSeconds(post, context.clock.now()))
      const known = parseETags(request.headers['if-none-match'] ?? '')
      if (known.includes(etag) || known.includes('*')) return reply.code(304).send(null)
      return ok('Post status fetched successfully', progress)
    },
  )

  app.get(
    '/:postId/timeline',
    {
      schema: {
        ...operation('posts', 'getPostTimeline', 'Get the timeline of a post', {
          keyScope: 'posts:read',
          description:
            'Lists the newest 200 events: attempts, outcomes, waits, reconciliations and status changes. They last as long as the post.',
        }),
        params: PostId,
        response: { 200: success(PostTimeline), ...errorResponses },
      },
    },
    async ({ params: { postId }, user, log }) => {
      const events = await context.posts.readTimeline(user.userId, postId)
      if (!events) throw postNotFound()
      return ok('Post timeline fetched successfully', presentTimeline(postId, events, log))
    },
  )

  /** Returns the latest snapshots by post id. */
  async function findLatestMetrics(userId: string, posts: Post[]): Promise<Map<string, PostSnapshot[]>> {
    const snapshots = await context.analytics.latestOfPosts(
      userId,
      posts.map(({ _id }) => _id),
    )
    return Map.groupBy(snapshots, ({ postId }) => postId)
  }

  /** @throws ServiceError NOT_FOUND */
  async function findOwnedPost(userId: string, postId: string): Promise<Post> {
    const post = await context.posts.findOwned(userId, postId)
    if (!post) throw postNotFound()
    return post
  }
}

/** Nothing changes by itself before the next attempt, or before the end of a hold. */
function toPollSeconds(post: Post, now: Date): number {
  const waitMs = (findNextAttempt(post, now) ?? post.dueAt ?? now).getTime() - now.getTime()
  return Math.max(POLL_AFTER_SECONDS, Math.ceil(waitMs / SECOND))
}
