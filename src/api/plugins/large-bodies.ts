import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/service-error.ts'

/** What any route takes counts as small. */
const SMALL_BYTES = 1_048_576

/**
 * A guard for a route whose bodies are large: so many of them at once per process, since each stands in memory several times over while
 * its request lasts. Small ones pass freely.
 */
export function largeBodies(mostAtOnce: number) {
  let open = 0
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (Number(request.headers['content-length'] ?? Infinity) <= SMALL_BYTES) return
    if (open >= mostAtOnce) {
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many large requests at once, try again', {
        retryAfterSeconds: 5,
      })
    }
    open += 1
    reply.raw.once('close', () => {
      open -= 1
    })
  }
}
