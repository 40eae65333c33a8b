import { failure, type PlatformErrorClass } from '../../domain/posts/failure.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import { CapacityExceeded } from '../shared/call-limiter.ts'

/** The pause after a rate limit that states no wait. */
const UNSTATED_WAIT_MS = 15 * MINUTE

/** How a collection run reacts to a failed call. */
export type CollectionFailure =
  /** Make no calls to the platform for this long. */
  | { kind: 'pause'; waitMs: number }
  /** The server of the account is down or at its call limit. Other servers of the platform may answer. */
  | { kind: 'no-capacity' }
  /** No call for this account succeeds until its owner acts. */
  | { kind: 'account-blocked'; why: 'unauthorized' | 'permission' }
  | { kind: 'dead-letter'; reason: string; isUnexpected: boolean }

/** Replaces the messages of adapters for these errors, which describe a rejected post. A collection only reads. */
const READ_FAILURES: Partial<Record<PlatformErrorClass, string>> = {
  validation: 'rejected the request for metrics',
  duplicate: 'rejected the request for metrics',
  media_not_ready: 'rejected the request for metrics',
  media_fetch_failed: 'rejected the request for metrics',
  blocked_by_platform: 'has restricted the account and reports no metrics',
}

/** @throws errors of the database: the activity is retried */
export function classifyCollectionFailure(error: unknown, platform: Platform): CollectionFailure {
  if (error instanceof CapacityExceeded) return { kind: 'no-capacity' }
  if (isDatabaseOutage(error)) throw error
  if (!(error instanceof PlatformError)) return toDeadLetter('INTERNAL', 'Something went wrong inside the service')
  switch (error.class) {
    case 'rate_limited':
      return { kind: 'pause', waitMs: error.retryAfterMs || UNSTATED_WAIT_MS }
    case 'unauthorized':
    case 'permission':
      return { kind: 'account-blocked', why: error.class }
    default: {
      const text = READ_FAILURES[error.class]
      return toDeadLetter(error.class, text ? `${platformLabel(platform)} ${text}` : error.message)
    }
  }
}

function toDeadLetter(...[code, message]: Parameters<typeof failure>): CollectionFailure {
  const reason = failure(code, message)
  return { kind: 'dead-letter', reason: `${reason.code}: ${reason.message}`, isUnexpected: code === 'INTERNAL' }
}
