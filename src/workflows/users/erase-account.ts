import { proxyActivities, sleep } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

/** Tried until it is done: nobody is there any more to ask for it again. */
const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: MINUTE,
  retry: { initialInterval: SECOND, maximumInterval: MINUTE },
})

/**
 * Removes the account of this user, step by step, and later looks through all of it once more for what was on its way meanwhile.
 * Which steps there are is the activities' business: a new one disturbs no erasure that is under way.
 */
export async function eraseAccount(userId: string): Promise<void> {
  const plan = await maintenance.beginErasure(userId)
  if (!plan) return
  for (const step of plan.steps) await erase(userId, step)
  await sleep(Math.max(1, plan.lookAgainAt - Date.now()), { summary: 'Wait for what was on its way' })
  for (const step of plan.steps) await erase(userId, step)
  await maintenance.closeErasure(userId)
}

function erase(userId: string, step: string): Promise<void> {
  return maintenance.runErasureStep.executeWithOptions({ summary: step }, [userId, step])
}
