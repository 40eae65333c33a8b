import { judgeEffects, judgePublishCalls } from './effects.ts'
import { judgeEvents } from './events.ts'
import type { Evidence, Violation } from './evidence.ts'
import { judgeOrder, splitParts } from './parts.ts'
import { buildPostHistories } from './post-histories.ts'
import { judgeNotifications, judgeProgress, judgeRollUp, judgeUsage } from './records.ts'
import { judgeWebhooks } from './webhooks.ts'
import { judgeExchanges, judgeProcesses, judgeRenewals, judgeSecrets } from './service.ts'

/** Checks the evidence of a run against the invariants of ARCHITECTURE.md. An empty list means a clean run. */
export function judge(evidence: Evidence): Violation[] {
  const histories = buildPostHistories(evidence)
  return [
    ...judgeDeliveries(evidence, histories),
    ...judgeUsage(evidence),
    ...judgeNotifications(evidence, histories),
    ...judgeEvents(evidence, histories),
    ...judgeWebhooks(evidence),
    ...judgeSecrets(evidence),
    ...judgeRenewals(evidence),
    ...judgeExchanges(evidence),
    ...judgeProcesses(evidence),
  ]
}

/** Checks what concerns deliveries alone: I1, I2, I3 and I5. */
export function judgeDeliveries(evidence: Evidence, histories = buildPostHistories(evidence)): Violation[] {
  const split = splitParts(evidence)
  const parts = split.posts.length === evidence.posts.length ? histories : buildPostHistories(split)
  return [
    ...judgeEffects(split, parts),
    ...judgeOrder(evidence),
    ...judgeProgress(evidence, histories),
    ...judgePublishCalls(split, parts),
    ...judgeRollUp(evidence),
  ]
}

/** Returns one line per violation, for a failing test or the end of a run. */
export function formatViolations(violations: Violation[]): string[] {
  return violations.map(({ invariant, message }) => `${invariant}: ${message}`)
}
