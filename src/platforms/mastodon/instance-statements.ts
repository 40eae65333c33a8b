import { Type, type Static } from '@sinclair/typebox'
import { MAX_MEDIA_ITEMS, MAX_TEXT_LENGTH, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { responseReader } from '../shared/responses.ts'
import type { Instance } from './responses.ts'

const limit = Type.Optional(Type.Integer({ minimum: 1 }))

/** What an instance states about itself. Invalid values are absent, the others are bounded. */
const InstanceStatements = Type.Object({
  /** Names also the software, if it is not Mastodon. */
  version: Type.String(),
  maxCharacters: limit,
  charactersPerLink: limit,
  maxMedia: limit,
  /** Only types that our posts may have. */
  mediaTypes: Type.Optional(Type.Array(Type.String())),
  imageBytes: limit,
  imagePixels: limit,
  videoBytes: limit,
  videoPixels: limit,
  videoFrameRate: limit,
  descriptionLength: limit,
})
export type InstanceStatements = Static<typeof InstanceStatements>

/** Statements as they are stored; `readAt` in milliseconds since 1970. */
const StoredStatements = Type.Object({ readAt: Type.Number(), statements: InstanceStatements })
export const readStoredStatements = responseReader(StoredStatements)

const MAX_VERSION_LENGTH = 100
const MAX_FILE_BYTES = 1_073_741_824
const MAX_PIXELS = 1_000_000_000
const MAX_FRAME_RATE = 1_000
const MAX_DESCRIPTION_LENGTH = 10_000
const MAX_LINK_LENGTH = 2_000

/** Bounds the statements of an instance, since a hostile server states anything. */
export function toStatements({ version, configuration }: Instance): InstanceStatements {
  const { statuses = {}, media_attachments: files = {} } = configuration
  const { image, video } = POSTING_RULES.mastodon.media
  const types = files.supported_mime_types
  return {
    version: typeof version === 'string' && version.length <= MAX_VERSION_LENGTH ? version : '',
    ...optional('maxCharacters', toLimit(statuses.max_characters, MAX_TEXT_LENGTH)),
    ...optional('charactersPerLink', toLimit(statuses.characters_reserved_per_url, MAX_LINK_LENGTH)),
    ...optional('maxMedia', toLimit(statuses.max_media_attachments, MAX_MEDIA_ITEMS)),
    ...(Array.isArray(types) && {
      mediaTypes: [...image.types, ...video.types].filter((type) => types.includes(type)),
    }),
    ...optional('imageBytes', toLimit(files.image_size_limit, MAX_FILE_BYTES)),
    ...optional('imagePixels', toLimit(files.image_matrix_limit, MAX_PIXELS)),
    ...optional('videoBytes', toLimit(files.video_size_limit, MAX_FILE_BYTES)),
    ...optional('videoPixels', toLimit(files.video_matrix_limit, MAX_PIXELS)),
    ...optional('videoFrameRate', toLimit(files.video_frame_rate_limit, MAX_FRAME_RATE)),
    ...optional('descriptionLength', toLimit(files.description_limit, MAX_DESCRIPTION_LENGTH)),
  }
}

/** Returns a positive integer up to `max`; undefined for anything else, so that the default applies. */
function toLimit(value: unknown, max: number): number | undefined {
  return Number.isInteger(value) && (value as number) > 0 ? Math.min(value as number, max) : undefined
}

function optional<Name extends string, T>(name: Name, value: T | undefined): Partial<Record<Name, T>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, T>)
}
