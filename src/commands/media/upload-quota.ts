import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { Upload } from '../../store/media/uploads.ts'
import { completeDeletion } from './delete-upload.ts'
import type { CommandContext } from '../context.ts'

/** Frontends that send no `sizeBytes` upload as many files concurrently as two posts hold. */
const MAX_OPEN_UNSIZED = 40
const LOOKUP_LIMIT = 1_000
const LOOKUP_DEADLINE_MS = 5 * SECOND
const CONCURRENT_CHECKS = 5
const CHECK_TIMEOUT_MS = 5 * SECOND

/**
 * Counts an upload against its owner's quota before its address is issued. Concurrent requests never exceed the quota together.
 * @throws ServiceError UPLOAD_QUOTA_REACHED, RATE_LIMITED for too many addresses without a signed length
 */
export async function reserveUpload(
  deps: CommandContext,
  upload: Pick<Upload, '_id' | 'userId' | 'bytes' | 'maxBytes' | 'isSized'>,
): Promise<void> {
  const { uploads, config } = deps
  const { _id: storageKey, userId } = upload
  await uploads.insert(upload)
  const problem = await findProblem()
  if (!problem) return
  await uploads.remove(storageKey)
  throw problem

  async function findProblem(): Promise<ServiceError | null> {
    const usage = await uploads.usageOf(userId)
    if (!upload.isSized && usage.openUnsized > MAX_OPEN_UNSIZED) return tooManyUnsized()
    if (usage.bytes <= config.UPLOAD_QUOTA_BYTES) return null
    await releaseNamed(deps, userId)
    const { bytes } = await uploads.usageOf(userId)
    return bytes <= config.UPLOAD_QUOTA_BYTES ? null : quotaReached(bytes - upload.bytes, config.UPLOAD_QUOTA_BYTES)
  }
}

/** Finds out which uploads a post or the profile uses, so that they no longer count against the quota. */
export async function releaseNamed({ uploads, posts, users, storage }: CommandContext, userId: string): Promise<void> {
  const avatars = await users.findAvatars([userId])
  const avatarKeys = avatars.map((avatar) => storage.toKey(avatar))
  for (;;) {
    const counted = await uploads.listUnnamed(userId, LOOKUP_LIMIT)
    const named = await posts.findNamedMedia(counted, { maxTimeMS: LOOKUP_DEADLINE_MS })
    const used = counted.filter((key) => named.has(key) || avatarKeys.includes(key))
    await uploads.setNamed(used, true)
    if (used.length === 0 || counted.length < LOOKUP_LIMIT) return
  }
}

/**
 * Compares stored objects with the size their address permits, and deletes larger ones: S3 can sign one length but no limit.
 * @returns how many objects were deleted
 */
export async function checkUploads(deps: CommandContext, limit: number): Promise<number> {
  const { uploads, storage, logger } = deps
  const due = await uploads.listDue(limit)
  let deleted = 0
  for (let first = 0; first < due.length; first += CONCURRENT_CHECKS) {
    await Promise.all(due.slice(first, first + CONCURRENT_CHECKS).map(check))
  }
  return deleted

  async function check(upload: Upload): Promise<void> {
    const { _id: storageKey, userId, maxBytes } = upload
    if (upload.state === 'deleted') {
      await completeDeletion(deps, upload)
      return
    }
    const sizeBytes = await storage.sizeOf(storageKey, { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) })
    const isTooLarge = sizeBytes !== null && sizeBytes > maxBytes
    if (isTooLarge) {
      await storage.remove(storageKey)
      deleted += 1
      logger.warn({ userId, storageKey, sizeBytes, maxBytes }, 'oversized upload deleted')
    }
    await uploads.recordSize(upload, isTooLarge ? null : sizeBytes)
  }
}

function quotaReached(usedBytes: number, quotaBytes: number): ServiceError {
  const used = `${megabytes(usedBytes)} of ${megabytes(quotaBytes)} MB`
  return new ServiceError(
    'UPLOAD_QUOTA_REACHED',
    `Your uploads that no post uses take up ${used}. Use them in posts, or try again later: unused uploads are deleted within three days.`,
    { details: { usage: usedBytes, limit: quotaBytes } },
  )
}

function tooManyUnsized(): ServiceError {
  return new ServiceError(
    'RATE_LIMITED',
    'Too many uploads without a size were begun. Send `sizeBytes` with the request, or try again in 15 minutes.',
    { retryAfterSeconds: (15 * MINUTE) / SECOND, details: { bucket: 'unsized_uploads' } },
  )
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000)
}
