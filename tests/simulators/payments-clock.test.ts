import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Stripe } from 'stripe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addMonths } from '../../sandbox/services/payments/calendar.ts'
import { startPayments, type SandboxPayments } from '../../sandbox/services/payments.ts'
import { checkoutOf, createStripeClient, subscriber } from '../support/processor.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const WEEK_AFTER = 8 * DAY

let payments: SandboxPayments
let stripe: Stripe

beforeAll(async () => {
  payments = await startPayments()
  stripe = createStripeClient(payments.env('http://127.0.0.1:9'))
  payments.processor.webhooks({ held: true })
})

afterAll(() => payments.stop())

test.each([
  ['2027-01-31T10:20:30Z', 1, '2027-02-28T10:20:30Z'],
  ['2027-01-31T10:20:30Z', 2, '2027-03-31T10:20:30Z'],
  ['2027-10-31T23:59:59Z', 1, '2027-11-30T23:59:59Z'],
  ['2028-01-30T00:00:00Z', 1, '2028-02-29T00:00:00Z'],
  ['2027-12-15T00:00:00Z', 1, '2028-01-15T00:00:00Z'],
  ['2027-03-31T00:00:00Z', -1, '2027-02-28T00:00:00Z'],
])('%s plus %i months is %s', (from, months, to) => {
  expect(addMonths(Date.parse(from) / 1_000, months)).toBe(Date.parse(to) / 1_000)
})

describe('when time passes', () => {
  test('a subscription is renewed every month, each time at its instant', async () => {
    const { id, end, secondEnd, eventsSince } = await begin('regular')

    advanceTo(end - 60)
    expect(eventsSince()).toEqual([])
    advanceTo(secondEnd + 60)

    const invoices = await stripe.invoices.list({ subscription: id })
    expect(invoices.data.map(({ billing_reason: reason, status }) => [reason, status])).toEqual([
      ['subscription_cycle', 'paid'],
      ['subscription_cycle', 'paid'],
      ['subscription_create', 'paid'],
    ])
    const [renewed, first] = invoices.data
    expect(first).toMatchObject({ created: end, lines: { data: [{ period: { start: end, end: renewed!.created } }] } })
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({
      status: 'active',
      latest_invoice: renewed!.id,
      items: { data: [{ current_period_start: renewed!.created }] },
    })
    const month = ['customer.subscription.updated', 'invoice.paid', 'invoice.payment_succeeded']
    expect(eventsSince()).toEqual([end, renewed!.created].flatMap((instant) => month.map((type) => [type, instant])))
  })

  test('a declined card is charged again after 3, 5 and 7 days, and then the subscription ends', async () => {
    const { id, end, customerId, eventsSince } = await begin('broke')
    payments.processor.setCard(customerId, 'fails')

    advanceTo(end + 60)
    expect(await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })).toMatchObject({
      status: 'past_due',
      items: { data: [{ current_period_start: end }] },
      latest_invoice: { status: 'open', attempt_count: 1, next_payment_attempt: end + 3 * DAY },
    })
    advanceTo(end + WEEK_AFTER)

    const ended = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })
    expect(ended).toMatchObject({
      status: 'canceled',
      ended_at: end + 7 * DAY,
      latest_invoice: { status: 'open', attempt_count: 4, next_payment_attempt: null },
    })
    expect(eventsSince()).toEqual([
      ['customer.subscription.updated', end],
      ['invoice.payment_failed', end],
      ['invoice.payment_failed', end + 3 * DAY],
      ['invoice.payment_failed', end + 5 * DAY],
      ['invoice.payment_failed', end + 7 * DAY],
      ['customer.subscription.deleted', end + 7 * DAY],
    ])
  })

  test('an invoice may be a draft for an hour while the period has begun', async () => {
    payments.processor.invoices({ draftSeconds: HOUR })
    const { id, end, secondEnd, customerId, eventsSince } = await begin('drafted')

    advanceTo(end + 60)
    expect(await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })).toMatchObject({
      status: 'active',
      items: { data: [{ current_period_start: end }] },
      latest_invoice: { status: 'draft', number: null, attempted: false, next_payment_attempt: end + HOUR },
    })
    advanceTo(end + DAY)
    payments.processor.setCard(customerId, 'fails')
    advanceTo(secondEnd + DAY)

    expect(await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })).toMatchObject({
      status: 'past_due',
      latest_invoice: { status: 'open', next_payment_attempt: secondEnd + HOUR + 3 * DAY },
    })
    expect(eventsSince()).toEqual([
      ['customer.subscription.updated', end],
      ['invoice.paid', end + HOUR],
      ['invoice.payment_succeeded', end + HOUR],
      ['customer.subscription.updated', secondEnd],
      ['invoice.payment_failed', secondEnd + HOUR],
      ['customer.subscription.updated', secondEnd + HOUR],
    ])
    payments.processor.invoices({ draftSeconds: 0 })
  })

  test('an unpaid invoice is paid by a new card, automatically or on request', async () => {
    const { id, end, secondEnd, customerId, eventsSince } = await begin('mended')
    payments.processor.setCard(customerId, 'fails')
    advanceTo(end + 60)
    expect(payments.processor.retryPayment(customerId)).toMatchObject([{ status: 'open' }])
    // A charge on request does not use up a scheduled attempt.
    expect(await stripe.invoices.list({ subscription: id, status: 'open' })).toMatchObject({
      data: [{ next_payment_attempt: end + 3 * DAY }],
    })
    payments.processor.setCard(customerId, 'works')
    expect(payments.processor.retryPayment(customerId)).toMatchObject([{ status: 'paid' }])
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'active' })
    expect(eventsSince().slice(-3)).toMatchObject([
      ['invoice.paid', expect.any(Number)],
      ['invoice.payment_succeeded', expect.any(Number)],
      ['customer.subscription.updated', expect.any(Number)],
    ])

    payments.processor.setCard(customerId, 'fails')
    advanceTo(secondEnd + DAY)
    payments.processor.setCard(customerId, 'works')
    advanceTo(secondEnd + 4 * DAY)
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'active' })
  })

  test('an ended subscription is not charged, and does not resume when its invoice is paid', async () => {
    const { id, end, customerId, eventsSince } = await begin('owing')
    payments.processor.setCard(customerId, 'fails')
    advanceTo(end + DAY)
    payments.processor.end(id)
    advanceTo(end + WEEK_AFTER)
    expect(eventsSince().map(([type]) => type)).toEqual([
      'customer.subscription.updated',
      'invoice.payment_failed',
      'customer.subscription.deleted',
    ])
    payments.processor.setCard(customerId, 'works')
    expect(payments.processor.retryPayment(customerId)).toMatchObject([{ status: 'paid' }])
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' })
  })

  test('a cancelled subscription ends with its period and has no further invoice', async () => {
    const { id, end, eventsSince } = await begin('leaving')
    payments.processor.cancel(id)
    advanceTo(end + DAY)
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled', ended_at: end })
    expect((await stripe.invoices.list({ subscription: id })).data).toHaveLength(1)
    expect(eventsSince()).toEqual([
      ['customer.subscription.updated', expect.any(Number)],
      ['customer.subscription.deleted', end],
    ])
  })

  test('events of several objects run in order', async () => {
    const broke = await begin('broke one')
    advanceTo(broke.end - DAY)
    const regular = await begin('regular one')
    payments.processor.setCard(broke.customerId, 'fails')
    advanceTo(regular.end + WEEK_AFTER)
    const instants = payments.processor.events().map(({ created }) => created)
    expect(instants).toEqual(instants.toSorted((one, other) => one - other))
    expect(broke.eventsSince()).toHaveLength(6)
    expect(regular.eventsSince()).toHaveLength(3)
  })

  test('an unpaid checkout expires after a day', async () => {
    const { id, expires_at: end } = await stripe.checkout.sessions.create(
      checkoutOf(payments.env('http://127.0.0.1:9'), 'idle'),
    )
    advanceTo(end + 1)
    expect(await stripe.checkout.sessions.retrieve(id)).toMatchObject({ status: 'expired' })
    expect(() => payments.processor.pay(id)).toThrow('The session is expired')
  })

  test('the clock can only move forward', () => {
    expect(() => payments.processor.advance({ to: '2020-01-01T00:00:00Z' })).toThrow('can only move forward')
  })
})

