import { describe, expect, it } from 'vitest'
import { paymentsWithoutProcessor, signatureOf as signed } from '../../../support/webhooks.ts'

const NOW = new Date('2026-11-21T12:00:00.400Z')
const SECOND_NOW = Math.floor(NOW.getTime() / 1000)
const SECRET = 'whsec_one'
const OLD_SECRET = 'whsec_before'
const WEBHOOK_INVALID = { code: 'WEBHOOK_INVALID', statusCode: 400 }

const payments = paymentsWithoutProcessor(SECRET, OLD_SECRET)

interface Signing {
  secret?: string
  at?: number
  scheme?: string
}

function signatureOf(body: Buffer, { secret = SECRET, at = SECOND_NOW, scheme = 'v1' }: Signing = {}): string {
  return signed(body, { secret, at: new Date(at * 1_000), scheme })
}

function bytesOf(body: unknown): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Reads a correctly signed body. */
async function readSigned(body: unknown) {
  const bytes = bytesOf(body)
  return payments.readEvent(bytes, signatureOf(bytes), NOW)
}

function eventOf(type: string, object: unknown) {
  return { id: 'evt_1', object: 'event', type, created: 1_790_000_000, data: { object } }
}

const BODY = bytesOf(eventOf('invoice.payment_succeeded', { id: 'in_1' }))

describe('the signature of an event', () => {
  it.each<[string, string]>([
    ['of the secret', signatureOf(BODY)],
    ['of the secret before it', signatureOf(BODY, { secret: OLD_SECRET })],
    ['of five minutes ago', signatureOf(BODY, { at: SECOND_NOW - 300 })],
    ['of five minutes ahead', signatureOf(BODY, { at: SECOND_NOW + 300 })],
    ['beside one of another secret', `${signatureOf(BODY, { secret: 'other' })},${signatureOf(BODY).split(',')[1]}`],
    ['beside one of another scheme', `${signatureOf(BODY)},v0=00`],
  ])('a signature is accepted: %s', async (_case, signature) => {
    await expect(payments.readEvent(BODY, signature, NOW)).resolves.toMatchObject({ id: 'evt_1' })
  })

  it.each<[string, string | undefined]>([
    ['none', undefined],
    ['empty', ''],
    ['no signature at all', 'unsigned'],
    ['of another secret', signatureOf(BODY, { secret: 'whsec_other' })],
    ['of more than five minutes ago', signatureOf(BODY, { at: SECOND_NOW - 301 })],
    ['of more than five minutes ahead', signatureOf(BODY, { at: SECOND_NOW + 301 })],
    ['of an instant that is none', signatureOf(BODY, { at: Number.NaN })],
    ['of the old scheme only', signatureOf(BODY, { scheme: 'v0' })],
    ['without a value', `t=${SECOND_NOW},v1`],
    ['without an instant', signatureOf(BODY).split(',')[1]],
    ['a space added to it', signatureOf(BODY).replace(',', ', ')],
    ['signed once more with a later instant', `${signatureOf(BODY, { at: SECOND_NOW - 900 })},t=${SECOND_NOW}`],
  ])('a signature is rejected: %s', async (_case, signature) => {
    await expect(payments.readEvent(BODY, signature, NOW)).rejects.toMatchObject(WEBHOOK_INVALID)
  })

  it.each<[string, Buffer]>([
    ['a space added', Buffer.concat([BODY, Buffer.from(' ')])],
    ['a byte order mark added', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), BODY])],
    ['nothing left', Buffer.alloc(0)],
  ])('a signature covers the exact bytes: %s', async (_case, body) => {
    await expect(payments.readEvent(body, signatureOf(BODY), NOW)).rejects.toMatchObject(WEBHOOK_INVALID)
  })

  it('a signature does not cover other bytes that decode to the same text', async () => {
    const withReplacement = bytesOf({ ...eventOf('x', {}), note: '\ufffd' })
    const withInvalid = Buffer.from(withReplacement.toString('latin1').replace('\xef\xbf\xbd', '\xff'), 'latin1')
    expect(withInvalid.toString()).toBe(withReplacement.toString())
    await expect(payments.readEvent(withReplacement, signatureOf(withReplacement), NOW)).resolves.toBeDefined()
    await expect(payments.readEvent(withInvalid, signatureOf(withReplacement), NOW)).rejects.toMatchObject(
      WEBHOOK_INVALID,
    )
  })
})

