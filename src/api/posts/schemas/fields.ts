import { Type } from '@sinclair/typebox'
import { LATE_RANGE } from '../../../domain/posts/if-late.ts'
import {
  LATE_ACTIONS,
  MAX_HOLD_SECONDS,
  MEDIA_TYPES,
  POST_CLIENTS,
  POST_SOURCES,
  POST_STATUSES,
  type PostClient,
  type PostSource,
  type PostStatus,
} from '../../../domain/posts/post.ts'
import { Instant, nullable, stringEnum } from '../../shared/schemas/common.ts'

export const EXAMPLE_POST_ID = '6824b1f7c0a9d3e5f1a2b3c4'
export const EXAMPLE_MEDIA_KEY = 'posts/6824b1f7c0a9d3e5f1a2b3c4/3f0c8a52-6d1b-4f0e-9c7a-2b1d5e8f9a01.jpg'

/** The values of a hold. */
export const HOLD_RANGE = { minimum: 0, maximum: MAX_HOLD_SECONDS }

export const IfLateSchema = Type.Object(
  {
    action: stringEnum(LATE_ACTIONS, {
      description: '`skip` ends the delivery, without asking; `ask` fails it, and a retry publishes it then',
    }),
    afterMinutes: Type.Integer({ ...LATE_RANGE, description: 'After `dueAt`' }),
  },
  { title: 'IfLate', examples: [{ action: 'skip', afterMinutes: 60 }] },
)

export const Status = stringEnum<PostStatus>(POST_STATUSES, {
  title: 'PostStatus',
  description: 'Status of the whole post',
})

export const Source = stringEnum<PostSource>(POST_SOURCES, {
  title: 'PostSource',
  description: '`web` when the request had an `Origin`',
})

export const Client = stringEnum<PostClient>(POST_CLIENTS, {
  title: 'PostClient',
  description: 'What wrote the post: the program that the request named, an import, or `api` for any other program',
})

export const DueAt = nullable(
  Type.Unsafe<string>({
    ...Instant,
    description:
      'When delivery is due: `scheduledAt`, or later where too many posts of yours have that second (`TIME_CROWDED`), else the end of the hold (`holdSeconds`) after the request; null for drafts',
  }),
)

/**
 * The fields of a media item in requests and responses. The schema accepts `image/jpg` and unknown types: the posting rules
 * report per platform what cannot be published.
 */
export const mediaItemFields = {
  storageKey: Type.String({
    minLength: 1,
    maxLength: 1_024,
    description: 'The key that the media upload returned. It must start with your own prefix.',
    examples: [EXAMPLE_MEDIA_KEY],
  }),
  mimeType: Type.String({
    minLength: 1,
    maxLength: 100,
    description: `Allowed values: ${MEDIA_TYPES.join(', ')}`,
    examples: ['image/jpeg'],
  }),
  originalFilename: Type.Optional(Type.String({ maxLength: 255, examples: ['sunrise.jpg'] })),
  sizeBytes: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  width: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Pixels' })),
  height: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Pixels' })),
  duration: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Seconds, for videos' })),
  altText: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: 'Description for people who cannot see the media',
      examples: ['The sun rises over a harbour'],
    }),
  ),
}
