import { randomUUID } from 'node:crypto'
import { MAX_UPLOAD_BYTES, toMediaKind } from '../../domain/posts/posting-rules.ts'
import { isMediaType, mediaKey } from '../../domain/media/storage-keys.ts'
import { invalidMediaType, presignUpload, type Upload, type UploadRequest } from './presign-upload.ts'
import type { CommandContext } from '../context.ts'

/**
 * Returns an upload address for one file of a post.
 * @throws ServiceError INVALID_MEDIA_TYPE, VALIDATION_FAILED
 */
export async function requestMediaUpload(deps: CommandContext, request: UploadRequest): Promise<Upload> {
  const { userId, contentType } = request
  if (!isMediaType(contentType)) throw invalidMediaType()
  const storageKey = mediaKey(userId, randomUUID(), contentType)
  return presignUpload(deps, request, { storageKey, maxBytes: MAX_UPLOAD_BYTES[toMediaKind(contentType)] })
}
