import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { finishConnect, refuseAttempt } from '../../commands/accounts/finish-connect.ts'
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
import { isFromBrowser, createBindingCookie } from '../shared/binding-cookie.ts'
import { CallbackQuery, parseCallbackQuery } from '../shared/callback-query.ts'
import { operation } from '../openapi/operation.ts'
import { REDIRECT_PLATFORMS } from './redirect-platforms.ts'

const SettingsRedirect = Type.Null({
  description:
    'Redirects to `{frontend}/settings?success=<p>_connected`, or `?error=<p>_auth_failed|<p>_connect_failed|<p>_state_invalid` ' +
    `with \`&reason=${CONNECT_REASONS.join('|')}\`; with \`&offer=<id>\` when the login has several accounts (\`getAccountOffer\`)`,
})

/**
 * The OAuth callbacks, without an access token. Every response redirects to the settings page of the frontend, also after an
 * error. HEAD is not available: a state is valid for a single call, which a link preview must not use up.
 */
export const callbackRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { config } = context

  for (const { platform } of REDIRECT_PLATFORMS) {
    const redirectUri = buildCallbackUrl(config.PUBLIC_URL, platform)
    const cookie = createBindingCookie(redirectUri)
    const redirectToSettings = (
      reply: FastifyReply,
      ...result: [outcome: ConnectOutcome, reason: ConnectReason | null, offer?: string | null]
    ) => reply.redirect(buildSettingsUrl(config.FRONTEND_URL, platform, ...result))

    app.get(
      `/${platform}/callback`,
      {
        config: { deadlineMs: 30 * SECOND },
        exposeHeadRoute: false,
        schema: {
          ...operation(
            'platforms',
            `finish${platformLabel(platform)}Connection`,
            `Finish connecting ${platformLabel(platform)}; ${platformLabel(platform)} redirects the user here`,
            { documented: { querystring: CallbackQuery }, responseHeaders: { 302: ['Set-Cookie'] } },
          ),
          response: { 302: SettingsRedirect },
        },
        errorHandler(error, request, reply) {
          const level = error instanceof ServiceError && error.statusCode < 500 ? 'info' : 'error'
          request.log[level]({ err: error, platform }, 'account connection failed')
          void redirectToSettings(reply, 'connect_failed', 'INTERNAL')
        },
      },
      async (request, reply) => {
        const query = parseCallbackQuery(request.query)
        const finished = query
          ? await finishConnect(context, {
              platform,
              redirectUri,
              query,
              binding: cookie.read(request),
              mayBeUnbound: config.CONNECT_COOKIE === 'browsers' && !isFromBrowser(request),
            })
          : refuseAttempt('A parameter of the callback comes twice')
        const { outcome, reason, offer } = finished
        if (finished.cause !== undefined) logFailure(request, platform, finished)
        if (outcome !== 'state_invalid') cookie.clear(reply)
        return redirectToSettings(reply, outcome, reason, offer)
      },
    )
  }
}

/** Logs a failed connection with the OAuth error (`access_denied`, `invalid_client`), often the only clue for operators. */
function logFailure(
  { log }: FastifyRequest,
  platform: Platform,
  { reason, cause, platformReason }: Awaited<ReturnType<typeof finishConnect>>,
): void {
  const reasonFields = { platformCode: platformReason?.code, platformText: platformReason?.text }
  log[reason === 'INTERNAL' ? 'error' : 'warn'](
    { platform, reason, ...reasonFields, err: cause },
    'account connection failed',
  )
}
