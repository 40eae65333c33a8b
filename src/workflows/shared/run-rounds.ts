import { condition, continueAsNew, setHandler, workflowInfo, type Workflow } from '@temporalio/workflow'
import { wakeSignal, type RoundResult } from '../contract/rounds.ts'

/** After this many rounds the workflow continues as new, which keeps its history short. */
const MAX_ROUNDS_PER_RUN = 200

interface Rounds<W extends Workflow> {
  /** Those of the workflow. */
  args: Parameters<W>
  round(): Promise<RoundResult>
  /** Operators see it in the Temporal UI. */
  waitsFor: string
}

/**
 * Runs rounds until nothing is left; a signal begins the next one early. What is left is stored, so a run that is terminated loses nothing, and
 * the workflow is started again once there is more.
 */
export async function runRounds<W extends Workflow>({ args, round, waitsFor }: Rounds<W>): Promise<void> {
  let isWoken = false
  setHandler(wakeSignal, () => {
    isWoken = true
  })
  for (let rounds = 0; ; rounds += 1) {
    // Nothing is awaited between reading `isWoken` and the end. When a signal arrives meanwhile, Temporal rejects the end and runs this again.
    if (rounds >= MAX_ROUNDS_PER_RUN || workflowInfo().continueAsNewSuggested) await continueAsNew<W>(...args)
    isWoken = false
    const { nextAt } = await round()
    if (isWoken) continue
    if (nextAt === null) return
    const waitMs = nextAt - Date.now()
    const summary = `Wait for ${waitsFor}, or until ${new Date(nextAt).toISOString()}`
    if (waitMs > 0) await condition(() => isWoken, waitMs, { summary })
  }
}
