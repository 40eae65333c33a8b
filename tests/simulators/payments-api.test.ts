import { Stripe } from 'stripe'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startPayments, type SandboxPayments } from '../../sandbox/services/payments.ts'
import { checkoutOf, createStripeClient, subscriber } from '../support/processor.ts'

const DAY_MS = 86_400_000

let payments: SandboxPayments
let settings: ReturnType<SandboxPayments['env']>
let stripe: Stripe

beforeAll(async () => {
  payments = await startPayments()
  // No endpoint listens here: other tests cover delivery.
  settings = payments.env('http://127.0.0.1:9')
  stripe = createStripeClient(settings)
})

afterAll(() => payments.stop())

describe('a checkout', () => {
  test('a paid checkout creates a customer, an active subscription and a paid first invoice', async () => {
    const { id, url } = await openCheckout('buyer')
    expect(url).toBe(`${settings.STRIPE_API_URL}/c/pay/${id}`)

    payments.processor.pay(id)

    const session = await stripe.checkout.sessions.retrieve(id, { expand: ['subscription.latest_invoice', 'customer'] })
    expect(session).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      url: null,
      metadata: { userId: 'buyer' },
      client_reference_id: 'buyer',
      customer: { email: 'buyer@example.com' },
      subscription: {
        status: 'active',
        metadata: { userId: 'buyer' },
        cancel_at_period_end: false,
        latest_invoice: {
          status: 'paid',
          billing_reason: 'subscription_create',
          parent: { subscription_details: { metadata: { userId: 'buyer' } } },
        },
      },
    })
    expect(() => payments.processor.pay(id)).toThrow('The session is complete')
  })

  test('a checkout stays open after a declined card, and another card pays it', async () => {
    const { id } = await openCheckout('unlucky')

    expect(payments.processor.pay(id, 'fails')).toMatchObject({ status: 'open', subscriptionId: null })
    expect(await stripe.checkout.sessions.retrieve(id)).toMatchObject({ status: 'open', customer: null })
    expect(typesAbout('unlucky')).toEqual([])

    expect(payments.processor.pay(id, 'works')).toMatchObject({ status: 'complete' })
  })

  test('a checkout of an existing customer creates no other', async () => {
    const { customerId } = payments.processor.subscribe(subscriber('again'))
    const { customer_email: _, ...params } = checkoutOf(settings, 'again')
    const { id } = await stripe.checkout.sessions.create({ ...params, customer: customerId })

    expect(payments.processor.pay(id)).toMatchObject({ customerId })
    const { data } = await stripe.subscriptions.list({ customer: customerId })
    expect(data).toHaveLength(2)
  })

  test('an expired checkout cannot be paid or expired again', async () => {
    const { id } = await openCheckout('late')
    expect(await stripe.checkout.sessions.expire(id)).toMatchObject({ status: 'expired', url: null })
    expect(() => payments.processor.pay(id)).toThrow('The session is expired')
    await expect(stripe.checkout.sessions.expire(id)).rejects.toMatchObject({ statusCode: 400 })
  })
})

