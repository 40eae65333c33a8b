/** All times are in seconds of the processor's clock, as in the API. */
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
  /** The number of started periods, counted from `createdAt`; the last one is current. */
  periods: number
  /** Derived from `createdAt` and `periods`; stored because it is read often. */
  periodEnd: Seconds
  cancelAtPeriodEnd: boolean
  canceledAt: Seconds | null
  endedAt: Seconds | null
  latestInvoiceId: string
  /** True when the API denies that it ever existed. */
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
  /** A draft is charged when it is finalized. */
  status: 'draft' | 'open' | 'paid'
  createdAt: Seconds
  finalizedAt: Seconds | null
  paidAt: Seconds | null
  /** Start of the previous period, which ends with this invoice. */
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
  /** The address of a customer that does not exist yet. */
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
  /** The URL can be entered, and the visit used, until then. */
  expiresAt: Seconds
  /** The token of the browser that entered; the URL is then invalid. */
  visit: string | null
}

export interface EventRecord {
  id: string
  type: string
  created: Seconds
  body: object
  /** The delivery attempts with their real times; `status` is `null` without a response. */
  deliveries: Delivery[]
  /** Created while sending was paused: it is sent on demand only. */
  isHeld: boolean
}

export interface Delivery {
  at: string
  status: number | null
}

/** Data that never changes for a processor. */
export interface AccountRecord {
  secretKey: string
  webhookSecret: string
  priceId: string
  productId: string
  createdAt: Seconds
}

export interface StoredResponse {
  key: string
  fingerprint: string
  status: number
  body: unknown
  requestId: string
  at: number
}
