import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { responseReader } from '../shared/responses.ts'

/** The fields we use of Mastodon's responses, each with a link to its description. */

const nullable = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]))

/** Parsed by `parseCount`, so that an invalid count does not invalidate the whole response. */
const count = Type.Optional(Type.Unknown())

/** https://docs.joinmastodon.org/entities/Token/ */
const Token = Type.Object({ access_token: Type.String({ minLength: 1 }), scope: Type.String() })
export const readToken = responseReader(Token)

/** https://docs.joinmastodon.org/entities/Account/ */
const Account = Type.Object({
  id: Type.String({ minLength: 1 }),
  username: Type.String({ minLength: 1 }),
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

/** https://docs.joinmastodon.org/entities/MediaAttachment/ */
const MediaAttachment = Type.Object({ id: Type.String({ minLength: 1 }) })
export const readMediaAttachment = responseReader(MediaAttachment)

/** https://docs.joinmastodon.org/entities/Status/ */
const Status = Type.Object({
  id: Type.String({ minLength: 1 }),
  created_at: Type.String(),
  /** `null`: never edited. Absent on servers that do not report it. */
  edited_at: nullable(Type.String()),
  /** HTML. */
  content: Type.String(),
  url: nullable(Type.String()),
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
  id: Type.String({ minLength: 1 }),
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

const limit = Type.Optional(Type.Integer({ minimum: 1 }))

/** https://docs.joinmastodon.org/entities/Instance/; compatible servers omit parts of it. */
const Instance = Type.Object({
  version: Type.Optional(Type.String()),
  configuration: Type.Object({
    statuses: Type.Optional(
      Type.Object({ max_characters: limit, max_media_attachments: limit, characters_reserved_per_url: limit }),
    ),
    media_attachments: Type.Optional(
      Type.Object({
        supported_mime_types: Type.Optional(Type.Array(Type.String())),
        image_size_limit: limit,
        image_matrix_limit: limit,
        video_size_limit: limit,
        description_limit: limit,
      }),
    ),
  }),
})
export type Instance = Static<typeof Instance>
export const readInstance = responseReader(Instance)

/** https://docs.joinmastodon.org/entities/Error/ */
const MastodonError = Type.Object({ error: Type.String({ minLength: 1 }), error_description: nullable(Type.String()) })
export const readError = responseReader(MastodonError)
