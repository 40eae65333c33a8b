import type { ProcessorInvoice, ProcessorSubscription } from './billing.ts'

/** The events of the payment processor that this service handles. */
const PAYMENT_EVENT_TYPES = [
  'checkout.session.completed',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
  'customer.subscription.updated',
  'customer.subscription.deleted',
] as const

export type PaymentEventType = (typeof PAYMENT_EVENT_TYPES)[number]

export function isPaymentEventType(type: string): type is PaymentEventType {
  return (PAYMENT_EVENT_TYPES as readonly string[]).includes(type)
}

/** A signed event without personal data. The current state of its subject is fetched from the processor afterwards. */
export interface PaymentEvent {
  id: string
  type: string
  createdAt: Date
  /** Id of the user, from the metadata that the checkout set on session and subscription. */
  userId: string | null
  customerId: string | null
  subscriptionId: string | null
  invoiceId: string | null
  /** The subscription in the event's payload. It counts only when the processor no longer knows the subscription. */
  payloadSubscription: ProcessorSubscription | null
  payloadInvoice: ProcessorInvoice | null
}
