import { proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow'
import type { BareActivities } from '../processes/bare-worker.ts'

const { doNothing, stamp } = proxyActivities<BareActivities>({ startToCloseTimeout: 60_000, heartbeatTimeout: 5_000 })
const local = proxyLocalActivities<BareActivities>({ startToCloseTimeout: 60_000 })

/** The minimum for an immediate post: an empty activity per platform. */
export async function threeActivities(): Promise<void> {
  await Promise.all([doNothing(), doNothing(), doNothing()])
}

/** The same with activities that run in the workflow task. */
export async function threeLocalActivities(): Promise<void> {
  await Promise.all([local.doNothing(), local.doNothing(), local.doNothing()])
}

/** The minimum for a scheduled post: a timer until it is due, then an activity that makes the visible call. */
export async function timer({ id, dueAt }: { id: string; dueAt: number }): Promise<void> {
  const wait = dueAt - Date.now()
  if (wait > 0) await sleep(wait)
  await stamp(id)
}
