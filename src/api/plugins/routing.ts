import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../domain/service-error.ts'
import { sendError } from '../errors.ts'

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

/** 404 for paths nobody serves, 405 for methods a path does not have. */
export const routing = fastifyPlugin(
  async (app: FastifyInstance) => {
    const entries: RouteEntry[] = []
    app.decorate('routeEntries', entries)

    app.addHook('onRoute', (route) => {
      const methods = [route.method].flat()
      if (!route.url.includes('*')) entries.push(...methods.map((method) => ({ method, url: route.url })))
    })

    app.setNotFoundHandler((request, reply) => {
      const path = request.url.split('?', 1)[0]!
      const allowed = entries.filter(({ url }) => matches(url, path)).map(({ method }) => method)
      if (allowed.length === 0) return sendError(request, reply, new ServiceError('NOT_FOUND', 'Not found'))
      reply.header('allow', [...new Set(allowed)].sort().join(', '))
      return sendError(request, reply, new ServiceError('METHOD_NOT_ALLOWED', 'Method not allowed'))
    })
  },
  { name: 'routing', fastify: '5.x' },
)

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/').filter(Boolean)
  const given = path.split('/').filter(Boolean)
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) => segment.startsWith(':') || segment === given[index])
  )
}
