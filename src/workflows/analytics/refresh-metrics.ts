import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

/** A user waits for the result, so it ends after a minute. */
const analytics = proxyActivities<Activities>({
  scheduleToCloseTimeout: MINUTE,
  startToCloseTimeout: MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND / 4, maximumAttempts: 3 },
})

/**
 * Collects the metrics of one post on one platform now, and returns whether there is a new snapshot.
 * @param target the account, if the user chose it for the post
 * @param userId the owner; absent in runs that an older release started
 */
export async function refreshMetrics(
  postId: string,
  platform: Platform,
  target?: string,
  userId?: string,
): Promise<boolean> {
  return analytics.refreshPostMetrics(postId, platform, target, userId)
}
