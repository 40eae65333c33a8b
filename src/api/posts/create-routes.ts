import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { createPost, findIdempotentResult, type Idempotency } from '../../commands/posts/create-post.ts'
import { hasSources, SOURCES_TIMEOUT_MS } from '../../commands/posts/media-sources.ts'
import { validatePost } from '../../commands/posts/validate-post.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { assertScope } from '../shared/identity.ts'
import { isStrict } from '../shared/strictness.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { parseIdempotency } from './idempotency.ts'
import { presentCreatedPost, toPostMetadata } from './present.ts'
import { CreatePostBody, CreatePostHeaders, PastQuery, PreferHeaders, ValidationReport } from './schemas/post-input.ts'
import { CreatedPost } from './schemas/post.ts'
import { readUnknownFields, refuseUnknownFields } from './unknown-fields.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The idempotency key of a create request; null when the client sent none. */
    idempotency: Idempotency | null
  }
}

/** Routes that check and create posts. */
export const createRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.decorateRequest('idempotency', null)

  app.post(
    '/',
    {
      schema: {
        ...operation('posts', 'createPost', 'Create a post', {
          keyScope: 'posts:draft',
          description:
            'Publishes immediately, schedules when `scheduledAt` is in the future, or saves a draft with `status: DRAFT`. ' +
            'An API key needs `posts:publish` for everything but a draft. ' +
            'A repeated request with the same idempotency key returns the first response with status 200.',
          errors: [
            'POST_LIMIT_REACHED',
            'IDEMPOTENCY_KEYS_DIFFER',
            'IDEMPOTENCY_MISMATCH',
            'MEDIA_UNREADABLE',
            'UPLOAD_QUOTA_REACHED',
          ],
        }),
        headers: CreatePostHeaders,
        querystring: PastQuery,
        body: CreatePostBody,
        response: { 200: success(CreatedPost), 201: success(CreatedPost), ...errorResponses },
      },
      // A repeat skips body validation: rules, connections and allowance may have changed since the first request.
      preValidation: async (request, reply) => {
        request.idempotency = parseIdempotency(request)
        const { user, idempotency } = request
        const first = idempotency && (await findIdempotentResult(context, user.userId, idempotency))
        if (first) return reply.code(200).send(ok('Post was already created', presentCreatedPost(first)))
        refuseUnknownFields(request, CreatePostBody)
      },
    },
    async (request, reply) => {
      if (request.body.status !== 'DRAFT') assertScope(request.user, 'posts:publish')
      if (hasSources(request.body)) request.extendDeadline(SOURCES_TIMEOUT_MS)
      const { created, data } = await createPost(context, {
        userId: request.user.userId,
        plan: request.user.plan,
        defaultHoldSeconds: request.user.holdSeconds,
        input: request.body,
        past: request.query.past,
        inputWarnings: request.unknownFields,
        metadata: toPostMetadata(request),
        idempotency: request.idempotency,
      })
      if (!created) return ok('Post was already created', presentCreatedPost(data))
      request.log.info({ postId: data.postId, status: data.status }, 'post created')
      return reply.code(201).send(ok('Post created successfully', presentCreatedPost(data)))
    },
  )

  app.post(
    '/validate',
    {
      schema: {
        ...operation('posts', 'validatePost', 'Check a post without creating it', {
          keyScope: 'posts:draft',
          description: 'Returns every error and warning that creating the post would return. Nothing is stored.',
        }),
        headers: PreferHeaders,
        querystring: PastQuery,
        body: CreatePostBody,
        response: { 200: success(ValidationReport), ...errorResponses },
      },
      preValidation: async (request) => readUnknownFields(request, CreatePostBody),
    },
    async (request) => {
      const { platforms, accounts, nextSlot, ...checked } = await validatePost(
        context,
        { userId: request.user.userId, defaultHoldSeconds: request.user.holdSeconds },
        request.body,
        request.query.past,
      )
      const [refused, ignored] = isStrict(request) ? [request.unknownFields, []] : [[], request.unknownFields]
      const errors = [...refused, ...checked.errors]
      const warnings = [...ignored, ...checked.warnings]
      const valid = errors.length === 0
      return ok(valid ? 'Post is valid' : 'Post is not valid', {
        ...{ valid, errors, warnings, platforms },
        ...(Object.keys(accounts).length > 0 && { accounts }),
        ...(nextSlot && { nextSlot: nextSlot.toISOString() }),
      })
    },
  )
}
