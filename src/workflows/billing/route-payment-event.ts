import { sleep } from '@temporalio/workflow'
import { HOUR, MINUTE } from '../../domain/shared/times.ts'
import { billing } from './billing-activities.ts'

/**
 * Signals a stored event of the payment processor to the workflow of its user until that workflow applies it. The waits grow, so that a
 * delay of days does not fill a history.
 */
export async function routePaymentEvent(eventId: string): Promise<void> {
  for (let waitMs = MINUTE; ; waitMs = Math.min(2 * waitMs, HOUR)) {
    const { isProcessed } = await billing.routePaymentEvent(eventId)
    if (isProcessed) return
    await sleep(waitMs, { summary: 'Wait, then check that the event was applied' })
  }
}
