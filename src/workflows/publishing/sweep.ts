import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: MINUTE,
  heartbeatTimeout: 20 * SECOND,
  retry: { maximumAttempts: 2 },
})

/** Restarts posts and background work without a running workflow, after a lost start or a terminated workflow. */
export async function sweep(): Promise<{ restarted: number }> {
  return maintenance.sweepDeliveries()
}
