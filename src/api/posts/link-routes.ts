import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { previewLink } from '../../commands/posts/preview-link.ts'
import type { Context } from '../../context.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { LinkPreview, LinkPreviewQuery } from './schemas/link.ts'

/** A page has 5 s. */
const PREVIEW_DEADLINE_MS = 8 * SECOND

/** Routes about the links of posts. */
export const linkRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.get(
    '/link-preview',
    {
      config: { deadlineMs: PREVIEW_DEADLINE_MS },
      schema: {
        ...operation('posts', 'previewLink', 'Preview the card of a link', {
          keyScope: 'posts:read',
          description: 'Reads the page as it is now. A post reads it again shortly before its time.',
          errors: ['LINK_UNREADABLE'],
        }),
        querystring: LinkPreviewQuery,
        response: { 200: success(LinkPreview), ...errorResponses },
      },
    },
    async ({ query, user, deadline }) => {
      const preview = await previewLink(context, { userId: user.userId, url: query.url }, deadline)
      return ok('Link preview fetched successfully', preview)
    },
  )
}
