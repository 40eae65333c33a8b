import type { ProcessorInvoice, ProcessorSubscription } from '../domain/billing.ts'
import type { PaymentEvent } from '../domain/payment-events.ts'

export interface Checkout {
  id: string
  status: 'open' | 'complete' | 'expired'
  /** Where the user pays, while it is open. */
  url: string | null
  subscriptionId: string | null
}

interface CheckoutWish {
  userId: string
  email: string
  /** Null for a user who never paid. */
  customerId: string | null
  successUrl: string
  cancelUrl: string
  idempotencyKey: string
}

/** The payment processor. @throws PaymentsError from everything but `readEvent` */
export interface Payments {
  openCheckout(wish: CheckoutWish): Promise<{ id: string; url: string }>
  /** Null when the processor does not know it. */
  readCheckout(id: string): Promise<Checkout | null>
  /** One that is no longer open stays as it is. */
  expireCheckout(id: string): Promise<void>
  openPortal(wish: { customerId: string; returnUrl: string; idempotencyKey: string }): Promise<{ url: string }>
  cancelAtPeriodEnd(subscriptionId: string, idempotencyKey: string): Promise<ProcessorSubscription>
  /** At once; one that ended already, or is not known, is fine. */
  endSubscription(subscriptionId: string, idempotencyKey: string): Promise<void>
  /** With everything that is personal there; one that is not known is fine. */
  removeCustomer(customerId: string): Promise<void>
  readSubscription(id: string): Promise<ProcessorSubscription | null>
  readInvoice(id: string): Promise<ProcessorInvoice | null>
  /** @throws ServiceError WEBHOOK_INVALID */
  readEvent(rawBody: Buffer, signature: string | undefined, now: Date): PaymentEvent
}
