import type { PaymentEventStore } from '../../store/billing/payment-events.ts'
import { SECOND } from '../../domain/shared/times.ts'

/** Rather late than twice: for a while longer than other work it may just be on its way. */
const ON_ITS_WAY_MS = 30 * SECOND
/** For operators, in the Temporal UI. */
const SUMMARY = 'See to it that a payment event is acted on'

/** Events of the payment processor that were stored and not acted on, for the sweeper. */
export function paymentBacklog({ paymentEvents }: { paymentEvents: Pick<PaymentEventStore, 'listUnapplied'> }) {
  return {
    work: 'routePaymentEvent' as const,
    summary: SUMMARY,
    listUnstarted: (before: Date, limit: number) =>
      paymentEvents.listUnapplied(new Date(before.getTime() - ON_ITS_WAY_MS), limit),
  }
}
