import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../domain/shared/service-error.ts'
import {
  MAX_AVATAR_BYTES,
  avatarKey,
  parseAvatarType,
  isAvatarType,
  removedKey,
} from '../../domain/media/storage-keys.ts'
import type { ObjectStorage } from './storage.ts'
import { fileProblem, MISSING_FILE, normalType, SNIFF_BYTES } from './stored-files.ts'

interface AvatarOptions {
  storage: Pick<ObjectStorage, 'keyOf' | 'publicUrl' | 'put' | 'readHead' | 'storedAt' | 'move'>
  timeoutMs: number
}

interface Picture {
  type: string
  bytes: Uint8Array
}

/**
 * The avatars that users upload, by their addresses. What is taken away goes out of sight and is deleted a day later (ADR 13).
 * @NOTE an upload address stays good for 15 minutes: until then its owner can put another file in the place of one that was looked at.
 * @throws ServiceError SERVICE_UNAVAILABLE while object storage is away
 */
export function createAvatars({ storage, timeoutMs }: AvatarOptions) {
  const within = () => ({ signal: AbortSignal.timeout(timeoutMs) })

  /** Null for the avatar of another user, and for every picture that lies elsewhere. */
  function ownUpload(userId: string, url: string) {
    const key = storage.keyOf(url)
    const type = key === null ? null : parseAvatarType(userId, key)
    return key === null || type === null ? null : { key, type }
  }

  return {
    /** What keeps the address from being this user's avatar, as the end of a sentence about it; null when nothing does. */
    findProblem: (userId: string, url: string): Promise<string | null> =>
      reaching(async () => {
        const upload = ownUpload(userId, url)
        if (!upload) return 'must be the storageUrl of an avatar of yours'
        const file = await storage.readHead(upload.key, SNIFF_BYTES, within())
        return file ? fileProblem(file, { type: upload.type, maxBytes: MAX_AVATAR_BYTES }) : MISSING_FILE
      }),

    /** The same of a picture that comes without having been uploaded. */
    findPictureProblem: async ({ type, bytes }: Picture): Promise<string | null> =>
      isAvatarType(type)
        ? fileProblem(
            { sizeBytes: bytes.length, head: bytes.subarray(0, SNIFF_BYTES) },
            { type, maxBytes: MAX_AVATAR_BYTES },
          )
        : 'must be a picture in PNG, JPEG or WebP',

    /** Stores a picture that has no problem, and answers its address. */
    store: (userId: string, { type, bytes }: Picture): Promise<string> =>
      reaching(async () => {
        if (!isAvatarType(type)) throw new Error(`${type} is no type of avatars`)
        const key = avatarKey(userId, randomUUID(), type)
        await storage.put({ key, body: bytes, contentType: normalType(type) }, within())
        return storage.publicUrl(key)
      }),

    /** Takes it away if it is an upload of this user. */
    remove: (userId: string, url: string): Promise<void> =>
      reaching(async () => {
        const upload = ownUpload(userId, url)
        if (upload) await storage.move(upload.key, removedKey(upload.key), within())
      }),

    /** True for an upload of this user that is not in its place. */
    isMissing: (userId: string, url: string): Promise<boolean> =>
      reaching(async () => {
        const upload = ownUpload(userId, url)
        return upload !== null && (await storage.storedAt(upload.key, within())) === null
      }),

    /** What was taken away a moment ago. */
    putBack: (userId: string, url: string): Promise<void> =>
      reaching(async () => {
        const upload = ownUpload(userId, url)
        if (upload) await storage.move(removedKey(upload.key), upload.key, within())
      }),
  }
}

async function reaching<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw new ServiceError('SERVICE_UNAVAILABLE', 'Object storage does not answer, try again', {
      cause: error,
      retryAfterSeconds: 2,
    })
  }
}
