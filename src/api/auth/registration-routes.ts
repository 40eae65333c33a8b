import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requestCode } from '../../commands/request-code.ts'
import { signUp } from '../../commands/sign-up.ts'
import { verifyCode } from '../../commands/verify-code.ts'
import type { ApiContext } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { largeBodies } from '../plugins/large-bodies.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../schemas/envelope.ts'
import { clientOf } from './client.ts'
import { presentUser } from './present.ts'
import type { RefreshCookie } from './refresh-cookie.ts'
import { AddressBody, LoggedIn, SignUpBody, Verified, VerifyCodeBody } from './schema.ts'

/** An avatar of five megabytes, in base64. */
const SIGN_UP_LIMIT_BYTES = 8 * 1024 * 1024
/** Per process: anybody may send them. */
const LARGE_BODIES_AT_ONCE = 8

interface Options {
  context: ApiContext
  refreshCookie: RefreshCookie
}

export const registrationRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { context, refreshCookie }) => {
  app.post(
    '/request-otp',
    {
      schema: {
        ...operation(
          'auth',
          'requestCode',
          'Have a one-time code sent to an address; the answer is the same for every address',
        ),
        body: AddressBody,
        response: { 201: Acknowledged, ...errorResponses },
      },
    },
    async (request, reply) => {
      await requestCode(context, request.body)
      return reply.code(201).send(acknowledged('A mail is on its way to this address'))
    },
  )

  app.post(
    '/verify-otp',
    {
      schema: {
        ...operation('auth', 'verifyCode', 'Prove by the code that an address is yours', { errors: ['OTP_INVALID'] }),
        body: VerifyCodeBody,
        response: { 200: success(Verified), ...errorResponses },
      },
    },
    async (request) => ok('Address verified', { email: await verifyCode(context, request.body) }),
  )

  app.post(
    '/signup',
    {
      bodyLimit: SIGN_UP_LIMIT_BYTES,
      onRequest: largeBodies(LARGE_BODIES_AT_ONCE),
      schema: {
        ...operation('auth', 'signUp', 'Make an account for a verified address, and log in', {
          errors: ['ADDRESS_NOT_VERIFIED', 'ADDRESS_TAKEN'],
          responseHeaders: { 201: ['Set-Cookie'] },
        }),
        body: SignUpBody,
        response: { 201: success(LoggedIn), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { user, ...tokens } = await signUp(context, { ...request.body, ...clientOf(request) })
      refreshCookie.set(reply, tokens)
      const data = { accessToken: tokens.accessToken, user: presentUser(user) }
      return reply.code(201).send(ok('Account created', data))
    },
  )
}
