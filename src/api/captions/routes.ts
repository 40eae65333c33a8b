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

/** Fits four images in base64. */
const BODY_LIMIT_BYTES = 20 * 1_048_576
/** Per process, for all caption routes together. A request holds several copies of its body in memory. */
const MAX_CONCURRENT_LARGE_BODIES = 4
const SUCCESS_MESSAGES: Record<CaptionSource, string> = {
  model: 'Captions generated',
  template:
    'No caption provider is configured. These captions are templates around your own words; images and instructions have no effect.',
}

/** Time for everything besides the call to the caption provider. */
const MARGIN_MS = 5 * SECOND

/** Generated captions for the signed-in user. */
export const captionRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { captions, config } = context
  const largeBodies = createConcurrencyLimit({
    perProcess: MAX_CONCURRENT_LARGE_BODIES,
    busyMessage: 'Captions for your other images are still being generated. Try again when they are ready.',
  })

  for (const platform of [null, ...PLATFORMS]) {
    app.post(
      platform === null ? '/captions' : `/captions/${platform}`,
      {
        bodyLimit: BODY_LIMIT_BYTES,
        onRequest: async (request, reply) => {
          if (mayExceed(request, AUTHENTICATED_BODY_BYTES)) await largeBodies.enter(reply, request.user.userId)
        },
        config: { deadlineMs: config.CAPTIONS_TIMEOUT_MS + MARGIN_MS },
        schema: {
          ...operation(
            'captions',
            platform === null ? 'generateCaptions' : `generate${platformLabel(platform)}Captions`,
            platform === null ? 'Generate captions' : `Generate captions that fit ${platformLabel(platform)}`,
            {
              keyScope: 'captions:generate',
              description: 'Counts against `limits.maxCaptionGenerations` only when captions are returned.',
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