describe('API requests', () => {
  test('a request requires the API key', async () => {
    const stranger = createStripeClient({ ...settings, STRIPE_SECRET_KEY: 'sk_test_of_somebody_else' })
    await expect(stranger.subscriptions.retrieve('sub_1')).rejects.toBeInstanceOf(
      Stripe.errors.StripeAuthenticationError,
    )
    const bare = await fetch(`${settings.STRIPE_API_URL}/v1/subscriptions/sub_1`)
    expect([bare.status, await bare.json()]).toMatchObject([401, { error: { type: 'invalid_request_error' } }])
  })

  const odd: [string, object, object][] = [
    ['a parameter it does not know', { mood: 'good' }, { code: 'parameter_unknown', param: 'mood' }],
    [
      'a nested one',
      { subscription_data: { mood: 'good' } },
      { code: 'parameter_unknown', param: 'subscription_data[mood]' },
    ],
    ['none where one must be', { line_items: undefined }, { code: 'parameter_missing', param: 'line_items' }],
    ['no address', { success_url: 'nowhere' }, { code: 'url_invalid', param: 'success_url' }],
    ['an empty one', { cancel_url: '' }, { code: 'parameter_invalid_empty', param: 'cancel_url' }],
    ['another mode', { mode: 'payment' }, { param: 'mode' }],
    ['a quantity that is none', { line_items: [{ price: 'p', quantity: -1 }] }, { param: 'line_items[0][quantity]' }],
    [
      'a price there is not',
      { line_items: [{ price: 'price_x' }] },
      { code: 'resource_missing', param: 'line_items[0][price]' },
    ],
    [
      'a customer there is not',
      { customer: 'cus_x', customer_email: undefined },
      { code: 'resource_missing', param: 'customer' },
    ],
    ['two customers', { customer: 'cus_x' }, { message: expect.stringContaining('only specify one') }],
    ['no mail address', { customer_email: 'nobody' }, { code: 'email_invalid' }],
  ]
  test.each(odd)('a request with %s is refused', async (_name, params, raw) => {
    const call = stripe.checkout.sessions.create({ ...checkoutOf(settings, 'odd'), ...params })
    await expect(call).rejects.toMatchObject({ statusCode: 400, type: 'StripeInvalidRequestError', ...raw })
  })

  test('a missing object is not found', async () => {
    for (const missing of [
      () => stripe.subscriptions.retrieve('sub_x'),
      () => stripe.invoices.retrieve('in_x'),
      () => stripe.customers.retrieve('cus_x'),
      () => stripe.checkout.sessions.retrieve('cs_x'),
      () => stripe.prices.retrieve('price_x'),
    ]) {
      await expect(missing()).rejects.toMatchObject({ statusCode: 404, code: 'resource_missing' })
    }
    const nowhere = await fetch(`${settings.STRIPE_API_URL}/v1/moods`)
    expect(nowhere.status).toBe(404)
  })

  test('a response is expanded only where that is possible', async () => {
    const { subscriptionId } = payments.processor.subscribe(subscriber('wide'))
    const call = stripe.subscriptions.retrieve(subscriptionId, { expand: ['mood'] })
    await expect(call).rejects.toMatchObject({ statusCode: 400, message: 'This property cannot be expanded (mood).' })
  })

  test('a response has the shape of the requested version', async () => {
    const { subscriptionId } = payments.processor.subscribe(subscriber('old'))
    const now = await stripe.subscriptions.retrieve(subscriptionId)
    const before = await stripe.subscriptions.retrieve(subscriptionId, {}, { apiVersion: '2024-06-20' })
    const [item] = now.items.data
    expect(now).not.toHaveProperty('current_period_end')
    expect(before).toMatchObject({ current_period_end: item!.current_period_end })
    expect(before.items.data[0]).not.toHaveProperty('current_period_end')
  })
})

