import { failure, type PlatformErrorClass } from '../../domain/posts/failure.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import { CapacityExceeded } from '../shared/call-limiter.ts'

/** Where a platform states no wait. */
const UNSTATED_WAIT_MS = 15 * MINUTE

/** What follows for a run from a call that failed (spec 6.3, contract section 6). */
export type CollectionFailure =
  /** The platform is left alone for so long. */
  | { kind: 'pause'; waitMs: number }
  /** The account's server is down, or there is no room for the call: of a platform of many servers, others go on. */
  | { kind: 'crowded' }
  /** Nothing of this account can be had before its owner acts. */
  | { kind: 'shut'; why: 'unauthorized' | 'permission' }
  | { kind: 'dead'; reason: string; isUnexpected: boolean }

/** Adapters word these for deliveries, as what was wrong with a post. Here nothing was sent, only asked. */
const OF_READS: Partial<Record<PlatformErrorClass, string>> = {
  validation: 'did not accept the question for metrics',
  duplicate: 'did not accept the question for metrics',
  media_not_ready: 'did not accept the question for metrics',
  media_fetch_failed: 'did not accept the question for metrics',
  blocked_by_platform: 'has restricted the account, and tells no metrics',
}

/** @throws what is no trouble with a platform: the attempt is made again */
export function classifyCollectionFailure(error: unknown, platform: Platform): CollectionFailure {
  if (error instanceof CapacityExceeded) return { kind: 'crowded' }
  if (isDatabaseOutage(error)) throw error
  if (!(error instanceof PlatformError)) return dead('INTERNAL', 'Something went wrong inside the service')
  switch (error.class) {
    case 'rate_limited':
      return { kind: 'pause', waitMs: error.retryAfterMs || UNSTATED_WAIT_MS }
    case 'unauthorized':
    case 'permission':
      return { kind: 'shut', why: error.class }
    default: {
      const words = OF_READS[error.class]
      return dead(error.class, words ? `${platformLabel(platform)} ${words}` : error.message)
    }
  }
}

function dead(...[code, message]: Parameters<typeof failure>): CollectionFailure {
  const reason = failure(code, message)
  return { kind: 'dead', reason: `${reason.code}: ${reason.message}`, isUnexpected: code === 'INTERNAL' }
}
