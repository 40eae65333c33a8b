import { FAILURE_CODES, type FailureCode } from './failure.ts'
import type { Outcome } from './post.ts'

/**
 * Why a delivery that is due is still open: nothing of it was tried, it is being sent, the outcome of a call is unknown, its server cannot
 * be reached, or the code of its last attempt.
 */
export const WAITING_REASONS = [
  'NOT_STARTED',
  'SENDING',
  'RECONCILING',
  'SERVER_UNREACHABLE',
  ...FAILURE_CODES,
] as const
export type WaitingReason = (typeof WAITING_REASONS)[number]

/** Due open deliveries in the same state, counted together. */
export interface WaitingGroup {
  hasOutage: boolean
  isLeased: boolean
  outcome: Outcome
  errorCode: FailureCode | null
  deliveries: number
  oldestDueAt: Date
}

export interface WaitingCount {
  reason: WaitingReason
  deliveries: number
  oldestDueAt: Date
}

/** Counts due deliveries by the reason for which they wait, the most frequent first. */
export function countWaiting(groups: readonly WaitingGroup[]): WaitingCount[] {
  const counts = new Map<WaitingReason, WaitingCount>()
  for (const group of groups) {
    const reason = toWaitingReason(group)
    const { deliveries, oldestDueAt } = counts.get(reason) ?? { deliveries: 0, oldestDueAt: group.oldestDueAt }
    counts.set(reason, {
      reason,
      deliveries: deliveries + group.deliveries,
      oldestDueAt: oldestDueAt < group.oldestDueAt ? oldestDueAt : group.oldestDueAt,
    })
  }
  return [...counts.values()].toSorted((a, b) => b.deliveries - a.deliveries)
}

function toWaitingReason({ hasOutage, isLeased, outcome, errorCode }: WaitingGroup): WaitingReason {
  if (isLeased) return 'SENDING'
  if (hasOutage) return 'SERVER_UNREACHABLE'
  if (outcome === 'unknown') return 'RECONCILING'
  return errorCode ?? 'NOT_STARTED'
}
