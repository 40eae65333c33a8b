import { Type } from '@sinclair/typebox'
import { MEDIA_TYPES } from '../../../domain/posts/post.ts'
import { uploadBody } from '../../shared/schemas/common.ts'
import { EXAMPLE_MEDIA_KEY } from './fields.ts'

export const MediaUploadBody = uploadBody(MEDIA_TYPES, 'image/jpeg')

export const MediaUpload = Type.Object(
  {
    uploadUrl: Type.String({
      description:
        'Send the file here with PUT within 15 minutes, with exactly this Content-Type and without an Authorization header.',
    }),
    storageUrl: Type.String({ description: 'Public URL of the file after the upload' }),
    storageKey: Type.String({ examples: [EXAMPLE_MEDIA_KEY] }),
    contentType: Type.String({ examples: ['image/jpeg'] }),
  },
  { title: 'MediaUpload' },
)
