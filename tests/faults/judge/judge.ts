import { judgeEffects, judgeInstants } from './effects.ts'
import type { Evidence, Violation } from './evidence.ts'
import { judgeEnds, judgeNotifications, judgeRollUp, judgeUsage } from './records.ts'
import { judgeExchanges, judgeProcesses, judgeRenewals, judgeSecrets } from './surroundings.ts'
import { storiesOf } from './stories.ts'

/** Holds the invariants of ARCHITECTURE.md against what a run left behind; an empty list is a clean run. */
export function judge(evidence: Evidence): Violation[] {
  const stories = storiesOf(evidence)
  return [
    ...judgeEffects(evidence, stories),
    ...judgeEnds(evidence, stories),
    ...judgeInstants(evidence, stories),
    ...judgeUsage(evidence),
    ...judgeRollUp(evidence),
    ...judgeNotifications(evidence, stories),
    ...judgeSecrets(evidence),
    ...judgeRenewals(evidence),
    ...judgeExchanges(evidence),
    ...judgeProcesses(evidence),
  ]
}

/** One line a violation, for a failing test or the end of a run. */
export function sentencesOf(violations: Violation[]): string[] {
  return violations.map(({ invariant, sentence }) => `${invariant}: ${sentence}`)
}
