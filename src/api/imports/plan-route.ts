import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { planImport } from '../../commands/imports/plan-import.ts'
import type { Context } from '../../context.ts'
import type { ImportFormat } from '../../domain/imports/imports.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { createConcurrencyLimit } from '../plugins/concurrency-limit.ts'
import { assertUncompressed } from '../plugins/json-bodies.ts'
import { createRequestAjv } from '../plugins/validation.ts'
import { toPostSource } from '../posts/present.ts'
import { isStrict } from '../shared/strictness.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentImport } from './present.ts'
import { readRows } from './read-rows.ts'
import { ImportBody, ImportHeaders, ImportQuery, ImportRowInput, ImportSchema } from './schema.ts'

/** Fits 10,000 rows of 1.6 KB. */
export const IMPORT_BODY_BYTES = 16 * 1_048_576
/** Per process. Each holds a file, which may arrive slowly. */
const MAX_CONCURRENT_READS = 8
/** Per process. Each holds a batch of rows, and the times of all of them. */
const MAX_CONCURRENT_PLANS = 2
const PLAN_WAIT_MS = 30 * SECOND
const PLAN_DEADLINE_MS = MINUTE
const FORMATS: Record<string, ImportFormat> = { 'application/json': 'json', 'text/csv': 'csv' }

/** The route that plans an import. It parses its body itself, so its parsers are in a scope of its own. */
export const planRoute: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const validate = createRequestAjv().compile(ImportRowInput)
  const busyMessage = 'Your other import is still being read. Send this one when it is planned.'
  const reads = createConcurrencyLimit({ perProcess: MAX_CONCURRENT_READS, busyMessage })
  // A file takes this place once it has arrived, so that slow senders do not keep other users from planning.
  const plans = createConcurrencyLimit({ perProcess: MAX_CONCURRENT_PLANS, busyMessage, waitMs: PLAN_WAIT_MS })
  app.removeAllContentTypeParsers()
  // The whole body is read before its rows are checked: they may take longer than a client may take to send it.
  app.addContentTypeParser(
    Object.keys(FORMATS),
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      assertUncompressed(request)
      return body
    },
  )

  app.post(
    '/',
    {
      bodyLimit: IMPORT_BODY_BYTES,
      config: { deadlineMs: PLAN_DEADLINE_MS },
      onRequest: async (request, reply) => reads.enter(reply, request.user.userId),
      preHandler: async (request, reply) => plans.enter(reply, request.user.userId),
      schema: {
        ...operation('imports', 'planImport', 'Plan an import of posts', {
          keyScope: 'posts:draft',
          description:
            'Reads up to 10,000 posts, and stores what creating each would do: errors, warnings, and conflicts with your posts and with ' +
            'earlier rows. Nothing is created before `POST /api/imports/{importId}/apply`. A user can have 10 imports; they are removed after 30 days.',
          errors: ['IMPORT_LIMIT_REACHED'],
          documented: { body: ImportBody, headers: ImportHeaders },
        }),
        querystring: ImportQuery,
        response: { 201: success(ImportSchema), ...errorResponses },
      },
    },
    async (request, reply) => {
      const body = request.body as Buffer | undefined
      if (!body) throw new ServiceError('BAD_REQUEST', 'The request has no body. Send a file of posts.')
      const format = FORMATS[request.headers['content-type']!.split(';', 1)[0]!.trim().toLowerCase()]!
      const { gapMinutes, timezone, dateOrder = null } = request.query
      const options = { format, dateOrder, isStrict: isStrict(request), signal: request.deadline }
      const rows = readRows(body, options, validate)
      const planned = await planImport(
        context,
        { userId: request.user.userId, format, gapMinutes, timezone, source: toPostSource(request) },
        rows,
      )
      request.log.info({ importId: planned._id, counts: planned.counts }, 'import planned')
      return reply.code(201).send(ok('Import planned', presentImport(planned)))
    },
  )
}
