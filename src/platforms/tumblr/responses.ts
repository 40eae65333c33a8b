import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { elementReader, responseReader } from '../shared/responses.ts'

/**
 * The fields we use of Tumblr's responses (https://www.tumblr.com/docs/en/api/v2). All but the three OAuth calls use
 * one envelope.
 */
const envelopeReader = <T extends TSchema>(response: T) => {
  const read = responseReader(Type.Object({ response }))
  return (text: string): Static<T> | null => (read(text) as { response: Static<T> } | null)?.response ?? null
}

const text = Type.String({ minLength: 1 })

/** Parsed by `parseCount`, so that an invalid count does not invalidate the whole response. */
const count = Type.Optional(Type.Unknown())

const Blog = Type.Object({
  name: text,
  title: Type.Optional(Type.String()),
  uuid: Type.Optional(text),
  primary: Type.Optional(Type.Boolean()),
  followers: count,
})
export type Blog = Static<typeof Blog>
export const toBlog = elementReader(Blog)
/** https://www.tumblr.com/docs/en/api/v2#userinfo--get-a-users-information */
export const readUser = envelopeReader(Type.Object({ user: Type.Object({ blogs: Type.Array(Type.Unknown()) }) }))

/** https://www.tumblr.com/docs/en/api/v2#userlimits--get-a-users-limits */
export const readLimits = envelopeReader(
  Type.Object({
    user: Type.Record(
      Type.String(),
      Type.Object({ limit: Type.Optional(Type.Number()), remaining: Type.Number(), reset_at: Type.Number() }),
    ),
  }),
)

/** Ids exceed the range of numbers, so only strings are usable. */
export const readCreated = envelopeReader(Type.Object({ id: text }))

const Post = Type.Object({
  id_string: text,
  /** The id of the draft that became this post; visible to its author only. */
  genesis_post_id: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  /** When it was published, seconds since 1970. */
  timestamp: Type.Optional(Type.Number()),
  content: Type.Optional(
    Type.Array(
      Type.Object({
        type: Type.String(),
        text: Type.Optional(Type.String()),
        media: Type.Optional(Type.Unknown()),
        alt_text: Type.Optional(Type.String()),
      }),
    ),
  ),
})
export type Post = Static<typeof Post>
export const readPost = envelopeReader(Post)
export const readPosts = envelopeReader(Type.Object({ posts: Type.Array(Post) }))

/** https://www.tumblr.com/docs/en/api/v2#info---retrieve-blog-info */
export const readBlogInfo = envelopeReader(Type.Object({ blog: Type.Object({ name: text }) }))

/** A post with only its number of notes. */
const NotedPost = Type.Object({ id_string: text, note_count: count })
export type NotedPost = Static<typeof NotedPost>
export const readNotedPosts = envelopeReader(Type.Object({ posts: Type.Array(NotedPost) }))

/** https://www.tumblr.com/docs/en/api/v2#notes---get-notes-for-a-specific-post, in the mode `conversation` */
const Notes = Type.Object({ total_notes: count, total_likes: count, total_reblogs: count })
export type Notes = Static<typeof Notes>
export const readNotes = envelopeReader(Notes)

/** Part of every response. */
export const readMeta = responseReader(Type.Object({ meta: Type.Object({ status: Type.Integer() }) }))

/** https://www.tumblr.com/docs/en/api/v2#error-responses */
export const readErrors = responseReader(
  Type.Object({
    errors: Type.Array(
      Type.Object({
        code: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
        title: Type.Optional(Type.Unknown()),
        detail: Type.Optional(Type.Unknown()),
      }),
    ),
  }),
)

/** Parses the response of an OAuth call: a form (RFC 5849 sections 2.1 and 2.3). */
export function readTokenPair(response: string) {
  const fields = new URLSearchParams(response)
  const [token, secret] = [fields.get('oauth_token'), fields.get('oauth_token_secret')]
  return token && secret ? { token, secret, isConfirmed: fields.get('oauth_callback_confirmed') === 'true' } : null
}
