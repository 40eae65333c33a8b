import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { presentRecord } from '../../../src/api/auth/present.ts'
import { changePlan } from '../../../src/commands/billing/change-plan.ts'
import { endPayments } from '../../../src/commands/billing/end-payments.ts'
import { createSyncSubscription } from '../../../src/commands/billing/sync-subscription.ts'
import { CLI_ACTOR } from '../../../src/domain/users/audit.ts'
import type { PaymentEvent } from '../../../src/domain/billing/payment-events.ts'
import { PaymentsError } from '../../../src/domain/billing/payments-error.ts'
import { DAY, SECOND } from '../../../src/domain/shared/times.ts'
import { gate } from '../accounts/world.ts'
import { createAccount } from '../../support/api.ts'
import { LIMITS } from '../../support/billing.ts'
import { paymentsWithoutProcessor } from '../../support/webhooks.ts'
import { billingWorld, UNUSED, USED, type BillingWorld } from './world.ts'

const MONTH_MS = 32 * DAY
const PRO_NEWS = 'Your account is now on the Pro plan: 60 posts and 30 caption generations. No action is needed.'
const FREE_NEWS = 'Your account is now on the Free plan: 30 posts and 15 caption generations. No action is needed.'

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})
afterAll(() => world?.close())

async function subscriber() {
  const { _id: userId } = await world.newUser()
  return { userId, ...world.subscribe(userId) }
}

/** A subscriber whose events the service has received. */
async function proUser() {
  const one = await subscriber()
  await world.apply(one.userId, await newest(one.userId, 'checkout.session.completed'))
  return one
}

async function newest(userId: string, type: PaymentEvent['type']): Promise<PaymentEvent> {
  return (await world.eventsOf(userId)).findLast((event) => event.type === type)!
}

async function failToPay({ customerId }: { customerId: string }) {
  world.processor.setCard(customerId, 'fails')
  world.processor.advance({ advanceMs: MONTH_MS })
}

/** Starts a sync that has read the processor and writes when the test continues it. */
function startHeldSync(userId: string, event?: PaymentEvent) {
  const [read, write] = [gate(), gate()]
  const sync = createSyncSubscription({
    ...world.context,
    payments: {
      ...world.payments,
      async readSubscription(id) {
        const subscription = await world.payments.readSubscription(id)
        read.open()
        await write.opened
        return subscription
      },
    },
  })
  const end = sync(userId, event)
  return { untilRead: read.opened, write: () => (write.open(), end) }
}

