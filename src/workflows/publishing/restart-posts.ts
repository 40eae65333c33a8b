import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { HOUR, SECOND } from '../../domain/shared/times.ts'

const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: HOUR,
  heartbeatTimeout: 20 * SECOND,
  retry: { initialInterval: SECOND, maximumInterval: 5 * SECOND },
})

/** Starts the workflow of every open post after a loss of Temporal's data. */
export async function restartPosts(): Promise<{ restarted: number }> {
  return maintenance.restartPosts()
}
