import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { beginIdentityLogin } from '../../commands/users/begin-identity-login.ts'
import { finishIdentityLogin } from '../../commands/users/finish-identity-login.ts'
import type { ApiContext } from '../../context.ts'
import {
  IdentityError,
  buildIdentityCallbackUrl,
  buildLoggedInUrl,
  buildLoginRefusedUrl,
  type LoginRefusal,
} from '../../domain/users/identity-login.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { createBindingCookie } from '../shared/binding-cookie.ts'
import { CallbackQuery, parseCallbackQuery } from '../shared/callback-query.ts'
import { operation } from '../openapi/operation.ts'
import { toClient } from './request-client.ts'
import type { RefreshCookie } from './refresh-cookie.ts'
import { GoogleLoginQuery } from './schema.ts'

/** Options of routes that wait for Google. The callback makes three calls in sequence: discovery, code exchange and signature keys. */
const WAITING = { config: { deadlineMs: 20 * SECOND }, exposeHeadRoute: false }

interface GoogleRoutesOptions {
  context: ApiContext
  refreshCookie: RefreshCookie
}

/**
 * The login with Google, for browsers. Every response redirects to a page of Google or of the frontend, also after an error. HEAD is
 * not available: a state is valid for a single call, which a link preview must not use up.
 */
export const googleRoutes: FastifyPluginAsyncTypebox<GoogleRoutesOptions> = async (app, { context, refreshCookie }) => {
  const { config, identity } = context
  const redirectUri = buildIdentityCallbackUrl(config.PUBLIC_URL)
  const binding = createBindingCookie(redirectUri)

  function refuse(request: FastifyRequest, reply: FastifyReply, refusal: LoginRefusal, cause?: unknown) {
    if (cause !== undefined) {
      const reason = cause instanceof IdentityError ? cause.reason : null
      const reasonFields = { platformCode: reason?.code, platformText: reason?.text }
      request.log.warn({ refusal, ...reasonFields, err: cause }, 'google login refused')
    }
    return reply.redirect(buildLoginRefusedUrl(config.FRONTEND_URL, refusal))
  }

  const errorHandler = (error: Error, request: FastifyRequest, reply: FastifyReply) =>
    void refuse(request, reply, 'google_auth_failed', error)

  app.get(
    '/google',
    {
      ...WAITING,
      errorHandler,
      schema: {
        ...operation('auth', 'beginGoogleLogin', 'Start a login with Google', {
          description: 'Navigate the browser to this URL; the browser must store the cookie of the response.',
          responseHeaders: { 302: ['Set-Cookie'] },
        }),
        querystring: GoogleLoginQuery,
        response: {
          302: Type.Null({ description: 'Redirects to Google, or to `{frontend}/login?error=google_auth_failed`' }),
        },
      },
    },
    async (request, reply) => {
      if (!identity) return refuse(request, reply, 'google_auth_failed')
      const attempt = await beginIdentityLogin({ ...context, identity }, redirectUri, request.query.timezone)
      binding.set(reply, attempt.binding)
      return reply.redirect(attempt.url)
    },
  )

  app.get(
    '/google/callback',
    {
      ...WAITING,
      errorHandler,
      schema: {
        ...operation('auth', 'finishGoogleLogin', 'Finish a login with Google; Google redirects the user here', {
          documented: { querystring: CallbackQuery },
          responseHeaders: { 302: ['Set-Cookie'] },
        }),
        response: {
          302: Type.Null({
            description:
              'Redirects to `{frontend}/auth/callback#accessToken=..` with the refresh cookie, or to ' +
              '`{frontend}/login?error=email_exists_different_provider|no_email|google_auth_failed|session_expired`',
          }),
        },
      },
    },
    async (request, reply) => {
      if (!identity) return refuse(request, reply, 'google_auth_failed')
      const query = parseCallbackQuery(request.query)
      if (!query) return refuse(request, reply, 'session_expired', new Error('A parameter of the callback comes twice'))
      const finished = await finishIdentityLogin(
        { ...context, identity },
        { redirectUri, query, binding: binding.read(request), ...toClient(request) },
      )
      if ('refusal' in finished) {
        if (finished.refusal !== 'session_expired') binding.clear(reply)
        return refuse(request, reply, finished.refusal, finished.cause)
      }
      binding.clear(reply)
      refreshCookie.set(reply, finished.tokens)
      return reply.redirect(buildLoggedInUrl(config.FRONTEND_URL, finished.tokens.accessToken))
    },
  )
}
