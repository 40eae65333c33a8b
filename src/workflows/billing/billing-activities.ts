import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

/**
 * Asked until there is an answer: who paid must get what they paid for, however long the processor is away. An attempt that is lost
 * with its worker is noticed by its heartbeat.
 */
export const billing = proxyActivities<Activities>({
  startToCloseTimeout: MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
})
