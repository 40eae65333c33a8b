import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { logIn } from '../../commands/users/log-in.ts'
import { logOut, logOutEverywhere } from '../../commands/users/log-out.ts'
import { refreshSession } from '../../commands/users/refresh-session.ts'
import type { ApiContext } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { requireOwnOrigin } from '../plugins/browser-security.ts'
import { parseBearerToken } from '../plugins/access-tokens.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { toClient } from './request-client.ts'
import { createDeviceCookie } from './device-cookie.ts'
import { deviceRoutes } from './device-routes.ts'
import { passwordRoutes } from './password-routes.ts'
import { googleRoutes } from './google-routes.ts'
import { presentUser } from './present.ts'
import { createRefreshCookie } from './refresh-cookie.ts'
import { registrationRoutes } from './registration-routes.ts'
import { LoggedIn, LogInBody, LogOutEverywhereQuery, Me, Refreshed } from './schema.ts'

/** Accounts, logins and sessions. */
export const authRoutes: FastifyPluginAsyncTypebox<{ context: ApiContext }> = async (app, { context }) => {
  const refreshCookie = createRefreshCookie(context.config)
  const deviceCookie = createDeviceCookie(context)
  const fromOwnPages = requireOwnOrigin(context.config)

  // Both logins make the same check and accept any role; admin frontends use the second path.
  const logInErrors = {
    errors: ['INVALID_CREDENTIALS', 'ACCOUNT_DISABLED'] as const,
    responseHeaders: { 200: ['Set-Cookie'] as const },
  }
  for (const { path, documentation } of [
    {
      path: '/login',
      documentation: operation('auth', 'logIn', 'Log in with email address and password', logInErrors),
    },
    {
      path: '/admin-login',
      documentation: operation('auth', 'logInAsAdmin', 'Log in; same as `/login`, for admin frontends', logInErrors),
    },
  ]) {
    app.post(
      path,
      { schema: { ...documentation, body: LogInBody, response: { 200: success(LoggedIn), ...errorResponses } } },
      async (request, reply) => {
        const client = { ...toClient(request), deviceCookie: deviceCookie.read(request) }
        const { user, ...tokens } = await logIn(context, { ...request.body, ...client })
        refreshCookie.set(reply, tokens)
        deviceCookie.remember(request, reply, user._id)
        return ok('Logged in', { accessToken: tokens.accessToken, user: presentUser(user) })
      },
    )
  }

  app.post(
    '/refresh',
    {
      onRequest: fromOwnPages,
      schema: {
        ...operation('auth', 'refreshSession', 'Exchange the refresh cookie for a new access token', {
          security: [{ refreshCookie: [] }],
          errors: ['UNAUTHORIZED', 'ACCOUNT_DISABLED'],
          responseHeaders: { 200: ['Set-Cookie'] },
        }),
        response: { 200: success(Refreshed), ...errorResponses },
      },
    },
    async (request, reply) => {
      const tokens = await refreshSession(context, refreshCookie.read(request))
      refreshCookie.set(reply, tokens)
      return ok('Session refreshed', { accessToken: tokens.accessToken })
    },
  )

  app.delete(
    '/logout',
    {
      onRequest: fromOwnPages,
      schema: {
        ...operation('auth', 'logOut', 'End this session; also works with an expired access token', {
          security: [{ refreshCookie: [] }, { bearer: [] }, {}],
          responseHeaders: { 200: ['Set-Cookie'] },
        }),
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async (request, reply) => {
      await logOut(context, { cookie: refreshCookie.read(request), accessToken: parseBearerToken(request) })
      refreshCookie.clear(reply)
      return acknowledged('Logged out')
    },
  )

  app.delete(
    '/logout/all',
    {
      onRequest: app.requireUser,
      schema: {
        ...operation('auth', 'logOutEverywhere', 'End all sessions of the user immediately', {
          description: 'API keys stay valid unless `apiKeys=true`.',
          security: [{ bearer: [] }],
          keyScope: 'refused',
          responseHeaders: { 200: ['Set-Cookie'] },
        }),
        querystring: LogOutEverywhereQuery,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async (request, reply) => {
      await logOutEverywhere(context, request.user.userId, { endsApiKeys: request.query.apiKeys === 'true' })
      refreshCookie.clear(reply)
      return acknowledged('Logged out everywhere')
    },
  )

  app.get(
    '/me',
    {
      onRequest: app.requireUser,
      schema: {
        ...operation('auth', 'getMe', 'Get the signed-in user', { security: [{ bearer: [] }], keyScope: 'refused' }),
        response: { 200: success(Me), ...errorResponses },
      },
    },
    async (request) => {
      const user = await context.users.findById(request.user.userId)
      if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
      return ok('User found', { user: presentUser(user) })
    },
  )

  await app.register(registrationRoutes, { context, refreshCookie, deviceCookie })
  await app.register(passwordRoutes, { context, deviceCookie })
  await app.register(googleRoutes, { context, refreshCookie })
  await app.register(deviceRoutes, { prefix: '/devices', context, refreshCookie })
}
