import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import Stripe from 'stripe'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPayments, type SandboxPayments } from '../../sandbox/services/payments.ts'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'

interface Received {
  event: Stripe.Event
  verified: Stripe.Event
}

const received: Received[] = []
/** What the endpoint answers next; 200 when it is empty. */
const answers: number[] = []
let payments: SandboxPayments
let settings: ReturnType<SandboxPayments['env']>
let stripe: Stripe

const endpoint = createServer((request, response) => {
  void text(request).then((raw) => {
    const header = String(request.headers['stripe-signature'])
    const verified = stripe.webhooks.constructEvent(raw, header, settings.STRIPE_WEBHOOK_SECRETS)
    received.push({ event: JSON.parse(raw) as Stripe.Event, verified })
    response.writeHead(answers.shift() ?? 200).end('{"received":true}')
    endpoint.emit('received')
  })
})

beforeAll(async () => {
  payments = await startPayments({ webhookRetryDelaysMs: [10, 20] })
  settings = payments.env(await listenOnLoopback(endpoint))
  stripe = clientOf(settings.STRIPE_SECRET_KEY)
})

afterAll(async () => {
  await payments.stop()
  await closeServer(endpoint)
})

test('a checkout that is paid makes an active subscription and a paid first invoice, and tells of them', async () => {
  const { id } = await checkout('user-1')

  payments.processor.pay(id)

  const session = await stripe.checkout.sessions.retrieve(id, { expand: ['subscription.latest_invoice'] })
  expect(session).toMatchObject({
    status: 'complete',
    payment_status: 'paid',
    url: null,
    metadata: { userId: 'user-1' },
  })
  const subscription = session.subscription as Stripe.Subscription
  expect(subscription).toMatchObject({ status: 'active', metadata: { userId: 'user-1' }, customer: session.customer })
  expect(subscription.latest_invoice).toMatchObject({ status: 'paid', billing_reason: 'subscription_create' })
  await until(() => typesFor(subscription.id).size >= 4)
  expect(typesFor(subscription.id)).toEqual(
    new Set([
      'checkout.session.completed',
      'customer.subscription.created',
      'invoice.paid',
      'invoice.payment_succeeded',
    ]),
  )
})

test('a month later the renewal is billed, at its own instant', async () => {
  const { subscriptionId } = payments.processor.subscribe({ userId: 'user-2', email: 'two@example.com' })
  const before = await stripe.subscriptions.retrieve(subscriptionId)
  const end = before.items.data[0]!.current_period_end

  payments.processor.advance({ to: new Date((end + 3_600) * 1_000).toISOString() })

  const after = await stripe.subscriptions.retrieve(subscriptionId, { expand: ['latest_invoice'] })
  expect(after.items.data[0]).toMatchObject({ current_period_start: end })
  expect(after.latest_invoice).toMatchObject({ billing_reason: 'subscription_cycle', status: 'paid', created: end })
})

function clientOf(key: string): Stripe {
  const { hostname, port } = new URL(settings.STRIPE_API_URL)
  return new Stripe(key, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false })
}

function checkout(userId: string, options?: Stripe.RequestOptions) {
  return stripe.checkout.sessions.create(
    {
      mode: 'subscription',
      line_items: [{ price: settings.STRIPE_PRICE_ID, quantity: 1 }],
      allow_promotion_codes: true,
      customer_email: `${userId}@example.com`,
      client_reference_id: userId,
      metadata: { userId },
      subscription_data: { metadata: { userId } },
      success_url: 'http://localhost:3000/payment/success?session_id={CHECKOUT_SESSION_ID}',
      cancel_url: 'http://localhost:3000/payment/cancel',
    },
    options,
  )
}

function typesFor(subscriptionId: string): Set<string> {
  return new Set(
    received.filter(({ event }) => JSON.stringify(event).includes(subscriptionId)).map(({ event }) => event.type),
  )
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await once(endpoint, 'received')
}
