import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { updatePost, type UpdatePostRequest } from '../../commands/posts/update-post.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { assertScope } from '../shared/identity.ts'
import { IdParam } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentCreatedPost } from './present.ts'
import { PatchPostBody, PreferHeaders, ReplacePostBody } from './schemas/post-input.ts'
import { UpdatedPost } from './schemas/post.ts'
import { refuseUnknownFields } from './unknown-fields.ts'

const PostId = IdParam('postId')
const UPDATE_ERRORS = ['POST_NOT_EDITABLE', 'POST_LIMIT_REACHED', 'PLATFORM_NOT_CONNECTED'] as const

/** Routes that change a post before a worker starts to deliver it. */
export const editRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.put(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'replacePost', 'Replace a post', {
          keyScope: 'posts:draft',
          description:
            'Works until a call may have sent the post. An API key needs `posts:publish` for everything but a draft. Without `scheduledAt` the post keeps its time; null publishes it now, and a past time is refused.',
          errors: UPDATE_ERRORS,
        }),
        params: PostId,
        headers: PreferHeaders,
        body: ReplacePostBody,
        response: { 200: success(UpdatedPost), ...errorResponses },
      },
      preValidation: async (request) => refuseUnknownFields(request, ReplacePostBody),
    },
    (request) => update(request, request.params.postId, { kind: 'replace', input: request.body }),
  )

  app.patch(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'updatePost', 'Update a post', {
          keyScope: 'posts:draft',
          description:
            'Works until a call may have sent the post. An API key needs `posts:publish` for everything but a draft. Fields that are not sent stay unchanged, and `timezone` alone does not move the post. `status` PENDING or SCHEDULED publishes a draft. A past `scheduledAt` is refused; null publishes now.',
          errors: UPDATE_ERRORS,
        }),
        params: PostId,
        headers: PreferHeaders,
        body: PatchPostBody,
        response: { 200: success(UpdatedPost), ...errorResponses },
      },
      preValidation: async (request) => refuseUnknownFields(request, PatchPostBody),
    },
    (request) => update(request, request.params.postId, { kind: 'patch', input: request.body }),
  )

  async function update(
    { user, unknownFields }: Pick<FastifyRequest, 'user' | 'unknownFields'>,
    postId: string,
    change: UpdatePostRequest['update'],
  ) {
    const assertMayPublish = () => assertScope(user, 'posts:publish')
    const { post, warnings } = await updatePost(context, {
      userId: user.userId,
      postId,
      update: change,
      assertMayPublish,
    })
    const { status, scheduledAt } = post
    return ok(
      'Post updated successfully',
      presentCreatedPost({ postId, status, scheduledAt, warnings: [...unknownFields, ...warnings] }),
    )
  }
}
