import { createFairLimit, QueueFull } from '../../flow/fair-limit.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import { parseOwnerId } from '../../domain/media/storage-keys.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions } from '../contract.ts'
import { PlatformError } from '../errors.ts'

interface MediaLimiterOptions {
  /** The maximum number of files processed concurrently, for all users. */
  concurrency: number
  /** The maximum number per user, so that slow files of one user leave room for others. */
  perUser: number
}

/** The maximum queue per user. Each entry holds a slot of the worker. */
const MAX_WAITING = 20
const RETRY_AFTER_MS = 5 * SECOND

/** Limits concurrent work on media files, fairly by the user who owns them. */
export function createMediaLimiter(options: MediaLimiterOptions) {
  const runLimited = createUserLimiter(options)
  return <T>(item: MediaItem, work: () => Promise<T>, call: CallOptions): Promise<T> =>
    runLimited(parseOwnerId(item.storageKey), work, call)
}

/** Limits concurrent work on files, fairly by user. */
export function createUserLimiter({ concurrency, perUser }: MediaLimiterOptions) {
  const limit = createFairLimit({ maxRunning: concurrency, perKey: perUser, waitingPerKey: MAX_WAITING })

  /** @throws PlatformError `media_not_ready` when the user's queue is full, or the error of `work` */
  return async function runLimited<T>(userId: string, work: () => Promise<T>, { signal }: CallOptions): Promise<T> {
    try {
      return await limit(userId, work, { signal })
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error
      const options = { certain: true, retryAfterMs: RETRY_AFTER_MS, cause: error }
      throw new PlatformError('media_not_ready', 'Files of other posts are still being prepared', options)
    }
  }
}
