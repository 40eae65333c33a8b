import { randomUUID } from 'node:crypto'
import type { Stripe } from 'stripe'
import type { ProcessorInvoice, ProcessorSubscription } from '../../domain/billing/billing.ts'
import type { PaymentEvent } from '../../domain/billing/payment-events.ts'
import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { PaymentCallOutcome } from '../../telemetry/metrics.ts'
import { createPaymentsClient, isRefusal, nullIfMissing } from './client.ts'
import { readEventObject } from './events.ts'
import { readId, readInvoiceObject, readSubscriptionObject } from './objects.ts'
import { verifyBody } from './signature.ts'

const CHECKOUT_STATES = ['open', 'complete', 'expired'] as const

export interface Checkout {
  id: string
  status: (typeof CHECKOUT_STATES)[number]
  /** The payment page while the checkout is open. */
  url: string | null
  subscriptionId: string | null
}

interface CheckoutRequest {
  userId: string
  email: string
  /** Null for a user who has never paid. */
  customerId: string | null
  successUrl: string
  cancelUrl: string
  idempotencyKey: string
}

/**
 * The payment processor. Every function but `readEvent` throws PaymentsError.
 * @throws PaymentsError
 */
export interface Payments {
  openCheckout(request: CheckoutRequest): Promise<{ id: string; url: string }>
  /** Null when the processor does not know the checkout. */
  readCheckout(id: string): Promise<Checkout | null>
  /** Expires an open checkout; others stay unchanged. */
  expireCheckout(id: string): Promise<void>
  openPortal(request: { customerId: string; returnUrl: string; idempotencyKey: string }): Promise<{ url: string }>
  cancelAtPeriodEnd(subscriptionId: string, idempotencyKey: string): Promise<ProcessorSubscription>
  /** Ends a subscription immediately; an ended or unknown one is not an error. */
  endSubscription(subscriptionId: string, idempotencyKey: string): Promise<void>
  /** Removes a customer with all personal data; an unknown one is not an error. */
  removeCustomer(customerId: string): Promise<void>
  /** Null when the processor does not know it. */
  readSubscription(id: string): Promise<ProcessorSubscription | null>
  /** Null when the processor does not know it. */
  readInvoice(id: string): Promise<ProcessorInvoice | null>
  /** Checks the secret key and the price. */
  check(): Promise<void>
  /** @throws ServiceError WEBHOOK_INVALID */
  readEvent(rawBody: Buffer, signature: string | undefined, now: Date): Promise<PaymentEvent>
}

export interface PaymentsOptions {
  secretKey: string
  /** Base address of the API. */
  url: string
  userAgent: string
  priceId: string
  webhookSecrets: string[]
  /** Deadline of a whole call, retries included. */
  timeoutMs: number
  onCall?: (outcome: PaymentCallOutcome) => void
}

/** Uses Stripe. Loads the library with the first call or event. */
export function createPayments({ priceId, webhookSecrets, ...client }: PaymentsOptions): Payments {
  const call = createPaymentsClient(client)

  async function readCheckout(id: string): Promise<Checkout | null> {
    const session = await nullIfMissing(call('read a checkout', (client) => client.checkout.sessions.retrieve(id)))
    return session && readCheckoutObject(session)
  }

  return {
    async openCheckout({ userId, email, customerId, successUrl, cancelUrl, idempotencyKey }) {
      const session = await call('open a checkout', (client) =>
        client.checkout.sessions.create(
          {
            mode: 'subscription',
            line_items: [{ price: priceId, quantity: 1 }],
            allow_promotion_codes: true,
            client_reference_id: userId,
            metadata: { userId },
            subscription_data: { metadata: { userId } },
            ...(customerId === null ? { customer_email: email } : { customer: customerId }),
            success_url: successUrl,
            cancel_url: cancelUrl,
          },
          { idempotencyKey },
        ),
      )
      return {
        id: requireReadable(session.id, 'open a checkout'),
        url: requireReadable(session.url, 'open a checkout'),
      }
    },

    readCheckout,

    async expireCheckout(id) {
      try {
        await call('expire a checkout', (client) => client.checkout.sessions.expire(id, {}, freshIdempotencyKey()))
      } catch (error) {
        // The processor refuses this for a checkout that is no longer open.
        if (!isRefusal(error) || (await readCheckout(id))?.status === 'open') throw error
      }
    },

    async openPortal({ customerId, returnUrl, idempotencyKey }) {
      const portal = await call('open the portal', (client) =>
        client.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl }, { idempotencyKey }),
      )
      return { url: requireReadable(portal.url, 'open the portal') }
    },

    async cancelAtPeriodEnd(subscriptionId, idempotencyKey) {
      const aim = 'cancel a subscription'
      const changed = await call(aim, (client) =>
        client.subscriptions.update(
          subscriptionId,
          { cancel_at_period_end: true, expand: ['latest_invoice'] },
          { idempotencyKey },
        ),
      )
      return requireReadable(readSubscriptionObject(changed), aim)
    },

    async endSubscription(subscriptionId, idempotencyKey) {
      await nullIfMissing(
        call('end a subscription', (client) => client.subscriptions.cancel(subscriptionId, {}, { idempotencyKey })),
      )
    },

    async removeCustomer(customerId) {
      await nullIfMissing(
        call('remove a customer', (client) => client.customers.del(customerId, {}, freshIdempotencyKey())),
      )
    },

    async readSubscription(id) {
      const aim = 'read a subscription'
      const found = await nullIfMissing(
        call(aim, (client) => client.subscriptions.retrieve(id, { expand: ['latest_invoice'] })),
      )
      return found && requireReadable(readSubscriptionObject(found), aim)
    },

    async readInvoice(id) {
      const aim = 'read an invoice'
      const found = await nullIfMissing(call(aim, (client) => client.invoices.retrieve(id)))
      return found && requireReadable(readInvoiceObject(found), aim)
    },

    async check() {
      await call('read the price', (client) => client.prices.retrieve(priceId))
    },

    async readEvent(rawBody, signature, now) {
      const { Stripe } = await import('stripe')
      const text = verifyBody(Stripe.webhooks, {
        rawBody,
        signature: signature ?? '',
        secrets: webhookSecrets,
        now,
      })
      if (text === null) throw new ServiceError('WEBHOOK_INVALID', 'Webhook signature verification failed')
      const event = readEventObject(parseJson(text))
      if (event === null) throw new ServiceError('WEBHOOK_INVALID', 'The webhook is signed, but is not an event')
      return event
    },
  }
}

/** Returns a fresh key for repeatable calls, so that a failed response is not replayed to a later call. */
function freshIdempotencyKey() {
  return { idempotencyKey: randomUUID() }
}

function readCheckoutObject({ id, status, url, subscription }: Stripe.Checkout.Session): Checkout {
  const known = CHECKOUT_STATES.find((state) => state === status) ?? null
  return {
    id,
    status: requireReadable(known, 'read a checkout'),
    url: status === 'open' ? url : null,
    subscriptionId: readId(subscription),
  }
}

/** Checks a value that the response type promises but an external response may lack. */
function requireReadable<T>(value: T | null | undefined, aim: string): T {
  if (value !== null && value !== undefined) return value
  throw new PaymentsError(`Asked to ${aim}, the processor sent an unreadable response`, { isRefused: false })
}

/** The processor has signed the text, which may be nested deeply in fields that are not read. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
