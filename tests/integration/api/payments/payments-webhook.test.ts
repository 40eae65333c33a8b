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
/** What Temporal was told. */
const told: unknown[] = []

beforeAll(async () => {
  const orchestrator: Partial<Context['orchestrator']> = {
    notifySubscription: async (userId, news) => told.push({ userId, ...news }) > 0,
    startWork: async (work, id, { summary }) => told.push({ work, id, summary }) > 0,
    close: async () => {},
  }
  world = await apiWorld(
    {
      // Of any other route two requests would be one too many.
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
beforeEach(() => void told.splice(0))
afterAll(() => world?.close())

async function send(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>, to = url) {
  const response = await fetch(to, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** As the processor does. */
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

describe('a webhook', () => {
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
      'with two signatures, one of them good',
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
  ])('%s is received', async (_case, headersOf) => {
    const sent = event()
    const body = JSON.stringify(sent)
    expect(await send(body, headersOf(body))).toEqual(RECEIVED)
    expect(await stored(sent)).toMatchObject({ type: sent.type, state: 'waiting' })
  })

  it.each<[string, (body: string) => Record<string, string>]>([
    ['of another secret', (body) => ({ 'stripe-signature': signed(body, { secret: 'whsec_other' }) })],
    [
      'of no secret, which the end of the list is not',
      (body) => ({ 'stripe-signature': signed(body, { secret: '' }) }),
    ],
    ['without a signature', () => ({})],
    ['with an empty signature', () => ({ 'stripe-signature': '' })],
    ['with words for a signature', () => ({ 'stripe-signature': 'it was me' })],
    ['signed six minutes ago', (body) => ({ 'stripe-signature': signed(body, { at: ago(6 * MINUTE) }) })],
    ['signed by a clock six minutes ahead', (body) => ({ 'stripe-signature': signed(body, { at: ago(-6 * MINUTE) }) })],
    ['with a signature of the old scheme only', (body) => ({ 'stripe-signature': signed(body, { scheme: 'v0' }) })],
    ['signed for other bytes', (body) => ({ 'stripe-signature': signed(`${body} `) })],
  ])('%s is refused, and leaves nothing', async (_case, headersOf) => {
    const sent = event()
    const body = JSON.stringify(sent)
    expect(await send(body, headersOf(body))).toMatchObject({
      status: 400,
      body: { success: false, statusCode: 400, code: 'WEBHOOK_INVALID' },
    })
    expect(await stored(sent)).toBeNull()
    expect(told).toEqual([])
  })

  it.each<[string, (body: string) => Bytes]>([
    ['a space was added', (body) => bytes(`${body} `)],
    ['a byte order mark was added', (body) => bytes(`\ufeff${body}`)],
    ['a byte was left out', (body) => bytes(body.slice(0, -1))],
    ['everything was left out', () => bytes('')],
    ['it was compressed', (body) => bytes(gzipSync(body))],
  ])('is refused when on its way %s', async (_case, changed) => {
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
    ['no JSON', 'not JSON'],
    ['no text', Buffer.from([0xff, 0xfe])],
    ['compressed', gzipSync(JSON.stringify(eventOf('invoice.payment_failed', {})))],
    ['very deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['an object that is no event', '{"id": 5}'],
  ])('that is signed as it should be, but %s, is refused', async (_case, body) => {
    const { status, body: answer } = await send(bytes(body), { 'stripe-signature': signed(body) })
    expect([status, answer['code']]).toEqual([400, 'WEBHOOK_INVALID'])
    expect(told).toEqual([])
  })

  it('may be as deep as it likes in what nobody reads', async () => {
    const sent = eventOf('customer.created', { id: unique('cus') })
    const body = JSON.stringify(sent).replace(
      '{"id":"cus',
      `{"deep":${'['.repeat(200_000)}${']'.repeat(200_000)},"id":"cus`,
    )
    expect(await send(body, { 'stripe-signature': signed(body) })).toEqual(RECEIVED)
  })

  it('of 2 MiB is too large, signed or not', async () => {
    const body = JSON.stringify({ ...event(), padding: 'x'.repeat(2 * 1_048_576) })
    expect(await send(body, { 'stripe-signature': signed(body) })).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE' },
    })
  })

  it('of another media type is refused', async () => {
    const body = JSON.stringify(event())
    const headers = { 'stripe-signature': signed(body), 'content-type': 'text/plain' }
    expect(await send(body, headers)).toMatchObject({ status: 415 })
  })

  it('is read byte by byte, however it is written', async () => {
    const sent = event()
    const body = ` {\n "object":"event" ,\t${JSON.stringify({ ...sent, note: 'é\u2028' }).slice(1)}\n`
    expect(await send(body, { 'stripe-signature': signed(body) })).toEqual(RECEIVED)
    expect(await stored(sent)).not.toBeNull()
  })

  it('is 503 where payments are not set up, so that it is sent again', async () => {
    const app = await buildApp({ ...context, payments: null })
    const response = await app.inject({ method: 'POST', url: '/api/payments/webhook', payload: event() })
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ message: 'Payments are not set up', code: 'SERVICE_UNAVAILABLE' })
    await app.close()
  })
})

describe('an event', () => {
  it('goes to the user who has the customer, whoever else it names', async () => {
    const [customer, other] = [unique('cus'), await createAccount(context)]
    const owner = await customerOf(customer)
    const event = eventOf('customer.subscription.updated', { id: 'sub_1', customer, metadata: { userId: other._id } })
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(told).toEqual([{ userId: owner._id, eventId: event.id, type: event.type }])
    expect(await stored(event)).toMatchObject({ userId: owner._id, customerId: customer, subscriptionId: 'sub_1' })
  })

  it('of a customer who is not known here goes to the user it names', async () => {
    const { _id: userId } = await createAccount(context)
    const event = eventOf('checkout.session.completed', { id: 'cs_1', customer: unique('cus'), metadata: { userId } })
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(told).toEqual([{ userId, eventId: event.id, type: event.type }])
    expect(await stored(event)).toMatchObject({ userId, state: 'waiting' })
  })

  it.each([{}, { metadata: { userId: unique('nobody') } }])(
    'of nobody known here is left to somebody who asks the processor: %j',
    async (more) => {
      const event = eventOf('checkout.session.completed', { id: 'cs_1', customer: unique('cus'), ...more })
      expect(await deliver(event)).toEqual(RECEIVED)
      expect(told).toEqual([{ work: 'routePaymentEvent', id: event.id, summary: event.type }])
      expect(await stored(event)).toMatchObject({ state: 'waiting' })
    },
  )

  it('of a type that means nothing here is on record as that, and changes nothing', async () => {
    const customer = unique('cus')
    await customerOf(customer)
    const event = eventOf('customer.updated', { id: customer, customer })
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(told).toEqual([])
    expect(await stored(event)).toMatchObject({ state: 'ignored', settledAt: expect.any(Date) })
  })

  it('is told again with every delivery while it waits, and no more once it was acted on', async () => {
    const { _id: userId } = await createAccount(context)
    const event = eventOf('invoice.payment_failed', { id: 'in_1', customer: null, metadata: {} })
    const checkout = eventOf('checkout.session.completed', { id: 'cs_1', metadata: { userId } })
    for (const [each, state] of [
      [event, 'ignored'],
      [checkout, 'applied'],
    ] as const) {
      told.splice(0)
      await deliver(each)
      await deliver(each)
      expect(told).toHaveLength(2)
      await context.paymentEvents.markProcessed(each.id, state, new Date())
      expect(await deliver(each)).toEqual(RECEIVED)
      expect(told).toHaveLength(2)
    }
  })

  it('is stored once, however many bring it at once, and without anything personal', async () => {
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

  it('belongs to what a user can take along, without how it was dealt with', async () => {
    const { user, headers } = await signIn(context)
    const metadata = { userId: user._id }
    const event = eventOf('checkout.session.completed', {
      id: 'cs_1',
      customer: 'cus_1',
      subscription: 'sub_1',
      metadata,
    })
    await deliver(event)
    // Of another address than the rest: it is one request a minute.
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

  it('that is ignored names nobody any more, so that nothing is left of an account that has gone', async () => {
    const event = eventOf('customer.subscription.deleted', {
      id: 'sub_1',
      customer: 'cus_1',
      status: 'canceled',
      created: 1_790_000_000,
      metadata: { userId: 'somebody' },
    })
    await deliver(event)
    expect(JSON.stringify(await stored(event))).toContain('somebody')
    await context.paymentEvents.markProcessed(event.id, 'ignored', new Date())
    expect(JSON.stringify(await stored(event))).not.toContain('somebody')
  })
})

describe('while Temporal is away', () => {
  it('an event is acknowledged within a second, and waits for the sweeper', async () => {
    const orchestrator = createOrchestrator({ address: '127.0.0.1:9', namespace: 'none' })
    const app = await buildApp({ ...context, orchestrator })
    const elsewhere = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/payments/webhook`
    const { _id: userId } = await createAccount(context)
    const events = [
      eventOf('checkout.session.completed', { id: 'cs_1', metadata: { userId } }),
      eventOf('checkout.session.completed', { id: 'cs_2' }),
    ]
    for (const event of events) {
      const startedAt = performance.now()
      expect(await deliver(event, elsewhere)).toEqual(RECEIVED)
      expect(performance.now() - startedAt).toBeLessThan(1_000)
    }
    const waiting = await context.paymentEvents.listUnapplied(new Date(), 1_000)
    expect(waiting).toContainEqual({ id: events[0]!.id, userId })
    expect(waiting).toContainEqual({ id: events[1]!.id, userId: events[1]!.id })
    await app.close()
    await orchestrator.close()
  })
})
