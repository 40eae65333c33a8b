import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { sendError } from '../shared/errors.ts'

/** A route of this API, for tests that go through all of them. */
export interface RouteEntry {
  method: string
  url: string
}

declare module 'fastify' {
  interface FastifyInstance {
    routeEntries: RouteEntry[]
  }
}

/** 404 for unknown paths, 405 for methods a path does not have, and refusals of requests that two readers could read differently. */
export const routing = fastifyPlugin(
  async (app: FastifyInstance) => {
    const entries: RouteEntry[] = []
    app.decorate('routeEntries', entries)

    app.addHook('onRoute', (route) => {
      const methods = [route.method].flat()
      if (!route.url.includes('*')) entries.push(...methods.map((method) => ({ method, url: route.url })))
    })

    const sendNotFound = (request: FastifyRequest, reply: FastifyReply) => {
      const path = request.url.split('?', 1)[0]!
      const allowed = entries.filter(({ url }) => matchesPath(url, path)).map(({ method }) => method)
      if (allowed.length === 0) return sendError(request, reply, new ServiceError('NOT_FOUND', 'Not found'))
      reply.header('allow', [...new Set(allowed)].sort().join(', '))
      return sendError(request, reply, new ServiceError('METHOD_NOT_ALLOWED', 'Method not allowed'))
    }
    app.setNotFoundHandler(sendNotFound)

    // Before Fastify asks for a Content-Type, as it does of every QUERY, or reads a body that no route takes.
    app.addHook('preParsing', async (request, reply) => (request.is404 ? sendNotFound(request, reply) : undefined))

    // Proxies and servers that pick different ones of two hosts disagree about which site was asked (RFC 9112, section 3.2).
    app.addHook('onRequest', async (request) => {
      const hosts = request.raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
      if (hosts.length > 1) throw new ServiceError('BAD_REQUEST', 'The request has more than one Host header')
      if (!isUtf8(request.headers['content-type'])) {
        throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Request bodies must be encoded in UTF-8')
      }
    })
  },
  { name: 'routing', fastify: '5.x' },
)

/** JSON is UTF-8 (RFC 8259); a body announced in another charset would be misread. */
function isUtf8(contentType = ''): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType.slice(0, 1_000))?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}

function matchesPath(pattern: string, path: string): boolean {
  const wanted = pattern.split('/').filter(Boolean)
  const given = path.split('/').filter(Boolean)
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) => segment.startsWith(':') || segment === given[index])
  )
}
