import { Stripe } from 'stripe'
import type { SandboxPayments } from '../../sandbox/services/payments.ts'

type Settings = ReturnType<SandboxPayments['env']>

/** The installed package as client of the sandbox's processor; it makes no attempts of its own. */
export function clientOf({ STRIPE_API_URL: url, STRIPE_SECRET_KEY: key }: Settings): Stripe {
  const { hostname, port } = new URL(url)
  return new Stripe(key, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false })
}

/** What our service asks of a checkout. */
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
