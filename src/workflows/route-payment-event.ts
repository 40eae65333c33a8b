import { proxyActivities, sleep } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { HOUR, MINUTE, SECOND } from '../domain/times.ts'

/** Whose event it is may have to be asked from the processor, which may be away for long. */
const billing = proxyActivities<Activities>({
  startToCloseTimeout: MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
})

/**
 * Sees to it that a stored event of the payment processor gets to the workflow of its user, and is acted on there: it tells again, more
 * and more rarely, so that what is held up for days fills nobody's history.
 */
export async function routePaymentEvent(eventId: string): Promise<void> {
  for (let waitMs = MINUTE; ; waitMs = Math.min(2 * waitMs, HOUR)) {
    const { isSettled } = await billing.routePaymentEvent(eventId)
    if (isSettled) return
    await sleep(waitMs, { summary: 'Until it is time to see whether it was applied' })
  }
}
