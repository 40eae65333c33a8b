import { addAbortSignal, pipeline, Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { stringify } from 'csv-stringify'
import type { Context } from '../../context.ts'
import { CSV_COLUMNS, toCsvRecord, type CsvRecord } from '../../domain/imports/csv-rows.ts'
import { toExportedPost } from '../../domain/imports/imports.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { createConcurrencyLimit } from '../plugins/concurrency-limit.ts'
import { toPostFilter } from '../posts/list-query.ts'
import { CSV_FORMAT, CSV_TYPE } from '../shared/csv.ts'
import { createJsonStream } from '../shared/json-stream.ts'
import { errorResponses } from '../shared/schemas/envelope.ts'
import { ExportedPosts, ExportQuery } from './schema.ts'
import { presentEach } from '../shared/odd-records.ts'

const EXPORT_DEADLINE_MS = 2 * MINUTE
/** Per process. */
const MAX_CONCURRENT_EXPORTS = 4

/** The posts of the signed-in user as a file that `POST /api/imports` accepts. */
export const exportRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const exports = createConcurrencyLimit({
    perProcess: MAX_CONCURRENT_EXPORTS,
    busyMessage: 'Your other export is still being downloaded. Try again when it has finished.',
  })

  app.get(
    '/posts',
    {
      config: { deadlineMs: EXPORT_DEADLINE_MS },
      onRequest: async (request, reply) => exports.enter(reply, request.user.userId),
      schema: {
        ...operation('imports', 'exportPosts', 'Download posts as an import accepts them', {
          keyScope: 'posts:read',
          description:
            'Scheduled posts keep their times. All other posts become drafts, so that importing the file publishes nothing a second time.',
          responseHeaders: { 200: ['Content-Disposition'] },
        }),
        querystring: ExportQuery,
        response: { 200: ExportedPosts, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { format, ...filters } = request.query
      const { userId, timezone } = request.user
      const filter = await toPostFilter(context, userId, filters, timezone)
      const posts = presentEach(context.posts.allOf(userId, filter), toExportedPost, request.log)
      const day = context.clock.now().toISOString().slice(0, 10)
      reply.header('content-disposition', `attachment; filename="postonce-posts-${day}.${format}"`)
      if (format === 'json') {
        reply.type('application/json; charset=utf-8')
        // Fastify sends a stream as it is; no schema serializes it.
        return createJsonStream(posts, request.deadline)
      }
      reply.type(CSV_TYPE)
      return toCsvStream(presentEach(posts, toCsvRecord, request.log), request.deadline)
    },
  )
}

function toCsvStream(records: AsyncIterable<CsvRecord>, signal: AbortSignal): Readable {
  const csv = addAbortSignal(signal, stringify({ ...CSV_FORMAT, columns: CSV_COLUMNS }))
  // An error destroys both streams, and the client sees that the download ended early.
  return pipeline(Readable.from(records), csv, () => {})
}