describe('syncing an event', () => {
  it('a checkout event stores Pro with its dates, and is marked processed with it', async () => {
    const { userId, customerId, subscriptionId } = await subscriber()
    const event = await newest(userId, 'checkout.session.completed')
    const state = await world.apply(userId, event)
    const { subscription, limits, usage, billing } = await world.user(userId)
    const { currentPeriodStart, currentPeriodEnd } = (await world.payments.readSubscription(subscriptionId))!
    expect(subscription).toEqual({
      plan: 'pro',
      status: 'active',
      processorCustomerId: customerId,
      processorSubscriptionId: subscriptionId,
      currentPeriodStart,
      currentPeriodEnd,
      cancelAtPeriodEnd: false,
    })
    expect([limits, usage]).toEqual([LIMITS.pro, USED])
    expect(billing.applied).toEqual({ subscriptionId, state: 'active' })
    expect(state).toMatchObject({ plan: 'pro', status: 'active', isLive: true, currentPeriodEnd })
    expect(state!.change).toMatch(/^pro\/active until \d{4}-\d\d-\d\d$/)
    expect(await world.context.paymentEvents.find(event.id)).toMatchObject({ state: 'applied' })
    expect(await world.news(userId)).toEqual([PRO_NEWS])
  })

  it('an event has one effect, also when it arrives twelve times concurrently and six times in a row', async () => {
    const { userId } = await subscriber()
    const event = await newest(userId, 'checkout.session.completed')
    await Promise.all(Array.from({ length: 12 }, () => world.apply(userId, event)))
    for (let times = 0; times < 6; times++) await world.apply(userId, event)
    expect(await world.news(userId)).toEqual([PRO_NEWS])
  })

  it('an event about a known state is marked processed', async () => {
    const { userId } = await subscriber()
    world.processor.advance({ advanceMs: MONTH_MS })
    await world.apply(userId, await newest(userId, 'invoice.payment_succeeded'))
    const [event, before] = [await newest(userId, 'checkout.session.completed'), await world.user(userId)]
    expect(await world.apply(userId, event)).toMatchObject({ plan: 'pro', change: 'nothing' })
    expect(await world.context.paymentEvents.find(event.id)).toMatchObject({ state: 'applied' })
    const { billing, ...after } = await world.user(userId)
    expect({ ...after, billing: before.billing }).toEqual(before)
    expect(billing).toEqual({ ...before.billing, revision: before.billing.revision + 1 })
  })

  it('an event stays waiting and changes nothing while the processor does not answer', async () => {
    const { userId } = await subscriber()
    const event = await newest(userId, 'checkout.session.completed')
    await world.context.paymentEvents.insertOrRead(event, new Date())
    const before = await world.user(userId)
    const sync = createSyncSubscription({ ...world.context, payments: paymentsWithoutProcessor('whsec') })
    await expect(sync(userId, event)).rejects.toThrow(PaymentsError)
    expect(await world.user(userId)).toEqual(before)
    expect(await world.context.paymentEvents.find(event.id)).toMatchObject({ state: 'waiting' })
  })

  it('an event of a deleted user is ignored', async () => {
    const one = await subscriber()
    await world.context.database.transaction((session) => world.context.users.remove(one.userId, session))
    const event = await newest(one.userId, 'checkout.session.completed')
    expect(await world.apply(one.userId, event)).toBeNull()
    expect(await world.context.paymentEvents.find(event.id)).toMatchObject({ state: 'ignored' })
  })

  it('an event about another user’s record is ignored instead of retried forever', async () => {
    const [one, other] = [await subscriber(), await world.newUser()]
    await world.context.users.changeBilling(other._id, 0, { 'subscription.processorCustomerId': one.customerId })
    const event = await newest(one.userId, 'checkout.session.completed')
    expect(await world.apply(one.userId, event)).toMatchObject({ plan: 'free', change: 'nothing' })
    expect(await world.context.paymentEvents.find(event.id)).toMatchObject({ state: 'ignored' })
    expect(await world.news(one.userId)).toEqual([])
  })
})

describe('a sync without an event', () => {
  it('a sync that finds nothing new writes nothing', async () => {
    const { userId } = await proUser()
    const before = await world.user(userId)
    expect(await world.context.syncSubscription(userId)).toMatchObject({ plan: 'pro', change: 'nothing' })
    expect(await world.user(userId)).toEqual(before)
  })

  it('a sync repairs every lost webhook', async () => {
    const one = await proUser()
    world.processor.advance({ advanceMs: MONTH_MS })
    expect((await world.context.syncSubscription(one.userId))?.change).toMatch(/usage reset$/)
    expect((await world.user(one.userId)).usage).toEqual(UNUSED)
    await failToPay(one)
    expect(await world.context.syncSubscription(one.userId)).toMatchObject({ plan: 'pro', status: 'pastDue' })
    world.processor.setCard(one.customerId, 'works')
    world.processor.retryPayment(one.customerId)
    expect(await world.context.syncSubscription(one.userId)).toMatchObject({ plan: 'pro', status: 'active' })
    world.processor.cancel(one.subscriptionId)
    await world.context.syncSubscription(one.userId)
    world.processor.advance({ advanceMs: MONTH_MS })
    expect(await world.context.syncSubscription(one.userId)).toMatchObject({
      plan: 'free',
      status: 'cancelled',
      isLive: false,
      currentPeriodEnd: null,
    })
    expect(await world.news(one.userId)).toEqual([
      PRO_NEWS,
      expect.stringContaining('The payment for your Pro plan failed'),
      expect.stringContaining('went through'),
      expect.stringMatching(/^Your Pro plan ends on \d{1,2} [A-Z][a-z]+ \d{4}\./),
      FREE_NEWS,
    ])
  })

  it('a sync finds a paid checkout without an event', async () => {
    const { userId, checkoutId, subscriptionId } = await subscriber()
    await world.context.users.changeBilling(userId, 0, { 'billing.checkoutId': checkoutId })
    await world.context.syncSubscription(userId)
    expect(await world.user(userId)).toMatchObject({
      subscription: { plan: 'pro', processorSubscriptionId: subscriptionId },
      billing: { checkoutId: null },
    })
  })
})

