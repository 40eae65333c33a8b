import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Stripe } from 'stripe'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import { startPayments, type SandboxPayments } from '../../sandbox/services/payments.ts'
import { subscriber } from '../support/processor.ts'

interface Received {
  raw: string
  header: string
  path: string
}

const received: Received[] = []
/** The endpoint's response. */
let answer: (event: Stripe.Event, count: number) => number
let endpoint: string
let payments: SandboxPayments
let settings: ReturnType<SandboxPayments['env']>

const server = createServer((request, response) => {
  void text(request).then((raw) => {
    const event = JSON.parse(raw) as Stripe.Event
    received.push({ raw, header: String(request.headers['stripe-signature']), path: request.url ?? '' })
    response.writeHead(answer(event, arrived(event.id).length)).end('{"received":true}')
  })
})

beforeAll(async () => {
  endpoint = await listenOnLoopback(server)
  payments = await startPayments({ webhookRetryDelaysMs: [5, 10] })
  settings = payments.env(endpoint)
})

beforeEach(() => {
  answer = () => 200
  payments.processor.webhooks({ held: false, apiShape: 'new' })
})

afterAll(async () => {
  await payments.stop()
  await closeServer(server)
})

test('events are delivered to the endpoint with a signature', async () => {
  const { subscriptionId } = payments.processor.subscribe(subscriber('notified'))
  await eventually(() => expect(arrived(subscriptionId)).toHaveLength(4))
  const events = arrived(subscriptionId).map(({ raw, header }) =>
    Stripe.webhooks.constructEvent(raw, header, settings.STRIPE_WEBHOOK_SECRETS),
  )
  expect(events.map(({ type }) => type).toSorted()).toEqual([
    'checkout.session.completed',
    'customer.subscription.created',
    'invoice.paid',
    'invoice.payment_succeeded',
  ])
  expect(events.find(({ type }) => type === 'checkout.session.completed')).toMatchObject({
    api_version: Stripe.API_VERSION,
    data: { object: { metadata: { userId: 'notified' }, subscription: subscriptionId } },
  })
  expect(received[0]).toMatchObject({ path: '/api/payments/webhook' })
})

test('an unacknowledged event is delivered again until it is acknowledged or no attempt is left', async () => {
  answer = ({ type }, count) => {
    if (type === 'customer.subscription.created') return 500
    return type === 'invoice.paid' && count === 1 ? 302 : 200
  }
  const { subscriptionId } = payments.processor.subscribe(subscriber('deaf'))
  const statuses = (type: string) =>
    eventsWith(subscriptionId)
      .find((event) => event.type === type)!
      .deliveries.map(({ status }) => status)
  await eventually(() => {
    expect(statuses('customer.subscription.created')).toEqual([500, 500, 500])
    expect(statuses('invoice.paid')).toEqual([302, 200])
    expect(statuses('checkout.session.completed')).toEqual([200])
  })
})

test('paused events are stored and delivered on demand, in any order and number', async () => {
  const { id: ended, created } = createHeldEvents('quiet')
  payments.processor.webhooks({ held: false })
  answer = ({ id }) => (id === created ? 503 : 200)

  const order = [ended, created, ended]
  expect(await payments.processor.deliver(order)).toEqual([
    { id: ended, status: 200 },
    { id: created, status: 503 },
    { id: ended, status: 200 },
  ])

  expect(received.slice(-3).map(({ raw }) => (JSON.parse(raw) as Stripe.Event).id)).toEqual(order)
  expect(eventsWith(ended)[0]!.deliveries).toMatchObject([{ status: 200 }, { status: 200 }])
  await expect(async () => payments.processor.deliver(['evt_x'])).rejects.toThrow('Not found: evt_x')
})

test('several endpoints are used in turn', async () => {
  const { id } = createHeldEvents('shared')
  payments.setEndpoints([`${endpoint}/a`, `${endpoint}/b`])
  await payments.processor.deliver([id, id, id])
  payments.setEndpoints([`${endpoint}/api/payments/webhook`])
  const paths = received.slice(-3).map(({ path }) => path)
  expect(new Set(paths)).toEqual(new Set(['/a', '/b']))
})

test('an event of a change contains the previous values', () => {
  const { subscriptionId } = payments.processor.subscribe(subscriber('changing'))
  payments.processor.cancel(subscriptionId)
  const { body } = eventsWith(subscriptionId).at(-1)!
  expect(body).toMatchObject({
    type: 'customer.subscription.updated',
    data: { object: { cancel_at_period_end: true }, previous_attributes: { cancel_at_period_end: false } },
  })
  expect((body as Stripe.CustomerSubscriptionUpdatedEvent).data.previous_attributes).not.toHaveProperty('metadata')
})

