import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { parseAccessPayload, type VerifiedClaims } from '../../domain/users/access-tokens.ts'
import {
  loadRequestUser,
  createUnauthorizedError,
  type LoadRequestUserDeps,
  type RequestUser,
} from '../shared/identity.ts'

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

declare module 'fastify' {
  interface FastifyInstance {
    /** An `onRequest` hook: 401 without a valid session, 403 for a disabled account. */
    requireUser: Guard
    /** Like `requireUser`, and 403 for users who are not admins. */
    requireAdmin: Guard
  }
}

interface GuardOptions {
  context: LoadRequestUserDeps
}

/**
 * Adds the guards. Every request reads role, `isDisabled`, token version and session again, so that disabling, demoting and
 * logging out take effect immediately. Adds `requireUser`, `requireAdmin` and `request.user`, which only guarded routes may read.
 */
export const guards = fastifyPlugin<GuardOptions>(
  async (app, { context }) => {
    app.decorateRequest('user', null as unknown as RequestUser)

    app.decorate('requireUser', async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.user) return
      request.user = await loadRequestUser(context, await verifyRequestToken(request))
      await app.limitUser(request, reply)
    })

    app.decorate('requireAdmin', async (request: FastifyRequest, reply: FastifyReply) => {
      await app.requireUser(request, reply)
      if (request.user.role !== 'admin') throw new ServiceError('FORBIDDEN', 'Forbidden - Admin only')
    })
  },
  { name: 'guards', fastify: '5.x', dependencies: ['rate-limits', 'access-tokens'] },
)

/** @throws ServiceError 401 without a valid access token */
async function verifyRequestToken(request: FastifyRequest): Promise<VerifiedClaims> {
  const payload: unknown = await request.jwtVerify().catch(() => null)
  const claims = parseAccessPayload(payload)
  if (!claims) throw createUnauthorizedError()
  return claims
}
