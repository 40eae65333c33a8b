import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { wakeSignal } from '../contract/webhooks.ts'

/** A round ends within a minute, whatever receivers do. It is retried until the database answers. */
const webhooks = proxyActivities<Activities>({
  startToCloseTimeout: 2 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
})

/** After this many rounds the workflow continues as new, which keeps its history short. */
const MAX_ROUNDS_PER_RUN = 200

/**
 * Delivers the events of a user to one webhook, in rounds. Deliveries and their retries are stored, so a run that is terminated loses nothing.
 * The workflow ends when nothing is left to deliver; the next event starts it again.
 */
export async function deliverWebhooks(webhookId: string, userId: string): Promise<void> {
  let isWoken = false
  setHandler(wakeSignal, () => {
    isWoken = true
  })
  for (let rounds = 0; ; rounds += 1) {
    // Nothing is awaited between reading `isWoken` and the end. When a signal arrives meanwhile, Temporal rejects the end and runs this again.
    if (rounds >= MAX_ROUNDS_PER_RUN || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof deliverWebhooks>(webhookId, userId)
    }
    isWoken = false
    const { nextAt } = await webhooks.deliverRound(webhookId, userId)
    if (isWoken) continue
    if (nextAt === null) return
    const waitMs = nextAt - Date.now()
    const summary = `Wait for events, or until ${new Date(nextAt).toISOString()}`
    if (waitMs > 0) await condition(() => isWoken, waitMs, { summary })
  }
}
