import { randomUUID } from 'node:crypto'
import { MISSING_FILE } from '../../domain/posts/media-files.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import {
  MAX_AVATAR_BYTES,
  avatarKey,
  parseAvatarType,
  isAvatarType,
  removedKey,
} from '../../domain/media/storage-keys.ts'
import type { ObjectStorage } from './storage.ts'
import { fileProblem, normalizeType, SNIFF_BYTES } from './stored-files.ts'

interface AvatarOptions {
  storage: ObjectStorage
  timeoutMs: number
}

interface Picture {
  type: string
  bytes: Uint8Array
}

/**
 * Manages uploaded avatars by their addresses. Removed avatars move to a private folder and are deleted a day later
 * (docs/design/architecture.md#unused-uploads).
 * @NOTE an upload address stays valid for 15 minutes. Until then its owner can replace a file that was already checked.
 * @throws ServiceError SERVICE_UNAVAILABLE while object storage does not answer
 */
export function createAvatars({ storage, timeoutMs }: AvatarOptions) {
  const createCallOptions = () => ({ signal: AbortSignal.timeout(timeoutMs) })

  /** Returns null for another user's avatar and for any picture stored elsewhere. */
  function parseOwnUpload(userId: string, url: string) {
    const key = storage.toKey(url)
    const type = key === null ? null : parseAvatarType(userId, key)
    return key === null || type === null ? null : { key, type }
  }

  return {
    /** Returns why the address cannot be this user's avatar, as the end of a sentence; null when it can. */
    findProblem: (userId: string, url: string): Promise<string | null> =>
      mapOutage(async () => {
        const upload = parseOwnUpload(userId, url)
        if (!upload) return 'must be the storageUrl of an avatar of yours'
        const file = await storage.readHead(upload.key, SNIFF_BYTES, createCallOptions())
        return file ? fileProblem(file, { type: upload.type, maxBytes: MAX_AVATAR_BYTES }) : MISSING_FILE
      }),

    /** Like `findProblem`, for a picture that is not uploaded. */
    findPictureProblem: async ({ type, bytes }: Picture): Promise<string | null> =>
      isAvatarType(type)
        ? fileProblem(
            { sizeBytes: bytes.length, head: bytes.subarray(0, SNIFF_BYTES) },
            { type, maxBytes: MAX_AVATAR_BYTES },
          )
        : 'must be a picture in PNG, JPEG or WebP',

    /** Stores a valid picture and returns its address. */
    store: (userId: string, { type, bytes }: Picture): Promise<string> =>
      mapOutage(async () => {
        if (!isAvatarType(type)) throw new Error(`${type} is no type of avatars`)
        const key = avatarKey(userId, randomUUID(), type)
        await storage.put({ key, body: bytes, contentType: normalizeType(type) }, createCallOptions())
        return storage.publicUrl(key)
      }),

    /** Removes the avatar if this user uploaded it. */
    remove: (userId: string, url: string): Promise<void> =>
      mapOutage(async () => {
        const upload = parseOwnUpload(userId, url)
        if (upload) await storage.move(upload.key, removedKey(upload.key), createCallOptions())
      }),

    /** Returns true when this user uploaded the avatar and its file is missing. */
    isMissing: (userId: string, url: string): Promise<boolean> =>
      mapOutage(async () => {
        const upload = parseOwnUpload(userId, url)
        return upload !== null && (await storage.storedAt(upload.key, createCallOptions())) === null
      }),

    /** Restores a recently removed avatar. */
    restore: (userId: string, url: string): Promise<void> =>
      mapOutage(async () => {
        const upload = parseOwnUpload(userId, url)
        if (upload) await storage.move(removedKey(upload.key), upload.key, createCallOptions())
      }),
  }
}

async function mapOutage<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw new ServiceError('SERVICE_UNAVAILABLE', 'Object storage does not respond. Try again in a moment.', {
      cause: error,
      retryAfterSeconds: 2,
    })
  }
}

export type Avatars = ReturnType<typeof createAvatars>
