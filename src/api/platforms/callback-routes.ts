import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ATTEMPT_INVALID, finishConnect } from '../../commands/accounts/finish-connect.ts'
import type { Context } from '../../context.ts'
import {
  buildCallbackUrl,
  CONNECT_REASONS,
  buildSettingsUrl,
  type ConnectOutcome,
  type ConnectReason,
} from '../../domain/accounts/platform-connect.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { comesFromBrowser, createBindingCookie } from '../shared/binding-cookie.ts'
import { CallbackQuery, parametersOf } from '../shared/callback-query.ts'
import { operation } from '../openapi/operation.ts'
import { REDIRECTS } from './redirects.ts'

const Redirected = Type.Null({
  description:
    'To `{frontend}/settings?success=<p>_connected`, or `?error=<p>_auth_failed|<p>_connect_failed|<p>_state_invalid` ' +
    `with \`&reason=${CONNECT_REASONS.join('|')}\``,
})

/**
 * Where platforms send users back to, without a token of ours (spec 4.5). Whatever happens the user ends on the settings page of the
 * frontend. There is no HEAD: a state is good for one call, and not for somebody's look ahead.
 */
export const callbackRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { config } = context

  for (const { platform } of REDIRECTS) {
    const redirectUri = buildCallbackUrl(config.PUBLIC_URL, platform)
    const cookie = createBindingCookie(redirectUri)
    const end = (reply: FastifyReply, outcome: ConnectOutcome, reason: ConnectReason | null) =>
      reply.redirect(buildSettingsUrl(config.FRONTEND_URL, platform, outcome, reason))

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
          void end(reply, 'connect_failed', 'INTERNAL')
        },
      },
      async (request, reply) => {
        const query = parametersOf(request.query)
        const finished = query
          ? await finishConnect(context, {
              platform,
              redirectUri,
              query,
              binding: cookie.read(request),
              mayBeUnbound: config.CONNECT_COOKIE === 'browsers' && !comesFromBrowser(request),
            })
          : ATTEMPT_INVALID
        const { outcome, reason } = finished
        if (finished.cause !== undefined) logFailure(request, platform, finished)
        if (outcome !== 'state_invalid') cookie.clear(reply)
        return end(reply, outcome, reason)
      },
    )
  }
}

/** OAuth names its errors (`access_denied`, `invalid_client`): for operators that word is often all there is to go by. */
function logFailure(
  { log }: FastifyRequest,
  platform: Platform,
  { reason, cause, platformReason }: Awaited<ReturnType<typeof finishConnect>>,
): void {
  const words = { platformCode: platformReason?.code, platformText: platformReason?.text }
  log[reason === 'INTERNAL' ? 'error' : 'warn'](
    { platform, reason, ...words, err: cause },
    'connecting an account failed',
  )
}
