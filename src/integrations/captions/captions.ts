import type { OpenAI } from 'openai'
import {
  CAPTIONS_PER_REQUEST,
  MAX_CAPTION_LENGTH,
  buildTemplateCaptions,
  type CaptionSource,
  type CaptionInput,
} from '../../domain/captions/captions.ts'
import { parseForeignJson } from '../../domain/shared/json-text.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import type { PostingRules } from '../../domain/posts/posting-rules.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { cappedFetch } from '../shared/capped-fetch.ts'
import { normalizeType } from '../storage/stored-files.ts'

const MAX_RESPONSE_BYTES = 2 * 1_048_576
const RETRIES = 1
/** The wait after a response of a busy provider that states none. */
const BUSY_SECONDS = 5

interface CaptionPicture {
  type: string
  bytes: Uint8Array
}

interface CaptionRequest extends CaptionInput {
  pictures: CaptionPicture[]
  /** The platform's rules, if there is a platform. */
  rules: PostingRules | null
}

export interface CaptionProvider {
  name: CaptionSource
  /**
   * Returns captions that the caller still has to shorten to the platform's limits.
   * @throws ServiceError CAPTION_PROVIDER_FAILED, CAPTION_REFUSED
   */
  generate(request: CaptionRequest, options: { signal: AbortSignal }): Promise<string[]>
}

/** Builds captions from templates around the user's words, for services without a provider. */
export function createTemplateCaptions(): CaptionProvider {
  return {
    name: 'template',
    generate: async ({ rules, ...input }) => buildTemplateCaptions(input, rules),
  }
}

interface CaptionOptions {
  /** Base address of an OpenAI-compatible API. */
  url: string
  apiKey: string
  model: string
  userAgent: string
  /** Deadline of a whole generation, retries included. */
  timeoutMs: number
}

/** Generates captions with any OpenAI-compatible API. Loads the library with the first request. */
export function createProviderCaptions({ url, apiKey, model, userAgent, timeoutMs }: CaptionOptions): CaptionProvider {
  let opened: Promise<OpenAI> | undefined

  async function open(): Promise<OpenAI> {
    const { OpenAI } = await import('openai')
    return new OpenAI({
      apiKey,
      baseURL: url,
      maxRetries: RETRIES,
      timeout: timeoutMs,
      fetch: cappedFetch({ maxBytes: MAX_RESPONSE_BYTES, userAgent }),
      // Otherwise the library reads these from the environment.
      organization: null,
      project: null,
      logLevel: 'off',
    })
  }

  return {
    name: 'model',
    async generate(request, { signal }) {
      const client = await (opened ??= open())
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      let completion: OpenAI.ChatCompletion
      try {
        completion = await client.chat.completions.create(
          { model, messages: toMessages(request), response_format: RESPONSE_FORMAT },
          { signal: deadline },
        )
      } catch (error) {
        signal.throwIfAborted()
        throw toServiceError(error as Failure, deadline.aborted)
      }
      return readCompletion(completion)
    },
  }
}

const RESPONSE_FORMAT = {
  type: 'json_schema',
  json_schema: {
    name: 'captions',
    strict: true,
    schema: {
      type: 'object',
      properties: { captions: { type: 'array', items: { type: 'string' } } },
      required: ['captions'],
      additionalProperties: false,
    },
  },
} as const

function toMessages({ prompt, text, tone, platform, pictures, rules }: CaptionRequest) {
  const longest = Math.min(MAX_CAPTION_LENGTH, rules?.text[0].max ?? MAX_CAPTION_LENGTH)
  const instructions = [
    `You write captions for posts on ${platform ? platformLabel(platform) : 'social media'}.`,
    `Answer with a JSON object {"captions": [..]} of ${CAPTIONS_PER_REQUEST} different captions, as plain text without markup.`,
    `No caption may be longer than ${longest} characters.`,
    ...(tone ? [`The tone is ${JSON.stringify(tone)}.`] : []),
    'Write in the language of the request.',
  ]
  const task = text ? `${prompt}\n\nThe post as it is so far:\n${text}` : prompt
  return [
    { role: 'system' as const, content: instructions.join('\n') },
    {
      role: 'user' as const,
      content: [
        { type: 'text' as const, text: task },
        ...pictures.map(({ type, bytes }) => ({
          type: 'image_url' as const,
          image_url: { url: `data:${normalizeType(type)};base64,${Buffer.from(bytes).toString('base64')}` },
        })),
      ],
    },
  ]
}

function readCompletion(completion: OpenAI.ChatCompletion): string[] {
  const choice = completion.choices?.[0]
  if (choice?.message?.refusal || choice?.finish_reason === 'content_filter') throw refused()
  const captions = parseCaptions(choice?.message?.content)
  if (captions === null) throw failed('The caption provider sent an unusable response. Try again.')
  return captions
}

function parseCaptions(content: unknown): string[] | null {
  if (typeof content !== 'string') return null
  // Some models wrap the JSON despite their instructions.
  const json = parseForeignJson(content.replace(/^\s*```(?:json)?|```\s*$/g, '')) as
    { captions?: unknown } | null | undefined
  const captions = Array.isArray(json?.captions) ? json.captions : []
  const texts = captions.filter((caption) => typeof caption === 'string' && caption.trim() !== '')
  return texts.length > 0 ? texts : null
}

interface Failure {
  status?: number
  code?: string | null
  headers?: Headers
}

/** Leaves out the provider's message, which may repeat the key. */
function toServiceError({ status, code, headers }: Failure, isLate: boolean): ServiceError {
  const cause = new Error(`the provider answered ${status ?? 'nothing'}`)
  if (isLate) return failed('The caption provider did not answer in time. Try again.', cause)
  if (code === 'content_filter' || code === 'content_policy_violation') return refused(cause)
  if (status === 429) {
    const stated = Number(headers?.get('retry-after') ?? Number.NaN)
    const retryAfterSeconds = stated > 0 ? Math.ceil(stated) : BUSY_SECONDS
    return failed('The caption provider is busy. Try again later.', cause, { retryAfterSeconds })
  }
  return failed('The caption provider is not available. Try again later.', cause)
}

function failed(message: string, cause?: unknown, options: { retryAfterSeconds?: number } = {}): ServiceError {
  return new ServiceError('CAPTION_PROVIDER_FAILED', message, { cause, ...options })
}

function refused(cause?: unknown): ServiceError {
  return new ServiceError(
    'CAPTION_REFUSED',
    'The caption provider refused this request. Change the prompt or the pictures.',
    {
      cause,
    },
  )
}
