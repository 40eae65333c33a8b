import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPayments, type SandboxPayments } from '../../sandbox/services/payments.ts'
import { createPayments, type Payments } from '../../src/integrations/payments/payments.ts'
import { USER_AGENT } from '../support/user-agent.ts'

let sandbox: SandboxPayments
let payments: Payments

beforeAll(async () => {
  sandbox = await startPayments()
  const settings = sandbox.env('http://127.0.0.1:9')
  sandbox.setEndpoints([])
  payments = createPayments({
    secretKey: settings.STRIPE_SECRET_KEY,
    url: settings.STRIPE_API_URL,
    priceId: settings.STRIPE_PRICE_ID,
    webhookSecrets: [],
    userAgent: USER_AGENT,
    timeoutMs: 20_000,
  })
})
afterAll(() => sandbox.stop())

let keys = 0
const newKey = () => `key-${keys++}`

const openCheckout = (email = 'ann@example.com') =>
  payments.openCheckout({
    userId: 'user-1',
    email,
    customerId: null,
    successUrl: 'http://app.example/success?session_id={CHECKOUT_SESSION_ID}',
    cancelUrl: 'http://app.example/cancel',
    idempotencyKey: newKey(),
  })

async function get(url: string) {
  const answer = await fetch(url, { redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
}

async function send(url: string, fields: Record<string, string>) {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
}

const subscribe = (userId: string) => sandbox.processor.subscribe({ userId, email: `${userId}@example.com` })

/** The URL of the portal after it was entered. */
async function enterPortal(customerId: string): Promise<string> {
  const { url } = await payments.openPortal({ customerId, returnUrl: 'http://app.example/', idempotencyKey: newKey() })
  return (await get(url)).location!
}

describe('the checkout page', () => {
  it('a checkout page stays open until a card works, and then redirects to the success page', async () => {
    const { id, url } = await openCheckout()
    expect(await send(url, { card: 'fails' })).toMatchObject({ status: 402, text: expect.stringContaining('declined') })
    expect(await send(url, { card: 'works', code: 'SPRING' })).toMatchObject({ status: 402 })
    expect(await payments.readCheckout(id)).toMatchObject({ status: 'open' })
    const success = { status: 302, location: `http://app.example/success?session_id=${id}` }
    expect(await send(url, { card: 'works' })).toMatchObject(success)
    expect(await send(url, { card: 'works' })).toMatchObject({ status: 302, location: url })
    expect(await get(url)).toMatchObject(success)
    expect(sandbox.processor.events().filter(({ type }) => type === 'checkout.session.completed')).toHaveLength(1)
    expect(await payments.readCheckout(id)).toMatchObject({ status: 'complete' })
  })

  it('a checkout page is gone after its session has expired', async () => {
    const { id, url } = await openCheckout()
    await payments.expireCheckout(id)
    expect((await get(url)).status).toBe(404)
  })

  it('a checkout page escapes its input', async () => {
    const { url } = await openCheckout('"><b>@example.com')
    expect((await get(url)).text).not.toContain('<b>@')
  })
})

describe('the portal', () => {
  it('a portal URL can be entered once', async () => {
    const { customerId } = subscribe('user-2')
    const { url } = await payments.openPortal({
      customerId,
      returnUrl: 'http://app.example/',
      idempotencyKey: newKey(),
    })
    expect((await get(url)).status).toBe(302)
    expect((await get(url)).status).toBe(404)
  })

  it('a portal cancels and resumes a subscription', async () => {
    const { customerId, subscriptionId } = subscribe('user-3')
    const portal = await enterPortal(customerId)
    for (const [action, cancelAtPeriodEnd] of [
      ['cancel', true],
      ['resume', false],
    ] as const) {
      await send(portal, { action, id: subscriptionId })
      expect(await payments.readSubscription(subscriptionId)).toMatchObject({ cancelAtPeriodEnd })
    }
  })

  it('a portal changes the card and pays open invoices', async () => {
    const { customerId, subscriptionId } = subscribe('user-4')
    const portal = await enterPortal(customerId)
    await send(portal, { action: 'fails' })
    const renewal = (await payments.readSubscription(subscriptionId))!.currentPeriodEnd!
    sandbox.processor.advance({ to: renewal.toISOString() })
    expect(await payments.readSubscription(subscriptionId)).toMatchObject({ state: 'past_due' })
    const later = await enterPortal(customerId)
    expect((await get(portal)).status).toBe(404)
    await send(later, { action: 'works' })
    await send(later, { action: 'pay' })
    expect(await payments.readSubscription(subscriptionId)).toMatchObject({ state: 'active' })
  })

  it('a portal cannot change the subscriptions of others', async () => {
    const [{ customerId }, other] = [subscribe('user-5'), subscribe('user-6')]
    await send(await enterPortal(customerId), { action: 'cancel', id: other.subscriptionId })
    expect(await payments.readSubscription(other.subscriptionId)).toMatchObject({ cancelAtPeriodEnd: false })
  })
})

describe('the overview', () => {
  it('the overview shows all records and advances the clock', async () => {
    const { subscriptionId } = subscribe('user-7')
    const before = (await payments.readSubscription(subscriptionId))!
    expect((await get(`${sandbox.url}/`)).text).toContain('user-7@example.com')
    await send(`${sandbox.url}/`, { action: 'month' })
    const after = (await payments.readSubscription(subscriptionId))!
    expect(after.currentPeriodStart).toEqual(before.currentPeriodEnd)
    expect((await get(`${sandbox.url}/`)).text).toContain('invoice.payment_succeeded')
  })

  it('the overview reports actions that are not possible', async () => {
    const { subscriptionId } = subscribe('user-8')
    await send(`${sandbox.url}/`, { action: 'end', id: subscriptionId })
    expect(await send(`${sandbox.url}/`, { action: 'end', id: subscriptionId })).toMatchObject({ status: 409 })
  })
})
