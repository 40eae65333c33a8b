import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { changeActivity } from '../../commands/users/change-activity.ts'
import { changePlan } from '../../commands/billing/change-plan.ts'
import { readPostAsAdmin, readTimelineAsAdmin } from '../../commands/posts/read-post-as-admin.ts'
import { replayDeadLetter } from '../../commands/analytics/replay-dead-letter.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../domain/users/audit.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { findMonthStarts, computeUserStatistics } from '../../domain/users/user-statistics.ts'
import { presentRecord } from '../auth/present.ts'
import { clientAddress } from '../shared/client-address.ts'
import { jsonStream } from '../shared/json-stream.ts'
import { operation } from '../openapi/operation.ts'
import { presentPost, presentTimeline } from '../posts/present.ts'
import { PostSchema, PostTimeline } from '../posts/schema.ts'
import { IdParam, pageOf, pageResult } from '../shared/schemas/common.ts'
import { answered, answeredWithoutData, errorResponses } from '../shared/schemas/envelope.ts'
import { presentChanged, presentEntry, presentLetter } from './present.ts'
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

/** A whole list may be long, and its reader slow. */
const WHOLE_LIST_MS = MINUTE

export const administrationRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.get(
    '/get-all-users',
    {
      config: { deadlineMs: WHOLE_LIST_MS },
      schema: {
        ...operation('admin', 'listUsers', 'All users, newest first; a page of them with page or limit'),
        querystring: UserListQuery,
        response: { 200: UserList, ...errorResponses },
      },
    },
    async (request, reply) => {
      const message = 'Users found'
      const { page, limit } = request.query
      if (page === undefined && limit === undefined) {
        const document = { message, data: presented(context.users.all()) }
        reply.type('application/json; charset=utf-8')
        // The stream is the answer as it stands: no schema is applied to it.
        return (await jsonStream(document, request.deadline)) as never
      }
      const asked = pageOf({ page: page ?? 1, limit: limit ?? 20 })
      const { users, total } = await context.users.page(asked)
      return { message, data: users.map(presentRecord), ...pageResult(total, asked) }
    },
  )

  app.patch(
    '/update-user-plan/:id',
    {
      schema: {
        ...operation('admin', 'updateUserPlan', "Set a user's plan and its limits; the payment processor is not asked"),
        params: IdParam('id'),
        querystring: PlanQuery,
        response: { 200: answered(ChangedPlan), ...errorResponses },
      },
    },
    async (request) => {
      const { _id, subscription } = await changePlan(context, actorOf(request), request.params.id, request.query.plan)
      return { message: 'User plan updated', data: { userId: _id, plan: subscription.plan } }
    },
  )

  app.patch(
    '/update-user-activity/:id',
    {
      schema: {
        ...operation('admin', 'updateUserActivity', 'Disable an account at once, or enable it again', {
          errors: ['OWN_ACCOUNT'],
        }),
        params: IdParam('id'),
        body: ActivityBody,
        response: { 200: answered(ChangedUser), ...errorResponses },
      },
    },
    async (request) => {
      const user = await changeActivity(context, actorOf(request), request.params.id, request.body.activity)
      return { message: user.isDisabled ? 'User disabled' : 'User enabled', data: presentChanged(user) }
    },
  )

  app.get(
    '/analytics',
    {
      schema: {
        ...operation(
          'admin',
          'getUserStatistics',
          'How many users there are, of which kinds, and how their number grows',
        ),
        response: { 200: answered(AdminAnalytics), ...errorResponses },
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
        ...operation('admin', 'listAuditEntries', 'What admins changed, and which posts they read, newest first'),
        querystring: AuditQuery,
        response: { 200: AuditPage, ...errorResponses },
      },
    },
    async (request) => {
      const asked = pageOf(request.query)
      const { entries, total } = await context.audit.page(asked)
      return { message: 'Audit log found', data: entries.map(presentEntry), ...pageResult(total, asked) }
    },
  )

  app.get(
    '/posts/:id',
    {
      schema: {
        ...operation('admin', 'readUserPost', "Read any user's post; each read is in the audit log"),
        params: IdParam('id'),
        response: { 200: answered(PostSchema), ...errorResponses },
      },
    },
    async (request) => ({
      message: 'Post found',
      data: presentPost(await readPostAsAdmin(context, actorOf(request), request.params.id)),
    }),
  )

  app.get(
    '/posts/:id/timeline',
    {
      schema: {
        ...operation(
          'admin',
          'readUserPostTimeline',
          "Read what happened to any user's post; each read is in the audit log",
        ),
        params: IdParam('id'),
        response: { 200: answered(PostTimeline), ...errorResponses },
      },
    },
    async (request) => {
      const { id } = request.params
      const events = await readTimelineAsAdmin(context, actorOf(request), id)
      return { message: 'Post timeline found', data: presentTimeline(id, events) }
    },
  )

  app.get(
    '/dead-letters',
    {
      schema: {
        ...operation('admin', 'listDeadLetters', 'Metrics that could not be collected and why, the latest first'),
        querystring: DeadLetterQuery,
        response: { 200: DeadLetterPage, ...errorResponses },
      },
    },
    async (request) => {
      const asked = pageOf(request.query)
      const { letters, total } = await context.deadLetters.page(asked)
      return { message: 'Dead letters found', data: letters.map(presentLetter), ...pageResult(total, asked) }
    },
  )

  app.post(
    '/dead-letters/:id/replay',
    {
      schema: {
        ...operation('admin', 'replayDeadLetter', 'Collect once more what failed; the letter goes when that succeeds'),
        params: IdParam('id'),
        response: { 202: answeredWithoutData, ...errorResponses },
      },
    },
    async (request, reply) => {
      await replayDeadLetter(context, actorOf(request), request.params.id)
      reply.code(202)
      return { message: 'It is being collected again' }
    },
  )
}

async function* presented(users: ReturnType<Context['users']['all']>) {
  for await (const user of users) yield presentRecord(user)
}

function actorOf(request: FastifyRequest): Actor {
  return { id: request.user.userId, requestId: request.id, ipAddress: clientAddress(request) }
}
