import type { SubscriptionPlan, Subscription } from './subscription.ts'

/** Where a subscription stands, in the words of the payment processor. */
export const PROCESSOR_STATES = [
  'incomplete',
  'incomplete_expired',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
  // Whatever else it may come to say.
  'unknown',
] as const
export type ProcessorState = (typeof PROCESSOR_STATES)[number]

export interface ProcessorInvoice {
  id: string
  /** Null for an invoice of something else. */
  subscriptionId: string | null
  customerId: string | null
  /** The one that began the subscription. */
  isFirst: boolean
  isPaid: boolean
}

/** A subscription as the payment processor has it. */
export interface ProcessorSubscription {
  id: string
  customerId: string
  /** Our user, as the checkout noted it. */
  userId: string | null
  state: ProcessorState
  createdAt: Date
  currentPeriodStart: Date | null
  currentPeriodEnd: Date | null
  /** Null where nothing is said of it. */
  cancelAtPeriodEnd: boolean | null
  latestInvoice: ProcessorInvoice | null
}

export interface KnownSubscription extends Pick<ProcessorSubscription, 'id' | 'customerId' | 'createdAt'> {
  /** The newest event that was heard of it: what an older one says of it has passed. */
  heard?: { eventId: string; at: Date }
  /** User and admins were told that it runs beside another one. */
  isFlagged?: true
}

/** What the service keeps of a user's dealings with the processor; nobody is shown it. */
export interface Billing {
  /** Grows with every change of it or of the subscription: writes are conditional on it. */
  revision: number
  /** Known and not ended, the oldest first: the oldest that is paid for is the record's. */
  subscriptions: KnownSubscription[]
  /** What plan, status and limits were last set by; an admin's override stands until it differs. */
  applied: { subscriptionId: string; state: ProcessorState } | null
  /** Those that ended last: they never come back. */
  endedIds: string[]
  /** Paid invoices that reset the usage, or must not. */
  countedInvoiceIds: string[]
  /** Everybody the user ever was at the processor: an erasure has it forget them all. */
  customerIds: string[]
  /** The last checkout that was made for the user. */
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

/** What a look at the processor came to. */
export interface BillingState {
  plan: SubscriptionPlan
  status: Subscription['status']
  /** There is a subscription to watch. */
  isLive: boolean
  currentPeriodEnd: Date | null
  /** What this look changed, for operators. */
  change: string
}
