import type { CommentDialect } from '../shared/graph/comments.ts'
import type { PostUrls } from '../shared/graph/post-urls.ts'

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-media/comments */
export function createCommentDialect({ fetchUrl }: PostUrls): CommentDialect {
  return {
    platform: 'instagram',
    permission: 'instagram_manage_comments',
    created: {},
    listed: { fields: 'id,text,timestamp,username' },
    // The account may have another name since it was connected.
    isOwn: ({ username }, { handle }) => (username === handle ? true : null),
    // Comments have no URL of their own.
    fetchUrl: (_, postId, account, options) => fetchUrl(postId, account, options),
  }
}
