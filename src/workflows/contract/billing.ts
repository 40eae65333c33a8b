import { defineSignal } from '@temporalio/workflow'

/** Names a stored event of the payment processor. */
export interface PaymentEventRef {
  eventId: string
  type: string
}

/** Operators see it in the Temporal UI. */
export const SUBSCRIPTION_SUMMARY = "Watch over a user's subscription"

/** The signal of the workflow `subscription`. */
export const paymentEventSignal = defineSignal<[PaymentEventRef]>('paymentEvent')

/** A user's subscription as the workflow `subscription` sees it. */
export interface SubscriptionState {
  /** Whether there is a live subscription. */
  isLive: boolean
  /** Epoch milliseconds. */
  periodEndsAt: number | null
  /** Such as `pro/active`. */
  planAndStatus: string
  /** What the last call changed. */
  change: string
}

/** A position in the listing of users who pay or may have paid. */
export interface BilledCursor {
  by: 'subscription' | 'checkout'
  /** The key of the last user of the page before; empty at the beginning. */
  after: string
}
