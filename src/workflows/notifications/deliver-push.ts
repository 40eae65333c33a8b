import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import type { PushState } from '../../domain/notifications/push.ts'
import { DAY, MINUTE, SECOND } from '../../domain/shared/times.ts'

/** The activity itself gives up on an old notification. `scheduleToCloseTimeout` is the final bound. */
const notifying = proxyActivities<Activities>({
  startToCloseTimeout: MINUTE,
  heartbeatTimeout: 5 * SECOND,
  scheduleToCloseTimeout: 2 * DAY,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
})

/** Sends a notification once to every device of its user. */
export async function deliverPush(notificationId: string, userId: string): Promise<PushState> {
  return notifying.pushToDevices(notificationId, userId)
}
