import { Stripe } from 'stripe'
import type { SandboxPayments } from '../../sandbox/services/payments.ts'

type Settings = ReturnType<SandboxPayments['env']>

/** Creates a client of the sandbox's processor with the installed Stripe package, without its retries. */
export function createStripeClient({ STRIPE_API_URL: url, STRIPE_SECRET_KEY: key }: Settings): Stripe {
  const { hostname, port } = new URL(url)
  return new Stripe(key, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false })
}

/** Returns the parameters with which the service creates a checkout. */
export function checkoutOf({ STRIPE_PRICE_ID: price }: Settings, userId: string) {
  return {
    mode: 'subscription',
    line_items: [{ price, quantity: 1 }],
    allow_promotion_codes: true,
    customer_email: `${userId}@example.com`,
    client_reference_id: userId,
    metadata: { userId },
    subscription_data: { metadata: { userId } },
    success_url: 'http://localhost:3000/payment/success?session_id={CHECKOUT_SESSION_ID}',
    cancel_url: 'http://localhost:3000/payment/cancel',
  } satisfies Stripe.Checkout.SessionCreateParams
}

export function subscriber(userId: string) {
  return { userId, email: `${userId}@example.com` }
}