describe('a sync that was delayed after reading the processor', () => {
  it('a delayed sync does not restore what has ended since', async () => {
    const one = await subscriber()
    const late = startHeldSync(one.userId, await newest(one.userId, 'checkout.session.completed'))
    await late.untilRead
    world.processor.end(one.subscriptionId)
    await world.apply(one.userId, await newest(one.userId, 'customer.subscription.deleted'))
    expect(await late.write()).toMatchObject({ plan: 'free', status: 'cancelled' })
    expect((await world.user(one.userId)).subscription).toMatchObject({ plan: 'free', status: 'cancelled' })
    expect(await world.news(one.userId)).toEqual([])
  })

  it('a delayed sync is discarded when an event it did not see was processed, even without a change of the record', async () => {
    const one = await proUser()
    await failToPay(one)
    const late = startHeldSync(one.userId)
    await late.untilRead
    world.processor.setCard(one.customerId, 'works')
    world.processor.retryPayment(one.customerId)
    await world.apply(one.userId, await newest(one.userId, 'customer.subscription.updated'))
    expect(await late.write()).toMatchObject({ status: 'active' })
    expect((await world.user(one.userId)).subscription).toMatchObject({ plan: 'pro', status: 'active' })
    expect(await world.news(one.userId)).toEqual([PRO_NEWS])
  })

  it('a delayed sync writes nothing for a user who was erased meanwhile', async () => {
    const one = await subscriber()
    const event = await newest(one.userId, 'checkout.session.completed')
    const late = startHeldSync(one.userId, event)
    await late.untilRead
    await world.context.database.transaction((session) => world.context.users.remove(one.userId, session))
    expect(await late.write()).toBeNull()
    expect([await world.context.users.findById(one.userId), await world.news(one.userId)]).toEqual([null, []])
  })
})

describe("an admin's override", () => {
  const override = (userId: string, plan: 'free' | 'pro') => changePlan(world.context, CLI_ACTOR, userId, plan)

  it('an admin override outlives events and syncs until the processor’s state changes', async () => {
    const one = await proUser()
    await override(one.userId, 'free')
    world.processor.advance({ advanceMs: MONTH_MS })
    for (const event of await world.eventsOf(one.userId)) await world.apply(one.userId, event)
    await world.context.syncSubscription(one.userId)
    const renewed = await world.user(one.userId)
    const { currentPeriodEnd } = (await world.payments.readSubscription(one.subscriptionId))!
    expect(renewed).toMatchObject({ subscription: { plan: 'free', currentPeriodEnd }, limits: LIMITS.free })

    await failToPay(one)
    await world.context.syncSubscription(one.userId)
    expect(await world.user(one.userId)).toMatchObject({
      subscription: { plan: 'pro', status: 'pastDue' },
      limits: LIMITS.pro,
    })
  })

  it('an admin override to Pro outlives an ended subscription', async () => {
    const one = await proUser()
    world.processor.end(one.subscriptionId)
    await world.context.syncSubscription(one.userId)
    await override(one.userId, 'pro')
    for (const event of await world.eventsOf(one.userId)) await world.apply(one.userId, event)
    expect(await world.user(one.userId)).toMatchObject({ subscription: { plan: 'pro' }, limits: LIMITS.pro })
  })

  it.each([
    ['ends', 'free', 'end'],
    ['is not paid', 'pro', 'failToPay'],
  ] as const)(
    'an admin change between a read and its write leaves limits that match the plan: %s',
    async (_, expected, change) => {
      const one = await proUser()
      if (change === 'end') world.processor.end(one.subscriptionId)
      else await failToPay(one)
      const late = startHeldSync(one.userId)
      await late.untilRead
      await override(one.userId, 'free')
      await late.write()
      const { subscription, limits } = await world.user(one.userId)
      expect(limits).toEqual(LIMITS[subscription.plan])
      expect(subscription.status).toBe(expected === 'free' ? 'cancelled' : 'pastDue')
    },
  )
})

