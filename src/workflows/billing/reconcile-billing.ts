import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { BilledPlace } from '../messages/billing.ts'

/** A page is asked for again while the processor gives no answer at all; what became of one user never ends a run. */
const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: MINUTE,
  retry: { initialInterval: 10 * SECOND, backoffCoefficient: 2, maximumInterval: HOUR },
})

interface Totals {
  /** Where it goes on. */
  place: BilledPlace
  looked: number
  failed: number
}

/** Compares everybody's subscription with the processor's truth, so that an event that never came does no lasting harm. */
export async function reconcileBilling(
  from: Totals = { place: { by: 'subscription', after: '' }, looked: 0, failed: 0 },
): Promise<Omit<Totals, 'place'>> {
  const { place, ...totals } = from
  for (let at = place; ;) {
    const page = await maintenance.reconcileBilled(at)
    totals.looked += page.looked
    totals.failed += page.failed
    if (page.next === null) return totals
    at = page.next
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reconcileBilling>({ place: at, ...totals })
  }
}