describe('a signed body', () => {
  it.each<[string, unknown]>([
    ['a list', '[]'],
    ['null', 'null'],
    ['a number', '1'],
    ['no JSON', 'x'],
    ['with a byte order mark', `\ufeff${BODY.toString()}`],
    ['a hundred thousand brackets deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['an event without an id', { ...eventOf('x', {}), id: undefined }],
    ['an event with a very long id', { ...eventOf('x', {}), id: 'e'.repeat(300) }],
    ['an event without a type', { ...eventOf('x', {}), type: 5 }],
    ['an event without an instant', { ...eventOf('x', {}), created: '1790000000' }],
    ['an event of no possible instant', { ...eventOf('x', {}), created: 1e300 }],
    ['an event about nothing', eventOf('x', null)],
    ['an event without data', { ...eventOf('x', {}), data: undefined }],
  ])('a signed body that is %s is rejected', async (_case, body) => {
    await expect(readSigned(body)).rejects.toMatchObject(WEBHOOK_INVALID)
  })

  it('an event of an unknown type is read without its object', async () => {
    const event = eventOf('customer.updated', { id: 'cus_1', metadata: { userId: 'user-1' }, email: 'a@example.com' })
    await expect(readSigned(event)).resolves.toEqual({
      id: 'evt_1',
      type: 'customer.updated',
      createdAt: new Date(1_790_000_000_000),
      userId: null,
      customerId: null,
      subscriptionId: null,
      invoiceId: null,
      payloadSubscription: null,
      payloadInvoice: null,
    })
  })

  it('an event with unusable objects is read without them', async () => {
    const odd = { id: 7, customer: [], metadata: 'x', items: 5, status: 'odd', parent: null, subscription: {} }
    for (const type of ['checkout.session.completed', 'invoice.payment_failed', 'customer.subscription.deleted']) {
      await expect(readSigned(eventOf(type, odd))).resolves.toMatchObject({
        userId: null,
        customerId: null,
        subscriptionId: null,
        payloadSubscription: null,
        payloadInvoice: null,
      })
    }
  })
})

const START = 1_790_000_000
const EVENT_AT = new Date(START * 1000)
const END = START + 30 * 86_400

const SUBSCRIPTION = {
  id: 'sub_1',
  object: 'subscription',
  customer: 'cus_1',
  created: START - 5,
  status: 'past_due',
  metadata: { userId: 'user-1' },
  cancel_at: null,
  cancel_at_period_end: false,
  latest_invoice: 'in_1',
  items: { object: 'list', data: [{ id: 'si_1', current_period_start: START, current_period_end: END }] },
}

const READ_SUBSCRIPTION = {
  id: 'sub_1',
  customerId: 'cus_1',
  userId: 'user-1',
  state: 'past_due',
  createdAt: new Date((START - 5) * 1000),
  currentPeriodStart: new Date(START * 1000),
  currentPeriodEnd: new Date(END * 1000),
  cancelAtPeriodEnd: false,
  latestInvoice: null,
}

const INVOICE = {
  id: 'in_1',
  object: 'invoice',
  customer: 'cus_1',
  billing_reason: 'subscription_cycle',
  lines: { data: [{ period: { start: START, end: END } }] },
}

const READ_INVOICE = { id: 'in_1', subscriptionId: 'sub_1', customerId: 'cus_1', isFirst: false, isPaid: true }

const DETAILS = { subscription: 'sub_1', metadata: { userId: 'user-1' } }

describe('the object of an event', () => {
  it.each([
    ['by its metadata', { metadata: { userId: 'user-1' } }, 'user-1'],
    ['without any', { metadata: {} }, null],
  ])('a checkout event names its objects %s', async (_case, more, userId) => {
    const session = { id: 'cs_1', customer: 'cus_1', subscription: 'sub_1', invoice: 'in_1', ...more }
    await expect(readSigned(eventOf('checkout.session.completed', session))).resolves.toMatchObject({
      userId,
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      invoiceId: 'in_1',
      payloadSubscription: {
        ...READ_SUBSCRIPTION,
        userId,
        state: 'active',
        createdAt: EVENT_AT,
        cancelAtPeriodEnd: null,
        currentPeriodStart: null,
        currentPeriodEnd: null,
      },
      payloadInvoice: null,
    })
  })

  it('an unpaid checkout implies no active subscription', async () => {
    const session = { id: 'cs_1', customer: 'cus_1', subscription: 'sub_1', payment_status: 'unpaid' }
    const event = await readSigned(eventOf('checkout.session.completed', session))
    expect(event.payloadSubscription).toMatchObject({ id: 'sub_1', state: 'incomplete' })
  })

  it.each([
    ['as it is now', SUBSCRIPTION],
    [
      'as it was before 2025-03',
      { ...SUBSCRIPTION, items: { data: [{ id: 'si_1' }] }, current_period_start: START, current_period_end: END },
    ],
    ['with expanded objects', { ...SUBSCRIPTION, customer: { id: 'cus_1' } }],
  ])('a subscription event carries its subscription, %s', async (_case, subscription) => {
    await expect(readSigned(eventOf('customer.subscription.updated', subscription))).resolves.toMatchObject({
      userId: 'user-1',
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      invoiceId: 'in_1',
      payloadSubscription: READ_SUBSCRIPTION,
    })
  })

  it.each([
    ['at the end of the period', { cancel_at_period_end: true }, true],
    ['at the instant of that end, as the portal writes it', { cancel_at: END }, true],
    ['at a later instant', { cancel_at: END + 1 }, false],
  ])('a subscription event that ends %s is read correctly', async (_case, ending, cancelAtPeriodEnd) => {
    const event = await readSigned(eventOf('customer.subscription.updated', { ...SUBSCRIPTION, ...ending }))
    expect(event.payloadSubscription).toEqual({ ...READ_SUBSCRIPTION, cancelAtPeriodEnd })
  })

  it('a subscription event lacks the dates that its subscription lacks', async () => {
    const event = await readSigned(eventOf('customer.subscription.deleted', { ...SUBSCRIPTION, items: { data: [] } }))
    expect(event.payloadSubscription).toEqual({
      ...READ_SUBSCRIPTION,
      currentPeriodStart: null,
      currentPeriodEnd: null,
    })
  })

  it.each([
    ['as it is now', { ...INVOICE, status: 'paid', parent: { subscription_details: DETAILS } }],
    [
      'as it was before 2025-03',
      { ...INVOICE, paid: true, subscription: 'sub_1', subscription_details: { metadata: DETAILS.metadata } },
    ],
  ])('an invoice event carries its invoice, %s', async (_case, invoice) => {
    await expect(readSigned(eventOf('invoice.payment_succeeded', invoice))).resolves.toMatchObject({
      userId: 'user-1',
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      invoiceId: 'in_1',
      payloadSubscription: {
        ...READ_SUBSCRIPTION,
        state: 'active',
        createdAt: EVENT_AT,
        cancelAtPeriodEnd: null,
        latestInvoice: READ_INVOICE,
      },
      payloadInvoice: READ_INVOICE,
    })
  })

  it('an invoice event implies a failed renewal, and that a never paid subscription has not begun', async () => {
    const invoice = { ...INVOICE, status: 'open', parent: { subscription_details: DETAILS } }
    const failed = await readSigned(eventOf('invoice.payment_failed', invoice))
    expect(failed.payloadSubscription).toMatchObject({ state: 'past_due', currentPeriodEnd: null })
    const first = { ...invoice, billing_reason: 'subscription_create' }
    const begun = await readSigned(eventOf('invoice.payment_failed', first))
    expect(begun.payloadSubscription).toMatchObject({ state: 'incomplete' })
  })

  it('an invoice event identifies the first invoice and an unpaid one', async () => {
    const invoice = { ...INVOICE, billing_reason: 'subscription_create', status: 'open', paid: false }
    const event = await readSigned(eventOf('invoice.payment_failed', invoice))
    expect(event.payloadInvoice).toEqual({ ...READ_INVOICE, subscriptionId: null, isFirst: true, isPaid: false })
  })
})
