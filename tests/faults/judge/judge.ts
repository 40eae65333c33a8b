import { judgeEffects, judgePublishCalls } from './effects.ts'
import { judgeEvents } from './events.ts'
import type { Evidence, Violation } from './evidence.ts'
import { buildPostHistories } from './post-histories.ts'
import { judgeNotifications, judgeProgress, judgeRollUp, judgeUsage } from './records.ts'
import { judgeWebhooks } from './webhooks.ts'
import { judgeExchanges, judgeProcesses, judgeRenewals, judgeSecrets } from './service.ts'

/** Checks the evidence of a run against the invariants of ARCHITECTURE.md. An empty list means a clean run. */
export function judge(evidence: Evidence): Violation[] {
  const histories = buildPostHistories(evidence)
  return [
    ...judgeEffects(evidence, histories),
    ...judgeProgress(evidence, histories),
    ...judgePublishCalls(evidence, histories),
    ...judgeUsage(evidence),
    ...judgeRollUp(evidence),
    ...judgeNotifications(evidence, histories),
    ...judgeEvents(evidence, histories),
    ...judgeWebhooks(evidence),
    ...judgeSecrets(evidence),
    ...judgeRenewals(evidence),
    ...judgeExchanges(evidence),
    ...judgeProcesses(evidence),
  ]
}

/** Returns one line per violation, for a failing test or the end of a run. */
export function formatViolations(violations: Violation[]): string[] {
  return violations.map(({ invariant, message }) => `${invariant}: ${message}`)
}
