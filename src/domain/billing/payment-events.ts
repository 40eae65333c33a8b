import type { ProcessorInvoice, ProcessorSubscription } from './billing.ts'

/** The events of the payment processor that mean anything here (spec 6.1). */
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

/** A signed event, without anything personal. What it is about is asked from the processor afterwards. */
export interface PaymentEvent {
  id: string
  type: string
  createdAt: Date
  /** As the checkout noted it on session and subscription. */
  userId: string | null
  customerId: string | null
  subscriptionId: string | null
  invoiceId: string | null
  /** What the payload says of the subscription: it counts only where the processor no longer knows it. */
  told: ProcessorSubscription | null
  toldInvoice: ProcessorInvoice | null
}
