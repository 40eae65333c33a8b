import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { RouteScope } from '../../domain/users/api-keys.ts'
import { sendError } from '../shared/errors.ts'

/** A route of this API, for tests that cover all routes. */
export interface RouteEntry {
  method: string
  url: string
  /** Undefined where the route does not declare it. */
  keyScope: RouteScope | undefined
}

declare module 'fastify' {
  interface FastifyInstance {
    routeEntries: RouteEntry[]
  }
}

/** Responds with 404 to unknown paths and 405 to unknown methods, and rejects requests that two parsers could read differently. */
export const routing = fastifyPlugin(
  async (app: FastifyInstance) => {
    const entries: RouteEntry[] = []
    app.decorate('routeEntries', entries)

    app.addHook('onRoute', (route) => {
      const { url, schema } = route
      if (url.includes('*')) return
      entries.push(...[route.method].flat().map((method) => ({ method, url, keyScope: schema?.keyScope })))
    })

    const sendNotFound = (request: FastifyRequest, reply: FastifyReply) => {
      const path = request.url.split('?', 1)[0]!
      const allowed = entries.filter(({ url }) => matchesPath(url, path)).map(({ method }) => method)
      if (allowed.length === 0) return sendError(request, reply, new ServiceError('NOT_FOUND', 'Not found'))
      reply.header('allow', [...new Set(allowed)].sort().join(', '))
      return sendError(
        request,
        reply,
        new ServiceError('METHOD_NOT_ALLOWED', 'Method not allowed. The Allow header lists the methods of this path.'),
      )
    }
    app.setNotFoundHandler(sendNotFound)

    // Runs before Fastify requires a Content-Type, as it does for every QUERY, or reads a body that no route accepts.
    app.addHook('preParsing', async (request, reply) => (request.is404 ? sendNotFound(request, reply) : undefined))

    // With two Host headers, a proxy and a server may each pick another one (RFC 9112, section 3.2).
    app.addHook('onRequest', async (request) => {
      const hosts = request.raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
      if (hosts.length > 1)
        throw new ServiceError('BAD_REQUEST', 'The request has more than one Host header. Send exactly one.')
      if (!isUtf8(request.headers['content-type'])) {
        throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Request body is not declared as UTF-8. Encode it in UTF-8.')
      }
    })
  },
  { name: 'routing', fastify: '5.x' },
)

/** Returns true when the declared charset is absent or UTF-8. JSON is always UTF-8 (RFC 8259). */
function isUtf8(contentType = ''): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType.slice(0, 1_000))?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}

function matchesPath(pattern: string, path: string): boolean {
  const patternSegments = pattern.split('/').filter(Boolean)
  const pathSegments = path.split('/').filter(Boolean)
  return (
    patternSegments.length === pathSegments.length &&
    patternSegments.every((segment, index) => segment.startsWith(':') || segment === pathSegments[index])
  )
}
