import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startPayments, type SandboxPayments } from '../../../../sandbox/services/payments.ts'
import { buildApp } from '../../../../src/api/app.ts'
import { changePlan } from '../../../../src/commands/billing/change-plan.ts'
import { createCheckout } from '../../../../src/commands/billing/create-checkout.ts'
import { toMinuteKey } from '../../../../src/commands/billing/payment-calls.ts'
import type { Config } from '../../../../src/config/schema.ts'
import type { Context } from '../../../../src/context.ts'
import { CLI_ACTOR } from '../../../../src/domain/users/audit.ts'
import { DAY, MINUTE } from '../../../../src/domain/shared/times.ts'
import type { User } from '../../../../src/domain/users/user.ts'
import { createPayments } from '../../../../src/integrations/payments/payments.ts'
import { toUserAgent } from '../../../../src/config/user-agent.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { USER_AGENT } from '../../../support/user-agent.ts'

const FRONTEND_URL = 'https://app.example.test'

let processor: SandboxPayments
let control: Control
let world: ApiWorld
let context: Context
/** The same API with a shorter timeout for the payment processor. */
let impatient: ApiWorld['app']

beforeAll(async () => {
  processor = await startPayments()
  control = controlOf(processor.control)
  const settings = processor.env('http://127.0.0.1:9') as Partial<Config>
  // Temporal receives nothing here: the routes complete their work alone.
  processor.setEndpoints([])
  world = await apiWorld({ ...settings, FRONTEND_URL })
  context = world.context
  impatient = await buildApp({ ...context, payments: paymentsOf(context.config.STRIPE_PRICE_ID, 700) })
})
afterEach(() => control.clearFaults())
afterAll(async () => {
  await impatient?.close()
  await world?.close()
  await processor?.stop()
})

const paymentsOf = (priceId: string, timeoutMs: number) =>
  createPayments({
    secretKey: context.config.STRIPE_SECRET_KEY,
    url: processor.url,
    priceId,
    webhookSecrets: [],
    userAgent: USER_AGENT,
    timeoutMs,
  })

async function call(who: SignedIn, path: string, app = world.app) {
  const method = path === 'status' ? 'GET' : 'POST'
  const response = await app.inject({ method, url: `/api/payments/${path}`, headers: who.headers })
  return { status: response.statusCode, body: response.json() }
}

/** Reads the record with this id from the payment processor. */
async function atProcessor(kind: 'checkout/sessions' | 'subscriptions', id: string): Promise<Record<string, unknown>> {
  const authorization = `Bearer ${context.config.STRIPE_SECRET_KEY}`
  const response = await fetch(`${processor.url}/v1/${kind}/${id}`, { headers: { authorization } })
  return (await response.json()) as Record<string, unknown>
}

const recordOf = async ({ user }: SignedIn) => (await context.users.findById(user._id))!
const checkoutOf = async (who: SignedIn) => (await recordOf(who)).billing.checkoutId!
const checkout = (who: SignedIn) => call(who, 'create-checkout')

async function subscriber() {
  const who = await signIn(context)
  await checkout(who)
  const { customerId, subscriptionId } = processor.processor.pay(await checkoutOf(who))
  await context.syncSubscription(who.user._id)
  return { ...who, customerId: customerId!, subscriptionId: subscriptionId! }
}

const subscription: User['subscription'] = {
  plan: 'pro',
  status: 'active',
  processorCustomerId: null,
  processorSubscriptionId: null,
  currentPeriodStart: null,
  currentPeriodEnd: null,
  cancelAtPeriodEnd: false,
}

/** The ways in which the payment processor fails. */
const FAILURES = [
  [
    'refuses it',
    { status: 400, body: { error: { message: 'of nobody@example.test', type: 'invalid_request_error' } } },
  ],
  ['is broken', { status: 500, body: { error: { message: 'oops', type: 'api_error' } } }],
  ['does not know the key', { status: 401, body: { error: { message: 'Invalid API Key provided: sk_test_1' } } }],
  ['is behind a gateway that is broken', { status: 502, body: { message: 'Bad gateway' } }],
  ['responds without JSON', { status: 200, body: '<html>' }],
  ['cuts the connection', { cut: true }],
  ['does not respond', { hang: true }],
] as const

