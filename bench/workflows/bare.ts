import { proxyActivities, sleep } from '@temporalio/workflow'
import type { BareActivities } from '../processes/bare-worker.ts'

/** The least a workflow can do for a post: as many activities as platforms, each doing nothing. */
const { doNothing, stamp } = proxyActivities<BareActivities>({ startToCloseTimeout: 60_000, heartbeatTimeout: 5_000 })

export async function threeActivities(): Promise<void> {
  await Promise.all([doNothing(), doNothing(), doNothing()])
}

/** The least it can do for a scheduled one: a timer at the instant, then the activity that would send. */
export async function timer({ id, dueAt }: { id: string; dueAt: number }): Promise<void> {
  const wait = dueAt - Date.now()
  if (wait > 0) await sleep(wait)
  await stamp(id)
}
