import { parseMediaType } from '../../domain/media/storage-keys.ts'
import type { MediaFacts } from '../../domain/posts/media-files.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Upload, UploadFilter } from '../../store/media/uploads.ts'
import type { MediaUses } from '../../store/posts/posts.ts'
import { mediaNotFound } from './delete-upload.ts'
import { releaseNamed } from './upload-quota.ts'
import type { CommandContext } from '../context.ts'

const READ_TIMEOUT_MS = 3 * SECOND

/** An upload with what is known of its file. */
export interface LibraryItem {
  upload: Upload
  mimeType: string
  /** Null when object storage does not answer. */
  sizeBytes: number | null
  uses: MediaUses | null
  /** What the file shows; read for one item only. */
  facts?: MediaFacts
}

/**
 * Returns a page of a user's uploads, newest first, and how much of the quota the unused ones take. Addresses without a file are left
 * out of the items, and counted in `total` until the sweeper removes them.
 */
export async function listLibrary(
  deps: CommandContext,
  userId: string,
  selection: UploadFilter & { page: number; limit: number },
) {
  await releaseNamed(deps, userId)
  const [{ uploads, total }, { bytes: usedBytes }] = await Promise.all([
    deps.uploads.list(userId, selection),
    deps.uploads.usageOf(userId),
  ])
  return {
    items: await describe(deps, userId, uploads),
    total,
    quota: { used: usedBytes, limit: deps.config.UPLOAD_QUOTA_BYTES },
  }
}

/** @throws ServiceError NOT_FOUND, also for an address without a file */
export async function findInLibrary(deps: CommandContext, userId: string, storageKey: string): Promise<LibraryItem> {
  const upload = await deps.uploads.findStored(userId, storageKey)
  const [item] = upload ? await describe(deps, userId, [upload]) : []
  if (!item) throw mediaNotFound()
  const file: MediaItem = { storageKey, storageUrl: deps.storage.publicUrl(storageKey), mimeType: item.mimeType }
  const read = await deps.media.readFile(file, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) }).catch(() => null)
  return read?.state === 'readable' ? { ...item, facts: read.facts } : item
}

async function describe(deps: CommandContext, userId: string, uploads: Upload[]): Promise<LibraryItem[]> {
  const keys = uploads.map(({ _id }) => _id)
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS)
  const [uses, sizes] = await Promise.all([deps.posts.findMediaUses(userId, keys), Promise.all(uploads.map(readSize))])
  return uploads.flatMap((upload, index) => {
    const size = sizes[index]!
    if (size === 'missing') return []
    const mimeType = parseMediaType(upload._id)!
    return { upload, mimeType, sizeBytes: size, uses: uses.get(upload._id) ?? null }
  })

  /** A new upload may not have a file yet, and its size may change. */
  async function readSize({ _id, bytes, checkAt }: Upload): Promise<number | null | 'missing'> {
    if (checkAt === null) return bytes
    try {
      return (await deps.storage.sizeOf(_id, { signal })) ?? 'missing'
    } catch {
      return null
    }
  }
}
