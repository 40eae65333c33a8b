import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../errors.ts'

const FIRST_PAUSE_MS = SECOND / 2
const LONGEST_PAUSE_MS = 5 * SECOND
const RETRY_AFTER_MS = 5 * SECOND

interface ProcessingOptions {
  /** The platform's name in sentences for people. */
  label: string
  /** How long to wait before the attempt ends and is repeated later, milliseconds. */
  waitMs: number
  signal: AbortSignal
}

/**
 * Polls until the platform has processed an image or video, for a limited time.
 * @param poll returns `null` while it is not done
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
      throw new PlatformError('media_not_ready', `${label} is still processing an image or video`, {
        certain: true,
        retryAfterMs: RETRY_AFTER_MS,
      })
    }
    await delay(pause, undefined, { signal })
  }
}

/**
 * The error for an upload that the platform lost. The next attempt sends it again. Unlike waiting, this counts as a
 * try, so that a platform that keeps losing it does not receive it endlessly.
 */
export function toLostMediaError(message: string, cause?: unknown): PlatformError {
  return new PlatformError('transient', message, { certain: true, cause })
}
