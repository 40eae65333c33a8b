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
    /** An `onRequest` hook: 401 without a valid session of ours, 403 for a disabled account. */
    requireUser: Guard
    /** The same, and 403 for anyone but an admin. */
    requireAdmin: Guard
  }
}

interface GuardOptions {
  context: LoadRequestUserDeps
}

/**
 * Adds the guards. Role, `isDisabled`, token version and session are read again on every request, so that disabling,
 * demoting and logging out bite at once (contract section 2). Visible outside of this plugin: `requireUser`, `requireAdmin`, `request.user`,
 * which routes without a guard must not read.
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

/** @throws ServiceError 401 without a valid access token of ours */
async function verifyRequestToken(request: FastifyRequest): Promise<VerifiedClaims> {
  const payload: unknown = await request.jwtVerify().catch(() => null)
  const claims = parseAccessPayload(payload)
  if (!claims) throw createUnauthorizedError()
  return claims
}
