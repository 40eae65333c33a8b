import { randomUUID } from 'node:crypto'
import { MAX_UPLOAD_BYTES, mediaKind } from '../domain/posting-rules.ts'
import { ServiceError } from '../domain/service-error.ts'
import { isMediaType, mediaKey } from '../domain/storage-keys.ts'
import type { ObjectStorage } from '../integrations/storage.ts'

export interface MediaUploadDeps {
  storage: Pick<ObjectStorage, 'presignPut' | 'publicUrl'>
}

export interface MediaUploadRequest {
  userId: string
  contentType: string
  sizeBytes?: number
}

export interface MediaUpload {
  uploadUrl: string
  storageUrl: string
  storageKey: string
  contentType: string
}

/**
 * Where a client may put one file of this type, for 15 minutes.
 * @throws ServiceError INVALID_MEDIA_TYPE, VALIDATION_FAILED when the announced size is too large
 */
export async function requestMediaUpload(
  { storage }: MediaUploadDeps,
  { userId, contentType, sizeBytes }: MediaUploadRequest,
): Promise<MediaUpload> {
  if (!isMediaType(contentType)) throw new ServiceError('INVALID_MEDIA_TYPE', 'Invalid media type')
  const max = MAX_UPLOAD_BYTES[mediaKind(contentType)]
  if (sizeBytes !== undefined && sizeBytes > max) {
    const message = `The file must not be larger than ${max} bytes`
    throw new ServiceError('VALIDATION_FAILED', message, {
      errors: [{ path: 'sizeBytes', code: 'MEDIA_TOO_LARGE', message }],
    })
  }
  const storageKey = mediaKey(userId, randomUUID(), contentType)
  return {
    uploadUrl: await storage.presignPut({
      key: storageKey,
      contentType,
      ...(sizeBytes === undefined ? {} : { sizeBytes }),
    }),
    storageUrl: storage.publicUrl(storageKey),
    storageKey,
    contentType,
  }
}
