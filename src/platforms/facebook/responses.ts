import { Type, type Static } from '@sinclair/typebox'
import { elementReader, responseReader } from '../shared/responses.ts'

/** The fields we use of Facebook's responses, each with a link to its description. */

const text = Type.String({ minLength: 1 })

/** https://developers.facebook.com/docs/graph-api/reference/user/permissions/ */
export const readPermissions = responseReader(
  Type.Object({ data: Type.Array(Type.Object({ permission: Type.String(), status: Type.String() })) }),
)

/** https://developers.facebook.com/docs/graph-api/reference/page/ */
const Page = Type.Object({
  id: text,
  name: Type.Optional(Type.String()),
  username: Type.Optional(Type.String()),
  picture: Type.Optional(Type.Object({ data: Type.Optional(Type.Object({ url: Type.Optional(Type.String()) })) })),
})
export type Page = Static<typeof Page>
export const readPage = responseReader(Page)

const paging = Type.Optional(
  Type.Object({
    cursors: Type.Optional(Type.Object({ after: Type.Optional(Type.String()) })),
    next: Type.Optional(Type.String()),
  }),
)

/** https://developers.facebook.com/docs/graph-api/reference/user/accounts/ */
const ListedPage = Type.Object({
  ...Page.properties,
  access_token: Type.Optional(text),
  tasks: Type.Optional(Type.Array(Type.String())),
  instagram_business_account: Type.Optional(Type.Object({ id: text })),
})
export type ListedPage = Static<typeof ListedPage>
export const toListedPage = elementReader(ListedPage)

/** https://developers.facebook.com/docs/graph-api/reference/user/businesses/ */
export const toBusiness = elementReader(Type.Object({ id: text }))

export const readList = responseReader(Type.Object({ data: Type.Array(Type.Unknown()), paging }))

/** A post or a video; its URL may be missing or lack the host. */
const Published = Type.Object({ id: text, permalink_url: Type.Optional(Type.String()) })
export const readPublished = responseReader(Published)

/** A draft or what became of it; a post states `is_published`, a video `published`. */
export const readDraft = responseReader(
  Type.Object({
    ...Published.properties,
    is_published: Type.Optional(Type.Boolean()),
    published: Type.Optional(Type.Boolean()),
  }),
)

export const readMessage = responseReader(Type.Object({ id: text, message: Type.Optional(Type.String()) }))

const VideoProblem = Type.Object({ code: Type.Optional(Type.Number()), message: Type.Optional(Type.String()) })
const Phase = Type.Optional(
  Type.Object({
    status: Type.Optional(Type.String()),
    errors: Type.Optional(Type.Array(VideoProblem)),
    error: Type.Optional(VideoProblem),
  }),
)

/** https://developers.facebook.com/docs/graph-api/reference/video-status/ */
const VideoNode = Type.Object({
  ...Published.properties,
  status: Type.Optional(
    Type.Object({
      video_status: Type.Optional(Type.String()),
      uploading_phase: Phase,
      processing_phase: Phase,
      publishing_phase: Phase,
      copyright_check_status: Phase,
    }),
  ),
})
export type VideoNode = Static<typeof VideoNode>
export const readVideo = responseReader(VideoNode)

const Target = Type.Optional(Type.Object({ id: Type.Optional(Type.String()) }))
const Attachment = Type.Object({ media_type: Type.Optional(Type.String()), target: Target })

/** https://developers.facebook.com/docs/graph-api/reference/page/published_posts/ */
export const readPosts = responseReader(
  Type.Object({
    data: Type.Array(
      Type.Intersect([
        Published,
        Type.Object({
          message: Type.Optional(Type.String()),
          created_time: Type.String(),
          updated_time: Type.Optional(Type.String()),
          attachments: Type.Optional(
            Type.Object({
              data: Type.Array(
                Type.Intersect([
                  Attachment,
                  Type.Object({ subattachments: Type.Optional(Type.Object({ data: Type.Array(Attachment) })) }),
                ]),
              ),
            }),
          ),
        }),
      ]),
    ),
    paging,
  }),
)

/** https://developers.facebook.com/docs/graph-api/reference/page/videos/ */
export const readVideos = responseReader(
  Type.Object({
    data: Type.Array(
      Type.Intersect([
        Published,
        Type.Object({
          description: Type.Optional(Type.String()),
          created_time: Type.String(),
          published: Type.Optional(Type.Boolean()),
        }),
      ]),
    ),
    paging,
  }),
)

const Count = Type.Optional(Type.Unknown())
const Summary = Type.Optional(Type.Object({ summary: Type.Optional(Type.Object({ total_count: Count })) }))

/** https://developers.facebook.com/docs/graph-api/reference/post/ */
export const readReactions = responseReader(
  Type.Object({
    id: text,
    reactions: Summary,
    comments: Summary,
    shares: Type.Optional(Type.Object({ count: Count })),
  }),
)

/** https://developers.facebook.com/docs/graph-api/reference/page/ */
export const readFollowers = responseReader(Type.Object({ id: text, followers_count: Count, fan_count: Count }))
