import { cancellationSignal, heartbeat } from '@temporalio/activity'
import { FOLDERS, originalKey, parseOwnerId, removedKey } from '../../domain/media/storage-keys.ts'
import { DAY } from '../../domain/shared/times.ts'
import type { CleanedFolders, FolderCursor } from '../../workflows/contract/media.ts'
import type { Context } from '../../context.ts'

const PAGE = 500
const CONCURRENT_FILES = 5
/** The age at which unused uploads, copies and removed files are cleaned up. */
const MAX_AGE_MS = DAY

type CleanupResult = keyof CleanedFolders
/** Returns the function that cleans up each object of a page. */
type Cleaner = (keys: string[]) => Promise<(key: string) => Promise<CleanupResult | null>>

/**
 * Removes unused files in two steps, a day apart: first it moves them to the folder of removed files, then it deletes them. A post that
 * uses an upload meanwhile gets it back: `media-source.ts` restores it on opening, and the next clean-up restores it, too. So nothing is
 * locked, and every step may be repeated.
 */
export function createCleanUploadsActivities({ storage, posts, imports, users, uploads, clock }: Context) {
  async function findUsedAvatars(keys: string[]): Promise<Set<string | null>> {
    const avatars = await users.findAvatars([...new Set(keys.map(parseOwnerId))])
    return new Set(avatars.map((avatar) => storage.toKey(avatar)))
  }

  /** Rows of an import use their media before their posts exist. */
  async function findUsedMedia(keys: string[]): Promise<Set<string>> {
    const found = await Promise.all([posts.findNamedMedia(keys), imports.findNamedMedia(keys)])
    return new Set(found.flatMap((used) => [...used]))
  }

  async function findUsedFiles(keys: string[]): Promise<Set<string | null>> {
    const [media, avatars] = await Promise.all([findUsedMedia(keys), findUsedAvatars(keys)])
    return new Set([...media, ...avatars])
  }

  function removeUnused(findUsed: (keys: string[]) => Promise<ReadonlySet<string | null>>): Cleaner {
    return async (keys) => {
      const used = await findUsed(keys)
      return async (key) => {
        if (used.has(key) || !(await storage.move(key, removedKey(key)))) return null
        await uploads.setRemoved(key, true)
        return 'removed'
      }
    }
  }

  /** Removed files come first, so that no file passes two folders in one run. */
  const cleaners: Record<string, Cleaner> = {
    [FOLDERS.removed]: async (keys) => {
      const used = await findUsedFiles(keys.map(originalKey))
      return async (key) => {
        if (used.has(originalKey(key))) {
          await uploads.setRemoved(originalKey(key), false)
          return (await storage.move(key, originalKey(key))) ? 'restored' : null
        }
        // In this order: a repeated run finds the file, but not the record.
        await uploads.remove(originalKey(key))
        await storage.remove(key)
        return 'deleted'
      }
    },
    [FOLDERS.copies]: async () => async (key) => {
      // The copy may have been stored again since it was listed.
      if (!isOld((await storage.storedAt(key)) ?? clock.now())) return null
      await storage.remove(key)
      return 'deleted'
    },
    [FOLDERS.uploads]: removeUnused(findUsedMedia),
    [FOLDERS.avatars]: removeUnused(findUsedAvatars),
  }
  const folders = Object.keys(cleaners)

  function isOld(storedAt: Date): boolean {
    return clock.now().getTime() - storedAt.getTime() > MAX_AGE_MS
  }

  function findNextCursor({ folder }: FolderCursor, listed: { key: string }[]): FolderCursor | null {
    if (listed.length === PAGE) return { folder, after: listed.at(-1)!.key }
    const next = folders[folders.indexOf(folder) + 1]
    return next === undefined ? null : { folder: next, after: null }
  }

  return {
    /** @param cursor null at the beginning */
    async cleanUploadsPage(cursor: FolderCursor | null): Promise<CleanedFolders & { next: FolderCursor | null }> {
      const at = cursor ?? { folder: folders[0]!, after: null }
      const signal = cancellationSignal()
      const listed = await storage.list(at.folder, { after: at.after, limit: PAGE }, { signal })
      const old = listed.filter(({ storedAt }) => isOld(storedAt)).map(({ key }) => key)
      const clean = await cleaners[at.folder]!(old)
      const done: CleanedFolders = { removed: 0, restored: 0, deleted: 0 }
      for (let first = 0; first < old.length; first += CONCURRENT_FILES) {
        signal.throwIfAborted()
        const results = await Promise.all(old.slice(first, first + CONCURRENT_FILES).map(clean))
        for (const result of results) if (result) done[result] += 1
        heartbeat(done)
      }
      return { ...done, next: findNextCursor(at, listed) }
    },
  }
}
