import Fastify from 'fastify'
import { accessTokens, type AccessTokenConfig } from '../../src/api/plugins/access-tokens.ts'
import { openSession, type Client, type SessionTokens } from '../../src/commands/users/open-session.ts'
import type { Context } from '../../src/context.ts'
import type { AccessTokens } from '../../src/domain/users/access-tokens.ts'
import type { User } from '../../src/domain/users/user.ts'

const CLIENT: Client = { ipAddress: '127.0.0.1', userAgent: 'test' }
const ports = new WeakMap<AccessTokenConfig, Promise<AccessTokens>>()

/** The access tokens of an API with these settings, without its routes. */
export function accessTokensOf(settings: AccessTokenConfig): Promise<AccessTokens> {
  const port = ports.get(settings) ?? createPort(settings)
  ports.set(settings, port)
  return port
}

async function createPort(config: AccessTokenConfig): Promise<AccessTokens> {
  const app = Fastify()
  await app.register(accessTokens, { config })
  await app.ready()
  return app.accessTokens
}

/** Logs a stored user in, without an API. */
export async function openTestSession(context: Context, user: User, client = CLIENT): Promise<SessionTokens> {
  return openSession({ ...context, accessTokens: await accessTokensOf(context.config) }, user, client)
}
