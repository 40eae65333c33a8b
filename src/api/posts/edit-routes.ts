import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { hasSources, SOURCES_TIMEOUT_MS } from '../../commands/posts/media-sources.ts'
import { updatePost, type UpdatePostRequest } from '../../commands/posts/update-post.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { assertScope } from '../shared/identity.ts'
import { parseIfMatch, toETag } from '../shared/etags.ts'
import { IdParam } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { createConflictHandler } from './conflicts.ts'
import { presentCreatedPost } from './present.ts'
import { EditPostHeaders, PatchPostBody, ReplacePostBody } from './schemas/post-input.ts'
import { PostConflict, UpdatedPost } from './schemas/post.ts'
import { refuseUnknownFields } from './unknown-fields.ts'

const PostId = IdParam('postId')
/** The documentation that both updates share. */
const UPDATE = {
  keyScope: 'posts:draft',
  errors: ['POST_NOT_EDITABLE', 'PRECONDITION_FAILED', 'MEDIA_UNREADABLE', 'UPLOAD_QUOTA_REACHED'],
  responseHeaders: { 200: ['ETag'] },
} as const

/** Routes that change a post before a worker starts to deliver it. */
export const editRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.setErrorHandler(createConflictHandler(context))
  app.put(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'replacePost', 'Replace a post', {
          ...UPDATE,
          description:
            'Works until a call may have sent the post. An API key needs `posts:publish` for everything but a draft. Without `scheduledAt` the post keeps its time; null publishes it now, and a past time is refused.',
        }),
        params: PostId,
        headers: EditPostHeaders,
        body: ReplacePostBody,
        response: { 200: success(UpdatedPost), 412: PostConflict, ...errorResponses },
      },
      preValidation: async (request) => refuseUnknownFields(request, ReplacePostBody),
    },
    (request, reply) => update(request, reply, { kind: 'replace', input: request.body }),
  )

  app.patch(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'updatePost', 'Update a post', {
          ...UPDATE,
          description:
            'Works until a call may have sent the post. An API key needs `posts:publish` for everything but a draft. Fields that are not sent stay unchanged, and `timezone` alone does not move the post. `status` PENDING or SCHEDULED publishes a draft. A past `scheduledAt` is refused; null publishes now.',
        }),
        params: PostId,
        headers: EditPostHeaders,
        body: PatchPostBody,
        response: { 200: success(UpdatedPost), 412: PostConflict, ...errorResponses },
      },
      preValidation: async (request) => refuseUnknownFields(request, PatchPostBody),
    },
    (request, reply) => update(request, reply, { kind: 'patch', input: request.body }),
  )

  async function update(
    request: FastifyRequest<{ Params: { postId: string } }>,
    reply: FastifyReply,
    change: UpdatePostRequest['update'],
  ) {
    const { user, params, headers, unknownFields } = request
    const { postId } = params
    if (hasSources(change.input)) request.extendDeadline(SOURCES_TIMEOUT_MS)
    const { post, warnings } = await updatePost(context, {
      userId: user.userId,
      postId,
      defaultHoldSeconds: user.holdSeconds,
      update: change,
      revisions: parseIfMatch(headers['if-match']),
      assertMayPublish: () => assertScope(user, 'posts:publish'),
    })
    const etag = toETag(post)
    reply.header('etag', etag)
    const updated = presentCreatedPost({ postId, ...post, warnings: [...unknownFields, ...warnings] })
    return ok('Post updated successfully', { ...updated, etag })
  }
}
