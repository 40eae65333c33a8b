import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Overrides the default deadline, for routes that wait for another service. */
    deadlineMs?: number
  }
  interface FastifyRequest {
    /** Aborts when the deadline passes before the response has begun, or the client disconnects. */
    deadline: AbortSignal
    /** Gives a request that turns out to wait for other servers that much more time. */
    extendDeadline(ms: number): void
  }
}

/** Longer than any healthy request takes. An unresponsive database then causes a 503 instead of a hanging request. */
const READ_DEADLINE_MS = 5 * SECOND
/** A transaction may take 5 s, and signalling the workflow may take another second. */
const WRITE_DEADLINE_MS = 8 * SECOND

/**
 * Begins the response to every request within its deadline, even when its handler hangs. Streams and exports may take longer.
 * @NOTE Fastify 5.12 ends its own `handlerTimeout` and `request.signal` once the body is read, so they do not cover requests with a body.
 */
export const deadlines = fastifyPlugin(
  async (app: FastifyInstance) => {
    app.decorateRequest('deadline', null as unknown as AbortSignal)
    app.decorateRequest('extendDeadline', null as unknown as FastifyRequest['extendDeadline'])

    app.addHook('onRequest', async (request, reply) => {
      const controller = new AbortController()
      request.deadline = controller.signal
      const end = () => {
        if (reply.raw.headersSent) return
        const error = createTimeoutError(request, reply)
        controller.abort(error)
        if (!reply.sent) reply.send(error)
      }
      let timer = setTimeout(end, toDeadlineMs(request))
      request.extendDeadline = (ms) => {
        clearTimeout(timer)
        timer = setTimeout(end, toDeadlineMs(request) + ms)
      }
      reply.raw.once('close', () => {
        clearTimeout(timer)
        if (!reply.raw.writableFinished) controller.abort(new Error('The client disconnected'))
      })
    })
  },
  { name: 'deadlines', fastify: '5.x' },
)

function toDeadlineMs(request: FastifyRequest): number {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return request.routeOptions.config?.deadlineMs ?? (isRead ? READ_DEADLINE_MS : WRITE_DEADLINE_MS)
}

/** Returns 408 while the client still sends the body, else 503. */
function createTimeoutError(request: FastifyRequest, reply: FastifyReply): ServiceError {
  if (request.raw.complete === false) {
    reply.header('connection', 'close')
    return new ServiceError('REQUEST_TIMEOUT', 'The request took too long to arrive. Send it again.')
  }
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy. Try again in a few seconds.', {
    retryAfterSeconds: 2,
  })
}
