import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'

/** Bodies that anyone may send. */
export const ANONYMOUS_BODY_BYTES = 65_536
/** Bodies of requests whose sender is known before the body is read. */
export const AUTHENTICATED_BODY_BYTES = 1_048_576

/**
 * The body parser of all routes but the webhook: JSON within the bounds of `domain/json-text.ts`, uncompressed. An empty body is no body.
 */
export const jsonBodies = fastifyPlugin<{ context: Pick<Context, 'largeTexts'> }>(
  async (app: FastifyInstance, { context: { largeTexts } }) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer<ArrayBuffer>) => {
        const encoding = request.headers['content-encoding']
        if (encoding !== undefined && encoding !== 'identity') {
          throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Request bodies must not be compressed')
        }
        return body.length === 0 ? undefined : largeTexts.parseJson(body)
      },
    )
  },
  { name: 'json-bodies', fastify: '5.x' },
)
