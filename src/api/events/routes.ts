import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { ApiContext } from '../../context.ts'
import { presentEvent } from '../../domain/events/events.ts'
import { operation } from '../openapi/operation.ts'
import { authenticate } from '../plugins/guards.ts'
import { toPage } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import type { SharedChanges } from '../shared/shared-changes.ts'
import { createEventStreams } from './event-streams.ts'
import { parseTypes, readRange } from './read-feed.ts'
import { EventList, ListEventsQuery, StreamEventsHeaders, StreamEventsQuery } from './schema.ts'
import { presentAll } from '../shared/odd-records.ts'

interface EventRoutesOptions {
  context: ApiContext
  changes: SharedChanges
}

/** The feed of the user's events, as pages and as a stream. */
export const eventRoutes: FastifyPluginAsyncTypebox<EventRoutesOptions> = async (app, { context, changes }) => {
  const { config, events } = context
  const streams = createEventStreams(context, changes, {
    perProcess: config.EVENT_STREAMS_PER_PROCESS,
    perUser: config.EVENT_STREAMS_PER_USER,
  })
  app.addHook('preClose', async () => streams.endAll())

  app.get(
    '/',
    {
      schema: {
        ...operation('events', 'listEvents', 'List the events of your account, oldest first', {
          description:
            'Every event has a sequence without gaps. Store `nextAfter` with what you did, and send it as `after` to continue.',
          keyScope: 'events:read',
          errors: ['EVENTS_EXPIRED'],
        }),
        querystring: ListEventsQuery,
        response: { 200: success(EventList), ...errorResponses },
      },
    },
    async ({ query, user: { userId }, log }) => {
      const { after = 0, limit } = query
      const types = parseTypes(query.types)
      const { oldest } = await readRange(events, userId, after)
      const begin = Math.max(after, oldest - 1)
      const page = await events.page(userId, { after: begin, types, limit: toPage({ page: 1, limit }).limit })
      return ok('Events found', {
        events: presentAll(page.events, presentEvent, log),
        nextAfter: page.examinedTo,
        hasMore: page.examinedTo < page.latest,
        oldest,
        latest: page.latest,
      })
    },
  )

  app.get(
    '/stream',
    {
      config: { isStream: true },
      exposeHeadRoute: false,
      schema: {
        ...operation('events', 'streamEvents', 'Follow the events of your account as Server-Sent Events', {
          description:
            'Sends the events after `after` or `Last-Event-ID`, then each new one. Without both it begins with the next event. The id of each is its sequence.',
          keyScope: 'events:read',
          errors: ['EVENTS_EXPIRED'],
        }),
        querystring: StreamEventsQuery,
        headers: StreamEventsHeaders,
        response: {
          200: { content: { 'text/event-stream': { schema: Type.String() } } },
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { user, query, headers } = request
      const last = headers['last-event-id']
      const stream = await streams.open({
        user,
        after: last === undefined ? query.after : Number(last),
        types: parseTypes(query.types),
        reauthenticate: () => authenticate(context, request),
      })
      reply.raw.once('close', () => stream.destroy())
      // Proxies would collect the events before they send them.
      reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
      return reply.send(stream.readable as never)
    },
  )
}
