import Fastify from 'fastify'
import { accessTokens, type AccessTokenConfig } from '../../src/api/plugins/access-tokens.ts'
import { openSession, type Client, type SessionTokens } from '../../src/commands/users/open-session.ts'
import type { Context } from '../../src/context.ts'
import type { AccessTokens } from '../../src/domain/users/access-tokens.ts'
import type { User } from '../../src/domain/users/user.ts'

const CLIENT: Client = { ipAddress: '127.0.0.1', userAgent: 'test' }
const services = new WeakMap<AccessTokenConfig, Promise<AccessTokens>>()

/** Returns the access token service of an API with these settings, without its routes. Repeated calls share one. */
export function createAccessTokens(settings: AccessTokenConfig): Promise<AccessTokens> {
  const service = services.get(settings) ?? createService(settings)
  services.set(settings, service)
  return service
}

async function createService(config: AccessTokenConfig): Promise<AccessTokens> {
  const app = Fastify()
  await app.register(accessTokens, { config })
  await app.ready()
  return app.accessTokens
}

/** Opens a session for a stored user without an API. */
export async function openTestSession(context: Context, user: User, client = CLIENT): Promise<SessionTokens> {
  return openSession({ ...context, accessTokens: await createAccessTokens(context.config) }, user, client)
}
