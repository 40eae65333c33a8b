import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { disconnectAccount } from '../../commands/accounts/disconnect-platform.ts'
import { connectOffered, findOffer } from '../../commands/accounts/offers.ts'
import { movePosts } from '../../commands/posts/move-posts.ts'
import { accountNotFound, refreshAccount } from '../../commands/accounts/refresh-platform.ts'
import type { Context } from '../../context.ts'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import { stripDirections } from '../../domain/shared/text.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { assertScope } from '../shared/identity.ts'
import { IdParam } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentDisconnected, presentOffer, presentOwnAccount } from './present.ts'
import {
  AccountChange,
  AccountSchema,
  ChosenAccounts,
  DisconnectedSchema,
  DisconnectQuery,
  OfferSchema,
  REFRESH_LIMIT,
} from './schema.ts'
import { presentAll } from '../shared/odd-records.ts'

/** Options of routes that wait for a platform: a longer deadline. */
const WAITING = { config: { deadlineMs: 30 * SECOND } }

/** All accounts of the signed-in user, who may have several on a platform. */
export const accountRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { accounts, clock } = context
  const params = IdParam('accountId')

  app.get(
    '/accounts',
    {
      schema: {
        ...operation('platforms', 'listAccounts', 'List all connected accounts of the user', {
          keyScope: 'accounts:read',
          description: 'In the order of the platforms, the default account of each first.',
        }),
        response: { 200: success(Type.Array(AccountSchema)), ...errorResponses },
      },
    },
    async ({ user, log }) => {
      const connected = await accounts.listConnected(user.userId)
      const presented = presentAll(connected, (account) => presentOwnAccount(account, clock.now()), log)
      const sorted = presented.toSorted(
        (one, other) =>
          PLATFORMS.indexOf(one.platform) - PLATFORMS.indexOf(other.platform) ||
          Number(other.isDefault) - Number(one.isDefault) ||
          (one.connectedAt < other.connectedAt ? -1 : 1),
      )
      return ok('Accounts found', sorted)
    },
  )

  app.patch(
    '/accounts/:accountId',
    {
      schema: {
        ...operation('platforms', 'updateAccount', 'Make an account the default of its platform, or give it a label', {
          keyScope: 'accounts:write',
        }),
        params,
        body: AccountChange,
        response: { 200: success(AccountSchema), ...errorResponses },
      },
    },
    async ({ user, params: { accountId }, body: { isDefault, label } }) => {
      const change = {
        ...(isDefault && { isDefault }),
        ...(label !== undefined && { label: stripDirections(label ?? '').trim() || null }),
      }
      if (!(await accounts.updateOwn(user.userId, accountId, change))) throw accountNotFound()
      return ok('Account updated', await present(user.userId, accountId))
    },
  )

  app.post(
    '/accounts/:accountId/refresh',
    {
      ...WAITING,
      schema: {
        ...operation('platforms', 'refreshAccount', 'Check the connection of an account and update its profile', {
          description: REFRESH_LIMIT,
          keyScope: 'accounts:write',
          errors: ['PLATFORM_NOT_CONNECTED', 'RECONNECT_REQUIRED', 'PLATFORM_UNAVAILABLE'],
        }),
        params,
        response: { 200: success(AccountSchema), ...errorResponses },
      },
    },
    async ({ user, params: { accountId } }) => {
      const account = await refreshAccount(context, user.userId, accountId)
      return ok('Account refreshed', presentOwnAccount(account, clock.now()))
    },
  )

  app.delete(
    '/accounts/:accountId',
    {
      ...WAITING,
      schema: {
        ...operation('platforms', 'disconnectAccount', 'Disconnect an account', {
          keyScope: 'accounts:write',
          description: 'Another account of its platform becomes the default one.',
        }),
        params,
        querystring: DisconnectQuery,
        response: { 200: success(DisconnectedSchema), ...errorResponses },
      },
    },
    async ({ user, params: { accountId }, query: { movePostsTo }, deadline: signal, log }) => {
      let movedPosts = 0
      if (movePostsTo !== undefined) {
        assertScope(user, 'posts:publish')
        movedPosts = await movePosts(context, user.userId, { from: accountId, to: movePostsTo, signal })
      }
      const disconnected = await disconnectAccount(context, user.userId, accountId)
      return ok('Account disconnected', { ...presentDisconnected(disconnected, log), movedPosts })
    },
  )

  app.get(
    '/offers/:offerId',
    {
      schema: {
        ...operation('platforms', 'getAccountOffer', 'Get the accounts that a login offers', {
          keyScope: 'refused',
          description: 'The callback redirects with the id of the offer, which lasts ten minutes.',
        }),
        params: IdParam('offerId'),
        response: { 200: success(OfferSchema), ...errorResponses },
      },
    },
    async ({ user, params: { offerId } }) =>
      ok('Offer found', presentOffer(await findOffer(context, user.userId, offerId))),
  )

  app.post(
    '/offers/:offerId',
    {
      ...WAITING,
      schema: {
        ...operation('platforms', 'connectOfferedAccounts', 'Connect accounts that a login offers', {
          keyScope: 'refused',
          description: 'Adds the accounts one after the other. A connected one gets the new login.',
          errors: ['ACCOUNT_ALREADY_CONNECTED', 'ACCOUNT_LIMIT_REACHED', 'RECONNECT_REQUIRED', 'PLATFORM_UNAVAILABLE'],
        }),
        params: IdParam('offerId'),
        body: ChosenAccounts,
        response: { 200: success(Type.Array(AccountSchema)), ...errorResponses },
      },
    },
    async ({ user, params: { offerId }, body: { platformIds, replace = false } }) => {
      const chosen = { offerId, accountIds: platformIds, replace }
      const connected = await connectOffered(context, user.userId, chosen)
      return ok(
        'Accounts connected',
        connected.map((account) => presentOwnAccount(account, clock.now())),
      )
    },
  )

  async function present(userId: string, accountId: string) {
    const account = await accounts.findOwn(userId, accountId)
    if (!account) throw accountNotFound()
    return presentOwnAccount(account, clock.now())
  }
}
