import { failure, MediaUnavailableError, type Failure } from '../../domain/posts/failure.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { CapacityExceeded } from '../shared/call-limiter.ts'

/** What follows from a failure that definitely left nothing on the platform. */
export type FailureDecision =
  { kind: 'refuse'; reason: Failure } | { kind: 'defer'; reason: Failure; waitMs: number; countsAsTry: boolean }

/** Waits after the first, second ... definite failure that passes (platforms.md section 8). */
const BACKOFF_MS = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE]
const LONGEST_STATED_WAIT_MS = HOUR
/** Waits for a rate limit cost no try, so nothing but this keeps one that states no wait from being asked all the time. */
const UNSTATED_WAIT_MS = 30 * SECOND
const CROWDED_WAIT_MS = SECOND
const NOT_READY_WAIT_MS = 15 * SECOND
/** A platform that has not done its work on a video by then is not expected to do it any more. */
const LONGEST_PROCESSING_MS = HOUR
/** Of the time that a post has waited for already: later looks are rarer, and none makes it later by more than this. */
const NEXT_LOOK = 1 / 20

/**
 * Decides by the class of the failure (platforms.md section 8).
 * @param tries definite failures of this round so far
 * @param jitter 0 to 1, spreads those that failed together
 * @param waitedMs since the post's instant, of one that is being prepared; null when the visible call was made
 */
export function classifyFailure(
  error: unknown,
  tries: number,
  jitter: number,
  waitedMs: number | null,
): FailureDecision {
  if (error instanceof MediaUnavailableError)
    return { kind: 'refuse', reason: failure('MEDIA_UNAVAILABLE', error.message) }
  if (error instanceof CapacityExceeded) {
    const reason = failure('transient', 'Too many posts are on their way to this platform')
    return { kind: 'defer', reason, waitMs: CROWDED_WAIT_MS * (1 + jitter), countsAsTry: false }
  }
  if (!(error instanceof PlatformError)) {
    return again(failure('INTERNAL', 'Something went wrong inside the service'), backoff(tries, jitter))
  }
  const reason = failure(error.class, error.message, error.platformReason)
  switch (error.class) {
    case 'rate_limited':
      return rateLimited(reason, error.retryAfterMs || UNSTATED_WAIT_MS * (1 + jitter / 5))
    case 'transient':
      // Short stated waits would spend the tries within moments of an outage.
      return again(reason, Math.max(error.retryAfterMs ?? 0, backoff(tries, jitter)))
    case 'media_not_ready':
      return notReady(reason, error.retryAfterMs || NOT_READY_WAIT_MS, waitedMs)
    case 'media_fetch_failed':
      return tries === 0
        ? again(reason, Math.max(error.retryAfterMs ?? 0, backoff(tries, jitter)))
        : { kind: 'refuse', reason }
    case 'unauthorized':
    case 'permission':
    case 'not_found':
    case 'validation':
    case 'duplicate':
    case 'blocked_by_platform':
      return { kind: 'refuse', reason }
  }
}

function again(reason: Failure, waitMs: number): FailureDecision {
  return { kind: 'defer', reason, waitMs: Math.min(waitMs, LONGEST_STATED_WAIT_MS), countsAsTry: true }
}

/** The platform's work takes the time it takes, whatever the number of looks. A post that it had taken for ready is another matter. */
function notReady(reason: Failure, waitMs: number, waitedMs: number | null): FailureDecision {
  if (waitedMs === null) return again(reason, waitMs)
  if (waitedMs <= LONGEST_PROCESSING_MS) {
    return { kind: 'defer', reason, waitMs: Math.max(waitMs, waitedMs * NEXT_LOOK), countsAsTry: false }
  }
  return {
    kind: 'refuse',
    reason: { ...reason, message: `${reason.message}, more than an hour after the post was due` },
  }
}

function rateLimited(reason: Failure, waitMs: number): FailureDecision {
  if (waitMs <= LONGEST_STATED_WAIT_MS) return { kind: 'defer', reason, waitMs, countsAsTry: false }
  const minutes = Math.ceil(waitMs / MINUTE)
  return {
    kind: 'refuse',
    reason: { ...reason, message: `${reason.message} (the platform asks to wait ${minutes} minutes)` },
  }
}

function backoff(tries: number, jitter: number): number {
  const wait = BACKOFF_MS[Math.min(tries, BACKOFF_MS.length - 1)]!
  return wait * (1 + jitter / 5)
}
