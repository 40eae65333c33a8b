import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { responseReader } from '../shared/responses.ts'

/** The fields we use of Mastodon's responses, each with a link to its description. */

const nullable = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]))

/** Parsed by `parseCount`, so that an invalid count does not invalidate the whole response. */
const count = Type.Optional(Type.Unknown())

/** Ids are stored, and a hostile server chooses them. */
const id = Type.String({ minLength: 1, maxLength: 128 })
/** Longer than any token or client id in use, opaque or JWT. */
const secret = Type.String({ minLength: 1, maxLength: 4_096 })

/** https://docs.joinmastodon.org/entities/Token/ */
const Token = Type.Object({ access_token: secret, scope: Type.String() })
export type Token = Static<typeof Token>
export const readToken = responseReader(Token)

/** https://docs.joinmastodon.org/entities/Account/ */
const Account = Type.Object({
  id,
  username: Type.String({ minLength: 1, maxLength: 255 }),
  display_name: nullable(Type.String()),
  avatar: nullable(Type.String()),
  /** HTML. */
  note: nullable(Type.String()),
  followers_count: count,
})
export type Account = Static<typeof Account>
export const readAccount = responseReader(Account)

/** https://docs.joinmastodon.org/entities/Application/ */
const Application = Type.Object({ name: Type.String() })
export const readApplication = responseReader(Application)

/** https://docs.joinmastodon.org/entities/CredentialApplication/ */
const RegisteredApplication = Type.Object({ client_id: secret, client_secret: secret })
export const readRegisteredApplication = responseReader(RegisteredApplication)

/** https://docs.joinmastodon.org/entities/MediaAttachment/ */
const MediaAttachment = Type.Object({
  id,
  /** Read leniently, so that an odd file does not make its whole status unreadable. */
  type: Type.Optional(Type.Unknown()),
  description: Type.Optional(Type.Unknown()),
})
export type MediaAttachment = Static<typeof MediaAttachment>
export const readMediaAttachment = responseReader(MediaAttachment)

/** https://docs.joinmastodon.org/entities/Status/ */
const Status = Type.Object({
  id,
  created_at: Type.String(),
  /** `null`: never edited. Absent on servers that do not report it. */
  edited_at: nullable(Type.String()),
  /** HTML. */
  content: Type.String(),
  url: nullable(Type.String()),
  /** Absent on servers that do not report it. */
  in_reply_to_id: nullable(Type.String()),
  reblog: Type.Optional(Type.Unknown()),
  /** The application that published it, by its registered name. */
  application: nullable(Application),
  media_attachments: Type.Array(MediaAttachment),
})
export type Status = Static<typeof Status>
export const readStatus = responseReader(Status)
export const readStatuses = responseReader(Type.Array(Status))

/** A status with only its counts. Quotes are counted since 4.5. */
const CountedStatus = Type.Object({
  id,
  favourites_count: count,
  reblogs_count: count,
  quotes_count: count,
  replies_count: count,
})
export type CountedStatus = Static<typeof CountedStatus>
export const readCountedStatus = responseReader(CountedStatus)
export const readCountedStatuses = responseReader(Type.Array(CountedStatus))

/** https://docs.joinmastodon.org/entities/StatusSource/ */
const StatusSource = Type.Object({ text: Type.String() })
export const readStatusSource = responseReader(StatusSource)

/** A status with what an edit repeats, because it removes what it leaves out. */
export const readEditableStatus = responseReader(
  Type.Object({
    ...Status.properties,
    spoiler_text: nullable(Type.String()),
    sensitive: nullable(Type.Boolean()),
    language: nullable(Type.String()),
    poll: Type.Optional(Type.Unknown()),
  }),
)

/** Bounded when it is used, so that one invalid value does not invalidate the whole document. */
const stated = Type.Optional(Type.Unknown())

const Configuration = Type.Object({
  statuses: Type.Optional(
    Type.Object({ max_characters: stated, max_media_attachments: stated, characters_reserved_per_url: stated }),
  ),
  media_attachments: Type.Optional(
    Type.Object({
      supported_mime_types: stated,
      image_size_limit: stated,
      image_matrix_limit: stated,
      video_size_limit: stated,
      video_matrix_limit: stated,
      video_frame_rate_limit: stated,
      description_limit: stated,
    }),
  ),
})

/** https://docs.joinmastodon.org/entities/Instance/; compatible servers omit parts of it. */
const Instance = Type.Object({ version: stated, configuration: Configuration })
export type Instance = Static<typeof Instance>
export const readInstance = responseReader(Instance)

/** https://docs.joinmastodon.org/entities/V1_Instance/; servers without `configuration` may state `max_toot_chars`. */
const V1Instance = Type.Object({
  version: stated,
  configuration: Type.Optional(Configuration),
  max_toot_chars: stated,
})
const readV1 = responseReader(V1Instance)

/** Reads the older document as the newer one. */
export function readV1Instance(text: string): Instance | null {
  const found = readV1(text)
  if (!found) return null
  const { version, configuration = { statuses: { max_characters: found.max_toot_chars } } } = found
  return { version, configuration }
}

/** https://docs.joinmastodon.org/entities/Error/ */
const MastodonError = Type.Object({ error: Type.String({ minLength: 1 }), error_description: nullable(Type.String()) })
export const readError = responseReader(MastodonError)
