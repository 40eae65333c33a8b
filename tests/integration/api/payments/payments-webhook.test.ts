import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildApp } from '../../../../src/api/app.ts'
import type { Context } from '../../../../src/context.ts'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import type { User } from '../../../../src/domain/users/user.ts'
import { createOrchestrator } from '../../../../src/integrations/temporal/orchestrator.ts'
import { apiWorld, createAccount, signIn, type ApiWorld } from '../../../support/api.ts'
import { unique } from '../../../support/servers.ts'
import { eventOf, signatureOf } from '../../../support/webhooks.ts'

const SECRET = 'whsec_now'
const SECRET_BEFORE = 'whsec_before'

let world: ApiWorld
let context: Context
let url: string
/** Workflow starts that Temporal received. */
const started: unknown[] = []

beforeAll(async () => {
  const orchestrator: Partial<Context['orchestrator']> = {
    notifySubscription: async (userId, news) => started.push({ userId, ...news }) > 0,
    startWork: async (work, id, { summary }) => started.push({ work, id, summary }) > 0,
    close: async () => {},
  }
  world = await apiWorld(
    {
      // On any other route the second request would exceed the limit.
      RATE_LIMIT_PER_ADDRESS: 1,
      STRIPE_SECRET_KEY: 'sk_test_none',
      STRIPE_PRICE_ID: 'price_pro',
      STRIPE_API_URL: 'http://127.0.0.1:9',
      STRIPE_WEBHOOK_SECRETS: `${SECRET}, ${SECRET_BEFORE},`,
    },
    { orchestrator: orchestrator as Context['orchestrator'] },
  )
  context = world.context
  url = `${await world.app.listen({ host: '127.0.0.1', port: 0 })}/api/payments/webhook`
})
beforeEach(() => void started.splice(0))
afterAll(() => world?.close())