test('events have the configured API version', () => {
  payments.processor.webhooks({ held: true, apiShape: 'old' })
  const { subscriptionId } = payments.processor.subscribe(subscriber('old'))
  const objects = new Map(
    eventsWith(subscriptionId).map(({ type, body }) => [type, (body as Stripe.Event).data.object]),
  )
  expect(eventsWith(subscriptionId).at(-1)!.body).toMatchObject({ api_version: '2024-06-20' })
  expect(objects.get('customer.subscription.created')).toMatchObject({ current_period_end: expect.any(Number) })
  const invoice = objects.get('invoice.payment_succeeded')
  expect(invoice).toMatchObject({
    paid: true,
    subscription: subscriptionId,
    subscription_details: { metadata: { userId: 'old' } },
  })
  expect(invoice).not.toHaveProperty('parent')
})

test('events that a stopped processor did not deliver are sent by the next one', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-payments-'))
  const first = await startPayments({ dir, webhookRetryDelaysMs: [3_600_000] })
  first.env(endpoint)
  answer = () => 500
  const { subscriptionId } = first.processor.subscribe(subscriber('patient'))
  await eventually(() =>
    expect(first.processor.events().map(({ deliveries }) => deliveries.length)).toEqual([1, 1, 1, 1]),
  )
  first.processor.webhooks({ held: true })
  const { subscriptionId: silent } = first.processor.subscribe(subscriber('silent'))
  await first.stop()
  expect(arrived(subscriptionId)).toHaveLength(4)

  const second = await startPayments({ dir, webhookRetryDelaysMs: [5] })
  second.env(endpoint)
  await eventually(() => expect(arrived(subscriptionId)).toHaveLength(8))
  await second.stop()
  expect(arrived(silent)).toEqual([])
  rmSync(dir, { recursive: true, force: true })
})

test('the control interface of the payment simulator performs every action and reports invalid ones', async () => {
  const post = async (path: string, body?: object) => {
    const response = await fetch(`${payments.control}${path}`, {
      method: 'POST',
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const get = async (path: string) => (await fetch(`${payments.control}${path}`)).json()

  expect((await post('/webhooks', { held: true })).body).toMatchObject({ held: true })
  const { body: remote } = await post('/subscriptions', subscriber('remote'))
  expect(
    (await post('/subscriptions', { ...subscriber('remote'), customerId: remote['customerId'] })).body,
  ).toMatchObject({
    customerId: remote['customerId'],
  })
  for (const verb of ['cancel', 'resume', 'forget']) {
    expect(await post(`/subscriptions/${remote['subscriptionId']}/${verb}`)).toMatchObject({ status: 200 })
  }
  expect(await post(`/subscriptions/${remote['subscriptionId']}/end`)).toMatchObject({ status: 409 })
  expect(await post(`/customers/${remote['customerId']}/card`, { card: 'fails' })).toMatchObject({ status: 200 })
  expect((await post(`/customers/${remote['customerId']}/retry-payment`)).body).toEqual([])
  expect((await post('/invoices', { draftSeconds: 60 })).body).toEqual({ draftSeconds: 60 })
  const { now } = (await get('/clock')) as { now: string }
  const { body: later } = await post('/clock', { advanceMs: 60_000 })
  expect(Date.parse(later['now']!)).toBeGreaterThanOrEqual(Date.parse(now) + 60_000)
  const events = (await get('/events')) as { id: string; type: string; deliveries: object[] }[]
  const { id } = events.at(-1)!
  expect((await post('/events/deliver', { ids: [id] })).body).toEqual([{ id, status: 200 }])

  expect(await post(`/checkouts/${remote['checkoutId']}/pay`)).toMatchObject({ status: 409 })
  expect(await post('/checkouts/cs_x/expire')).toMatchObject({ status: 404 })
  expect(await post('/clock', { advanceMs: -1 })).toMatchObject({ status: 400 })
  expect(await post('/customers/cus_x/card', { card: 'maybe' })).toMatchObject({ status: 400 })
  expect(await post('/nowhere')).toMatchObject({ status: 404 })
})

/** Creates two undelivered events: a subscription began, and it ended. */
function createHeldEvents(userId: string): { id: string; created: string } {
  payments.processor.webhooks({ held: true })
  const { subscriptionId } = payments.processor.subscribe(subscriber(userId))
  payments.processor.end(subscriptionId)
  const events = eventsWith(subscriptionId)
  return { id: events.at(-1)!.id, created: events[0]!.id }
}

/** The events that contain this id. */
function eventsWith(id: string) {
  return payments.processor.events().filter(({ body }) => JSON.stringify(body).includes(id))
}

function arrived(id: string): Received[] {
  return received.filter(({ raw }) => raw.includes(id))
}

function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 50_000, interval: 10 })
}
