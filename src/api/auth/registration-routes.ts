import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { requestCode } from '../../commands/users/request-code.ts'
import { findProvenAddress, signUp } from '../../commands/users/sign-up.ts'
import { verifyCode } from '../../commands/users/verify-code.ts'
import type { ApiContext } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { limitBody, mayExceed } from '../plugins/body-sizes.ts'
import { requireOwnOrigin } from '../plugins/browser-security.ts'
import { createConcurrencyLimit } from '../plugins/concurrency-limit.ts'
import { ANONYMOUS_BODY_BYTES } from '../plugins/json-bodies.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { toClient } from './request-client.ts'
import type { DeviceCookie } from './device-cookie.ts'
import { presentUser } from './present.ts'
import type { RefreshCookie } from './refresh-cookie.ts'
import { AddressBody, LoggedIn, SignUpBody, VerificationHeaders, Verified, VerifyCodeBody } from './schema.ts'
import { createVerificationCookie } from './verification-cookie.ts'

/** Fits an avatar of 5 MB in base64. */
const SIGN_UP_LIMIT_BYTES = 8 * 1024 * 1024
/** Per process. A request holds several copies of its body in memory. */
const MAX_CONCURRENT_LARGE_BODIES = 4
const VERIFICATION_HEADER = 'x-verification-token'

interface RegistrationRoutesOptions {
  context: ApiContext
  refreshCookie: RefreshCookie
  deviceCookie: DeviceCookie
}

export const registrationRoutes: FastifyPluginAsyncTypebox<RegistrationRoutesOptions> = async (app, options) => {
  const { context, refreshCookie, deviceCookie } = options
  const verificationCookie = createVerificationCookie(context.config)
  const fromOwnPages = requireOwnOrigin(context.config)
  const largeBodies = createConcurrencyLimit({
    perProcess: MAX_CONCURRENT_LARGE_BODIES,
    busyMessage: 'This address is already signing up. Try again in a few seconds.',
  })

  /** Returns the verification tokens in header and cookie, which are available before the body. */
  function readVerificationTokens(request: FastifyRequest): string[] {
    return [request.headers[VERIFICATION_HEADER], verificationCookie.read(request)].filter(
      (token) => typeof token === 'string',
    )
  }

  app.post(
    '/request-otp',
    {
      schema: {
        ...operation(
          'auth',
          'requestCode',
          'Send a one-time code to an address; the response is the same for every address',
        ),
        body: AddressBody,
        response: { 201: Acknowledged, ...errorResponses },
      },
    },
    async (request, reply) => {
      await requestCode(context, { ...request.body, ...toClient(request) })
      return reply.code(201).send(acknowledged('An email is on its way to this address. Check your inbox.'))
    },
  )

  app.post(
    '/verify-otp',
    {
      schema: {
        ...operation('auth', 'verifyCode', 'Verify an address with its one-time code', {
          errors: ['OTP_INVALID'],
          responseHeaders: { 200: ['Set-Cookie'] },
        }),
        body: VerifyCodeBody,
        response: { 200: success(Verified), ...errorResponses },
      },
    },
    async (request, reply) => {
      const verified = await verifyCode(context, { ...request.body, ...toClient(request) })
      verificationCookie.set(reply, verified)
      const { email, verificationToken } = verified
      return ok('Address verified', { email, verificationToken })
    },
  )

  app.post(
    '/signup',
    {
      bodyLimit: SIGN_UP_LIMIT_BYTES,
      async onRequest(request) {
        if (verificationCookie.read(request) !== undefined) await fromOwnPages(request)
      },
      /** Reads a large body, which only an avatar causes, only from clients with a verified address. */
      async preParsing(request, reply, body) {
        if (!mayExceed(request, ANONYMOUS_BODY_BYTES)) return body
        const address = await findProvenAddress(context, readVerificationTokens(request))
        if (address !== null) await largeBodies.enter(reply, address)
        else if (request.headers['content-length'] !== undefined) throw createTooLargeError()
        return address === null ? limitBody(body, ANONYMOUS_BODY_BYTES) : body
      },
      schema: {
        ...operation('auth', 'signUp', 'Create an account for a verified address and log in', {
          description:
            'Requires the `verificationToken` of `verify-otp` in its cookie, in the header `X-Verification-Token`, or in the body. ' +
            'A body above 64 KiB, with a large avatar, requires it in the cookie or the header. Deployments without address verification reject such bodies.',
          errors: ['ADDRESS_NOT_VERIFIED', 'ADDRESS_TAKEN', 'FORBIDDEN'],
          responseHeaders: { 201: ['Set-Cookie'] },
          documented: { headers: VerificationHeaders },
        }),
        body: SignUpBody,
        response: { 201: success(LoggedIn), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { verificationToken, ...account } = request.body
      const verificationTokens = [...readVerificationTokens(request), ...(verificationToken ? [verificationToken] : [])]
      const { user, ...tokens } = await signUp(context, { ...account, verificationTokens, ...toClient(request) })
      refreshCookie.set(reply, tokens)
      verificationCookie.clear(reply)
      deviceCookie.remember(request, reply, user._id)
      const data = { accessToken: tokens.accessToken, user: presentUser(user) }
      return reply.code(201).send(ok('Account created', data))
    },
  )
}

function createTooLargeError(): ServiceError {
  return new ServiceError(
    'PAYLOAD_TOO_LARGE',
    'Request body is too large. Verify the address first, or sign up without an avatar and upload it afterwards.',
  )
}
