import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { BilledCursor } from '../contract/billing.ts'

/** A page is retried while the payment processor does not answer at all. A failure for one user never ends a run. */
const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: MINUTE,
  retry: { initialInterval: 10 * SECOND, backoffCoefficient: 2, maximumInterval: HOUR },
})

interface Totals {
  /** The cursor of the next page. */
  cursor: BilledCursor
  checked: number
  failed: number
}

/** Reconciles all subscriptions with the payment processor, so that a lost event does no lasting harm. */
export async function reconcileBilling(
  from: Totals = { cursor: { by: 'subscription', after: '' }, checked: 0, failed: 0 },
): Promise<Omit<Totals, 'cursor'>> {
  const { cursor, ...totals } = from
  for (let at = cursor; ;) {
    const page = await maintenance.reconcileBilled(at)
    totals.checked += page.checked
    totals.failed += page.failed
    if (page.next === null) return totals
    at = page.next
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reconcileBilling>({ cursor: at, ...totals })
  }
}
