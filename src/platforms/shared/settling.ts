import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { SearchOptions } from '../contract.ts'

/** How long after its start a call may still take effect (docs/adr/0031), milliseconds. */
export interface SettleTimes {
  /** A call that was answered, or whose repeat the platform recognises. */
  settleMs?: number | undefined
  /** Any other: a server may have taken the request and work on it long after the client went away. */
  unansweredSettleMs?: number | undefined
}

const SETTLE_MS = 30 * SECOND
const UNANSWERED_SETTLE_MS = 10 * MINUTE

/** @param recognisesRepeats whether a repeat of the call cannot publish twice, by a key or by what it publishes */
export function isSettled(
  { calledAt, wasAnswered }: Pick<SearchOptions, 'calledAt' | 'wasAnswered'>,
  recognisesRepeats: boolean,
  { settleMs = SETTLE_MS, unansweredSettleMs = UNANSWERED_SETTLE_MS }: SettleTimes,
): boolean {
  const elapsedMs = Date.now() - calledAt.getTime()
  // guard: settling time
  return elapsedMs >= (wasAnswered || recognisesRepeats ? Math.min(settleMs, unansweredSettleMs) : unansweredSettleMs)
}
