import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Responds with 503 until the database and its indexes have been available once. */
    requireReady: () => Promise<void>
  }
}

/**
 * Adds `requireReady`. The process listens from the start, so that health routes can report what is missing. Without the unique
 * indexes no request may write.
 */
export const readinessGuard = fastifyPlugin<{ context: Context }>(
  async (app: FastifyInstance, { context: { readiness } }) => {
    app.decorate('requireReady', async () => {
      if (await readiness.hasBeenReady()) return
      throw new ServiceError('SERVICE_UNAVAILABLE', 'The service is starting. Try again in a few seconds.', {
        retryAfterSeconds: 2,
      })
    })
  },
  { name: 'readiness-guard', fastify: '5.x' },
)