async function send(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>, to = url) {
  const response = await fetch(to, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Sends an event like the payment processor. */
function deliver(event: object, to = url) {
  const body = JSON.stringify(event)
  return send(body, { 'stripe-signature': signatureOf(body, { secret: SECRET }) }, to)
}

const stored = (event: { id: string }) => context.paymentEvents.find(event.id)
async function customerOf(processorCustomerId: string): Promise<User> {
  const user = await createAccount(context)
  await context.users.changeBilling(user._id, 0, { 'subscription.processorCustomerId': processorCustomerId })
  return user
}

const RECEIVED = { status: 200, body: { received: true } }

describe('a payment webhook', () => {
  const event = () => eventOf('invoice.payment_failed', { id: unique('in'), customer: unique('cus') })
  const signed = (body: string | Buffer, more: Partial<Parameters<typeof signatureOf>[1]> = {}) =>
    signatureOf(body, { secret: SECRET, ...more })
  const ago = (ms: number) => new Date(Date.now() - ms)
  type Bytes = Uint8Array<ArrayBuffer>
  const bytes = (text: string | Buffer): Bytes => new Uint8Array(typeof text === 'string' ? Buffer.from(text) : text)

  it.each<[string, (body: string) => Record<string, string>]>([
    ['signed with the secret', (body) => ({ 'stripe-signature': signed(body) })],
    ['signed with the secret before it', (body) => ({ 'stripe-signature': signed(body, { secret: SECRET_BEFORE }) })],
    [
      'with two signatures, the second valid',
      (body) => ({
        'stripe-signature': `${signed(body, { secret: 'whsec_other' })},${signed(body).split(',')[1]}`,
      }),
    ],
    ['signed four minutes ago', (body) => ({ 'stripe-signature': signed(body, { at: ago(4 * MINUTE) }) })],
    [
      'signed by a clock four minutes ahead',
      (body) => ({ 'stripe-signature': signed(body, { at: ago(-4 * MINUTE) }) }),
    ],
    [
      'with a charset',
      (body) => ({ 'stripe-signature': signed(body), 'content-type': 'application/json; charset=utf-8' }),
    ],
  ])('a webhook %s is accepted', async (_case, headersOf) => {
    const sent = event()
    const body = JSON.stringify(sent)
    expect(await send(body, headersOf(body))).toEqual(RECEIVED)
    expect(await stored(sent)).toMatchObject({ type: sent.type, state: 'waiting' })
  })

  it.each<[string, (body: string) => Record<string, string>]>([
    ['signed with another secret', (body) => ({ 'stripe-signature': signed(body, { secret: 'whsec_other' }) })],
    [
      'signed with an empty secret, as after a trailing comma in the list',
      (body) => ({ 'stripe-signature': signed(body, { secret: '' }) }),
    ],
    ['without a signature', () => ({})],
    ['with an empty signature', () => ({ 'stripe-signature': '' })],
    ['with a malformed signature', () => ({ 'stripe-signature': 'it was me' })],
    ['signed six minutes ago', (body) => ({ 'stripe-signature': signed(body, { at: ago(6 * MINUTE) }) })],
    ['signed by a clock six minutes ahead', (body) => ({ 'stripe-signature': signed(body, { at: ago(-6 * MINUTE) }) })],
    ['with a signature of the old scheme only', (body) => ({ 'stripe-signature': signed(body, { scheme: 'v0' }) })],
    ['signed for other bytes', (body) => ({ 'stripe-signature': signed(`${body} `) })],
  ])('a webhook %s is refused and stores nothing', async (_case, headersOf) => {
    const sent = event()
    const body = JSON.stringify(sent)
    expect(await send(body, headersOf(body))).toMatchObject({
      status: 400,
      body: { success: false, statusCode: 400, code: 'WEBHOOK_INVALID' },
    })
    expect(await stored(sent)).toBeNull()
    expect(started).toEqual([])
  })

  it.each<[string, (body: string) => Bytes]>([
    ['a space was added', (body) => bytes(`${body} `)],
    ['a byte order mark was added', (body) => bytes(`\ufeff${body}`)],
    ['a byte was left out', (body) => bytes(body.slice(0, -1))],
    ['everything was left out', () => bytes('')],
    ['it was compressed', (body) => bytes(gzipSync(body))],
  ])('a webhook is refused when in transit %s', async (_case, changed) => {
    const sent = event()
    const body = JSON.stringify(sent)
    const headers = { 'stripe-signature': signed(body) }
    for (const more of [{}, { 'content-encoding': 'gzip' }]) {
      expect(await send(changed(body), { ...headers, ...more })).toMatchObject({ status: 400 })
    }
    expect(await stored(sent)).toBeNull()
  })

  it.each<[string, string | Buffer]>([
    ['a list', '[]'],
    ['null', 'null'],
    ['a word', '"evt"'],
    ['not JSON', 'not JSON'],
    ['not text', Buffer.from([0xff, 0xfe])],
    ['compressed', gzipSync(JSON.stringify(eventOf('invoice.payment_failed', {})))],
    ['very deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['an object but not an event', '{"id": 5}'],
  ])('a signed webhook that is %s is refused', async (_case, body) => {
    const { status, body: answer } = await send(bytes(body), { 'stripe-signature': signed(body) })
    expect([status, answer['code']]).toEqual([400, 'WEBHOOK_INVALID'])
    expect(started).toEqual([])
  })

  it('fields that the service does not read may be nested deeply', async () => {
    const sent = eventOf('customer.created', { id: unique('cus') })
    const body = JSON.stringify(sent).replace(
      '{"id":"cus',
      `{"deep":${'['.repeat(200_000)}${']'.repeat(200_000)},"id":"cus`,
    )
    expect(await send(body, { 'stripe-signature': signed(body) })).toEqual(RECEIVED)
  })

  it('a webhook of 2 MiB is too large, signed or not', async () => {
    const body = JSON.stringify({ ...event(), padding: 'x'.repeat(2 * 1_048_576) })
    expect(await send(body, { 'stripe-signature': signed(body) })).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE' },
    })
  })

  it('a webhook of another media type is refused', async () => {
    const body = JSON.stringify(event())
    const headers = { 'stripe-signature': signed(body), 'content-type': 'text/plain' }
    expect(await send(body, headers)).toMatchObject({ status: 415 })
  })

  it('the signature covers the raw bytes, whatever the JSON formatting', async () => {
    const sent = event()
    const body = ` {\n "object":"event" ,\t${JSON.stringify({ ...sent, note: 'é\u2028' }).slice(1)}\n`
    expect(await send(body, { 'stripe-signature': signed(body) })).toEqual(RECEIVED)
    expect(await stored(sent)).not.toBeNull()
  })

  it('a webhook is 503 without payments configured, so that the processor retries it', async () => {
    const app = await buildApp({ ...context, payments: null })
    const response = await app.inject({ method: 'POST', url: '/api/payments/webhook', payload: event() })
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ message: 'Payments are not set up', code: 'SERVICE_UNAVAILABLE' })
    await app.close()
  })
})

