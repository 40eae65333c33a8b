import { ServiceError } from '../domain/service-error.ts'
import type { ObjectStorage } from '../integrations/storage.ts'

export interface UploadDeps {
  storage: Pick<ObjectStorage, 'presignPut' | 'publicUrl'>
}

export interface UploadRequest {
  userId: string
  contentType: string
  /** When given, the upload must be exactly this long. */
  sizeBytes?: number
}

export interface Upload {
  uploadUrl: string
  storageUrl: string
  storageKey: string
  contentType: string
}

export function invalidMediaType(): ServiceError {
  return new ServiceError('INVALID_MEDIA_TYPE', 'Invalid media type')
}

/**
 * Where a client may put one file of this type, for 15 minutes.
 * @throws ServiceError VALIDATION_FAILED when the announced size is too large
 */
export async function presignUpload(
  { storage }: UploadDeps,
  { contentType, sizeBytes }: UploadRequest,
  { storageKey, maxBytes }: { storageKey: string; maxBytes: number },
): Promise<Upload> {
  if (sizeBytes !== undefined && sizeBytes > maxBytes) {
    const message = `The file must not be larger than ${maxBytes} bytes`
    throw new ServiceError('VALIDATION_FAILED', message, {
      errors: [{ path: 'sizeBytes', code: 'MEDIA_TOO_LARGE', message }],
    })
  }
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
