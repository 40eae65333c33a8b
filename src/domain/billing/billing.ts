import type { SubscriptionPlan, Subscription } from './subscription.ts'

/** States of a subscription at the payment processor. */
export const PROCESSOR_STATES = [
  'incomplete',
  'incomplete_expired',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
  // Any state that the processor adds later.
  'unknown',
] as const
export type ProcessorState = (typeof PROCESSOR_STATES)[number]

export interface ProcessorInvoice {
  id: string
  /** Null for an invoice without a subscription. */
  subscriptionId: string | null
  customerId: string | null
  /** True for the invoice that started the subscription. */
  isFirst: boolean
  isPaid: boolean
}

/** A subscription at the payment processor. */
export interface ProcessorSubscription {
  id: string
  customerId: string
  /** Id of the user, from the metadata that the checkout set; null without it. */
  userId: string | null
  state: ProcessorState
  createdAt: Date
  currentPeriodStart: Date | null
  currentPeriodEnd: Date | null
  /** Null when the processor does not state it. */
  cancelAtPeriodEnd: boolean | null
  latestInvoice: ProcessorInvoice | null
}

export interface KnownSubscription extends Pick<ProcessorSubscription, 'id' | 'customerId' | 'createdAt'> {
  /** The newest event about it. The payloads of older events are ignored. */
  newestEvent?: { eventId: string; at: Date }
  /** True once user and admins were notified that it is active next to another subscription. */
  isFlagged?: true
}

/** Internal billing state of a user. No API response contains it. */
export interface Billing {
  /** Incremented by every change of this state or of the subscription. Writes are conditional on it. */
  revision: number
  /** Known subscriptions that have not ended, oldest first. The oldest paid one determines the user's plan. */
  subscriptions: KnownSubscription[]
  /** The state that last set plan, status and limits. An admin's override stays until the state changes. */
  applied: { subscriptionId: string; state: ProcessorState } | null
  /** Ids of recently ended subscriptions, which never resume. */
  endedIds: string[]
  /** Paid invoices that were processed and must not reset the usage again. */
  countedInvoiceIds: string[]
  /** All customer ids that the user ever had at the processor. Erasing the account deletes them there. */
  customerIds: string[]
  /** The user's last checkout; null when there is none. */
  checkoutId: string | null
}

export const NO_BILLING: Billing = {
  revision: 0,
  subscriptions: [],
  applied: null,
  endedIds: [],
  countedInvoiceIds: [],
  customerIds: [],
  checkoutId: null,
}

/** Result of a synchronization with the processor. */
export interface BillingState {
  plan: SubscriptionPlan
  status: Subscription['status']
  /** True when there is a subscription to watch. */
  isLive: boolean
  currentPeriodEnd: Date | null
  /** Changes made by this synchronization, for operators. */
  change: string
}
