import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

const analytics = proxyActivities<Activities>({
  startToCloseTimeout: 2 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE, maximumAttempts: 10 },
})

/** Takes up once more what could not be collected; what fails again is counted on its letter. */
export async function replayDeadLetter(letterId: string): Promise<'done' | 'failed' | 'gone'> {
  return analytics.replayDeadLetter(letterId)
}
