import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Context } from '../../context.ts'
import { SECOND } from '../../domain/shared/times.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Marks routes whose responses last as long as the client listens; their duration is not measured. */
    isStream?: boolean
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Counts and times every request by its route pattern, so that URLs never become metric labels. */
export const requestMetrics = fastifyPlugin<{ context: Context }>(
  async (app: FastifyInstance, { context: { metrics } }) => {
    app.addHook('onResponse', async (request, reply) => {
      if (request.routeOptions.config?.isStream && reply.statusCode < 400) return
      const method = METHODS.has(request.method) ? request.method : 'other'
      metrics.requestEnded(method, request.routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime / SECOND)
    })
  },
  { name: 'request-metrics', fastify: '5.x' },
)
