import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { SearchOptions } from '../contract.ts'

/** How long after its start a call may still take effect (ADR "When absent is trusted, and whose response counts"), milliseconds. */
export interface InFlightTimes {
  /** For a call that got a response, or whose repeat the platform recognises. */
  inFlightMs?: number | undefined
  /** For any other call: a server may have accepted the request and process it long after the client disconnected. */
  unansweredInFlightMs?: number | undefined
}

const IN_FLIGHT_MS = 30 * SECOND
const UNANSWERED_IN_FLIGHT_MS = 10 * MINUTE

/**
 * Returns whether a call can no longer take effect.
 * @param recognisesRepeats true when a repeat of the call cannot publish twice, by its key or by what it publishes
 */
export function isNoLongerInFlight(
  { calledAt, wasAnswered }: Pick<SearchOptions, 'calledAt' | 'wasAnswered'>,
  recognisesRepeats: boolean,
  { inFlightMs = IN_FLIGHT_MS, unansweredInFlightMs = UNANSWERED_IN_FLIGHT_MS }: InFlightTimes,
): boolean {
  const elapsedMs = Date.now() - calledAt.getTime()
  const isShort = wasAnswered || recognisesRepeats
  // guard: settling time
  return elapsedMs >= (isShort ? Math.min(inFlightMs, unansweredInFlightMs) : unansweredInFlightMs)
}
