import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Refuses until the database was there once, with its indexes. */
    requireReady: () => Promise<void>
  }
}

/**
 * The process listens from the start on, so that operators can ask it what it waits for; but without the unique indexes
 * nothing may be written, by whatever way a request came here.
 */
export const readinessGuard = fastifyPlugin<{ context: Pick<Context, 'readiness'> }>(
  async (app: FastifyInstance, { context: { readiness } }) => {
    app.decorate('requireReady', async () => {
      if (await readiness.hasBeenReady()) return
      throw new ServiceError('SERVICE_UNAVAILABLE', 'The service is not ready yet, try again', { retryAfterSeconds: 2 })
    })
  },
  { name: 'readiness-guard', fastify: '5.x' },
)
