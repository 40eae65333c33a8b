import type { PaymentEventStore } from '../../store/billing/payment-events.ts'
import { SECOND } from '../../domain/shared/times.ts'

/** Waits longer than for other work, because the event may be about to start by itself. */
const START_GRACE_MS = 30 * SECOND
/** Shown to operators in the Temporal UI. */
const SUMMARY = 'Process a payment event'

/** Stored payment events that were not processed, for the sweeper. */
export function paymentBacklog({ paymentEvents }: { paymentEvents: PaymentEventStore }) {
  return {
    work: 'routePaymentEvent' as const,
    summary: SUMMARY,
    listUnstarted: (before: Date, limit: number) =>
      paymentEvents.listUnapplied(new Date(before.getTime() - START_GRACE_MS), limit),
  }
}
