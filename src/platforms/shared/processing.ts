import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../errors.ts'

const FIRST_PAUSE_MS = SECOND / 2
const LONGEST_PAUSE_MS = 5 * SECOND
const RETRY_AFTER_MS = 5 * SECOND

interface ProcessingOptions {
  /** The platform's name, for the sentence that people read. */
  label: string
  /** How long to stay before the attempt ends, to be taken up again. */
  waitMs: number
  signal: AbortSignal
}

/**
 * Looks until a platform has done its work on images or a video, for a while.
 * @param poll null: it is not done yet
 * @throws PlatformError `media_not_ready` when it takes longer
 */
export async function waitUntilProcessed<T>(
  poll: () => Promise<T | null>,
  { label, waitMs, signal }: ProcessingOptions,
): Promise<T> {
  const end = Date.now() + waitMs
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const found = await poll()
    if (found !== null) return found
    if (Date.now() + pause > end) {
      throw new PlatformError('media_not_ready', `${label} is still working on an image or video`, {
        certain: true,
        retryAfterMs: RETRY_AFTER_MS,
      })
    }
    await delay(pause, undefined, { signal })
  }
}

/**
 * What a platform lost is sent again by the next attempt. Unlike waiting for its work that costs a try: a platform that keeps losing it
 * must not get it over and over.
 */
export function toLostMediaError(message: string, cause?: unknown): PlatformError {
  return new PlatformError('transient', message, { certain: true, cause })
}
