import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { forgetPushDevice, registerPushDevice } from '../../commands/notifications/push-devices.ts'
import type { Context } from '../../context.ts'
import { PUSH_PLATFORMS, type PushPlatform } from '../../domain/notifications/push.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { stringEnum } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses } from '../shared/schemas/envelope.ts'

const acknowledgment = { response: { 200: Acknowledged, ...errorResponses } }

const Token = Type.String({
  minLength: 1,
  maxLength: 1_024,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'Registration token of Firebase Cloud Messaging',
})

/** The devices that get push messages (contract section 9). Tokens are secrets: no answer ever tells one. */
export const deviceRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.post(
    '/notifications/devices',
    {
      schema: {
        ...operation(
          'notifications',
          'registerDevice',
          'Register a device for push messages; it belongs to whom registered it last',
        ),
        ...acknowledgment,
        body: Type.Object({ token: Token, platform: stringEnum<PushPlatform>(PUSH_PLATFORMS) }),
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
          'Register a browser for push messages, under the name that older frontends use',
        ),
        ...acknowledgment,
        body: Type.Object({ token: Token }),
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
        ...operation(
          'notifications',
          'removeDevice',
          'Send no more push messages to a device; a client asks for it when its user logs out',
        ),
        ...acknowledgment,
        params: Type.Object({ token: Type.String({ description: 'The token, percent-encoded' }) }),
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
