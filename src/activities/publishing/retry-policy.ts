import { failure, MediaUnavailableError, type Failure } from '../../domain/posts/failure.ts'
import { toProbeWaitMs } from '../../domain/posts/outages.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import { CredentialsUnreadable, PlatformError, PublicationQuotaReached } from '../../platforms/errors.ts'
import { CapacityExceeded, ServerHeld } from '../shared/call-limiter.ts'

/** The reaction to a failure that certainly left nothing on the platform. */
export type FailureDecision =
  | { kind: 'refuse'; reason: Failure }
  | {
      kind: 'defer'
      reason: Failure
      waitMs: number
      countsAsTry: boolean
      /** The server that could not be reached. */
      server?: string
    }

/** Waits after the first, second ... transient failure. */
const BACKOFF_MS = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE]
const MAX_STATED_WAIT_MS = HOUR
/** Rate limits cost no try, so this wait alone prevents constant calls to a platform that states none. */
const UNSTATED_WAIT_MS = 30 * SECOND
const CAPACITY_WAIT_MS = SECOND
const NOT_READY_WAIT_MS = 15 * SECOND
/** A platform that has not processed a video by then is not expected to finish. */
const MAX_PROCESSING_MS = HOUR
/** The next check comes after this fraction of the time waited so far, so that it delays the post by no more than that. */
const RECHECK_FRACTION = 1 / 20

/**
 * Decides by the class of the error whether a delivery is refused or deferred.
 * @param tries counted failures of this round so far
 * @param jitter 0 to 1, spreads retries of deliveries that failed together
 * @param waitedMs time since the post was due, while it is prepared; null after a visible call
 * @param outageMs time since the server could not be reached first
 */
export function classifyFailure(
  error: unknown,
  tries: number,
  jitter: number,
  waitedMs: number | null,
  outageMs = 0,
): FailureDecision {
  const unreached = findUnreached(error, jitter, outageMs)
  if (unreached) {
    const reason = failure(
      'transient',
      (error as Error).message,
      error instanceof PlatformError ? error.platformReason : null,
    )
    return { kind: 'defer', reason, ...unreached, countsAsTry: false }
  }
  if (error instanceof MediaUnavailableError)
    return { kind: 'refuse', reason: failure('MEDIA_UNAVAILABLE', error.message) }
  if (error instanceof CapacityExceeded) {
    const reason = failure('transient', 'Too many posts are being sent to this platform')
    return { kind: 'defer', reason, waitMs: CAPACITY_WAIT_MS * (1 + jitter), countsAsTry: false }
  }
  if (!(error instanceof PlatformError)) {
    return deferWithTry(failure('INTERNAL', 'Something went wrong inside the service'), computeBackoff(tries, jitter))
  }
  if (error instanceof PublicationQuotaReached) {
    const reason = failure('QUOTA_EXCEEDED', error.message, error.platformReason)
    return { kind: 'defer', reason, waitMs: error.waitMs, countsAsTry: false }
  }
  const reason = failure(error.class, error.message, error.platformReason)
  if (error instanceof CredentialsUnreadable) {
    return { kind: 'defer', reason, waitMs: MINUTE * (1 + jitter / 5), countsAsTry: false }
  }
  switch (error.class) {
    case 'rate_limited':
      return deferRateLimit(reason, error.retryAfterMs || UNSTATED_WAIT_MS * (1 + jitter / 5))
    case 'transient':
      // Short stated waits alone would use up all tries early in an outage.
      return deferWithTry(reason, Math.max(error.retryAfterMs ?? 0, computeBackoff(tries, jitter)))
    case 'media_not_ready':
      return deferProcessing(reason, error.retryAfterMs || NOT_READY_WAIT_MS, waitedMs)
    case 'media_fetch_failed':
      return tries === 0
        ? deferWithTry(reason, Math.max(error.retryAfterMs ?? 0, computeBackoff(tries, jitter)))
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

/**
 * Returns the server that an attempt could not reach, and the wait before the next one; null for every other error. Such attempts go on as
 * long as a post may be late, and use up nothing.
 */
export function findUnreached(
  error: unknown,
  jitter: number,
  outageMs: number,
): { server: string; waitMs: number } | null {
  if (error instanceof ServerHeld) return { server: error.server, waitMs: error.waitMs }
  if (!(error instanceof PlatformError) || error.unreachable === null) return null
  return { server: error.unreachable, waitMs: toProbeWaitMs(outageMs, jitter, error.retryAfterMs) }
}

function deferWithTry(reason: Failure, waitMs: number): FailureDecision {
  return { kind: 'defer', reason, waitMs: Math.min(waitMs, MAX_STATED_WAIT_MS), countsAsTry: true }
}

/** Processing costs no tries, however often it is checked. A platform that accepted the media as ready and then refuses it does. */
function deferProcessing(reason: Failure, waitMs: number, waitedMs: number | null): FailureDecision {
  if (waitedMs === null) return deferWithTry(reason, waitMs)
  if (waitedMs <= MAX_PROCESSING_MS) {
    return { kind: 'defer', reason, waitMs: Math.max(waitMs, waitedMs * RECHECK_FRACTION), countsAsTry: false }
  }
  return {
    kind: 'refuse',
    reason: { ...reason, message: `${reason.message}, more than an hour after the post was due` },
  }
}

function deferRateLimit(reason: Failure, waitMs: number): FailureDecision {
  if (waitMs <= MAX_STATED_WAIT_MS) return { kind: 'defer', reason, waitMs, countsAsTry: false }
  const minutes = Math.ceil(waitMs / MINUTE)
  return {
    kind: 'refuse',
    reason: { ...reason, message: `${reason.message} (the platform asks to wait ${minutes} minutes)` },
  }
}

function computeBackoff(tries: number, jitter: number): number {
  const wait = BACKOFF_MS[Math.min(tries, BACKOFF_MS.length - 1)]!
  return wait * (1 + jitter / 5)
}
