import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

const analytics = proxyActivities<Activities>({
  startToCloseTimeout: 2 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE, maximumAttempts: 10 },
})

/** Retries a failed collection. Its dead letter counts another failure. */
export async function replayDeadLetter(letterId: string): Promise<'done' | 'failed' | 'gone'> {
  return analytics.replayDeadLetter(letterId)
}
