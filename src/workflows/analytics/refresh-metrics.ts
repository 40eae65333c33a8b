import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { RefreshInput } from '../contract/analytics.ts'

/** A user waits for the result, so it ends after a minute. */
const analytics = proxyActivities<Activities>({
  scheduleToCloseTimeout: MINUTE,
  startToCloseTimeout: MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND / 4, maximumAttempts: 3 },
})

/** Collects the metrics of one post on one platform now, and returns whether there is a new snapshot. */
export async function refreshMetrics(input: RefreshInput): Promise<boolean> {
  return analytics.refreshPostMetrics(input)
}
