import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { connectBluesky } from '../../commands/connect-bluesky.ts'
import { disconnectPlatform } from '../../commands/disconnect-platform.ts'
import { refreshPlatform } from '../../commands/refresh-platform.ts'
import type { Context } from '../../context.ts'
import { SECOND } from '../../domain/times.ts'
import { errorResponses, ok, success } from '../schemas/envelope.ts'
import { presentAccount, presentAccounts, presentLimits } from './present.ts'
import { ConnectBlueskyBody, LimitsSchema, PlatformAccountSchema, PlatformAccountsSchema } from './schema.ts'

const described = (summary: string) => ({ tags: ['platforms'], security: [{ bearer: [] }], summary })
/** These routes wait for the platform, which is given longer than a route usually has. */
const waiting = { config: { deadlineMs: 30 * SECOND } }
const accountAnswer = { response: { 200: success(PlatformAccountSchema), ...errorResponses } }

/** Spec 4.5, for authenticated users. */
export const platformRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { accounts, clock } = context

  app.get(
    '/find',
    {
      schema: {
        ...described('The platform accounts of the user'),
        response: { 200: success(PlatformAccountsSchema), ...errorResponses },
      },
    },
    async ({ user }) => ok('Platform accounts found', presentAccounts(await accounts.find(user.userId), clock.now())),
  )

  app.get(
    '/limits',
    {
      schema: {
        ...described('What each platform accepts in a post'),
        response: { 200: success(LimitsSchema), ...errorResponses },
      },
    },
    async () => ok('Platform limits found', presentLimits()),
  )

  app.post(
    '/bluesky/connect',
    {
      ...waiting,
      schema: { ...described('Connect a Bluesky account by app password'), body: ConnectBlueskyBody, ...accountAnswer },
    },
    async ({ user, body }) => {
      const account = await connectBluesky(context, { userId: user.userId, ...body })
      return ok('Bluesky connected', presentAccount('bluesky', account, clock.now()))
    },
  )

  app.get(
    '/bluesky/refresh',
    {
      ...waiting,
      schema: { ...described('Restore the Bluesky session and fetch the profile anew'), ...accountAnswer },
    },
    async ({ user }) => {
      const account = await refreshPlatform(context, user.userId, 'bluesky')
      return ok('Bluesky refreshed', presentAccount('bluesky', account, clock.now()))
    },
  )

  app.delete(
    '/bluesky/disconnect',
    { ...waiting, schema: { ...described('Disconnect the Bluesky account'), ...accountAnswer } },
    async ({ user }) => {
      await disconnectPlatform(context, user.userId, 'bluesky')
      return ok('Bluesky disconnected', { connected: false })
    },
  )
}