test('subscriptions, sessions, clock, keys and addresses survive a restart', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-payments-'))
  const first = await startPayments({ dir })
  const before = first.env('http://127.0.0.1:9')
  const { subscriptionId } = first.processor.subscribe(subscriber('lasting'))
  const { id } = await createStripeClient(before).checkout.sessions.create(checkoutOf(before, 'lasting'), {
    idempotencyKey: 'kept',
  })
  first.processor.advance({ advanceMs: 40 * DAY * 1_000 })
  const asked = await createStripeClient(before).subscriptions.retrieve(subscriptionId, { expand: ['latest_invoice'] })
  await first.stop()

  const second = await startPayments({ dir })
  const after = second.env('http://127.0.0.1:9')
  expect(after).toEqual(before)
  expect(second.facts).toEqual(first.facts)
  expect(second.control).toBe(first.control)
  expect(
    await createStripeClient(after).subscriptions.retrieve(subscriptionId, { expand: ['latest_invoice'] }),
  ).toEqual(asked)
  const again = await createStripeClient(after).checkout.sessions.create(checkoutOf(after, 'lasting'), {
    idempotencyKey: 'kept',
  })
  expect(again.id).toBe(id)
  expect(Date.parse(second.processor.clock().now)).toBeGreaterThan(Date.now() + 39 * DAY * 1_000)
  await second.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** A subscription whose first period has just begun. */
async function begin(userId: string) {
  const { subscriptionId: id, customerId } = payments.processor.subscribe(subscriber(userId))
  const { created, items } = await stripe.subscriptions.retrieve(id)
  const known = new Set(payments.processor.events().map((event) => event.id))
  return {
    id,
    customerId,
    end: items.data[0]!.current_period_end,
    secondEnd: addMonths(created, 2),
    eventsSince: () =>
      payments.processor
        .events()
        .filter((event) => !known.has(event.id) && JSON.stringify(event.body).includes(id))
        .map(({ type, created }) => [type, created]),
  }
}

function advanceTo(seconds: number): void {
  payments.processor.advance({ to: new Date(seconds * 1_000).toISOString() })
}
