import { removedKey } from '../../domain/media/storage-keys.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Upload } from '../../store/media/uploads.ts'
import type { CommandContext } from '../context.ts'

const CALL_TIMEOUT_MS = 5 * SECOND

type Deps = Pick<CommandContext, 'uploads' | 'posts' | 'imports' | 'storage'>

/**
 * Deletes an upload that no post needs any more. It is marked first: from then on no post can be stored with it, and every earlier post is
 * found. The sweeper completes what a crash interrupts.
 * @throws ServiceError NOT_FOUND, MEDIA_IN_USE
 */
export async function deleteUpload(
  deps: Deps,
  { userId, storageKey }: { userId: string; storageKey: string },
): Promise<void> {
  const upload = await deps.uploads.findStored(userId, storageKey)
  if (!upload) throw mediaNotFound()
  // Before the mark, which would refuse posts with a file that stays.
  refuseUse(await findUse(deps, upload))
  if (!(await deps.uploads.markDeleted(upload))) throw beingSaved()
  refuseUse(await completeDeletion(deps, upload))
}

/** Deletes the file of a marked upload, or takes the mark back when something needs it. Returns that use. */
export async function completeDeletion(deps: Deps, upload: Upload): Promise<Use | null> {
  const { _id: storageKey } = upload
  // Once the file is gone the deletion is final.
  const use = upload.removeAt === null ? await findUse(deps, upload) : null
  if (use) {
    await deps.uploads.restoreDeleted(upload)
    return use
  }
  const signal = AbortSignal.timeout(CALL_TIMEOUT_MS)
  // The clean-up may have moved the file aside.
  await Promise.all([storageKey, removedKey(storageKey)].map((key) => deps.storage.remove(key, { signal })))
  await deps.uploads.recordDeleted(upload)
  return null
}

interface Use {
  /** Empty for the row of an import. */
  postIds: string[]
}

async function findUse({ posts, imports }: Deps, { _id: storageKey, userId }: Upload): Promise<Use | null> {
  const [uses, planned] = await Promise.all([
    posts.findMediaUses(userId, [storageKey]),
    imports.findNamedMedia([storageKey]),
  ])
  const postIds = uses.get(storageKey)?.needing ?? []
  return postIds.length > 0 || planned.has(storageKey) ? { postIds } : null
}

function refuseUse(use: Use | null): void {
  if (!use) return
  const { postIds } = use
  if (postIds.length === 0) throw inUse('A row of an import uses this file. Delete the import first.')
  throw inUse('Posts that are not published everywhere use this file. Change or delete them first.', { postIds })
}

const inUse = (message: string, details?: { postIds: string[] }) =>
  new ServiceError('MEDIA_IN_USE', message, details && { details })

function beingSaved(): ServiceError {
  return inUse('A post that uses this file may be being saved. Try again in a minute.')
}

export function mediaNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Media not found')
}
