import { defineSignal } from '@temporalio/workflow'

/** Names an event of the payment processor; what it says is on record. */
export interface PaymentEventRef {
  eventId: string
  type: string
}

/** For operators, in the Temporal UI. */
export const SUBSCRIPTION_SUMMARY = "Watch over a user's subscription"

/** To the workflow `subscription`. */
export const paymentEventSignal = defineSignal<[PaymentEventRef]>('paymentEvent')

/** What the workflow `subscription` is told of a user's subscription. */
export interface SubscriptionState {
  /** There is one to watch. */
  isLive: boolean
  /** Epoch milliseconds. */
  periodEndsAt: number | null
  /** Plan and status. */
  standing: string
  /** What the last look changed. */
  change: string
}

/** A place in the listing of those who pay, or may have paid. */
export interface BilledPlace {
  by: 'subscription' | 'checkout'
  /** The last one that was looked at; empty at the beginning. */
  after: string
}
