import { proxyActivities, sleep } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

/** Retried until it succeeds, because no user is left to request it again. */
const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: MINUTE,
  retry: { initialInterval: SECOND, maximumInterval: MINUTE },
})

/**
 * Erases the account of this user step by step, and repeats all steps later for data that arrived meanwhile. The activities define the
 * steps, so a new step does not affect a running erasure.
 */
export async function eraseAccount(userId: string): Promise<void> {
  const plan = await maintenance.beginErasure(userId)
  if (!plan) return
  for (const step of plan.steps) await erase(userId, step)
  await sleep(Math.max(1, plan.repeatAt - Date.now()), { summary: 'Wait for uploads and calls in progress' })
  for (const step of plan.steps) await erase(userId, step)
  await maintenance.closeErasure(userId)
}

function erase(userId: string, step: string): Promise<void> {
  return maintenance.runErasureStep.executeWithOptions({ summary: step }, [userId, step])
}