describe('an idempotency key', () => {
  test('a repeated idempotency key returns the first response and creates nothing', async () => {
    const first = await openCheckout('twice', 'key-1')
    const second = await openCheckout('twice', 'key-1')
    expect(second.id).toBe(first.id)
    expect(second.lastResponse.headers['idempotent-replayed']).toBe('true')
    expect((await openCheckout('twice', 'key-2')).id).not.toBe(first.id)
  })

  test('an idempotency key with other parameters is refused', async () => {
    await openCheckout('one', 'key-3')
    await expect(openCheckout('other', 'key-3')).rejects.toMatchObject({
      statusCode: 400,
      rawType: 'idempotency_error',
    })
  })

  test('an idempotency key in use is refused', async () => {
    const slow = await startPayments({ workMs: 60_000 })
    const known = slow.env('http://127.0.0.1:9')
    const both = ['key-4', 'key-4'].map((idempotencyKey) =>
      createStripeClient(known).checkout.sessions.create(checkoutOf(known, 'eager'), { idempotencyKey }),
    )
    await expect(Promise.race(both)).rejects.toMatchObject({ statusCode: 409, code: 'idempotency_key_in_use' })
    await slow.stop()
    await Promise.allSettled(both)
  })

  test('an idempotency key is not used up by refused parameters', async () => {
    const wrong = { ...checkoutOf(settings, 'hasty'), mood: 'good' } as Stripe.Checkout.SessionCreateParams
    await expect(stripe.checkout.sessions.create(wrong, { idempotencyKey: 'key-5' })).rejects.toThrow('mood')
    await expect(openCheckout('hasty', 'key-5')).resolves.toMatchObject({ status: 'open' })
  })

  test('an idempotency key is forgotten after a day', async () => {
    const { id } = await openCheckout('slow', 'key-6')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS + 1_000 })
    try {
      expect((await openCheckout('slow', 'key-6')).id).not.toBe(id)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a subscription', () => {
  test('a subscription is cancelled at the end of its period, and can be resumed', async () => {
    const { subscriptionId: id } = payments.processor.subscribe(subscriber('wavering'))
    const cancelled = await stripe.subscriptions.update(id, { cancel_at_period_end: true })
    expect(cancelled).toMatchObject({
      cancel_at_period_end: true,
      cancel_at: cancelled.items.data[0]!.current_period_end,
    })
    const resumed = await stripe.subscriptions.update(id, { cancel_at_period_end: false, metadata: { mood: 'good' } })
    expect(resumed).toMatchObject({
      cancel_at: null,
      canceled_at: null,
      metadata: { userId: 'wavering', mood: 'good' },
    })
    expect(typesAbout(id).slice(-2)).toEqual(['customer.subscription.updated', 'customer.subscription.updated'])
  })

  test('a subscription ends once', async () => {
    const { subscriptionId: id, customerId: customer } = payments.processor.subscribe(subscriber('leaving'))
    expect(await stripe.subscriptions.cancel(id)).toMatchObject({ status: 'canceled', ended_at: expect.any(Number) })
    await expect(stripe.subscriptions.cancel(id)).rejects.toMatchObject({ statusCode: 404, code: 'resource_missing' })
    await expect(stripe.subscriptions.update(id, { cancel_at_period_end: true })).rejects.toMatchObject({
      statusCode: 400,
    })
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' })
    expect((await stripe.subscriptions.list({ customer })).data).toEqual([])
    expect((await stripe.subscriptions.list({ customer, status: 'all' })).data).toHaveLength(1)
  })

  test('a forgotten subscription is not found', async () => {
    const { subscriptionId: id, customerId: customer } = payments.processor.subscribe(subscriber('lost'))
    payments.processor.forget(id)
    await expect(stripe.subscriptions.retrieve(id)).rejects.toMatchObject({ code: 'resource_missing' })
    expect((await stripe.subscriptions.list({ customer, status: 'all' })).data).toEqual([])
  })

  test('a subscription ends with its customer', async () => {
    const { subscriptionId: id, customerId } = payments.processor.subscribe(subscriber('gone'))
    expect(await stripe.customers.del(customerId)).toMatchObject({ id: customerId, deleted: true })
    expect(await stripe.customers.retrieve(customerId)).toMatchObject({ deleted: true })
    await expect(stripe.customers.del(customerId)).rejects.toMatchObject({ code: 'resource_missing' })
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' })
    expect(typesAbout(id).at(-1)).toBe('customer.subscription.deleted')
    await expect(stripe.billingPortal.sessions.create({ customer: customerId })).rejects.toMatchObject({
      code: 'resource_missing',
    })
  })

  test('invoices of a subscription are listed newest first, in pages', async () => {
    const { subscriptionId: subscription, customerId } = payments.processor.subscribe(subscriber('thrice'))
    const others = [1, 2].map(() => payments.processor.subscribe({ ...subscriber('thrice'), customerId }))
    const newest = await stripe.invoices.list({ customer: customerId, limit: 2 })
    expect(newest).toMatchObject({ has_more: true, data: [{}, {}] })
    const rest = await stripe.invoices.list({ customer: customerId, starting_after: newest.data[1]!.id })
    expect(rest).toMatchObject({ has_more: false, data: [{ billing_reason: 'subscription_create' }] })
    expect(rest.data).toEqual((await stripe.invoices.list({ subscription })).data)
    expect(others).toHaveLength(2)
  })
})

test('the ledger lists the paid invoices', async () => {
  const { subscriptionId, customerId } = payments.processor.subscribe(subscriber('listed'))
  const ledger = (await (await fetch(`${payments.control}/ledger`)).json()) as { subscriptionId: string }[]
  expect(ledger.filter((entry) => entry.subscriptionId === subscriptionId)).toMatchObject([
    { account: customerId, userId: 'listed', reason: 'subscription_create' },
  ])
})

function openCheckout(userId: string, idempotencyKey?: string) {
  return stripe.checkout.sessions.create(checkoutOf(settings, userId), { ...(idempotencyKey && { idempotencyKey }) })
}

function typesAbout(id: string): string[] {
  return payments.processor
    .events()
    .filter(({ body }) => JSON.stringify(body).includes(id))
    .map(({ type }) => type)
}