describe('a second subscription', () => {
  it('a second subscription notifies the user and every admin once, by ids, and takes over when the first ends', async () => {
    const [admin, gone] = await Promise.all([
      createAccount(world.context, { role: 'admin' }),
      createAccount(world.context, { role: 'admin', isDisabled: true }),
    ])
    const one = await proUser()
    const user = await world.user(one.userId)
    world.processor.advance({ advanceMs: 3 * SECOND })
    const second = world.subscribe(one.userId)
    for (const event of await world.eventsOf(one.userId)) await world.apply(one.userId, event)
    for (const event of await world.eventsOf(one.userId)) await world.apply(one.userId, event)
    expect((await world.user(one.userId)).subscription).toEqual(user.subscription)
    expect(await world.news(one.userId)).toEqual([PRO_NEWS, expect.stringContaining('both are charged')])
    expect(await world.news(admin._id)).toEqual([
      `User ${one.userId} pays for a second subscription, ${second.subscriptionId}, in addition to ${one.subscriptionId}. Help the user cancel one.`,
    ])
    expect(await world.news(gone._id)).toEqual([])

    world.processor.end(one.subscriptionId)
    await world.apply(one.userId, await newest(one.userId, 'customer.subscription.deleted'))
    expect(await world.user(one.userId)).toMatchObject({
      subscription: {
        plan: 'pro',
        status: 'active',
        processorCustomerId: second.customerId,
        processorSubscriptionId: second.subscriptionId,
      },
      limits: LIMITS.pro,
    })
    expect(await world.news(one.userId)).toHaveLength(2)
  })

  it('a second subscription of another customer is removed with the erased account', async () => {
    const one = await proUser()
    world.processor.end(one.subscriptionId)
    const second = world.subscribe(one.userId)
    await world.apply(one.userId, await newest(one.userId, 'checkout.session.completed'))
    await endPayments(world.payments, await world.user(one.userId))
    const removed = JSON.stringify(world.processor.events().filter(({ type }) => type === 'customer.deleted'))
    for (const { customerId } of [one, second]) expect(removed).toContain(customerId)
    expect(await world.payments.readSubscription(second.subscriptionId)).toMatchObject({ state: 'canceled' })
  })
})

describe.each(['new', 'old'] as const)(
  'a subscription that the processor does not know, in the %s shape',
  (apiShape) => {
    it('a user’s record follows the signed payloads to the end', async () => {
      world.processor.webhooks({ apiShape })
      const one = await subscriber()
      world.processor.cancel(one.subscriptionId)
      const updated = await newest(one.userId, 'customer.subscription.updated')
      const before = (await world.payments.readSubscription(one.subscriptionId))!
      world.processor.end(one.subscriptionId)
      const deleted = await newest(one.userId, 'customer.subscription.deleted')
      world.processor.webhooks({ apiShape: 'new' })
      world.processor.forget(one.subscriptionId)

      await world.apply(one.userId, updated)
      const { currentPeriodStart, currentPeriodEnd } = before
      expect((await world.user(one.userId)).subscription).toMatchObject({
        plan: 'pro',
        status: 'active',
        processorCustomerId: one.customerId,
        cancelAtPeriodEnd: true,
        currentPeriodStart,
        currentPeriodEnd,
      })
      await world.context.syncSubscription(one.userId)
      expect((await world.user(one.userId)).subscription.plan).toBe('pro')
      await world.apply(one.userId, deleted)
      await world.apply(one.userId, updated)
      expect(await world.user(one.userId)).toMatchObject({
        subscription: { plan: 'free', status: 'cancelled', processorSubscriptionId: null },
        limits: LIMITS.free,
        usage: UNUSED,
      })
    })
  },
)

it('responses never expose internals of the payment integration', async () => {
  const { userId } = await proUser()
  const user = await world.user(userId)
  expect(user.billing.revision).toBeGreaterThan(0)
  const shown = presentRecord(user)
  expect(shown).not.toHaveProperty('billing')
  expect(JSON.stringify(shown)).not.toContain('applied')
})
