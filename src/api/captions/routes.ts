import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { generateCaptions } from '../../commands/captions/generate-captions.ts'
import type { Context } from '../../context.ts'
import type { CaptionSource } from '../../domain/captions/captions.ts'
import { PLATFORMS, platformLabel } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { mayExceed } from '../plugins/body-sizes.ts'
import { createConcurrencyLimit } from '../plugins/concurrency-limit.ts'
import { AUTHENTICATED_BODY_BYTES } from '../plugins/json-bodies.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { GenerateCaptionsBody, GeneratedCaptions } from './schema.ts'

/** Four pictures in base64 (contract section 1). */
const BODY_LIMIT_BYTES = 20 * 1_048_576
/** Per process, for all these routes together: each body is in memory several times over while its request lasts. */
const MAX_CONCURRENT_LARGE_BODIES = 4
const SUCCESS_MESSAGES: Record<CaptionSource, string> = {
  model: 'Captions generated',
  template:
    'No caption provider is configured. These captions are templates around your own words; pictures and instructions have no effect.',
}

/** What the route needs besides the provider. */
const MARGIN_MS = 5 * SECOND

/** Contract section 10, for authenticated users. */
export const captionRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { captions, config } = context
  const largeBodies = createConcurrencyLimit({
    perProcess: MAX_CONCURRENT_LARGE_BODIES,
    busyMessage: 'Captions for other pictures of yours are still being generated. Try again when they are there.',
  })

  for (const platform of [null, ...PLATFORMS]) {
    app.post(
      platform === null ? '/captions' : `/captions/${platform}`,
      {
        bodyLimit: BODY_LIMIT_BYTES,
        onRequest: async (request, reply) => {
          if (mayExceed(request, AUTHENTICATED_BODY_BYTES)) largeBodies.enter(reply, request.user.userId)
        },
        config: { deadlineMs: config.CAPTIONS_TIMEOUT_MS + MARGIN_MS },
        schema: {
          ...operation(
            'captions',
            platform === null ? 'generateCaptions' : `generate${platformLabel(platform)}Captions`,
            platform === null ? 'Generate captions' : `Generate captions that fit ${platformLabel(platform)}`,
            {
              description: 'Counts against `limits.maxCaptionGenerations` when there is an answer, and only then.',
              errors: ['CAPTION_LIMIT_REACHED', 'CAPTION_REFUSED', 'CAPTION_PROVIDER_FAILED'],
            },
          ),
          body: GenerateCaptionsBody,
          response: { 200: success(GeneratedCaptions), ...errorResponses },
        },
      },
      async ({ user, body, deadline }) => {
        const { prompt, media = [], text = null, tone = null } = body
        const captionRequest = { user, prompt, media, text, tone, platform }
        const generated = await generateCaptions(context, captionRequest, { signal: deadline })
        return ok(SUCCESS_MESSAGES[captions.name], { provider: captions.name, ...generated })
      },
    )
  }
}