function expectFailure({ status, body }: Awaited<ReturnType<typeof call>>, wanted: object): void {
  expect({ status, ...body }).toMatchObject({ success: false, requestId: expect.any(String), ...wanted })
  expect(JSON.stringify(body)).not.toMatch(/nobody@|sk_test/)
}

describe('a checkout', () => {
  it('a checkout is a page of the processor for this user and the monthly price', async () => {
    const who = await signIn(context)
    const { status, body } = await checkout(who)
    expect({ status, body }).toEqual({
      status: 200,
      body: { message: 'Checkout session created', data: { url: expect.stringMatching(/^http/) } },
    })
    const session = await atProcessor('checkout/sessions', await checkoutOf(who))
    expect(session).toMatchObject({
      url: body.data.url,
      mode: 'subscription',
      metadata: { userId: who.user._id },
      client_reference_id: who.user._id,
      customer_email: who.user.email,
      allow_promotion_codes: true,
      success_url: `${FRONTEND_URL}/payment/success?session_id={CHECKOUT_SESSION_ID}`,
      cancel_url: `${FRONTEND_URL}/payment/cancel`,
    })
  })

  it('a paid checkout leads to Pro and names the user on the subscription', async () => {
    const who = await subscriber()
    expect((await recordOf(who)).subscription).toMatchObject({
      plan: 'pro',
      processorCustomerId: who.customerId,
      processorSubscriptionId: who.subscriptionId,
    })
    expect(await atProcessor('subscriptions', who.subscriptionId)).toMatchObject({ metadata: { userId: who.user._id } })
  })

  it('an open checkout page is reused, even after a declined card', async () => {
    const who = await signIn(context)
    const first = await checkout(who)
    expect(await checkout(who)).toEqual(first)
    processor.processor.pay(await checkoutOf(who), 'fails')
    expect(await checkout(who)).toEqual(first)
  })

  it('an expired checkout page is replaced', async () => {
    const who = await signIn(context)
    const first = await checkout(who)
    processor.processor.expire(await checkoutOf(who))
    const second = await checkout(who)
    expect(second.status).toBe(200)
    expect(second.body.data.url).not.toBe(first.body.data.url)
    expect(await checkout(who)).toEqual(second)
  })

  it('a checkout is refused while a subscription is active, whatever plan an admin set', async () => {
    const who = await subscriber()
    const refusal = {
      status: 409,
      message: 'You already have a subscription',
      statusCode: 409,
      code: 'ALREADY_SUBSCRIBED',
    }
    expectFailure(await checkout(who), refusal)
    await changePlan(context, CLI_ACTOR, who.user._id, 'free')
    expectFailure(await checkout(who), refusal)
  })

  it('a checkout is refused right after a payment, and the plan shows immediately', async () => {
    const who = await signIn(context)
    await checkout(who)
    processor.processor.pay(await checkoutOf(who))
    expect((await recordOf(who)).subscription.plan).toBe('free')
    expectFailure(await checkout(who), { status: 409, code: 'ALREADY_SUBSCRIBED' })
    expect((await recordOf(who)).subscription.plan).toBe('pro')
  })

  it('a checkout is refused after a payment that cannot be verified at the moment', async () => {
    const who = await signIn(context)
    await checkout(who)
    processor.processor.pay(await checkoutOf(who))
    const app = await buildApp({
      ...context,
      syncSubscription: async () => {
        throw new Error('not now')
      },
    })
    expectFailure(await call(who, 'create-checkout', app), { status: 409, code: 'ALREADY_SUBSCRIBED' })
    await app.close()
  })

  it('a customer whose subscription ended can check out again as the same customer', async () => {
    const who = await subscriber()
    processor.processor.end(who.subscriptionId)
    await context.syncSubscription(who.user._id)
    expect((await checkout(who)).status).toBe(200)
    expect(await atProcessor('checkout/sessions', await checkoutOf(who))).toMatchObject({ customer: who.customerId })
  })

  it('a customer who was deleted at the processor can check out again as a new one', async () => {
    const who = await subscriber()
    await context.payments!.removeCustomer(who.customerId)
    await context.syncSubscription(who.user._id)
    expect((await checkout(who)).status).toBe(200)
    const bought = processor.processor.pay(await checkoutOf(who))
    await context.syncSubscription(who.user._id)
    expect(bought.customerId).not.toBe(who.customerId)
    expect((await recordOf(who)).subscription).toMatchObject({ plan: 'pro', processorCustomerId: bought.customerId })
  })

  it('a checkout is available again after the last subscription ended before the service synced it', async () => {
    const who = await signIn(context)
    await checkout(who)
    processor.processor.end(processor.processor.pay(await checkoutOf(who)).subscriptionId!)
    expect((await checkout(who)).status).toBe(200)
  })

  it.each(['pay', 'expire'] as const)(
    'a checkout creates a new page when the processor repeats the response for a finished one: %s',
    async (how) => {
      const { user } = await signIn(context)
      const now = new Date()
      // The process died before it could store the new page.
      const lost = await context.payments!.openCheckout({
        userId: user._id,
        email: user.email,
        customerId: null,
        successUrl: `${FRONTEND_URL}/payment/success?session_id={CHECKOUT_SESSION_ID}`,
        cancelUrl: `${FRONTEND_URL}/payment/cancel`,
        idempotencyKey: toMinuteKey(`checkout/${user._id}/0`, now),
      })
      const { subscriptionId } = { subscriptionId: null, ...processor.processor[how](lost.id) }
      if (subscriptionId) processor.processor.end(subscriptionId)
      const made = await createCheckout({ ...context, clock: { ...context.clock, now: () => now } }, user._id)
      expect(made.url).not.toBe(lost.url)
      const { billing } = (await context.users.findById(user._id))!
      expect(await atProcessor('checkout/sessions', billing.checkoutId!)).toMatchObject({ status: 'open' })
    },
  )

  it.each(FAILURES)('a checkout fails when the processor %s, and a later retry succeeds', async (_how, action) => {
    const who = await signIn(context)
    await control.fault({ path: '/v1/checkout', action })
    expectFailure(await call(who, 'create-checkout', impatient), {
      status: 500,
      message: 'Payment session creation failed',
      statusCode: 500,
      code: 'PAYMENT_SESSION_FAILED',
    })
    expect((await recordOf(who)).billing.checkoutId).toBeNull()
    await control.clearFaults()
    expect((await checkout(who)).status).toBe(200)
  })

  it('a page whose creation got no response is returned by the next checkout', async () => {
    const who = await signIn(context)
    const before = (await control.requests()).length
    await control.fault({ path: '/v1/checkout', action: { statusAfterAccept: 500, body: {} } })
    expect((await checkout(who)).status).toBe(500)
    await control.clearFaults()
    expect((await checkout(who)).status).toBe(200)
    const made = (await control.requests()).slice(before).filter(({ method }) => method === 'POST')
    expect(made.length).toBeGreaterThan(1)
  })

  it('every call to the processor names the service', async () => {
    const before = (await control.requests()).length
    expect((await checkout(await signIn(context))).status).toBe(200)
    const made = (await control.requests()).slice(before)
    expect(new Set(made.map(({ userAgent }) => userAgent))).toEqual(new Set([toUserAgent(context.config)]))
  })

  it('a rejected checkout can be retried the same day', async () => {
    const { user } = await signIn(context)
    const payments = paymentsOf('price_of_nothing', 10_000)
    const now = new Date()
    const ask = (deps: Partial<Context>, at: Date) =>
      createCheckout({ ...context, ...deps, clock: { ...context.clock, now: () => at } }, user._id)
    await expect(ask({ payments }, now)).rejects.toMatchObject({ code: 'PAYMENT_SESSION_FAILED' })
    // The processor still has the response for the idempotency key, which was for another price.
    await expect(ask({}, now)).rejects.toMatchObject({ code: 'PAYMENT_SESSION_FAILED' })
    await expect(ask({}, new Date(now.getTime() + MINUTE))).resolves.toMatchObject({ url: expect.any(String) })
  })
})

