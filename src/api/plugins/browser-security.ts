import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Config } from '../../config/schema.ts'
import { parseList } from '../../domain/shared/lists.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'

/** The headers that pages of other origins may send and read: all that the API documents for clients. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Prefer',
  'X-Postonce-Client',
  'X-Request-Id',
  'X-Verification-Token',
]
const RESPONSE_HEADERS = [
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'ETag',
  'Content-Disposition',
  'WWW-Authenticate',
]

/** Adds security headers, CORS for exactly the configured origins, and cookies. Responses are not cached unless their route allows it. */
export const browserSecurity = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: Config }) => {
    await app.register(helmet, {
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    })
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })
    await app.register(cors, {
      origin: listFrontendOrigins(config),
      credentials: true,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowedHeaders: REQUEST_HEADERS,
      exposedHeaders: RESPONSE_HEADERS,
      maxAge: 600,
      strictPreflight: false,
    })
    await app.register(cookie)
  },
  { name: 'browser-security', fastify: '5.x' },
)

/** Lists the origins whose pages may call the API with credentials and upload files. */
export function listFrontendOrigins({ FRONTEND_URL, CORS_ORIGINS, CONSOLE, PUBLIC_URL }: Config): string[] {
  const pages = [FRONTEND_URL, ...parseList(CORS_ORIGINS), ...(CONSOLE === 'on' ? [PUBLIC_URL] : [])]
  return [...new Set(pages.map((url) => new URL(url).origin))]
}

/**
 * Creates a hook for routes that a cookie alone authenticates. The hook rejects requests from pages of other sites. SameSite
 * already blocks most of them; the hook also protects cookies that are configured with SameSite=None.
 */
export function requireOwnOrigin(config: Config) {
  const allowed = new Set([...listFrontendOrigins(config), new URL(config.PUBLIC_URL).origin])

  return async (request: FastifyRequest): Promise<void> => {
    const { origin } = request.headers
    const isForeign = origin === undefined ? request.headers['sec-fetch-site'] === 'cross-site' : !allowed.has(origin)
    if (isForeign)
      throw new ServiceError('FORBIDDEN', 'Requests from this origin are not allowed. Use a configured frontend.')
  }
}
