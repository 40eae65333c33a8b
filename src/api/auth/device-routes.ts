import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { logOutDevice } from '../../commands/users/log-out.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { getSessionId } from '../shared/identity.ts'
import { IdParam } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentDevice } from './present.ts'
import type { RefreshCookie } from './refresh-cookie.ts'
import { Device } from './schema.ts'
import { presentAll } from '../shared/odd-records.ts'

const SESSION_ONLY = { security: [{ bearer: [] }], keyScope: 'refused' as const }

interface DeviceRoutesOptions {
  context: Context
  refreshCookie: RefreshCookie
}

export const deviceRoutes: FastifyPluginAsyncTypebox<DeviceRoutesOptions> = async (app, { context, refreshCookie }) => {
  app.addHook('onRequest', app.requireUser)

  app.get(
    '/',
    {
      schema: {
        ...operation('auth', 'listDevices', 'List devices with a session, most recently used first', SESSION_ONLY),
        response: { 200: success(Type.Array(Device)), ...errorResponses },
      },
    },
    async ({ user, log }) => {
      const sessionId = getSessionId(user)
      const sessions = await context.sessions.listOf(user.userId, context.clock.now())
      return ok(
        'Devices found',
        presentAll(sessions, (session) => presentDevice(session, sessionId), log),
      )
    },
  )

  app.delete(
    '/:tokenId',
    {
      schema: {
        ...operation(
          'auth',
          'logOutDevice',
          'Log out a device; its access token stops working immediately',
          SESSION_ONLY,
        ),
        params: IdParam('tokenId'),
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, params }, reply) => {
      await logOutDevice(context, user.userId, params.tokenId)
      if (params.tokenId === user.sessionId) refreshCookie.clear(reply)
      return acknowledged('Device logged out')
    },
  )
}
