import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { createPost, findFirstAnswer, type Idempotency } from '../../commands/posts/create-post.ts'
import { requestMediaUpload } from '../../commands/media/request-media-upload.ts'
import { updatePost, type UpdatePostRequest } from '../../commands/posts/update-post.ts'
import { validatePost } from '../../commands/posts/validate-post.ts'
import type { Context } from '../../context.ts'
import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { IdParam, toPage, toPageResult } from '../shared/schemas/common.ts'
import type { PostSnapshot } from '../../store/analytics/snapshots.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentSnapshots } from '../shared/schemas/snapshot.ts'
import { parseIdempotency } from './idempotency.ts'
import { lifecycleRoutes } from './lifecycle-routes.ts'
import { parsePostQuery } from './list-query.ts'
import {
  presentCreatedPost,
  presentListedPost,
  presentPost,
  presentProgress,
  presentTimeline,
  toPostSource,
} from './present.ts'
import {
  CreatedPost,
  ConditionalHeaders,
  CreatePostBody,
  IdempotencyHeaders,
  ListPostsQuery,
  MediaUpload,
  MediaUploadBody,
  PatchPostBody,
  PostDetail,
  PostList,
  PostProgress,
  PostTimeline,
  ReplacePostBody,
  UpdatedPost,
  ValidationReport,
} from './schema.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a create that came with a key. */
    idempotency: Idempotency | null
  }
}

const POLL_AFTER_SECONDS = 1
/** A post of 30 days has hundreds of snapshots, and all of them are read. */
const MAX_PAGE_WITH_METRICS = 50

const PostId = IdParam('postId')
const UPDATE_ERRORS = ['POST_NOT_EDITABLE', 'POST_LIMIT_REACHED', 'PLATFORM_NOT_CONNECTED'] as const

