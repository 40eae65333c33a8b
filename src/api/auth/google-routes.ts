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
import { CallbackQuery, parametersOf } from '../shared/callback-query.ts'
import { operation } from '../openapi/operation.ts'
import { clientOf } from './client.ts'
import type { RefreshCookie } from './refresh-cookie.ts'

/** Discovery, the exchange of the code and the keys of the signature, one after another. */
const waiting = { config: { deadlineMs: 20 * SECOND }, exposeHeadRoute: false }

const redirected = (to: string) => ({ response: { 302: Type.Null({ description: to }) } })

interface Options {
  context: ApiContext
  refreshCookie: RefreshCookie
}

/**
 * The login with Google, for browsers. Whatever happens the user ends on a page: of the provider, or of the frontend. There is no HEAD:
 * a state is good for one call, and not for somebody's look ahead.
 */
export const googleRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { context, refreshCookie }) => {
  const { config, identity } = context
  const redirectUri = buildIdentityCallbackUrl(config.PUBLIC_URL)
  const binding = createBindingCookie(redirectUri)

  function refuse(request: FastifyRequest, reply: FastifyReply, refusal: LoginRefusal, cause?: unknown) {
    if (cause !== undefined) {
      const reason = cause instanceof IdentityError ? cause.reason : null
      const words = { platformCode: reason?.code, platformText: reason?.text }
      request.log.warn({ refusal, ...words, err: cause }, 'a login with Google was refused')
    }
    return reply.redirect(buildLoginRefusedUrl(config.FRONTEND_URL, refusal))
  }

  const errorHandler = (error: Error, request: FastifyRequest, reply: FastifyReply) =>
    void refuse(request, reply, 'google_auth_failed', error)

  app.get(
    '/google',
    {
      ...waiting,
      errorHandler,
      schema: {
        ...operation('auth', 'beginGoogleLogin', 'Begin to log in with Google', {
          description: 'Send the browser itself here; it has to keep the cookie that comes along.',
          responseHeaders: { 302: ['Set-Cookie'] },
        }),
        ...redirected('To the page of Google, or to `{frontend}/login?error=google_auth_failed`'),
      },
    },
    async (request, reply) => {
      if (!identity) return refuse(request, reply, 'google_auth_failed')
      const begun = await beginIdentityLogin({ ...context, identity }, redirectUri)
      binding.set(reply, begun.binding)
      return reply.redirect(begun.url)
    },
  )

  app.get(
    '/google/callback',
    {
      ...waiting,
      errorHandler,
      schema: {
        ...operation('auth', 'finishGoogleLogin', 'Where Google sends the user back to', {
          documented: { querystring: CallbackQuery },
          responseHeaders: { 302: ['Set-Cookie'] },
        }),
        ...redirected(
          'To `{frontend}/auth/callback#accessToken=..` with the refresh cookie, or to ' +
            '`{frontend}/login?error=email_exists_different_provider|no_email|google_auth_failed|session_expired`',
        ),
      },
    },
    async (request, reply) => {
      if (!identity) return refuse(request, reply, 'google_auth_failed')
      const query = parametersOf(request.query)
      if (!query) return refuse(request, reply, 'session_expired')
      const finished = await finishIdentityLogin(
        { ...context, identity },
        { redirectUri, query, binding: binding.read(request), ...clientOf(request) },
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
