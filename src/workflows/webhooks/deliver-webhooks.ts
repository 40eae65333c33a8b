import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { runRounds } from '../shared/run-rounds.ts'

/** A round ends within a minute, whatever receivers do. It is retried until the database answers. */
const webhooks = proxyActivities<Activities>({
  startToCloseTimeout: 2 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
})

/** Delivers the events of a user to one webhook. The next event wakes it. */
export async function deliverWebhooks(webhookId: string, userId: string): Promise<void> {
  const round = () => webhooks.deliverRound(webhookId, userId)
  await runRounds<typeof deliverWebhooks>({ args: [webhookId, userId], round, waitsFor: 'events' })
}