/** Spec 4.3, for authenticated users. */
export const postsRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.decorateRequest('idempotency', null)

  app.post(
    '/',
    {
      schema: {
        ...operation('posts', 'createPost', 'Create a post', {
          description:
            'Publishes at once, schedules with a future `scheduledAt`, or keeps a draft with `status: DRAFT`. ' +
            'Repeats with the same idempotency key get the first answer, with status 200.',
          errors: ['PLATFORM_NOT_CONNECTED', 'POST_LIMIT_REACHED', 'IDEMPOTENCY_KEYS_DIFFER', 'IDEMPOTENCY_MISMATCH'],
        }),
        headers: IdempotencyHeaders,
        body: CreatePostBody,
        response: { 200: success(CreatedPost), 201: success(CreatedPost), ...errorResponses },
      },
      // A repeat is answered before its body is looked at: rules, connections and allowance may have changed meanwhile.
      preValidation: async (request, reply) => {
        request.idempotency = parseIdempotency(request)
        if (!request.idempotency) return
        const first = await findFirstAnswer(context, request.user.userId, request.idempotency)
        if (first) return reply.code(200).send(ok('Post was already created', presentCreatedPost(first)))
      },
    },
    async (request, reply) => {
      const { created, data } = await createPost(context, {
        userId: request.user.userId,
        input: request.body,
        source: toPostSource(request),
        idempotency: request.idempotency,
      })
      if (!created) return ok('Post was already created', presentCreatedPost(data))
      request.log.info({ postId: data.postId, status: data.status }, 'post created')
      return reply.code(201).send(ok('Post created successfully', presentCreatedPost(data)))
    },
  )

  app.get(
    '/',
    {
      schema: {
        ...operation('posts', 'listPosts', 'List posts', {
          description:
            "The caller's posts, a page at a time. Filters are combined; `status` takes several values, repeated or separated by commas. " +
            'A post larger than 2 MiB divided by `limit` is shortened, and says so by `isShortened`.',
        }),
        querystring: ListPostsQuery,
        response: { 200: success(PostList), ...errorResponses },
      },
    },
    async ({ query, user }) => {
      const page = toPage(query)
      if (query.include === 'metrics') page.limit = Math.min(page.limit, MAX_PAGE_WITH_METRICS)
      const { posts, total } = await context.posts.list(user.userId, {
        ...page,
        ...parsePostQuery(query, user.timezone),
      })
      const metrics = query.include === 'metrics' ? await latestMetrics(posts) : null
      const listed = posts.map((post) => presentListedPost(post, metrics))
      return ok('Posts fetched successfully', { posts: listed, ...toPageResult(total, page) })
    },
  )

  app.post(
    '/validate',
    {
      schema: {
        ...operation('posts', 'validatePost', 'Check a post', {
          description: 'Says everything that creating it would be refused or warned for, and stores nothing',
        }),
        body: CreatePostBody,
        response: { 200: success(ValidationReport), ...errorResponses },
      },
    },
    async ({ body, user }) => {
      const { valid, errors, warnings, platforms } = await validatePost(context, user.userId, body)
      return ok(valid ? 'Post is valid' : 'Post is not valid', { valid, errors, warnings, platforms })
    },
  )

  app.post(
    '/media/upload',
    {
      schema: {
        ...operation('posts', 'requestMediaUpload', 'Request a media upload', {
          description: 'PUT the file to `uploadUrl`, then name `storageKey` in a media item of the post',
          errors: ['INVALID_MEDIA_TYPE', 'UPLOAD_QUOTA_REACHED'],
        }),
        body: MediaUploadBody,
        response: { 200: success(MediaUpload), ...errorResponses },
      },
    },
    async ({ body, user }) =>
      ok('Upload URL created successfully', await requestMediaUpload(context, { userId: user.userId, ...body })),
  )

  app.get(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'getPost', 'Read a post', { description: 'With the latest analytics of each platform' }),
        params: PostId,
        response: { 200: success(PostDetail), ...errorResponses },
      },
    },
    async ({ params, user }) => {
      const [post, snapshots] = await Promise.all([
        getOwned(user.userId, params.postId),
        context.analytics.latestOfPosts([params.postId]),
      ])
      return ok('Post fetched successfully', { post: presentPost(post), analytics: presentSnapshots(snapshots) })
    },
  )

  app.get(
    '/:postId/status',
    {
      schema: {
        ...operation('posts', 'getPostStatus', 'Follow a delivery', {
          description: 'Carries an ETag, and `Retry-After` while the delivery is under way',
          documented: { headers: ConditionalHeaders },
          responseHeaders: { 200: ['ETag', 'Retry-After'], 304: ['ETag', 'Retry-After'] },
        }),
        params: PostId,
        response: {
          200: success(PostProgress),
          304: { type: 'null', description: 'Nothing has changed' },
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const progress = presentProgress(await getOwned(request.user.userId, request.params.postId))
      const etag = `"${createHash('sha256').update(JSON.stringify(progress)).digest('base64url')}"`
      reply.header('etag', etag).header('cache-control', 'private, no-cache')
      if (progress.status === 'PENDING' || progress.status === 'PROCESSING')
        reply.header('retry-after', POLL_AFTER_SECONDS)
      if (matchesETag(request.headers['if-none-match'], etag)) return reply.code(304).send(null)
      return ok('Post status fetched successfully', progress)
    },
  )

  app.get(
    '/:postId/timeline',
    {
      schema: {
        ...operation('posts', 'getPostTimeline', 'Read what happened to a post', {
          description:
            'Every attempt, outcome, wait, look and change of status, the newest 200, for as long as the post exists',
        }),
        params: PostId,
        response: { 200: success(PostTimeline), ...errorResponses },
      },
    },
    async ({ params: { postId }, user }) => {
      const events = await context.posts.timelineOf(user.userId, postId)
      if (!events) throw notFound()
      return ok('Post timeline fetched successfully', presentTimeline(postId, events))
    },
  )

  app.put(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'replacePost', 'Replace a post', {
          description: 'Until delivery has claimed it. An absent `scheduledAt` keeps the time, null means now.',
          errors: UPDATE_ERRORS,
        }),
        params: PostId,
        body: ReplacePostBody,
        response: { 200: success(UpdatedPost), ...errorResponses },
      },
    },
    ({ params, body, user }) => update(user.userId, params.postId, { kind: 'replace', input: body }),
  )

  app.patch(
    '/:postId',
    {
      schema: {
        ...operation('posts', 'updatePost', 'Change a post', {
          description:
            'Until delivery has claimed it. What is not given stays; `status` PENDING or SCHEDULED publishes a draft.',
          errors: UPDATE_ERRORS,
        }),
        params: PostId,
        body: PatchPostBody,
        response: { 200: success(UpdatedPost), ...errorResponses },
      },
    },
    ({ params, body, user }) => update(user.userId, params.postId, { kind: 'patch', input: body }),
  )

  await app.register(lifecycleRoutes, { context })

  /** By post id. */
  async function latestMetrics(posts: Post[]): Promise<Map<string, PostSnapshot[]>> {
    const snapshots = await context.analytics.latestOfPosts(posts.map(({ _id }) => _id))
    return Map.groupBy(snapshots, ({ postId }) => postId)
  }

  async function getOwned(userId: string, postId: string): Promise<Post> {
    const post = await context.posts.findOwned(userId, postId)
    if (!post) throw notFound()
    return post
  }

  async function update(userId: string, postId: string, change: UpdatePostRequest['update']) {
    const { post, warnings } = await updatePost(context, { userId, postId, update: change })
    const { status, scheduledAt } = post
    return ok('Post updated successfully', presentCreatedPost({ postId, status, scheduledAt, warnings }))
  }
}

function notFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
}

function matchesETag(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return known.includes(etag) || known.includes('*')
}
