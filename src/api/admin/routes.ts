import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { changeActivity } from '../../commands/users/change-activity.ts'
import { changePlan } from '../../commands/billing/change-plan.ts'
import { readPostAsAdmin, readTimelineAsAdmin } from '../../commands/posts/read-post-as-admin.ts'
import { replayDeadLetter } from '../../commands/analytics/replay-dead-letter.ts'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { findMonthStarts, computeUserStatistics } from '../../domain/users/user-statistics.ts'
import { presentRecord } from '../auth/present.ts'
import { createJsonStream } from '../shared/json-stream.ts'
import { presentAll, presentEach } from '../shared/odd-records.ts'
import { operation } from '../openapi/operation.ts'
import { presentPost, presentTimeline } from '../posts/present.ts'
import { PostSchema } from '../posts/schemas/post.ts'
import { PostTimeline } from '../posts/schemas/progress.ts'
import { IdParam, toPage, toPageResult } from '../shared/schemas/common.ts'
import { messageWithData, messageOnly, errorResponses } from '../shared/schemas/envelope.ts'
import { toActor } from './actor.ts'
import { presentChangedUser, presentAuditEntry, presentDeadLetter } from './present.ts'
import {
  ActivityBody,
  AdminAnalytics,
  AuditPage,
  AuditQuery,
  ChangedPlan,
  ChangedUser,
  DeadLetterPage,
  DeadLetterQuery,
  PlanQuery,
  UserList,
  UserListQuery,
} from './schema.ts'

/** The full list can be long and its client slow. */
const FULL_LIST_DEADLINE_MS = MINUTE

/** User management, audit log and dead letters, for admins. */
export const adminRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.get(
    '/get-all-users',
    {
      config: { deadlineMs: FULL_LIST_DEADLINE_MS },
      schema: {
        ...operation(
          'admin',
          'listUsers',
          'List all users, newest first, or a page of them with `page`, `limit` or `q`',
        ),
        querystring: UserListQuery,
        response: { 200: UserList, ...errorResponses },
      },
    },
    async (request, reply) => {
      const message = 'Users found'
      const { page, limit, q } = request.query
      if (page === undefined && limit === undefined && q === undefined) {
        const document = { message, data: presentEach(context.users.all(), presentRecord, request.log) }
        reply.type('application/json; charset=utf-8')
        // Fastify sends the stream as it is; no schema serializes it.
        return (await createJsonStream(document, request.deadline)) as never
      }
      const requestedPage = toPage({ page: page ?? 1, limit: limit ?? 20 })
      const { users, total } = await context.users.page({ ...requestedPage, search: q })
      return { message, data: presentAll(users, presentRecord, request.log), ...toPageResult(total, requestedPage) }
    },
  )

  app.patch(
    '/update-user-plan/:id',
    {
      schema: {
        ...operation('admin', 'updateUserPlan', "Set a user's plan and limits without the payment processor"),
        params: IdParam('id'),
        querystring: PlanQuery,
        response: { 200: messageWithData(ChangedPlan), ...errorResponses },
      },
    },
    async (request) => {
      const { _id, subscription } = await changePlan(context, toActor(request), request.params.id, request.query.plan)
      return { message: 'User plan updated', data: { userId: _id, plan: subscription.plan } }
    },
  )

  app.patch(
    '/update-user-activity/:id',
    {
      schema: {
        ...operation('admin', 'updateUserActivity', 'Disable an account immediately, or enable it again', {
          errors: ['OWN_ACCOUNT'],
        }),
        params: IdParam('id'),
        body: ActivityBody,
        response: { 200: messageWithData(ChangedUser), ...errorResponses },
      },
    },
    async (request) => {
      const user = await changeActivity(context, toActor(request), request.params.id, request.body.activity)
      return { message: user.isDisabled ? 'User disabled' : 'User enabled', data: presentChangedUser(user) }
    },
  )

  app.get(
    '/analytics',
    {
      schema: {
        ...operation('admin', 'getUserStatistics', 'Get the number of users by kind and its monthly growth'),
        response: { 200: messageWithData(AdminAnalytics), ...errorResponses },
      },
    },
    async () => {
      try {
        const counts = await context.userStatistics.count(findMonthStarts(context.clock.now()))
        return { message: 'Analytics found', data: computeUserStatistics(counts) }
      } catch (cause) {
        throw new ServiceError('INTERNAL', 'Failed to retrieve analytics', { cause })
      }
    },
  )

  app.get(
    '/audit',
    {
      schema: {
        ...operation('admin', 'listAuditEntries', 'List changes by admins and posts they read, newest first'),
        querystring: AuditQuery,
        response: { 200: AuditPage, ...errorResponses },
      },
    },
    async (request) => {
      const requestedPage = toPage(request.query)
      const { entries, total } = await context.audit.page(requestedPage)
      return {
        message: 'Audit log found',
        data: presentAll(entries, presentAuditEntry, request.log),
        ...toPageResult(total, requestedPage),
      }
    },
  )

  app.get(
    '/posts/:id',
    {
      schema: {
        ...operation('admin', 'readUserPost', "Get any user's post; the audit log records each read"),
        params: IdParam('id'),
        response: { 200: messageWithData(PostSchema), ...errorResponses },
      },
    },
    async (request) => ({
      message: 'Post found',
      data: presentPost(await readPostAsAdmin(context, toActor(request), request.params.id)),
    }),
  )

  app.get(
    '/posts/:id/timeline',
    {
      schema: {
        ...operation(
          'admin',
          'readUserPostTimeline',
          "Get the timeline of any user's post; the audit log records each read",
        ),
        params: IdParam('id'),
        response: { 200: messageWithData(PostTimeline), ...errorResponses },
      },
    },
    async (request) => {
      const { id } = request.params
      const events = await readTimelineAsAdmin(context, toActor(request), id)
      return { message: 'Post timeline found', data: presentTimeline(id, events, request.log) }
    },
  )

  app.get(
    '/dead-letters',
    {
      schema: {
        ...operation('admin', 'listDeadLetters', 'List failed metric collections with their reasons, latest first'),
        querystring: DeadLetterQuery,
        response: { 200: DeadLetterPage, ...errorResponses },
      },
    },
    async (request) => {
      const requestedPage = toPage(request.query)
      const { letters, total } = await context.deadLetters.page(requestedPage)
      return {
        message: 'Dead letters found',
        data: presentAll(letters, presentDeadLetter, request.log),
        ...toPageResult(total, requestedPage),
      }
    },
  )

  app.post(
    '/dead-letters/:id/replay',
    {
      schema: {
        ...operation('admin', 'replayDeadLetter', 'Retry a failed collection; success removes its dead letter'),
        params: IdParam('id'),
        response: { 202: messageOnly, ...errorResponses },
      },
    },
    async (request, reply) => {
      await replayDeadLetter(context, toActor(request), request.params.id)
      reply.code(202)
      return { message: 'The metrics are being collected again' }
    },
  )
}
