import { sleep } from '@temporalio/workflow'
import { HOUR, MINUTE } from '../../domain/shared/times.ts'
import { billing } from './billing-activities.ts'

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
