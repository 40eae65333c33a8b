import { createFairLimit, QueueFull } from '../../domain/shared/fair-limit.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import { parseOwnerId } from '../../domain/media/storage-keys.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions } from '../contract.ts'
import { PlatformError } from '../errors.ts'

interface MediaTurnsOptions {
  /** Files in hand concurrently, of all users. */
  atOnce: number
  /** Files of one user in hand concurrently, so that a slow one leaves room for other users. */
  perUser: number
}

/** Of one user: each of them holds a slot of the worker while it waits. */
const MAX_WAITING = 20
const RETRY_AFTER_MS = 5 * SECOND

/** Work on media files, by turns of the users who own them. */
export function createMediaTurns({ atOnce, perUser }: MediaTurnsOptions) {
  const limit = createFairLimit({ maxRunning: atOnce, perKey: perUser, waitingPerKey: MAX_WAITING })

  /** @throws PlatformError `media_not_ready` where too many files of the user wait already; and what `work` throws */
  return async function inTurn<T>(item: MediaItem, work: () => Promise<T>, { signal }: CallOptions): Promise<T> {
    try {
      return await limit(parseOwnerId(item.storageKey), work, signal)
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error
      const options = { certain: true, retryAfterMs: RETRY_AFTER_MS, cause: error }
      throw new PlatformError('media_not_ready', 'Files of other posts are still being prepared', options)
    }
  }
}
