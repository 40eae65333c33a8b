import { join } from 'node:path'
import type { Violation } from '../faults/judge/evidence.ts'
import { copySource, never, remove, type Replacement } from '../support/copied-source.ts'
import { planHistory, runHistory, type History, type Outcome } from './history.ts'
import { loadService, type Source } from './service.ts'

/** A guard of deliveries, the replacements that remove it, and the violation that a history must then show. */
export interface SimulatedGuard {
  guard: string
  removed: Replacement[]
  violates: Violation['invariant']
}

export const SIMULATED_GUARDS: SimulatedGuard[] = [
  {
    guard: 'The revision is a condition of every write',
    removed: [{ anchor: 'revision', change: (code) => code.replace(/,\s*revision:[^,}]*/, ' ') }],
    violates: 'I1',
  },
  {
    guard: 'A write that matches no document counts as lost',
    removed: [{ anchor: 'lost write', change: () => 'return true' }],
    violates: 'I3',
  },
  {
    guard: 'A repeat has the key of the first call',
    removed: [{ anchor: 'first key', change: () => 'key: `${post._id}/${delivery.attempt}`' }],
    violates: 'I1',
  },
  {
    guard: 'No claim while the lease of another attempt runs',
    removed: [{ anchor: 'lease', change: remove }],
    violates: 'I1',
  },
  {
    guard: 'An unknown outcome is reconciled before the call is repeated',
    removed: [{ anchor: 'reconciliation', change: (code) => code.replace(/=.*$/s, "= 'absent'") }],
    violates: 'I1',
  },
  {
    guard: 'A missing post counts as absent only when the call can no longer take effect',
    removed: [{ anchor: 'settling time', change: () => 'return true' }],
    violates: 'I1',
  },
  {
    guard: 'A refusal of a repeat is final only when the earlier call can no longer take effect',
    removed: [{ anchor: 'earlier call in flight', change: remove }],
    violates: 'I1',
  },
  {
    guard: 'What a claim has prepared is not replaced by another attempt',
    removed: [{ anchor: 'checkpoints of the claim', change: remove }],
    violates: 'I1',
  },
  {
    guard: "A response without the platform's own error body decides nothing",
    removed: [{ anchor: 'foreign response', change: remove }],
    violates: 'I1',
  },
  {
    guard: 'The sweeper starts posts that Temporal never received',
    removed: [{ anchor: 'sweep', change: () => 'const restarted = 0' }],
    violates: 'I2',
  },
  {
    guard: 'No claim before the stored due time',
    removed: [{ anchor: 'due time', change: remove }],
    violates: 'I3',
  },
  {
    guard: 'No claim for a cancelled post',
    removed: [{ anchor: 'open post', change: remove }],
    violates: 'I3',
  },
  {
    guard: 'No claim for content that was prepared before an edit',
    removed: [{ anchor: 'content version', change: remove }],
    violates: 'I3',
  },
  {
    guard: 'No claim for a part of a thread that another attempt has published',
    removed: [{ anchor: 'next part', change: remove }],
    violates: 'I1',
  },
  {
    guard: 'The status of a post is rolled up in one place',
    removed: [{ anchor: 'roll-up', change: (code) => code.replace("'FAILED'", "'COMPLETED'") }],
    violates: 'I5',
  },
  {
    guard: 'A post is found by the draft it was created from',
    removed: [{ anchor: 'search by draft', change: (code) => code.replace(/=== draft/, '=== draft && false') }],
    violates: 'I2',
  },
  {
    guard: 'A draft whose id may be stored is not deleted',
    removed: [{ anchor: 'draft that may be stored', change: remove }],
    violates: 'I2',
  },
  {
    guard: 'A published container is not published again',
    removed: [
      { anchor: 'unpublished container', change: () => "if (state === 'published') return 'absent'" },
      { anchor: 'published container', change: never },
    ],
    violates: 'I1',
  },
  {
    guard: 'A platform post belongs to one post, so that equal posts have one each',
    removed: [{ anchor: 'platform post of one post', change: remove }],
    violates: 'I1',
  },
  {
    guard: "A post is found among the page's own posts",
    removed: [{ anchor: 'search in page', change: () => "if (match) return 'absent'" }],
    violates: 'I1',
  },
]

/** A history that shows that a guard is missing. */
interface Found {
  source: Source
  history: History
  outcome: Outcome
  /** The number of histories that ran, this one included. */
  histories: number
  /** Loading the source included. */
  cpuSeconds: number
}

/**
 * Removes a guard from a copy of the source, and runs histories until one violates its invariant.
 * @param options.dir a folder for the copy
 * @returns null when none of `most` histories does
 */
export async function findViolation(
  { removed, violates }: SimulatedGuard,
  { dir, most }: { dir: string; most: number },
): Promise<Found | null> {
  const before = process.cpuUsage()
  const source = await loadService(copySource(join(dir, crypto.randomUUID()), removed))
  for (let seed = 1; seed <= most; seed++) {
    const history = planHistory(seed)
    const outcome = await runHistory(source, history)
    if (!outcome.violations.some(({ invariant }) => invariant === violates)) continue
    const { user, system } = process.cpuUsage(before)
    return { source, history, outcome, histories: seed, cpuSeconds: (user + system) / 1e6 }
  }
  return null
}