describe('a payment event', () => {
  it('an event belongs to the user with its customer id, whatever other user it names', async () => {
    const [customer, other] = [unique('cus'), await createAccount(context)]
    const owner = await customerOf(customer)
    const event = eventOf('customer.subscription.updated', { id: 'sub_1', customer, metadata: { userId: other._id } })
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(started).toEqual([{ userId: owner._id, eventId: event.id, type: event.type }])
    expect(await stored(event)).toMatchObject({ userId: owner._id, customerId: customer, subscriptionId: 'sub_1' })
  })

  it('an event of an unknown customer belongs to the user that it names', async () => {
    const { _id: userId } = await createAccount(context)
    const event = eventOf('checkout.session.completed', { id: 'cs_1', customer: unique('cus'), metadata: { userId } })
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(started).toEqual([{ userId, eventId: event.id, type: event.type }])
    expect(await stored(event)).toMatchObject({ userId, state: 'waiting' })
  })

  it.each([{}, { metadata: { userId: unique('nobody') } }])(
    'an event of an unknown user is left to a reconciliation with the processor: %j',
    async (more) => {
      const event = eventOf('checkout.session.completed', { id: 'cs_1', customer: unique('cus'), ...more })
      expect(await deliver(event)).toEqual(RECEIVED)
      expect(started).toEqual([{ work: 'routePaymentEvent', id: event.id, summary: event.type }])
      expect(await stored(event)).toMatchObject({ state: 'waiting' })
    },
  )

  it('an event of an irrelevant type is recorded and changes nothing', async () => {
    const customer = unique('cus')
    await customerOf(customer)
    const event = eventOf('customer.updated', { id: customer, customer })
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(started).toEqual([])
    expect(await stored(event)).toMatchObject({ state: 'ignored', processedAt: expect.any(Date) })
  })

  it('a waiting event is routed again with every delivery, and a processed one is not', async () => {
    const { _id: userId } = await createAccount(context)
    const event = eventOf('invoice.payment_failed', { id: 'in_1', customer: null, metadata: {} })
    const checkout = eventOf('checkout.session.completed', { id: 'cs_1', metadata: { userId } })
    for (const [each, state] of [
      [event, 'ignored'],
      [checkout, 'applied'],
    ] as const) {
      started.splice(0)
      await deliver(each)
      await deliver(each)
      expect(started).toHaveLength(2)
      await context.paymentEvents.markProcessed(each.id, state, new Date())
      expect(await deliver(each)).toEqual(RECEIVED)
      expect(started).toHaveLength(2)
    }
  })

  it('an event is stored once without personal data, even when delivered concurrently', async () => {
    const { _id: userId, email } = await createAccount(context)
    const event = eventOf('checkout.session.completed', {
      id: 'cs_1',
      metadata: { userId },
      customer_details: { email, name: 'Ann Other' },
    })
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(event)))
    expect(answers).toEqual(answers.map(() => RECEIVED))
    const records = await context.database.connection.collection('paymentEvents').find({ userId }).toArray()
    expect(records).toHaveLength(1)
    expect(JSON.stringify(records)).not.toMatch(/@|Ann Other/)
  })

  it('an event is part of the data export, without its processing state', async () => {
    const { user, headers } = await signIn(context)
    const metadata = { userId: user._id }
    const event = eventOf('checkout.session.completed', {
      id: 'cs_1',
      customer: 'cus_1',
      subscription: 'sub_1',
      metadata,
    })
    await deliver(event)
    // Uses another address than the other tests: its limit is a single request per minute.
    const remoteAddress = '198.51.100.1'
    const response = await world.app.inject({ url: '/api/profile/export', headers, remoteAddress })
    expect(response.json().data.payments).toEqual([
      {
        id: event.id,
        type: event.type,
        createdAt: new Date(event.created * 1_000).toISOString(),
        receivedAt: expect.any(String),
        customerId: 'cus_1',
        subscriptionId: 'sub_1',
        invoiceId: null,
      },
    ])
  })

  it('an ignored event loses its references, so that nothing remains of an erased account', async () => {
    const event = eventOf('customer.subscription.deleted', {
      id: 'sub_1',
      customer: 'cus_1',
      status: 'canceled',
      created: 1_790_000_000,
      metadata: { userId: 'gone-user' },
    })
    await deliver(event)
    expect(JSON.stringify(await stored(event))).toContain('gone-user')
    await context.paymentEvents.markProcessed(event.id, 'ignored', new Date())
    expect(JSON.stringify(await stored(event))).not.toContain('gone-user')
  })
})

describe('webhooks while Temporal is unavailable', () => {
  it('an event is acknowledged and waits for the sweeper', async () => {
    const orchestrator = createOrchestrator({ address: '127.0.0.1:9', namespace: 'none' })
    const app = await buildApp({ ...context, orchestrator })
    const elsewhere = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/payments/webhook`
    const { _id: userId } = await createAccount(context)
    const events = [
      eventOf('checkout.session.completed', { id: 'cs_1', metadata: { userId } }),
      eventOf('checkout.session.completed', { id: 'cs_2' }),
    ]
    for (const event of events) {
      expect(await deliver(event, elsewhere)).toEqual(RECEIVED)
    }
    const waiting = await context.paymentEvents.listUnapplied(new Date(), 1_000)
    expect(waiting).toContainEqual({ id: events[0]!.id, userId })
    expect(waiting).toContainEqual({ id: events[1]!.id, userId: events[1]!.id })
    await app.close()
    await orchestrator.close()
  })
})
