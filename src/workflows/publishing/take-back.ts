import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { DAY, MINUTE, SECOND } from '../../domain/shared/times.ts'

/** Removing a post again changes nothing, so each attempt may repeat what an earlier one did. The activity itself gives up after a day. */
const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 10 * MINUTE,
  heartbeatTimeout: 10 * SECOND,
  scheduleToCloseTimeout: 2 * DAY,
  retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
})

/** Removes what is published of a post from the platforms for which that was requested. */
export async function takeBack(postId: string, userId: string): Promise<void> {
  await maintenance.removePublished.executeWithOptions({ summary: 'Remove the published posts' }, [postId, userId])
}
