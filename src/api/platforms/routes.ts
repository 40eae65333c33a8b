import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { beginConnect } from '../../commands/accounts/begin-connect.ts'
import { connectBluesky } from '../../commands/accounts/connect-bluesky.ts'
import { currentRules } from '../../commands/posts/current-rules.ts'
import { disconnectPlatform } from '../../commands/accounts/disconnect-platform.ts'
import { refreshPlatform } from '../../commands/accounts/refresh-platform.ts'
import type { Context } from '../../context.ts'
import { buildCallbackUrl } from '../../domain/accounts/platform-connect.ts'
import { PLATFORMS, platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { comesFromBrowser, createBindingCookie } from '../shared/binding-cookie.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentAccount, presentAccounts, presentLimits } from './present.ts'
import { REDIRECTS } from './redirects.ts'
import { ConnectBlueskyBody, LimitsSchema, PlatformAccountSchema, PlatformAccountsSchema } from './schema.ts'

/** These routes wait for the platform, which is given longer than a route usually has. */
const waiting = { config: { deadlineMs: 30 * SECOND } }
const accountAnswer = { response: { 200: success(PlatformAccountSchema), ...errorResponses } }

const CONNECTABLE: Platform[] = ['bluesky', ...REDIRECTS.map(({ platform }) => platform)]

/** Spec 4.5, for authenticated users. */
export const platformRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { accounts, clock, config } = context

  app.get(
    '/find',
    {
      schema: {
        ...operation('platforms', 'listPlatformConnections', 'The platform accounts of the user'),
        response: { 200: success(PlatformAccountsSchema), ...errorResponses },
      },
    },
    async ({ user }) => ok('Platform accounts found', presentAccounts(await accounts.find(user.userId), clock.now())),
  )

  app.get(
    '/limits',
    {
      schema: {
        ...operation('platforms', 'getPlatformLimits', 'What each platform accepts in a post'),
        response: { 200: success(LimitsSchema), ...errorResponses },
      },
    },
    async () => ok('Platform limits found', presentLimits(await currentRules(context, PLATFORMS))),
  )

  app.post(
    '/bluesky/connect',
    {
      ...waiting,
      schema: {
        ...operation('platforms', 'connectBluesky', 'Connect a Bluesky account by app password', {
          errors: [
            'PLATFORM_CREDENTIALS_INVALID',
            'ACCOUNT_ALREADY_CONNECTED',
            'RECONNECT_REQUIRED',
            'PLATFORM_UNAVAILABLE',
          ],
        }),
        body: ConnectBlueskyBody,
        ...accountAnswer,
      },
    },
    async ({ user, body }) => {
      const account = await connectBluesky(context, { userId: user.userId, ...body })
      return ok('Bluesky connected', presentAccount('bluesky', account, clock.now()))
    },
  )

  for (const { platform, addressField } of REDIRECTS) {
    const label = platformLabel(platform)
    const redirectUri = buildCallbackUrl(config.PUBLIC_URL, platform)
    const cookie = createBindingCookie(redirectUri)

    app.get(
      `/${platform}/connect`,
      {
        ...waiting,
        exposeHeadRoute: false,
        schema: {
          ...operation('platforms', `begin${label}Connection`, `Begin to connect a ${label} account`, {
            description:
              'Send the user to the address within ten minutes. A browser has to keep the cookie that comes along (credentials: include).',
            errors: ['PLATFORM_NOT_SUPPORTED', 'PLATFORM_UNAVAILABLE'],
            responseHeaders: { 200: ['Set-Cookie'] },
          }),
          response: { 200: success(Type.Object({ [addressField]: Type.String() })), ...errorResponses },
        },
      },
      async (request, reply) => {
        const { userId, sessionId } = request.user
        const isBound = config.CONNECT_COOKIE === 'always' || comesFromBrowser(request)
        const { url, binding } = await beginConnect(context, { userId, sessionId, platform, redirectUri, isBound })
        if (binding !== null) cookie.set(reply, binding)
        return ok(`Continue on the page of ${label}`, { [addressField]: url })
      },
    )
  }

  for (const platform of CONNECTABLE) {
    const label = platformLabel(platform)

    app.get(
      `/${platform}/refresh`,
      {
        ...waiting,
        schema: {
          ...operation(
            'platforms',
            `refresh${label}Connection`,
            `Prove the ${label} connection and fetch the profile anew`,
            { errors: ['PLATFORM_NOT_CONNECTED', 'RECONNECT_REQUIRED', 'PLATFORM_UNAVAILABLE'] },
          ),
          ...accountAnswer,
        },
      },
      async ({ user }) => {
        const account = await refreshPlatform(context, user.userId, platform)
        return ok(`${label} refreshed`, presentAccount(platform, account, clock.now()))
      },
    )

    app.delete(
      `/${platform}/disconnect`,
      {
        ...waiting,
        schema: {
          ...operation('platforms', `disconnect${label}`, `Disconnect the ${label} account`),
          ...accountAnswer,
        },
      },
      async ({ user }) => {
        await disconnectPlatform(context, user.userId, platform)
        return ok(`${label} disconnected`, { connected: false })
      },
    )
  }
}