describe('the billing portal', () => {
  it('the billing portal is a new page of the processor for every call and links back to the settings', async () => {
    const who = await subscriber()
    const [one, other] = [await call(who, 'billing-portal'), await call(who, 'billing-portal')]
    for (const { status, body } of [one, other]) {
      expect({ status, body }).toEqual({
        status: 200,
        body: { message: 'Billing portal opened', data: { url: expect.stringMatching(/^http/) } },
      })
    }
    expect(one.body.data.url).not.toBe(other.body.data.url)
  })

  it('the billing portal requires an earlier payment', async () => {
    expectFailure(await call(await signIn(context), 'billing-portal'), {
      status: 400,
      message: 'No billing account found. Please subscribe first.',
      statusCode: 400,
      code: 'NO_BILLING_ACCOUNT',
    })
  })

  it('the billing portal is available after the subscription ended', async () => {
    const who = await subscriber()
    processor.processor.end(who.subscriptionId)
    await context.syncSubscription(who.user._id)
    expect((await call(who, 'billing-portal')).status).toBe(200)
  })

  it.each(FAILURES.slice(0, 2))('the billing portal fails when the processor %s', async (_how, action) => {
    const who = await subscriber()
    await control.fault({ path: '/v1/billing_portal', action })
    expectFailure(await call(who, 'billing-portal', impatient), {
      status: 500,
      message: 'Failed to open billing portal',
      statusCode: 500,
      code: 'BILLING_PORTAL_FAILED',
    })
  })
})

