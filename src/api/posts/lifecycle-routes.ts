import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { cancelPost } from '../../commands/posts/cancel-post.ts'
import { deletePost } from '../../commands/posts/delete-post.ts'
import { duplicatePost } from '../../commands/posts/duplicate-post.ts'
import { editPublishedPost } from '../../commands/posts/edit-published-post.ts'
import { retryPost } from '../../commands/posts/retry-post.ts'
import { takeBackPost } from '../../commands/posts/take-back-post.ts'
import type { Context } from '../../context.ts'
import type { Post } from '../../domain/posts/post.ts'
import { validationFailed } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { IfMatchHeader, parseIfMatch } from '../shared/etags.ts'
import { accountsFilter, IdParam } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { createConflictHandler } from './conflicts.ts'
import { presentCreatedPost, presentPost, toPostMetadata } from './present.ts'
import { ClientHeaders } from './schemas/post-input.ts'
import {
  CancelBody,
  CancelledPost,
  ChangedPublication,
  CreatedPost,
  DeletedPost,
  EditPublishedBody,
  PostConflict,
  RetriedPost,
  RetryBody,
} from './schemas/post.ts'
import { findUnknownFields } from './unknown-fields.ts'

const PostId = IdParam('postId')

/** Routes that delete, retry, cancel and duplicate a post, and change what is published. */
export const lifecycleRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.setErrorHandler(createConflictHandler(context))
  app.delete(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'deletePost', 'Delete a post', {
          keyScope: 'posts:publish',
          errors: ['PRECONDITION_FAILED'],
          description:
            'Stops the deliveries that have not started; a call on its way may still be accepted. Posts that are already published ' +
            'stay on their platforms. The idempotency key of the post can be used again.',
        }),
        params: PostId,
        headers: Type.Object(IfMatchHeader),
        response: { 200: success(DeletedPost), 412: PostConflict, ...errorResponses },
      },
    },
    async ({ params: { postId }, headers, user, log }) => {
      await deletePost(context, user.userId, postId, parseIfMatch(headers['if-match']))
      log.info({ postId }, 'post deleted')
      return ok('Post deleted successfully', { postId })
    },
  )

  app.delete(
    '/:postId/published',
    {
      schema: {
        ...operation('posts', 'takeBackPost', 'Remove a published post from its platforms', {
          keyScope: 'posts:publish',
          description:
            'Deletes the published posts on all accounts, or on those in `accounts`, with all posts of a thread and the comment. It goes on ' +
            'after the response: the entry becomes `deleted`, or `removal` says why not and what to do by hand. Can be repeated.',
          errors: ['NOTHING_PUBLISHED', 'POST_IN_PROGRESS'],
        }),
        params: PostId,
        querystring: Type.Object({ accounts: accountsFilter('Only on these accounts, by their ids') }),
        response: { 202: success(ChangedPublication), ...errorResponses },
      },
    },
    async ({ params: { postId }, query: { accounts }, user, log }, reply) => {
      const post = await takeBackPost(context, { ...toRequester(user), postId, accountIds: accounts })
      log.info({ postId }, 'removal of a published post requested')
      return reply.code(202).send(ok('Removal requested successfully', presentChanged(post)))
    },
  )

  app.patch(
    '/:postId/published',
    {
      schema: {
        ...operation('posts', 'editPublishedPost', 'Edit a published post on its platforms', {
          keyScope: 'posts:publish',
          description:
            'Replaces the text on all accounts, or on those in `accounts`. All of them are checked first: if one cannot be edited, `errors` ' +
            'says why, and none is. It goes on after the response: `revisions` says how far it is. An equal text changes nothing.',
          errors: ['POST_NOT_EDITABLE'],
        }),
        params: PostId,
        body: EditPublishedBody,
        response: { 202: success(ChangedPublication), ...errorResponses },
      },
      preValidation: async ({ body }) => {
        // Nothing but a text can be edited, so everything else is refused.
        const unknown = findUnknownFields([EditPublishedBody], body)
        if (unknown.length > 0) throw validationFailed(unknown)
      },
    },
    async ({ params: { postId }, body: { content, accounts }, user, log }, reply) => {
      const request = { ...toRequester(user), postId, accountIds: accounts, text: content.text }
      const post = await editPublishedPost(context, request)
      log.info({ postId }, 'edit of a published post requested')
      return reply.code(202).send(ok('Edit requested successfully', presentChanged(post)))
    },
  )

  app.post(
    '/:postId/retry',
    {
      schema: {
        ...operation('posts', 'retryPost', 'Retry failed platforms', {
          keyScope: 'posts:publish',
          description:
            'Sends the post again to every platform that failed, also while others wait: only the parts of a thread that are not published, and a first comment that failed. If a draft took over its use of the allowance, it counts again.',
          errors: ['NO_FAILED_PLATFORMS', 'POST_IN_PROGRESS', 'POST_LIMIT_REACHED'],
        }),
        params: PostId,
        body: RetryBody,
        response: { 200: success(RetriedPost), ...errorResponses },
      },
    },
    async ({ params: { postId }, body, user, log }) => {
      const retryingPlatforms = await retryPost(context, { userId: user.userId, postId, accountIds: body?.accounts })
      log.info({ postId, platforms: retryingPlatforms }, 'post retried')
      return ok('Post retry started successfully', { postId, retryingPlatforms })
    },
  )

  app.post(
    '/:postId/cancel',
    {
      schema: {
        ...operation('posts', 'cancelPost', 'Cancel a post', {
          keyScope: 'posts:publish',
          description:
            'Works until a call may have sent the post: also between two attempts, while it waits for a quota or after a rate limit. ' +
            'With `accounts`, ends only their waiting deliveries of a post that others have already got.',
        }),
        params: PostId,
        body: CancelBody,
        response: { 200: success(CancelledPost), ...errorResponses },
      },
    },
    async ({ params: { postId }, body, user, log }) => {
      const { status } = await cancelPost(context, { userId: user.userId, postId, accountIds: body?.accounts })
      log.info({ postId }, 'post cancelled')
      return ok('Post cancelled successfully', { postId, status })
    },
  )

  app.post(
    '/:postId/duplicate',
    {
      schema: {
        ...operation('posts', 'duplicatePost', 'Duplicate a post as a draft', {
          keyScope: 'posts:draft',
          description:
            'Copies text, media and platforms of a post in any status into a new draft without a time. The draft counts against the plan. ' +
            'If the post failed or was cancelled without reaching a platform, the first duplicate is free, and the original can no longer be retried.',
          errors: ['POST_LIMIT_REACHED', 'POST_IN_PROGRESS'],
        }),
        params: PostId,
        headers: ClientHeaders,
        response: { 201: success(CreatedPost), ...errorResponses },
      },
    },
    async (request, reply) => {
      const metadata = toPostMetadata(request)
      const draft = await duplicatePost(context, {
        userId: request.user.userId,
        postId: request.params.postId,
        metadata,
      })
      request.log.info({ postId: draft._id, originalId: request.params.postId }, 'post duplicated')
      const { _id: postId, ...stored } = draft
      return reply
        .code(201)
        .send(ok('Draft created successfully', presentCreatedPost({ postId, ...stored, warnings: [] })))
    },
  )
}

function toRequester({ userId, apiKey }: FastifyRequest['user']) {
  return { userId, requestedBy: apiKey ? `key:${apiKey._id}` : userId }
}

function presentChanged(post: Post) {
  const { _id: postId, status, platformStatuses } = presentPost(post)
  return { postId, status, platformStatuses }
}
