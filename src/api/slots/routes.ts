import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type Static } from '@sinclair/typebox'
import { changeSlots } from '../../commands/posts/change-slots.ts'
import { listUpcomingSlots } from '../../commands/posts/find-slots.ts'
import type { Context } from '../../context.ts'
import { MAX_UPCOMING_DAYS, type SlotPlan } from '../../domain/posts/slots.ts'
import { validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { parseIfMatch, toETag } from '../shared/etags.ts'
import { readRange } from '../posts/list-query.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentSlots, presentUpcomingSlot } from './present.ts'
import { SlotsBody, SlotsHeaders, SlotsSchema, UpcomingSlotSchema, UpcomingSlotsQuery } from './schema.ts'

/** The weekly times at which posts of the signed-in user are published. */
export const slotRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.get(
    '/',
    {
      schema: {
        ...operation('slots', 'getSlots', 'Get the weekly slots', {
          keyScope: 'posts:read',
          responseHeaders: { 200: ['ETag'] },
        }),
        response: { 200: success(SlotsSchema), ...errorResponses },
      },
    },
    async ({ user }, reply) => {
      const slots = await context.slots.find(user.userId)
      reply.header('etag', toETag(slots))
      return ok('Slots found', presentSlots(slots))
    },
  )

  app.put(
    '/',
    {
      schema: {
        ...operation('slots', 'replaceSlots', 'Replace the weekly slots', {
          description:
            'Weekly times of accounts and groups, which posts with the `scheduledAt` `next-slot` take. Posts that have taken one keep their time. The slots of an account or a group end with it.',
          keyScope: 'posts:publish',
          errors: ['PRECONDITION_FAILED'],
          responseHeaders: { 200: ['ETag'] },
        }),
        headers: SlotsHeaders,
        body: SlotsBody,
        response: { 200: success(SlotsSchema), ...errorResponses },
      },
    },
    async ({ user, headers, body }, reply) => {
      const revisions = parseIfMatch(headers['if-match'])
      const slots = await changeSlots(context, user.userId, { plans: readPlans(body), revisions })
      reply.header('etag', toETag(slots))
      return ok('Slots replaced', presentSlots(slots))
    },
  )

  app.get(
    '/upcoming',
    {
      schema: {
        ...operation('slots', 'listUpcomingSlots', 'List the slots of a range', {
          description: 'Each slot with the scheduled post that takes it, in order. Slots in the past are left out.',
          keyScope: 'posts:read',
        }),
        querystring: UpcomingSlotsQuery,
        response: { 200: success(Type.Array(UpcomingSlotSchema)), ...errorResponses },
      },
    },
    async ({ user, query }) => {
      const range = readRange(query, query.timezone ?? user.timezone, MAX_UPCOMING_DAYS)
      return ok('Slots found', (await listUpcomingSlots(context, user.userId, range)).map(presentUpcomingSlot))
    },
  )
}

/** @throws ServiceError VALIDATION_FAILED for slots of both an account and a group, or of neither */
function readPlans({ slots }: Static<typeof SlotsBody>): SlotPlan[] {
  const problems = slots.flatMap(({ accountId, groupId }, index): Problem[] => {
    if ((accountId === undefined) !== (groupId === undefined)) return []
    const message = 'Slots are those of an account or of a group. Name either.'
    return [{ path: `slots.${index}.accountId`, code: accountId === undefined ? 'REQUIRED' : 'NOT_ALLOWED', message }]
  })
  if (problems.length > 0) throw validationFailed(problems)
  return slots.map(({ accountId, groupId, ...plan }) =>
    accountId === undefined ? { kind: 'group', id: groupId!, ...plan } : { kind: 'account', id: accountId, ...plan },
  )
}
