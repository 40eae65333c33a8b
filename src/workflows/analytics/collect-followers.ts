import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'

/** The daily run makes up for what is not done within the hour. */
const analytics = proxyActivities<Activities>({
  scheduleToCloseTimeout: HOUR,
  startToCloseTimeout: 2 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 5 * MINUTE },
})

/** Takes the follower count of an account that was just connected. */
export async function collectFollowers(connectionId: string): Promise<'taken' | 'skipped' | 'failed'> {
  return analytics.collectFollowers(connectionId)
}
