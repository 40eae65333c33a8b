import { Type } from '@sinclair/typebox'
import { MEDIA_TYPES } from '../../../domain/posts/post.ts'
import { Instant, nullable, pageFields, pageResultFields, stringEnum, uploadBody } from '../../shared/schemas/common.ts'
import { EXAMPLE_MEDIA_KEY, EXAMPLE_POST_ID, mediaItemFields, Status } from './fields.ts'

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

export const ListMediaQuery = Type.Object({
  kind: Type.Optional(stringEnum(['image', 'video'] as const)),
  used: Type.Optional(stringEnum(['true', 'false'] as const, { description: 'Whether a post uses it' })),
  ...pageFields,
})

export const LibraryMedia = Type.Object(
  {
    id: Type.String({ description: 'The last part of `storageKey`' }),
    storageKey: Type.String({ examples: [EXAMPLE_MEDIA_KEY] }),
    storageUrl: Type.String({ description: 'Public URL of the file' }),
    mimeType: Type.String({ examples: ['image/jpeg'] }),
    sizeBytes: nullable(Type.Integer({ description: 'Null while object storage does not respond' })),
    createdAt: Instant,
    originalFilename: mediaItemFields.originalFilename,
    width: mediaItemFields.width,
    height: mediaItemFields.height,
    duration: mediaItemFields.duration,
    postCount: Type.Integer({ description: 'Number of posts that use it' }),
    posts: Type.Array(Type.Object({ postId: Type.String({ examples: [EXAMPLE_POST_ID] }), status: Status }), {
      description: 'The newest 20 of them',
    }),
  },
  { title: 'LibraryMedia' },
)

export const MediaList = Type.Object({
  media: Type.Array(LibraryMedia),
  quota: Type.Object(
    { used: Type.Integer(), limit: Type.Integer() },
    { description: 'Bytes of uploads that no post or profile uses' },
  ),
  ...pageResultFields,
})
