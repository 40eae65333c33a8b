import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

const REQUEST_ID = /^[\w.:-]{1,128}$/
const MAX_USER_AGENT_LENGTH = 200

/** Returns the request id that the client sent if it is well-formed, else a new one. */
export function toRequestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID()
}

/** Echoes the request id and logs a line per request. The line has the route pattern, never the URL: query values may be secrets. */
export const requestLog = fastifyPlugin(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-request-id', request.id)
    })

    app.addHook('onResponse', async (request, reply) => {
      const { isUnlimited, isFile, isStream } = request.routeOptions.config ?? {}
      // Probes and polling clients send requests all the time, and a page loads many files.
      const level = isUnlimited || isFile || (isStream && reply.statusCode < 400) ? 'debug' : 'info'
      request.log[level](
        {
          method: request.method,
          route: request.routeOptions.url ?? 'unknown',
          statusCode: reply.statusCode,
          durationMs: Math.round(reply.elapsedTime),
          userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH),
          ...(request.user && { userId: request.user.userId }),
          ...(request.user?.apiKey && { keyId: request.user.apiKey.keyId }),
        },
        'request completed',
      )
    })
  },
  { name: 'request-log', fastify: '5.x' },
)
