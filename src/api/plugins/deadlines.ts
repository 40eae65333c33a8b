import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long the route may take, for those that wait for a platform. */
    deadlineMs?: number
  }
  interface FastifyRequest {
    /** Aborts when the request's time is over or the client has gone. */
    deadline: AbortSignal
  }
}

/** Longer than any healthy request takes, so that a database that stopped answering shows as 503 and not as silence. */
const READ_DEADLINE_MS = 5 * SECOND
/** A transaction may take 5 s, and signalling the workflow another one. */
const WRITE_DEADLINE_MS = 8 * SECOND

/**
 * Answers every request in time, whatever its handler waits for.
 * @NOTE Fastify's own `handlerTimeout` and `request.signal` end as soon as a body is read (5.12), so they guard no request that has one.
 */
export const deadlines = fastifyPlugin(
  async (app: FastifyInstance) => {
    app.decorateRequest('deadline', null as unknown as AbortSignal)

    app.addHook('onRequest', async (request, reply) => {
      const controller = new AbortController()
      request.deadline = controller.signal
      const timer = setTimeout(() => {
        const error = createTimeoutError(request, reply)
        controller.abort(error)
        if (!reply.sent) reply.send(error)
      }, toDeadlineMs(request))
      reply.raw.once('close', () => {
        clearTimeout(timer)
        if (!reply.raw.writableFinished) controller.abort(new Error('The client has gone'))
      })
    })
  },
  { name: 'deadlines', fastify: '5.x' },
)

function toDeadlineMs(request: FastifyRequest): number {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return request.routeOptions.config?.deadlineMs ?? (isRead ? READ_DEADLINE_MS : WRITE_DEADLINE_MS)
}

/** The client's fault while it still sends the body, else ours. */
function createTimeoutError(request: FastifyRequest, reply: FastifyReply): ServiceError {
  if (request.raw.complete === false) {
    reply.header('connection', 'close')
    return new ServiceError('REQUEST_TIMEOUT', 'The request took too long to arrive')
  }
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy, try again', { retryAfterSeconds: 2 })
}