describe('cancelling a subscription', () => {
  const cancel = (who: SignedIn) => call(who, 'cancel')
  const isEnding = async ({ subscriptionId }: { subscriptionId: string }) =>
    (await atProcessor('subscriptions', subscriptionId))['cancel_at_period_end']

  it('cancel ends the subscription with its period and shows immediately', async () => {
    const who = await subscriber()
    expect(await cancel(who)).toEqual({
      status: 200,
      body: { message: 'Subscription will be cancelled at the end of the billing period' },
    })
    expect(await isEnding(who)).toBe(true)
    const { body } = await call(who, 'status')
    expect(body.data.subscription).toMatchObject({ plan: 'pro', status: 'active', cancelAtPeriodEnd: true })
  })

  it.each<[string, Partial<User['subscription']>, string, string]>([
    ['a user on Free', { plan: 'free' }, 'No active Pro subscription to cancel', 'NO_ACTIVE_SUBSCRIPTION'],
    [
      'a user whom an admin set to Free despite a subscription',
      { plan: 'free', processorSubscriptionId: 'sub_of_free', cancelAtPeriodEnd: true },
      'No active Pro subscription to cancel',
      'NO_ACTIVE_SUBSCRIPTION',
    ],
    ['an unpaid Pro plan', {}, 'No Stripe subscription ID found', 'NO_SUBSCRIPTION_ID'],
    [
      'an unpaid Pro plan that ends',
      { cancelAtPeriodEnd: true },
      'No Stripe subscription ID found',
      'NO_SUBSCRIPTION_ID',
    ],
    [
      'a subscription that is already cancelled',
      { processorSubscriptionId: 'sub_cancelled', cancelAtPeriodEnd: true },
      'Subscription is already scheduled for cancellation',
      'ALREADY_CANCELLING',
    ],
  ])('cancel is refused for %s', async (_who, changes, message, code) => {
    const who = await signIn(context, { subscription: { ...subscription, ...changes } })
    expectFailure(await cancel(who), { status: 400, message, statusCode: 400, code })
  })

  it('cancel works again after the user resumed the subscription', async () => {
    const who = await subscriber()
    await cancel(who)
    processor.processor.resume(who.subscriptionId)
    await context.syncSubscription(who.user._id)
    expect((await recordOf(who)).subscription.cancelAtPeriodEnd).toBe(false)
    expect((await cancel(who)).status).toBe(200)
    expect(await isEnding(who)).toBe(true)
  })

  it('cancel is refused and the plan corrected when the subscription already ended at the processor', async () => {
    const who = await subscriber()
    processor.processor.end(who.subscriptionId)
    expectFailure(await cancel(who), { status: 400, code: 'NO_ACTIVE_SUBSCRIPTION' })
    expect((await recordOf(who)).subscription).toMatchObject({ plan: 'free', status: 'cancelled' })
  })

  it('the user is notified when the processor has the cancellation although it cannot be verified', async () => {
    const who = await subscriber()
    await control.fault({ method: 'GET', path: '/v1/subscriptions', action: { status: 500, body: {} } })
    expect((await cancel(who)).status).toBe(200)
    await control.clearFaults()
    expect(await isEnding(who)).toBe(true)
    await context.syncSubscription(who.user._id)
    expect((await recordOf(who)).subscription.cancelAtPeriodEnd).toBe(true)
  })

  it('the user is not notified when the processor only repeats an earlier response', async () => {
    const who = await subscriber()
    const { revision } = (await recordOf(who)).billing
    const now = new Date()
    const key = toMinuteKey(`cancel/${who.subscriptionId}/${revision}`, now)
    await context.payments!.cancelAtPeriodEnd(who.subscriptionId, key)
    processor.processor.resume(who.subscriptionId)
    const app = await buildApp({ ...context, clock: { ...context.clock, now: () => now } })
    expectFailure(await call(who, 'cancel', app), { status: 502, code: 'PAYMENTS_UNAVAILABLE' })
    await app.close()
    expect(await isEnding(who)).toBe(false)
  })

  it.each([FAILURES[0], ...FAILURES.slice(-2)])(
    'cancel fails when the processor %s, and changes nothing',
    async (_how, action) => {
      const who = await subscriber()
      const before = await recordOf(who)
      await control.fault({ method: 'POST', path: '/v1/subscriptions', action })
      expectFailure(await call(who, 'cancel', impatient), {
        status: 502,
        message: 'The subscription could not be cancelled. Try again later.',
        statusCode: 502,
        code: 'PAYMENTS_UNAVAILABLE',
      })
      await control.clearFaults()
      expect(await recordOf(who)).toEqual(before)
      expect(await isEnding(who)).toBe(false)
      expect((await cancel(who)).status).toBe(200)
    },
  )
})

