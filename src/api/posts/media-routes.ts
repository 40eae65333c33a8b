import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { deleteUpload } from '../../commands/media/delete-upload.ts'
import { findInLibrary, listLibrary } from '../../commands/media/library.ts'
import { requestMediaUpload } from '../../commands/media/request-media-upload.ts'
import type { Context } from '../../context.ts'
import { toMediaKey } from '../../domain/media/storage-keys.ts'
import { operation } from '../openapi/operation.ts'
import { IdParam, toPage, toPageResult } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentMedia } from './present-media.ts'
import { LibraryMedia, ListMediaQuery, MediaList, MediaUpload, MediaUploadBody } from './schemas/media.ts'

const MediaId = IdParam('mediaId')

/** The media that the signed-in user uploads for posts. */
export const mediaRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.post(
    '/media/upload',
    {
      schema: {
        ...operation('posts', 'requestMediaUpload', 'Request a media upload', {
          keyScope: 'posts:draft',
          description: 'Send the file to `uploadUrl` with PUT, then use `storageKey` in a media item of the post.',
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
    '/media',
    {
      schema: {
        ...operation('posts', 'listMedia', 'List the uploaded media, newest first', {
          keyScope: 'posts:read',
          description:
            'Media that no post uses are deleted after a day or two. `total` includes addresses whose file was not uploaded yet.',
        }),
        querystring: ListMediaQuery,
        response: { 200: success(MediaList), ...errorResponses },
      },
    },
    async ({ query, user }) => {
      const page = toPage(query)
      const { kind, used } = query
      const selection = { ...page, kind, isUsed: used === undefined ? undefined : used === 'true' }
      const { items, total, quota } = await listLibrary(context, user.userId, selection)
      const media = items.map((item) => presentMedia(item, context.storage.publicUrl))
      return ok('Media found', { media, quota, ...toPageResult(total, page) })
    },
  )

  app.get(
    '/media/:mediaId',
    {
      schema: {
        ...operation('posts', 'getMedia', 'Get an uploaded file', {
          keyScope: 'posts:read',
          description: 'Includes the size in pixels and the duration as the file shows them.',
        }),
        params: MediaId,
        response: { 200: success(LibraryMedia), ...errorResponses },
      },
    },
    async ({ params, user: { userId } }) => {
      const item = await findInLibrary(context, userId, toMediaKey(userId, params.mediaId))
      return ok('Media found', presentMedia(item, context.storage.publicUrl))
    },
  )

  app.delete(
    '/media/:mediaId',
    {
      schema: {
        ...operation('posts', 'deleteMedia', 'Delete an uploaded file', {
          keyScope: 'posts:publish',
          description:
            'Refused while a post needs the file: a draft, a waiting post, or one that failed on some account and may be retried. Published and cancelled posts keep ' +
            'their media item, whose address then answers 404. The quota is freed once the upload address has expired, 15 minutes after its issue.',
          errors: ['MEDIA_IN_USE'],
        }),
        params: MediaId,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ params, user: { userId }, log }) => {
      const storageKey = toMediaKey(userId, params.mediaId)
      await deleteUpload(context, { userId, storageKey })
      log.info({ storageKey }, 'media deleted')
      return acknowledged('Media deleted')
    },
  )
}
