import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { SearchOptions } from '../contract.ts'

/** How long after its start a call may still take effect (docs/adr/0031), milliseconds. */
export interface InFlightTimes {
  /** A call that was answered, or whose repeat the platform recognises. */
  inFlightMs?: number | undefined
  /** Any other: a server may have taken the request and work on it long after the client went away. */
  unansweredInFlightMs?: number | undefined
}

const IN_FLIGHT_MS = 30 * SECOND
const UNANSWERED_IN_FLIGHT_MS = 10 * MINUTE

/** @param recognisesRepeats whether a repeat of the call cannot publish twice, by a key or by what it publishes */
export function isNoLongerInFlight(
  { calledAt, wasAnswered }: Pick<SearchOptions, 'calledAt' | 'wasAnswered'>,
  recognisesRepeats: boolean,
  { inFlightMs = IN_FLIGHT_MS, unansweredInFlightMs = UNANSWERED_IN_FLIGHT_MS }: InFlightTimes,
): boolean {
  const elapsedMs = Date.now() - calledAt.getTime()
  const isShort = wasAnswered || recognisesRepeats
  return elapsedMs >= (isShort ? Math.min(inFlightMs, unansweredInFlightMs) : unansweredInFlightMs)
}
