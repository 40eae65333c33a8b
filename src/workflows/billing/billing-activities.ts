import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

/**
 * Retried until the payment processor answers, because users must get what they paid for. A missing heartbeat reveals an attempt that died
 * with its worker.
 */
export const billing = proxyActivities<Activities>({
  startToCloseTimeout: MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
})
