import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPayments, type SandboxPayments } from '../../../sandbox/services/payments.ts'
import type { Billing } from '../../../src/domain/billing/billing.ts'
import { createPayments } from '../../../src/integrations/payments/payments.ts'
import { apiWorld, createAccount, type ApiWorld } from '../../support/api.ts'
import { buildEvent } from '../../support/billing.ts'
import { controlOf } from '../../support/platform-control.ts'
import { eraser } from './erasure-world.ts'
import { USER_AGENT } from '../../support/user-agent.ts'

let world: ApiWorld
let processor: SandboxPayments

beforeAll(async () => {
  processor = await startPayments()
  const env = processor.env('http://127.0.0.1:9')
  processor.processor.webhooks({ held: true })
  const payments = createPayments({
    secretKey: env.STRIPE_SECRET_KEY,
    url: env.STRIPE_API_URL,
    priceId: env.STRIPE_PRICE_ID,
    webhookSecrets: [],
    userAgent: USER_AGENT,
    timeoutMs: 5_000,
  })
  world = await apiWorld({}, { payments })
})
afterAll(async () => {
  await controlOf(processor.control).clearFaults()
  await world.close()
  await processor.stop()
})

async function dueForErasure(billing: Partial<Billing> = {}) {
  const { context } = world
  const { _id: userId, email, billing: none } = await createAccount(context)
  await context.users.changeBilling(userId, 0, { 'billing.checkoutId': billing.checkoutId ?? none.checkoutId })
  await context.database.transaction((session) => context.erasures.begin(userId, new Date(), session))
  return { userId, email }
}

async function subscribed() {
  const who = await dueForErasure()
  const sold = processor.processor.subscribe({ userId: who.userId, email: who.email })
  await world.context.syncSubscription(who.userId, buildEvent(sold))
  return { ...who, ...sold }
}

const stored = (userId: string) => world.context.users.findById(userId)
const subscription = (id: string) => world.context.payments!.readSubscription(id)

/** The processor's remaining data about a customer. */
async function customer(id: string): Promise<object> {
  const { STRIPE_SECRET_KEY: key, STRIPE_API_URL: url } = processor.env('http://127.0.0.1:9')
  const response = await fetch(`${url}/v1/customers/${id}`, { headers: { authorization: `Bearer ${key}` } })
  return (await response.json()) as object
}

it('an erasure ends the subscription immediately and deletes the customer at the processor', async () => {
  const { userId, email, subscriptionId, customerId } = await subscribed()
  expect(await customer(customerId)).toMatchObject({ email })
  await eraser(world.context).round(userId)
  expect(await subscription(subscriptionId)).toMatchObject({ state: 'canceled' })
  expect(await customer(customerId)).toEqual({ id: customerId, object: 'customer', deleted: true })
  expect(await stored(userId)).toBeNull()
})

it('an erasure deletes the customer of a subscription that ended before', async () => {
  const { userId, subscriptionId, customerId } = await subscribed()
  processor.processor.end(subscriptionId)
  await world.context.syncSubscription(userId, buildEvent({ subscriptionId, customerId }))
  expect(await stored(userId)).toMatchObject({ subscription: { plan: 'free' }, billing: { subscriptions: [] } })
  await eraser(world.context).round(userId)
  expect(await customer(customerId)).toMatchObject({ deleted: true })
})

it('an erasure closes an open checkout', async () => {
  const opened = await open()
  const { userId } = await dueForErasure({ checkoutId: opened.id })
  await eraser(world.context).round(userId)
  expect(await world.context.payments!.readCheckout(opened.id)).toMatchObject({ status: 'expired' })
  expect(await stored(userId)).toBeNull()
})

it('an erasure ends a subscription paid at the last moment, before its event arrives', async () => {
  const opened = await open()
  const { userId } = await dueForErasure({ checkoutId: opened.id })
  const { subscriptionId, customerId } = processor.processor.pay(opened.id)
  await eraser(world.context).round(userId)
  expect(await subscription(subscriptionId!)).toMatchObject({ state: 'canceled' })
  expect(await customer(customerId!)).toMatchObject({ deleted: true })
})

it('an erasure keeps the user record until the processor has confirmed', async () => {
  const { userId, subscriptionId, customerId } = await subscribed()
  const control = controlOf(processor.control)
  await control.fault({ method: 'DELETE', path: '/v1/subscriptions', action: { status: 500 } })
  await expect(eraser(world.context).round(userId)).rejects.toThrow('end a subscription')
  expect(await stored(userId)).not.toBeNull()
  await control.clearFaults()
  // The call succeeds and its response is lost; the next try finds it done.
  await control.fault({ method: 'DELETE', path: '/v1/customers', times: 2, action: { dropAfterAccept: true } })
  await eraser(world.context).round(userId, 2)
  expect(await subscription(subscriptionId)).toMatchObject({ state: 'canceled' })
  expect(await customer(customerId)).toMatchObject({ deleted: true })
  expect(await stored(userId)).toBeNull()
})

function open() {
  return world.context.payments!.openCheckout({
    userId: 'another-user',
    email: 'another-user@example.com',
    customerId: null,
    successUrl: 'http://localhost/success',
    cancelUrl: 'http://localhost/cancel',
    idempotencyKey: `test/${Math.random()}`,
  })
}
