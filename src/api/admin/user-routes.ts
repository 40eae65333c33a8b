import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { changeLimits } from '../../commands/billing/change-limits.ts'
import { listPostsAsAdmin } from '../../commands/posts/read-post-as-admin.ts'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { presentRecord } from '../auth/present.ts'
import { UserRecord } from '../auth/schema.ts'
import { operation } from '../openapi/operation.ts'
import { toPostFilter } from '../posts/list-query.ts'
import { presentListedPost } from '../posts/present.ts'
import { PostList } from '../posts/schemas/list.ts'
import { presentAll } from '../shared/odd-records.ts'
import { IdParam, toPage, toPageResult } from '../shared/schemas/common.ts'
import { errorResponses, messageWithData } from '../shared/schemas/envelope.ts'
import { toActor } from './actor.ts'
import { LimitsBody, UserPostsQuery } from './schema.ts'

/** One user, their limits and posts, for admins. */
export const adminUserRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.get(
    '/users/:id',
    {
      schema: {
        ...operation('admin', 'getUser', 'Get a user'),
        params: IdParam('id'),
        response: { 200: messageWithData(UserRecord), ...errorResponses },
      },
    },
    async ({ params }) => {
      const user = await context.users.findById(params.id)
      if (!user) throw new ServiceError('NOT_FOUND', 'User not found')
      return { message: 'User found', data: presentRecord(user) }
    },
  )

  app.patch(
    '/users/:id/limits',
    {
      schema: {
        ...operation('admin', 'updateUserLimits', "Set a user's limits until the plan changes"),
        params: IdParam('id'),
        body: LimitsBody,
        response: { 200: messageWithData(UserRecord), ...errorResponses },
      },
    },
    async (request) => {
      const { maxPosts, maxCaptionGenerations } = request.body
      const limits = { maxPosts, maxCaptionGenerations }
      const user = await changeLimits(context, toActor(request), request.params.id, limits)
      return { message: 'User limits updated', data: presentRecord(user) }
    },
  )

  app.get(
    '/users/:id/posts',
    {
      schema: {
        ...operation('admin', 'listUserPosts', "List any user's posts; the audit log records each read"),
        params: IdParam('id'),
        querystring: UserPostsQuery,
        response: { 200: messageWithData(PostList), ...errorResponses },
      },
    },
    async (request) => {
      const { params, query, user, log } = request
      const page = toPage(query)
      const { posts, total } = await listPostsAsAdmin(context, toActor(request), params.id, {
        ...page,
        ...{ sortBy: query.sortBy, sortOrder: query.sortOrder },
        ...(await toPostFilter(context, params.id, query, user.timezone)),
      })
      const listed = presentAll(posts, (post) => presentListedPost(post, null), log)
      return { message: 'Posts found', data: { posts: listed, ...toPageResult(total, page) } }
    },
  )
}
