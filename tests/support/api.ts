import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { buildApp } from '../../src/api/app.ts'
import { deriveErrorCodes } from '../../src/api/openapi/operation.ts'
import type { SessionTokens } from '../../src/commands/users/open-session.ts'
import type { Config } from '../../src/config/schema.ts'
import type { ApiContext, Context } from '../../src/context.ts'
import { newUser, type User } from '../../src/domain/users/user.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { testContext, unique } from './servers.ts'
import { openTestSession } from './sessions.ts'

/** Disables the rate limits, which would count the whole test file as one client. */
const UNLIMITED = { RATE_LIMIT_PER_ADDRESS: 1_000_000, RATE_LIMIT_PER_USER: 1_000_000 }

export interface ApiWorld {
  context: ApiContext
  app: FastifyInstance
  close(): Promise<void>
}

/** Starts the API in the test's process, on the servers of the test run. */
export async function apiWorld(
  overrides: Partial<Config> = {},
  parts: Parameters<typeof testContext>[1] = {},
): Promise<ApiWorld> {
  const built = await testContext({ ...UNLIMITED, ...overrides }, parts)
  const app = await buildApp(built)
  refuseUndocumented(app)
  const context: ApiContext = { ...built, accessTokens: app.accessTokens }
  return {
    context,
    app,
    async close() {
      await app.close()
      await context.close()
    },
  }
}

/**
 * Replaces a response by a 500 when its route does not document the status or error code. Any test that gets such a response
 * fails.
 */
function refuseUndocumented(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const { schema, config, method, url } = request.routeOptions
    if (url === undefined || !schema?.operationId) return payload
    const codes = deriveErrorCodes({ schema, config, method, url })
    const isDocumented =
      reply.statusCode < 400
        ? String(reply.statusCode) in (schema.response as object)
        : codes.some((code) => typeof payload === 'string' && payload.includes(`"code":"${code}"`))
    if (isDocumented) return payload
    reply.code(500)
    return `${method} ${url} does not document this response: ${String(payload)}`
  })
}

export const PASSWORD = 'correct horse battery staple'

/** Stores a user. Only tests that log in need `withPassword`, because hashing is slow. */
export async function createAccount(
  { users, passwords }: Pick<Context, 'users' | 'passwords'>,
  changes: Partial<User> & { withPassword?: boolean } = {},
): Promise<User> {
  const { withPassword = false, ...fields } = changes
  const user = {
    ...newUser(
      {
        _id: newId(),
        email: `${unique('user')}@example.test`,
        name: 'Ann',
        passwordHash: withPassword ? await passwords.hash(PASSWORD, '') : null,
        limits: { maxPosts: 1_000, maxCaptionGenerations: 15 },
      },
      new Date(),
    ),
    ...fields,
  }
  await users.insert(user)
  return user
}

export interface SignedIn extends SessionTokens {
  user: User
  headers: { authorization: string }
}

/** Stores a user and opens a session without the login route. */
export async function signIn(context: Context, changes: Partial<User> = {}): Promise<SignedIn> {
  const user = await createAccount(context, changes)
  const tokens = await openTestSession(context, user)
  return { user, ...tokens, headers: { authorization: `Bearer ${tokens.accessToken}` } }
}

/** Returns options that make `inject` send a JSON body byte for byte. */
export function rawJson(body: string | Buffer): Pick<InjectOptions, 'payload' | 'headers'> {
  return { payload: body, headers: { 'content-type': 'application/json' } }
}

/** Returns the value of the refresh cookie that a response sets; null when it sets none. */
export function refreshCookieOf(response: LightMyRequestResponse): string | null {
  return response.cookies.find(({ name }) => name === 'refreshToken')?.value ?? null
}
