import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readPublicationUses } from '../../commands/accounts/read-publication-uses.ts'
import { beginConnect } from '../../commands/accounts/begin-connect.ts'
import { connectBluesky } from '../../commands/accounts/connect-bluesky.ts'
import { loadCurrentRules } from '../../commands/posts/current-rules.ts'
import { disconnectPlatform } from '../../commands/accounts/disconnect-platform.ts'
import { accountNotFound, refreshPlatform } from '../../commands/accounts/refresh-platform.ts'
import type { Context } from '../../context.ts'
import { buildCallbackUrl } from '../../domain/accounts/platform-connect.ts'
import { PLATFORMS, platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { isFromBrowser, createBindingCookie } from '../shared/binding-cookie.ts'
import { getSessionId } from '../shared/identity.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { accountRoutes } from './account-routes.ts'
import { presentAccount, presentDefaults, presentDisconnected, presentLimits } from './present.ts'
import { REDIRECT_PLATFORMS } from './redirect-platforms.ts'
import {
  ConnectBlueskyBody,
  ConnectQuery,
  ConnectServerBody,
  DisconnectedSchema,
  LimitsQuery,
  LimitsSchema,
  PlatformAccountSchema,
  PlatformAccountsSchema,
  REFRESH_LIMIT,
} from './schema.ts'

/** Options of routes that wait for a platform: a longer deadline. */
const WAITING = { config: { deadlineMs: 30 * SECOND } }

const CONNECTABLE_PLATFORMS: Platform[] = ['bluesky', ...REDIRECT_PLATFORMS.map(({ platform }) => platform)]

/** Connected accounts of the signed-in user. */
export const platformRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { accounts, clock, config } = context

  app.get(
    '/find',
    {
      schema: {
        ...operation('platforms', 'listPlatformConnections', 'List the platform accounts of the user', {
          keyScope: 'accounts:read',
        }),
        response: { 200: success(PlatformAccountsSchema), ...errorResponses },
      },
    },
    async ({ user, log }) =>
      ok('Platform accounts found', presentDefaults(await accounts.listConnected(user.userId), clock.now(), log)),
  )

  app.get(
    '/limits',
    {
      schema: {
        ...operation('platforms', 'getPlatformLimits', 'Get the limits that each platform sets for a post', {
          keyScope: 'accounts:read',
          description:
            'Where servers set their own limits, those of the default account’s server, or of the given account’s. `publications` is what that account has used.',
          errors: ['NOT_FOUND'],
        }),
        querystring: LimitsQuery,
        response: { 200: success(LimitsSchema), ...errorResponses },
      },
    },
    async ({ user, query: { account } }) => {
      const connected = await accounts.listConnected(user.userId)
      const chosen = connected.filter(({ _id }) => _id === account)
      if (account !== undefined && chosen.length === 0) throw accountNotFound()
      const own = [...connected.filter(({ isDefault }) => isDefault), ...chosen]
      const servers = Object.fromEntries(own.flatMap(({ platform, server }) => (server ? [[platform, server]] : [])))
      const [rules, uses] = await Promise.all([
        loadCurrentRules(context, PLATFORMS, servers),
        readPublicationUses(context, own),
      ])
      return ok('Platform limits found', presentLimits(rules, uses))
    },
  )

  app.post(
    '/bluesky/connect',
    {
      ...WAITING,
      schema: {
        ...operation('platforms', 'connectBluesky', 'Connect a Bluesky account with an app password', {
          keyScope: 'accounts:write',
          errors: [
            'PLATFORM_CREDENTIALS_INVALID',
            'ACCOUNT_ALREADY_CONNECTED',
            'ACCOUNT_LIMIT_REACHED',
            'RECONNECT_REQUIRED',
            'PLATFORM_UNAVAILABLE',
          ],
        }),
        body: ConnectBlueskyBody,
        querystring: ConnectQuery,
        response: { 200: success(PlatformAccountSchema), ...errorResponses },
      },
    },
    async ({ user, body, query }) => {
      const account = await connectBluesky(context, {
        ...body,
        userId: user.userId,
        replace: query.replace !== 'false',
      })
      return ok('Bluesky connected', presentAccount(account, clock.now()))
    },
  )

  for (const { platform, urlField, hasServers = false } of REDIRECT_PLATFORMS) {
    const label = platformLabel(platform)
    const redirectUri = buildCallbackUrl(config.PUBLIC_URL, platform)
    const cookie = createBindingCookie(redirectUri)
    const response = { 200: success(Type.Object({ [urlField]: Type.String() })), ...errorResponses }
    const description =
      'Send the user to the returned URL within ten minutes. A browser must store the cookie of the response (`credentials: include`).'
    const responseHeaders = { 200: ['Set-Cookie'] } as const

    async function begin(
      request: FastifyRequest<{ Querystring: Static<typeof ConnectQuery> }>,
      reply: FastifyReply,
      server?: string,
    ) {
      const { userId } = request.user
      const sessionId = getSessionId(request.user)
      const isBound = config.CONNECT_COOKIE === 'always' || isFromBrowser(request)
      const replace = request.query.replace !== 'false'
      const attempt = { userId, sessionId, platform, redirectUri, server, replace, isBound }
      const { url, binding } = await beginConnect(context, attempt)
      if (binding !== null) cookie.set(reply, binding)
      return ok(`Continue on the page of ${label}`, { [urlField]: url })
    }

    app.get(
      `/${platform}/connect`,
      {
        ...WAITING,
        exposeHeadRoute: false,
        schema: {
          ...operation('platforms', `begin${label}Connection`, `Start connecting a ${label} account`, {
            keyScope: 'refused',
            description,
            errors: ['PLATFORM_NOT_SUPPORTED', 'PLATFORM_UNAVAILABLE'],
            responseHeaders,
          }),
          querystring: ConnectQuery,
          response,
        },
      },
      (request, reply) => begin(request, reply),
    )
    if (!hasServers) continue

    app.post(
      `/${platform}/connect`,
      {
        ...WAITING,
        schema: {
          ...operation(
            'platforms',
            `begin${label}ConnectionOnServer`,
            `Start connecting a ${label} account on any server`,
            {
              keyScope: 'refused',
              description: `${description} Without a server, the default one of this deployment is used.`,
              errors: ['PLATFORM_NOT_SUPPORTED', 'PLATFORM_UNAVAILABLE'],
              responseHeaders,
            },
          ),
          body: ConnectServerBody,
          querystring: ConnectQuery,
          response,
        },
      },
      (request, reply) => begin(request, reply, request.body?.instance),
    )
  }

  await app.register(accountRoutes, { context })

  for (const platform of CONNECTABLE_PLATFORMS) {
    const label = platformLabel(platform)

    app.get(
      `/${platform}/refresh`,
      {
        ...WAITING,
        schema: {
          ...operation(
            'platforms',
            `refresh${label}Connection`,
            `Check the ${label} connection and update the profile`,
            {
              description: REFRESH_LIMIT,
              keyScope: 'accounts:write',
              errors: ['PLATFORM_NOT_CONNECTED', 'RECONNECT_REQUIRED', 'PLATFORM_UNAVAILABLE'],
            },
          ),
          response: { 200: success(PlatformAccountSchema), ...errorResponses },
        },
      },
      async ({ user }) => {
        const account = await refreshPlatform(context, user.userId, platform)
        return ok(`${label} refreshed`, presentAccount(account, clock.now()))
      },
    )

    app.delete(
      `/${platform}/disconnect`,
      {
        ...WAITING,
        schema: {
          ...operation('platforms', `disconnect${label}`, `Disconnect the ${label} account`, {
            keyScope: 'accounts:write',
          }),
          response: { 200: success(DisconnectedSchema), ...errorResponses },
        },
      },
      async ({ user, log }) => {
        const disconnected = await disconnectPlatform(context, user.userId, platform)
        return ok(`${label} disconnected`, presentDisconnected(disconnected, log))
      },
    )
  }
}
