import { proxyActivities, sleep } from '@temporalio/workflow'
import type { PublishPlan } from '../../src/domain/posts/publish-plan.ts'

/**
 * The workflows of a release that schedules other commands. The current workflows cannot replay their histories. Tests bundle this
 * file as a worker's workflows to cause a non-determinism error.
 */
const elsewhere = proxyActivities<{ unknownActivity(): Promise<void> }>({
  taskQueue: 'no-worker-polls-this-queue',
  startToCloseTimeout: 60_000,
})

async function waitForNextRelease(waitMs: number): Promise<void> {
  elsewhere.unknownActivity().catch(() => {})
  await sleep(Math.max(waitMs, 1))
}

export const publishPost = (plan: PublishPlan): Promise<void> => waitForNextRelease(plan.armAt - Date.now())

const background = (): Promise<void> => waitForNextRelease(2_000)

export {
  background as sendMail,
  background as deliverPush,
  background as subscription,
  background as routePaymentEvent,
  background as eraseAccount,
  background as replayDeadLetter,
  background as changePublished,
  background as collectFollowers,
  background as deliverWebhooks,
  background as applyImport,
}
