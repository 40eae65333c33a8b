import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requestMediaUpload } from '../../commands/media/request-media-upload.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { MediaUpload, MediaUploadBody } from './schemas/media.ts'

/** The route that prepares the upload of a post's media. */
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
}
