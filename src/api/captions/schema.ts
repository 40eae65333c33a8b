import { Type } from '@sinclair/typebox'
import { CAPTION_SOURCES } from '../../domain/captions/captions.ts'
import { MAX_TEXT_LENGTH } from '../../domain/posts/posting-rules.ts'
import { stringEnum } from '../shared/schemas/common.ts'

const MAX_PROMPT = 2_000
const MAX_TONE = 50
const MAX_PICTURES = 4

export const GenerateCaptionsBody = Type.Object(
  {
    prompt: Type.String({
      minLength: 1,
      maxLength: MAX_PROMPT,
      pattern: '\\S',
      description: 'The topic of the captions',
    }),
    media: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: MAX_PICTURES,
        description: 'Base64 data URLs of PNG, JPEG or WebP images',
      }),
    ),
    text: Type.Optional(Type.String({ maxLength: MAX_TEXT_LENGTH, description: 'The current text of the post' })),
    tone: Type.Optional(
      Type.String({ maxLength: MAX_TONE, description: 'For example professional, casual, friendly, funny or excited' }),
    ),
  },
  { title: 'GenerateCaptions' },
)

export const GeneratedCaptions = Type.Object(
  {
    provider: stringEnum(CAPTION_SOURCES, {
      description: '`template` when no caption provider is configured: phrases around the words of the request',
    }),
    captions: Type.Array(Type.String()),
    usage: Type.Object(
      { used: Type.Integer(), limit: Type.Integer() },
      { description: 'Usage of the plan, including this request' },
    ),
  },
  { title: 'GeneratedCaptions' },
)
