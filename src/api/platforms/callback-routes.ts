import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { finishConnect } from '../../commands/finish-connect.ts'
import type { Context } from '../../context.ts'
import { callbackUrl, settingsUrl, type ConnectOutcome } from '../../domain/platform-connect.ts'
import { platformLabel } from '../../domain/platforms.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { SECOND } from '../../domain/times.ts'
import { createBindingCookie } from '../binding-cookie.ts'
import { CallbackQuery, parametersOf } from '../callback-query.ts'
import { operation } from '../openapi/operation.ts'
import { REDIRECTS } from './redirects.ts'

const Redirected = Type.Null({
  description:
    'To `{frontend}/settings?success=<p>_connected`, or `?error=<p>_auth_failed|<p>_connect_failed|<p>_state_invalid`',
})

const UNREADABLE: Awaited<ReturnType<typeof finishConnect>> = { outcome: 'state_invalid' }

/**
 * Where platforms send users back to, without a token of ours (spec 4.5). Whatever happens the user ends on the settings page of the
 * frontend. There is no HEAD: a state is good for one call, and not for somebody's look ahead.
 */
export const callbackRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { config } = context

  for (const { platform } of REDIRECTS) {
    const redirectUri = callbackUrl(config.PUBLIC_URL, platform)
    const cookie = createBindingCookie(redirectUri)
    const end = (reply: FastifyReply, outcome: ConnectOutcome) =>
      reply.redirect(settingsUrl(config.FRONTEND_URL, platform, outcome))

    app.get(
      `/${platform}/callback`,
      {
        config: { deadlineMs: 30 * SECOND },
        exposeHeadRoute: false,
        schema: {
          ...operation(
            'platforms',
            `finish${platformLabel(platform)}Connection`,
            `Where ${platformLabel(platform)} sends the user back to`,
            { documented: { querystring: CallbackQuery }, responseHeaders: { 302: ['Set-Cookie'] } },
          ),
          response: { 302: Redirected },
        },
        errorHandler(error, request, reply) {
          const level = error instanceof ServiceError && error.statusCode < 500 ? 'info' : 'error'
          request.log[level]({ err: error, platform }, 'connecting an account failed')
          void end(reply, 'connect_failed')
        },
      },
      async (request, reply) => {
        const query = parametersOf(request.query)
        const isNavigation = request.headers['sec-fetch-mode'] === 'navigate'
        const { outcome, cause } = query
          ? await finishConnect(context, {
              platform,
              redirectUri,
              query,
              binding: cookie.read(request),
              mayBeUnbound: config.CONNECT_COOKIE === 'browsers' && !isNavigation,
            })
          : UNREADABLE
        if (cause) request.log.warn({ err: cause, platform }, 'connecting an account was refused')
        if (outcome !== 'state_invalid') cookie.clear(reply)
        return end(reply, outcome)
      },
    )
  }
}
