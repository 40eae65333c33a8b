import { Type, type Static } from '@sinclair/typebox'
import { responseReader } from '../responses.ts'

/** The fields we use of responses that several hosts of the Graph API share. */

const text = Type.String({ minLength: 1 })

/** https://developers.facebook.com/docs/graph-api/overview: the id of an object that is read or created. */
export const readId = responseReader(Type.Object({ id: text }))

/** https://developers.facebook.com/docs/graph-api/overview#deleting, and of updates. */
export const readSuccess = responseReader(Type.Object({ success: Type.Literal(true) }))

/** A published container. `crossreshare_to_ig_status`: https://developers.facebook.com/documentation/threads/create-posts/share-to-ig-stories */
const PublishedContainer = Type.Object({ id: text, crossreshare_to_ig_status: Type.Optional(Type.Unknown()) })
export type PublishedContainer = Static<typeof PublishedContainer>
export const readPublishedContainer = responseReader(PublishedContainer)

/**
 * https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived; `expires_in` is in seconds.
 */
const IssuedToken = Type.Object({
  access_token: text,
  expires_in: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
})
export type IssuedToken = Static<typeof IssuedToken>
export const readIssuedToken = responseReader(IssuedToken)

export const readPermalink = responseReader(Type.Object({ permalink: Type.String() }))

/** https://developers.facebook.com/docs/graph-api/results */
const OwnPosts = Type.Object({
  data: Type.Array(
    Type.Object({
      id: text,
      timestamp: Type.String(),
      media_type: Type.Optional(Type.String()),
      text: Type.Optional(Type.String()),
      caption: Type.Optional(Type.String()),
      permalink: Type.Optional(Type.String()),
      /** The post that a reply is to. */
      replied_to: Type.Optional(Type.Object({ id: Type.String() })),
    }),
  ),
  paging: Type.Optional(Type.Object({ cursors: Type.Optional(Type.Object({ after: Type.Optional(Type.String()) })) })),
})
export type OwnPost = Static<typeof OwnPosts>['data'][number]
export const readOwnPosts = responseReader(OwnPosts)

/**
 * https://developers.facebook.com/docs/instagram-platform/content-publishing#rate-limit and its counterpart on Threads.
 */
const QuotaConfig = Type.Optional(Type.Object({ quota_total: Type.Optional(Type.Number()) }))
export const readQuota = responseReader(
  Type.Object({
    data: Type.Array(
      Type.Object({
        quota_usage: Type.Optional(Type.Number()),
        config: QuotaConfig,
        reply_quota_usage: Type.Optional(Type.Number()),
        reply_config: QuotaConfig,
      }),
    ),
  }),
)
