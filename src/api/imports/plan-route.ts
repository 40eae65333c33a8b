import { addAbortSignal, type Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { planImport } from '../../commands/imports/plan-import.ts'
import type { Context } from '../../context.ts'
import type { ImportFormat } from '../../domain/imports/imports.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { bodyTooLarge, limitBody } from '../plugins/body-sizes.ts'
import { createConcurrencyLimit } from '../plugins/concurrency-limit.ts'
import { createRequestAjv } from '../plugins/validation.ts'
import { toPostSource } from '../posts/present.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentImport } from './present.ts'
import { readRows } from './read-rows.ts'
import { ImportBody, ImportQuery, ImportRowInput, ImportSchema } from './schema.ts'

/** Fits 10,000 rows of 1.6 KB. */
export const IMPORT_BODY_BYTES = 16 * 1_048_576
/** Per process. Each holds a batch of rows, and the times of all of them. */
const MAX_CONCURRENT_PLANS = 2
const PLAN_DEADLINE_MS = MINUTE
const FORMATS: Record<string, ImportFormat> = { 'application/json': 'json', 'text/csv': 'csv' }

/** The route that plans an import. It reads its body itself, so its parsers are in a scope of its own. */
export const planRoute: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const validate = createRequestAjv().compile(ImportRowInput)
  const plans = createConcurrencyLimit({
    perProcess: MAX_CONCURRENT_PLANS,
    busyMessage: 'Your other import is still being read. Send this one when it is planned.',
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(Object.keys(FORMATS), async (_request: FastifyRequest, body: Readable) => body)

  app.post(
    '/',
    {
      bodyLimit: IMPORT_BODY_BYTES,
      config: { deadlineMs: PLAN_DEADLINE_MS },
      onRequest: async (request, reply) => plans.enter(reply, request.user.userId),
      preParsing: async (request, _reply, body) => {
        const encoding = request.headers['content-encoding']
        if (encoding !== undefined && encoding !== 'identity') {
          const message = 'Request body is compressed. Send it without Content-Encoding.'
          throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', message)
        }
        if (Number(request.headers['content-length'] ?? 0) > IMPORT_BODY_BYTES) throw bodyTooLarge()
        return limitBody(body, IMPORT_BODY_BYTES)
      },
      schema: {
        ...operation('imports', 'planImport', 'Plan an import of posts', {
          keyScope: 'posts:draft',
          description:
            'Reads up to 10,000 posts, and stores what creating each would do: errors, warnings, and conflicts with your posts and with ' +
            'earlier rows. Nothing is created before `POST /api/imports/{importId}/apply`. A user can have 10 imports; they are removed after 30 days.',
          errors: ['IMPORT_LIMIT_REACHED'],
          documented: { body: ImportBody },
        }),
        querystring: ImportQuery,
        response: { 201: success(ImportSchema), ...errorResponses },
      },
    },
    async (request, reply) => {
      const body = request.body as Readable | undefined
      if (!body) throw new ServiceError('BAD_REQUEST', 'The request has no body. Send a file of posts.')
      const format = FORMATS[request.headers['content-type']!.split(';', 1)[0]!.trim().toLowerCase()]!
      const { gapMinutes, timezone } = request.query
      const rows = readRows(addAbortSignal(request.deadline, body), format, validate)
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
