import { randomUUID } from 'node:crypto'
import { MAX_AVATAR_BYTES, avatarKey, isAvatarType } from '../../domain/media/storage-keys.ts'
import { invalidMediaType, presignUpload, type Upload, type UploadRequest } from './presign-upload.ts'
import type { CommandContext } from '../context.ts'

/**
 * Returns an upload address for one picture, which becomes the avatar only when `updateAvatar` names it.
 * @throws ServiceError INVALID_MEDIA_TYPE, VALIDATION_FAILED
 */
export async function requestAvatarUpload(deps: CommandContext, request: UploadRequest): Promise<Upload> {
  const { userId, contentType } = request
  if (!isAvatarType(contentType)) throw invalidMediaType()
  const storageKey = avatarKey(userId, randomUUID(), contentType)
  return presignUpload(deps, request, { storageKey, maxBytes: MAX_AVATAR_BYTES })
}