describe('the subscription status', () => {
  it('the status has plan, subscription, usage and limits of a user who never paid', async () => {
    const who = await signIn(context)
    expect(await call(who, 'status')).toEqual({
      status: 200,
      body: {
        message: 'Subscription status found',
        data: {
          subscription: { ...subscription, plan: 'free' },
          usage: { postsCreated: 0, captionGenerations: 0, accounts: 0 },
          limits: { maxPosts: 1_000, maxCaptionGenerations: 15, maxAccounts: context.config.PLAN_FREE_MAX_ACCOUNTS },
          plan: 'free',
        },
      },
    })
  })

  it('the status has the period dates and Pro limits of a paying user', async () => {
    const who = await subscriber()
    const { body } = await call(who, 'status')
    expect(body.data).toMatchObject({
      plan: 'pro',
      limits: { maxPosts: 60, maxCaptionGenerations: 30 },
      subscription: {
        plan: 'pro',
        status: 'active',
        processorCustomerId: who.customerId,
        processorSubscriptionId: who.subscriptionId,
        cancelAtPeriodEnd: false,
      },
    })
    const { currentPeriodStart, currentPeriodEnd } = body.data.subscription as Record<string, string>
    const days = (Date.parse(currentPeriodEnd!) - Date.parse(currentPeriodStart!)) / DAY
    expect(days).toBeGreaterThanOrEqual(28)
    expect(days).toBeLessThanOrEqual(31)
  })

  it('the status does not call the processor', async () => {
    await control.fault({ action: { hang: true } })
    expect((await call(await signIn(context), 'status')).status).toBe(200)
  })
})

describe('an API without payments configured', () => {
  it('payment routes are 503, and the status still works', async () => {
    const app = await buildApp({ ...context, payments: null })
    const [who, paying] = [await signIn(context), await subscriber()]
    const notSetUp = { status: 503, message: 'Payments are not set up', code: 'SERVICE_UNAVAILABLE' }
    expectFailure(await call(who, 'create-checkout', app), notSetUp)
    expectFailure(await call(paying, 'billing-portal', app), notSetUp)
    expectFailure(await call(paying, 'cancel', app), notSetUp)
    expectFailure(await call(who, 'billing-portal', app), { status: 400, code: 'NO_BILLING_ACCOUNT' })
    expectFailure(await call(who, 'cancel', app), { status: 400, code: 'NO_ACTIVE_SUBSCRIPTION' })
    expect((await call(paying, 'status', app)).status).toBe(200)
    await app.close()
  })
})
