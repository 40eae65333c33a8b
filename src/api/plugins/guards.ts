import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { parseAccessPayload, type VerifiedClaims } from '../../domain/users/access-tokens.ts'
import { toCoarseNetwork } from '../../domain/shared/client-address.ts'
import { toUsedHour, type ApiKey } from '../../domain/users/api-keys.ts'
import type { ApiContext } from '../../context.ts'
import { getClientAddress } from '../shared/client-address.ts'
import {
  assertScope,
  createUnauthorizedError,
  loadKeyUser,
  loadRequestUser,
  type RequestUser,
} from '../shared/identity.ts'
import { parseApiKey } from './access-tokens.ts'

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * An `onRequest` hook: 401 without a valid session or API key, 403 for a disabled account, and for a key without the scope that
     * the schema of the route declares as `keyScope`.
     */
    requireUser: Guard
    /** Like `requireUser`, and 403 for users who are not admins. */
    requireAdmin: Guard
  }
}

interface GuardOptions {
  context: ApiContext
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
      request.user = await authenticate(context, request)
      await app.limitUser(request, reply)
      assertScope(request.user, request.routeOptions.schema?.keyScope ?? 'refused')
    })

    app.decorate('requireAdmin', async (request: FastifyRequest, reply: FastifyReply) => {
      await app.requireUser(request, reply)
      if (request.user.role !== 'admin') throw new ServiceError('FORBIDDEN', 'Forbidden - Admin only')
    })
  },
  { name: 'guards', fastify: '5.x', dependencies: ['rate-limits', 'access-tokens'] },
)

/**
 * Checks the credentials of a request again and again while a stream is open.
 * @throws ServiceError 401, or 403 for a disabled account
 */
export async function authenticate(context: ApiContext, request: FastifyRequest): Promise<RequestUser> {
  const secret = parseApiKey(request)
  if (secret === null) return loadRequestUser(context, await verifyRequestToken(request))
  const { apiKey, user } = await loadKeyUser(context, secret)
  recordUse(context, request, apiKey)
  return user
}

/** Stores the use of a key, once an hour. The request neither waits for it nor fails with it. */
function recordUse({ apiKeys, clock }: ApiContext, request: FastifyRequest, apiKey: ApiKey): void {
  const isRecorded = apiKey.lastUsedAt !== null && apiKey.lastUsedAt >= toUsedHour(clock.now())
  if (isRecorded) return
  const { keyId } = apiKey
  apiKeys
    .recordUse(apiKey, toCoarseNetwork(getClientAddress(request)))
    .catch((err: unknown) => request.log.warn({ err, keyId }, 'use of an API key not recorded'))
}

/** @throws ServiceError 401 without a valid access token */
async function verifyRequestToken(request: FastifyRequest): Promise<VerifiedClaims> {
  const payload: unknown = await request.jwtVerify().catch(() => null)
  const claims = parseAccessPayload(payload)
  if (!claims) throw createUnauthorizedError()
  return claims
}
