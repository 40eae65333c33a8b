/** All times are seconds of the processor's clock, as in the API. */
export type Seconds = number

export type Card = 'works' | 'fails'
export type Metadata = Record<string, string>

export interface CustomerRecord {
  id: string
  email: string | null
  card: Card
  createdAt: Seconds
  isDeleted: boolean
}

export interface SubscriptionRecord {
  id: string
  itemId: string
  customerId: string
  metadata: Metadata
  status: 'active' | 'past_due' | 'canceled'
  createdAt: Seconds
  /** Periods begun; the last of them is the current one. They are counted from `createdAt`. */
  periods: number
  /** Follows from those, but is looked at all the time. */
  periodEnd: Seconds
  cancelAtPeriodEnd: boolean
  canceledAt: Seconds | null
  endedAt: Seconds | null
  latestInvoiceId: string
  /** The API denies that it ever was. */
  isForgotten: boolean
}

export interface InvoiceRecord {
  id: string
  number: string
  lineId: string
  customerId: string
  customerEmail: string | null
  subscriptionId: string
  itemId: string
  metadata: Metadata
  reason: 'subscription_create' | 'subscription_cycle'
  /** A draft is asked for when it is finalized. */
  status: 'draft' | 'open' | 'paid'
  createdAt: Seconds
  finalizedAt: Seconds | null
  paidAt: Seconds | null
  /** When the period before began, which ends with this invoice. */
  usedFrom: Seconds
  periodStart: Seconds
  periodEnd: Seconds
  attempts: number
  nextAttemptAt: Seconds | null
}

export interface CheckoutRecord {
  id: string
  status: 'open' | 'complete' | 'expired'
  createdAt: Seconds
  expiresAt: Seconds
  customerId: string | null
  /** Of a customer that is yet to be made. */
  customerEmail: string | null
  makesCustomer: boolean
  clientReferenceId: string | null
  metadata: Metadata
  subscriptionMetadata: Metadata
  quantity: number
  allowPromotionCodes: boolean
  successUrl: string
  cancelUrl: string | null
  subscriptionId: string | null
  invoiceId: string | null
}

export interface PortalRecord {
  id: string
  customerId: string
  returnUrl: string | null
  createdAt: Seconds
  /** Until then it may be entered, and once entered, be used. */
  expiresAt: Seconds
  /** What the browser that entered is known by; the address itself is then used up. */
  visit: string | null
}

export interface EventRecord {
  id: string
  type: string
  created: Seconds
  body: object
  /** At the real instants; `status` is null where there was no answer. */
  deliveries: Delivery[]
  /** Made while none were sent: it leaves on demand only. */
  isHeld: boolean
}

export interface Delivery {
  at: string
  status: number | null
}

/** What stays the same for as long as the processor is kept. */
export interface AccountRecord {
  secretKey: string
  webhookSecret: string
  priceId: string
  productId: string
  createdAt: Seconds
}

export interface KeptAnswer {
  key: string
  fingerprint: string
  status: number
  body: unknown
  requestId: string
  at: number
}
