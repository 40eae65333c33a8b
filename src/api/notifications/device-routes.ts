import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { forgetPushDevice, registerPushDevice } from '../../commands/notifications/push-devices.ts'
import type { Context } from '../../context.ts'
import { PUSH_PLATFORMS, type PushPlatform } from '../../domain/notifications/push.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { stringEnum } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses } from '../shared/schemas/envelope.ts'

const Token = Type.String({
  minLength: 1,
  maxLength: 1_024,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'Firebase Cloud Messaging registration token',
})

/** Devices for push messages. Tokens are secrets and never appear in a response. */
export const deviceRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.post(
    '/notifications/devices',
    {
      schema: {
        ...operation(
          'notifications',
          'registerDevice',
          'Register a device for push messages; it belongs to the last user who registered it',
          { keyScope: 'refused' },
        ),
        body: Type.Object({ token: Token, platform: stringEnum<PushPlatform>(PUSH_PLATFORMS) }),
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, body }) => {
      await registerPushDevice(context, { userId: user.userId, ...body })
      return acknowledged('Device registered')
    },
  )

  app.post(
    '/firebase/save-token',
    {
      schema: {
        ...operation(
          'notifications',
          'saveBrowserToken',
          'Register a browser for push messages; path of older frontends',
          { keyScope: 'refused' },
        ),
        body: Type.Object({ token: Token }),
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, body }) => {
      await registerPushDevice(context, { userId: user.userId, token: body.token, platform: 'web' })
      return acknowledged('Device registered')
    },
  )

  app.delete(
    '/notifications/devices/:token',
    {
      schema: {
        ...operation('notifications', 'removeDevice', 'Stop push messages to a device; clients call it at logout', {
          keyScope: 'refused',
        }),
        params: Type.Object({ token: Type.String({ description: 'The token, percent-encoded' }) }),
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, params }) => {
      if (!(await forgetPushDevice(context, user.userId, params.token))) {
        throw new ServiceError('NOT_FOUND', 'Device not found')
      }
      return acknowledged('Device removed')
    },
  )
}
