import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Config } from '../../config/schema.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE, SECOND, formatWait } from '../../domain/shared/times.ts'
import { getClientNetwork } from '../shared/client-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Exempts the route from the limit per address: load-balancer probes, webhooks. */
    isUnlimited?: boolean
    /** Counts the route in a limit of the same size for files alone, because a page loads many of them. */
    isFile?: boolean
  }
  interface FastifyInstance {
    /** Counts a request against the limit of its authenticated user; the guards call it. */
    limitUser: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  }
}

type Counter = ReturnType<FastifyInstance['createRateLimit']>

/**
 * Limits requests per client address and per user. Each process counts on its own. Responses report the limits in the headers
 * `RateLimit` and `RateLimit-Policy` of the IETF draft, with an item per limit.
 */
export const rateLimits = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: Config }) => {
    await app.register(rateLimit, { global: false })
    const perAddress = { max: config.RATE_LIMIT_PER_ADDRESS, timeWindow: MINUTE, keyGenerator: getClientNetwork }
    const byAddress = app.createRateLimit(perAddress)
    const filesByAddress = app.createRateLimit(perAddress)
    const byUser = app.createRateLimit({
      max: config.RATE_LIMIT_PER_USER,
      timeWindow: MINUTE,
      keyGenerator: (request) => request.user.userId,
    })

    app.addHook('onRequest', async (request, reply) => {
      const { isUnlimited, isFile } = request.routeOptions.config ?? {}
      if (!isUnlimited) await countRequest('address', isFile ? filesByAddress : byAddress, request, reply)
    })
    app.decorate('limitUser', (request: FastifyRequest, reply: FastifyReply) =>
      countRequest('user', byUser, request, reply),
    )
  },
  { name: 'rate-limits', fastify: '5.x' },
)

async function countRequest(
  bucket: string,
  counter: Counter,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const state = await counter(request)
  if (state.isAllowed) return
  appendHeader(reply, 'ratelimit-policy', `"${bucket}";q=${state.max};w=${state.timeWindow / SECOND}`)
  appendHeader(reply, 'ratelimit', `"${bucket}";r=${state.remaining};t=${state.ttlInSeconds}`)
  if (state.isExceeded) {
    const retryAfterSeconds = Math.max(1, state.ttlInSeconds)
    const message = `Too many requests from this ${bucket}. Try again in ${formatWait(retryAfterSeconds)}.`
    throw new ServiceError('RATE_LIMITED', message, {
      retryAfterSeconds,
      details: { bucket },
    })
  }
}

function appendHeader(reply: FastifyReply, header: string, item: string): void {
  const present = reply.getHeader(header)
  reply.header(header, present === undefined ? item : `${String(present)}, ${item}`)
}
