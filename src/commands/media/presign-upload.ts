import { describeTooLargeFile } from '../../domain/posts/posting-rules.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { reserveUpload } from './upload-quota.ts'
import type { CommandContext } from '../context.ts'

export interface UploadRequest {
  userId: string
  contentType: string
  /** If set, the upload must have exactly this length. */
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
 * Signs an upload address for one file of this type, valid for 15 minutes, and counts it against the user's quota.
 * @throws ServiceError VALIDATION_FAILED when the announced size is too large, UPLOAD_QUOTA_REACHED, RATE_LIMITED
 */
export async function presignUpload(
  deps: CommandContext,
  { userId, contentType, sizeBytes }: UploadRequest,
  { storageKey, maxBytes }: { storageKey: string; maxBytes: number },
): Promise<Upload> {
  if (sizeBytes !== undefined && sizeBytes > maxBytes) {
    const message = describeTooLargeFile(maxBytes)
    throw new ServiceError('VALIDATION_FAILED', message, {
      errors: [{ path: 'sizeBytes', code: 'MEDIA_TOO_LARGE', message }],
    })
  }
  const isSized = sizeBytes !== undefined
  await reserveUpload(deps, { _id: storageKey, userId, bytes: sizeBytes ?? maxBytes, maxBytes, isSized })
  const { storage } = deps
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
