import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listenOnLoopback } from '../../../../sandbox/platforms/listen.ts'
import { createPayments, type Payments } from '../../../../src/integrations/payments/payments.ts'
import { USER_AGENT } from '../../../support/user-agent.ts'

const ADDRESS = 'someone@example.com'
const CHECKOUT = {
  userId: 'user-1',
  email: ADDRESS,
  customerId: null,
  successUrl: 'https://app.example/payment/success?session_id={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://app.example/payment/cancel',
  idempotencyKey: 'checkout/user-1/1',
}

type Answer = (response: ServerResponse) => void

const requests: IncomingMessage[] = []
let answers: Answer[] = []
const server = createServer((request, response) => {
  requests.push(request)
  request.resume()
  answers.shift()?.(response)
})
let url: string
let payments: Payments
const outcomes: string[] = []

beforeAll(async () => {
  url = await listenOnLoopback(server)
  payments = paymentsWith(20_000)
})
afterAll(() => closeServer(server))
beforeEach(() => {
  requests.length = 0
})

function paymentsWith(timeoutMs: number): Payments {
  const own = { secretKey: 'sk_test_secret', url, priceId: 'price_pro', webhookSecrets: [], userAgent: USER_AGENT }
  return createPayments({ ...own, timeoutMs, onCall: (outcome) => outcomes.push(outcome) })
}

function respondWith(status: number, body: unknown): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

function refusing(status: number, error: Record<string, string>): Answer {
  return respondWith(status, { error: { message: `No good: ${ADDRESS}`, ...error } })
}

const OPENED = respondWith(200, { id: 'cs_1', url: 'https://checkout.example/cs_1' })
const hanging: Answer = () => {}

describe('a call to the processor', () => {
  it('a call uses the pinned version and its idempotency key, and sends no telemetry', async () => {
    answers = [OPENED, OPENED]
    await payments.openCheckout(CHECKOUT)
    await payments.openCheckout({ ...CHECKOUT, idempotencyKey: 'checkout/user-1/2' })
    expect(requests.map(({ headers }) => headers)).toMatchObject([
      { 'stripe-version': '2026-10-28.endive', 'idempotency-key': 'checkout/user-1/1' },
      { 'stripe-version': '2026-10-28.endive', 'idempotency-key': 'checkout/user-1/2' },
    ])
    expect(requests[1]?.headers).not.toHaveProperty('x-stripe-client-telemetry')
  })

  it('a call without a response is repeated with the same key', async () => {
    answers = [(response) => response.destroy(), OPENED]
    await expect(payments.openCheckout(CHECKOUT)).resolves.toEqual({ id: 'cs_1', url: 'https://checkout.example/cs_1' })
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(2).fill(CHECKOUT.idempotencyKey))
  })

  it('a call waits for the end of another one with its key', async () => {
    const inUse = refusing(409, { type: 'idempotency_error', code: 'idempotency_key_in_use' })
    answers = [inUse, inUse, inUse, OPENED]
    await expect(payments.openCheckout(CHECKOUT)).resolves.toMatchObject({ id: 'cs_1' })
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(4).fill(CHECKOUT.idempotencyKey))
  })

  it.each<[string, Answer]>([
    ['never answers', hanging],
    ['answers without an end', (response) => response.writeHead(200).write('{')],
  ])('a call ends at its deadline when the processor %s', async (_case, answer) => {
    answers = [answer, hanging]
    await expect(paymentsWith(300).readSubscription('sub_1')).rejects.toMatchObject({
      name: 'PaymentsError',
      isRefused: false,
      message: 'Asked to read a subscription, the processor answered nothing in time',
    })
  })

  it.each<[string, Answer, boolean]>([
    ['a wrong parameter', refusing(400, { type: 'invalid_request_error', param: 'customer_email' }), true],
    ['a declined card', refusing(402, { type: 'card_error', code: 'card_declined' }), true],
    ['a wrong key', refusing(401, { type: 'invalid_request_error' }), false],
    ['too many calls', refusing(429, { type: 'invalid_request_error', code: 'rate_limit' }), false],
    ['an outage', refusing(500, { type: 'api_error' }), false],
    ['a page of a proxy', respondWith(502, '<html>Bad gateway</html>'), false],
    ['JSON of a proxy', respondWith(502, { message: 'Bad gateway' }), false],
    ['an empty object', respondWith(200, {}), false],
    ['an address elsewhere', (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(), false],
    ['a session without a URL', respondWith(200, { id: 'cs_1', url: null }), false],
  ])('a call fails on %s without repeating the processor’s message', async (_case, answer, isRefused) => {
    answers = [answer, answer]
    const failure = await payments.openCheckout(CHECKOUT).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'PaymentsError', isRefused })
    expect(JSON.stringify([String(failure), failure])).not.toContain(ADDRESS)
  })

  it('a call is counted by its outcome', async () => {
    answers = [OPENED, refusing(400, { type: 'card_error' }), refusing(500, {}), refusing(500, {})]
    outcomes.length = 0
    for (const _ of [1, 2, 3]) await payments.openCheckout(CHECKOUT).catch(() => {})
    expect(outcomes).toEqual(['answered', 'refused', 'failed'])
  })

  it('an error names the missing object in its reason', async () => {
    answers = [refusing(400, { type: 'invalid_request_error', code: 'resource_missing', param: 'customer' })]
    await expect(payments.openCheckout({ ...CHECKOUT, customerId: 'cus_gone' })).rejects.toMatchObject({
      isRefused: true,
      reason: 'resource_missing',
    })
  })
})

describe('unknown objects', () => {
  it('an unknown object reads as null and counts as ended', async () => {
    answers = Array(6).fill(refusing(404, { type: 'invalid_request_error', code: 'resource_missing' }))
    await expect(payments.readSubscription('sub_1')).resolves.toBeNull()
    await expect(payments.readInvoice('in_1')).resolves.toBeNull()
    await expect(payments.readCheckout('cs_1')).resolves.toBeNull()
    await payments.endSubscription('sub_1', 'end/sub_1')
    await payments.removeCustomer('cus_1')
    await expect(payments.cancelAtPeriodEnd('sub_1', 'cancel/sub_1')).rejects.toMatchObject({ isRefused: true })
  })
})

describe('expiring a checkout', () => {
  const refused = refusing(400, { type: 'invalid_request_error' })

  it('an ended checkout can be expired again', async () => {
    answers = [refused, respondWith(200, { id: 'cs_1', status: 'complete', url: null, subscription: 'sub_1' })]
    await expect(payments.expireCheckout('cs_1')).resolves.toBeUndefined()
  })

  it('a checkout that stays open makes the expiry fail', async () => {
    answers = [refused, respondWith(200, { id: 'cs_1', status: 'open', url: 'https://checkout.example/cs_1' })]
    await expect(payments.expireCheckout('cs_1')).rejects.toMatchObject({ isRefused: true })
  })
})
