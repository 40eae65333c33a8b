import type { CommentDialect } from '../shared/graph/comments.ts'
import { toPageUrl } from './page-url.ts'

/** https://developers.facebook.com/docs/graph-api/reference/object/comments */
export function createCommentDialect(webUrl: string): CommentDialect {
  return {
    platform: 'facebook',
    permission: 'pages_manage_engagement',
    created: { fields: 'id,permalink_url' },
    listed: {
      fields: 'id,message,from,created_time,permalink_url',
      filter: 'stream',
      order: 'reverse_chronological',
    },
    // Facebook leaves authors out that the login may not see.
    isOwn: ({ from }, { accountId }) => (from ? from.id === accountId : null),
    fetchUrl: async ({ permalink_url: stated }, postId) => toPageUrl(webUrl, stated, `/${postId}`),
  }
}
