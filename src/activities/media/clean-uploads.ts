import { cancellationSignal, heartbeat } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { FOLDERS, originalKey, parseOwnerId, removedKey } from '../../domain/media/storage-keys.ts'
import { DAY } from '../../domain/shared/times.ts'
import type { ObjectStorage } from '../../integrations/storage/storage.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { UploadStore } from '../../store/media/uploads.ts'
import type { UserStore } from '../../store/users/users.ts'
import type { CleanedFolders, FolderPlace } from '../../workflows/messages.ts'

const PAGE = 500
const AT_ONCE = 5
/** Of an upload that nobody took, of a copy, and of what was removed. */
const LIFE_MS = DAY

export interface CleanUploadsDeps {
  storage: Pick<ObjectStorage, 'list' | 'move' | 'remove' | 'storedAt' | 'keyOf'>
  posts: Pick<PostStore, 'namedMedia'>
  users: Pick<UserStore, 'avatarsOf'>
  uploads: Pick<UploadStore, 'remove'>
  clock: Clock
}

type Done = keyof CleanedFolders
/** For one page of old objects: what to do with each. */
type Cleaner = (keys: string[]) => Promise<(key: string) => Promise<Done | null>>

/**
 * What no post and no user names goes in two steps, a day apart: out of sight first, for good later. A post that takes an upload while
 * it is being removed finds it again (`media-source.ts` brings it back when it is opened, the next clean-up when it is named), so
 * nothing has to be locked, and every step may be repeated.
 */
export function createCleanUploadsActivities({ storage, posts, users, uploads, clock }: CleanUploadsDeps) {
  async function namedAvatars(keys: string[]): Promise<Set<string | null>> {
    const avatars = await users.avatarsOf([...new Set(keys.map(parseOwnerId))])
    return new Set(avatars.map((avatar) => storage.keyOf(avatar)))
  }

  async function namedByAnyone(keys: string[]): Promise<Set<string | null>> {
    const [inPosts, avatars] = await Promise.all([posts.namedMedia(keys), namedAvatars(keys)])
    return new Set([...inPosts, ...avatars])
  }

  function takeUnnamed(findNamed: (keys: string[]) => Promise<ReadonlySet<string | null>>): Cleaner {
    return async (keys) => {
      const named = await findNamed(keys)
      return async (key) => (!named.has(key) && (await storage.move(key, removedKey(key))) ? 'removed' : null)
    }
  }

  /** What was removed goes first, so that nothing goes through two folders in one run. */
  const cleaners: Record<string, Cleaner> = {
    [FOLDERS.removed]: async (keys) => {
      const named = await namedByAnyone(keys.map(originalKey))
      return async (key) => {
        if (named.has(originalKey(key))) return (await storage.move(key, originalKey(key))) ? 'restored' : null
        await storage.remove(key)
        await uploads.remove(originalKey(key))
        return 'deleted'
      }
    },
    [FOLDERS.copies]: async () => async (key) => {
      // It may have been stored afresh since it was listed.
      if (!isOld((await storage.storedAt(key)) ?? clock.now())) return null
      await storage.remove(key)
      return 'deleted'
    },
    [FOLDERS.uploads]: takeUnnamed(posts.namedMedia),
    [FOLDERS.avatars]: takeUnnamed(namedAvatars),
  }
  const folders = Object.keys(cleaners)

  function isOld(storedAt: Date): boolean {
    return clock.now().getTime() - storedAt.getTime() > LIFE_MS
  }

  function placeAfter({ folder }: FolderPlace, listed: { key: string }[]): FolderPlace | null {
    if (listed.length === PAGE) return { folder, after: listed.at(-1)!.key }
    const next = folders[folders.indexOf(folder) + 1]
    return next === undefined ? null : { folder: next, after: null }
  }

  return {
    /** @param place null to begin with */
    async cleanUploadsPage(place: FolderPlace | null): Promise<CleanedFolders & { next: FolderPlace | null }> {
      const at = place ?? { folder: folders[0]!, after: null }
      const signal = cancellationSignal()
      const listed = await storage.list(at.folder, { after: at.after, limit: PAGE }, { signal })
      const old = listed.filter(({ storedAt }) => isOld(storedAt)).map(({ key }) => key)
      const clean = await cleaners[at.folder]!(old)
      const done: CleanedFolders = { removed: 0, restored: 0, deleted: 0 }
      for (let first = 0; first < old.length; first += AT_ONCE) {
        signal.throwIfAborted()
        const results = await Promise.all(old.slice(first, first + AT_ONCE).map(clean))
        for (const result of results) if (result) done[result] += 1
        heartbeat(done)
      }
      return { ...done, next: placeAfter(at, listed) }
    },
  }
}
