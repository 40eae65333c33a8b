import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'

/** A collection that fails for an hour is left to the daily run. */
const analytics = proxyActivities<Activities>({
  scheduleToCloseTimeout: HOUR,
  startToCloseTimeout: 2 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 5 * MINUTE },
})

/** Collects the follower count of a newly connected account. */
export async function collectFollowers(connectionId: string): Promise<'saved' | 'skipped' | 'failed'> {
  return analytics.collectFollowers(connectionId)
}
