import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requestReset } from '../../commands/request-reset.ts'
import { resetPassword } from '../../commands/reset-password.ts'
import type { Context } from '../../context.ts'
import { Acknowledged, acknowledged, errorResponses } from '../schemas/envelope.ts'
import { AddressBody, ResetPasswordBody } from './schema.ts'

const tags = ['auth']

export const passwordRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.post(
    '/send-reset-email',
    {
      schema: {
        tags,
        summary: 'Have a link to a new password sent; the answer is the same for every address',
        body: AddressBody,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async (request) => {
      await requestReset(context, request.body)
      return acknowledged('If this address has an account, a mail is on its way to it')
    },
  )

  app.post(
    '/reset-password',
    {
      schema: {
        tags,
        summary: 'Set a new password by the token of that link; ends every session',
        body: ResetPasswordBody,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async (request) => {
      await resetPassword(context, request.body)
      return acknowledged('Password changed, log in with the new one')
    },
  )
}
