import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'

/** Size limit for bodies of unauthenticated requests. */
export const ANONYMOUS_BODY_BYTES = 65_536
/** Size limit for bodies of requests that are authenticated before the body is read. */
export const AUTHENTICATED_BODY_BYTES = 1_048_576

/**
 * Parses uncompressed JSON bodies within the limits of `largeTexts` on all routes except the webhook. An empty body counts as absent.
 */
export const jsonBodies = fastifyPlugin<{ context: Context }>(
  async (app: FastifyInstance, { context: { largeTexts } }) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer<ArrayBuffer>) => {
        assertUncompressed(request)
        return body.length === 0 ? undefined : largeTexts.parseJson(body)
      },
    )
  },
  { name: 'json-bodies', fastify: '5.x' },
)

/** @throws ServiceError UNSUPPORTED_MEDIA_TYPE */
export function assertUncompressed({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return
  throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Request body is compressed. Send it without Content-Encoding.')
}
