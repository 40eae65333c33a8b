import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Context } from '../../context.ts'
import { SECOND } from '../../domain/shared/times.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers of such a route last for as long as someone listens: their time says nothing. */
    isStream?: boolean
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Counts and times every request by the pattern of its route, whatever address was asked for. */
export const requestMetrics = fastifyPlugin<{ context: Pick<Context, 'metrics'> }>(
  async (app: FastifyInstance, { context: { metrics } }) => {
    app.addHook('onResponse', async (request, reply) => {
      if (request.routeOptions.config?.isStream && reply.statusCode < 400) return
      const method = METHODS.has(request.method) ? request.method : 'other'
      metrics.requested(method, request.routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime / SECOND)
    })
  },
  { name: 'request-metrics', fastify: '5.x' },
)
