import { failure } from '../domain/failure.ts'
import { MINUTE } from '../domain/times.ts'
import { PlatformError } from '../platforms/errors.ts'
import { Crowded } from './bulkheads.ts'
import { isDatabaseTrouble } from './preparation.ts'

/** Where a platform states no wait. */
const UNSTATED_WAIT_MS = 15 * MINUTE
/** By then its breaker lets it be tried again. */
const CROWDED_WAIT_MS = MINUTE

/** What follows for a run from a call that failed (spec 6.3, contract section 6). */
export type CollectionTrouble =
  /** The platform is left alone for so long. */
  | { kind: 'pause'; waitMs: number }
  /** Nothing of this account can be had before its owner acts. */
  | { kind: 'shut'; why: 'unauthorized' | 'permission' }
  | { kind: 'dead'; reason: string; isUnexpected: boolean }

/** @throws what is no trouble with a platform: the attempt is made again */
export function troubleOf(error: unknown): CollectionTrouble {
  if (error instanceof Crowded) return { kind: 'pause', waitMs: CROWDED_WAIT_MS }
  if (isDatabaseTrouble(error)) throw error
  if (!(error instanceof PlatformError)) return dead('INTERNAL', 'Something went wrong inside the service')
  switch (error.class) {
    case 'rate_limited':
      return { kind: 'pause', waitMs: error.retryAfterMs || UNSTATED_WAIT_MS }
    case 'unauthorized':
    case 'permission':
      return { kind: 'shut', why: error.class }
    default:
      return dead(error.class, error.message)
  }
}

function dead(...[code, message]: Parameters<typeof failure>): CollectionTrouble {
  const reason = failure(code, message)
  return { kind: 'dead', reason: `${reason.code}: ${reason.message}`, isUnexpected: code === 'INTERNAL' }
}
