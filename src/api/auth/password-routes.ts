import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requestReset } from '../../commands/users/request-reset.ts'
import { resetPassword } from '../../commands/users/reset-password.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { Acknowledged, acknowledged, errorResponses } from '../shared/schemas/envelope.ts'
import { toClient } from './request-client.ts'
import type { DeviceCookie } from './device-cookie.ts'
import { AddressBody, ResetPasswordBody } from './schema.ts'

interface PasswordRoutesOptions {
  context: Context
  deviceCookie: DeviceCookie
}

export const passwordRoutes: FastifyPluginAsyncTypebox<PasswordRoutesOptions> = async (
  app,
  { context, deviceCookie },
) => {
  app.post(
    '/send-reset-email',
    {
      schema: {
        ...operation(
          'auth',
          'requestPasswordReset',
          'Send a password-reset link; the response is the same for every address',
        ),
        body: AddressBody,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async (request) => {
      await requestReset(context, { ...request.body, ...toClient(request) })
      return acknowledged('If this address has an account, it will receive an email. Check your inbox.')
    },
  )

  app.post(
    '/reset-password',
    {
      schema: {
        ...operation(
          'auth',
          'resetPassword',
          'Set a new password with the token of the reset link; ends all sessions',
          {
            errors: ['RESET_TOKEN_INVALID'],
          },
        ),
        body: ResetPasswordBody,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async (request, reply) => {
      const userId = await resetPassword(context, request.body)
      deviceCookie.remember(request, reply, userId)
      return acknowledged('Password changed. Log in with the new password.')
    },
  )
}
