import { describe, expect, it } from 'vitest'
import type { ProcessorState } from '../../../../src/domain/billing/billing.ts'
import { describeBillingUpdate } from '../../../../src/domain/billing/billing-update.ts'
import type { User } from '../../../../src/domain/users/user.ts'
import { after, T0 } from '../../../support/posts.ts'
import {
  buildEvent,
  buildInvoice,
  buildSubscription,
  buildUser,
  LIMITS,
  look,
  MONTH,
  type Truth,
} from '../../../support/billing.ts'

const unused = { postsCreated: 0, captionGenerations: 0 }
const used = { postsCreated: 7, captionGenerations: 3 }
const one = (fields: Parameters<typeof buildSubscription>[0] = {}): Truth => ({
  subscriptions: [buildSubscription(fields)],
})
const event = buildEvent()
/** Returns a user after syncs with these states in order, with usage in between. */
const userAfter = (...truths: Truth[]): User =>
  truths.reduce((user, truth) => ({ ...look(user, truth, event).user, usage: used }), buildUser())
const pro = () => userAfter(one())
const renewal = buildInvoice({ id: 'in_2', isFirst: false })
const kinds = ({ events }: ReturnType<typeof look>['step']) => events.map(({ kind }) => kind)

describe('states of the payment processor', () => {
  const ends = { plan: 'free', status: 'cancelled' } as const
  it.each<[ProcessorState, Partial<User['subscription']>]>([
    ['active', { plan: 'pro', status: 'active' }],
    ['trialing', { plan: 'pro', status: 'active' }],
    ['past_due', { plan: 'pro', status: 'pastDue' }],
    ['unpaid', { plan: 'pro', status: 'pastDue' }],
    ['paused', { plan: 'pro', status: 'pastDue' }],
    ['canceled', ends],
    ['incomplete_expired', ends],
    ['incomplete', { plan: 'pro', status: 'active' }],
    ['unknown', { plan: 'pro', status: 'active' }],
  ])('state %s of a subscriber sets plan and status', (state, expected) => {
    const { user } = look(pro(), one({ state }))
    expect(user.subscription).toMatchObject(expected)
    expect(user.limits).toEqual(LIMITS[user.subscription.plan])
  })

  it.each<[ProcessorState, Partial<User['subscription']>]>([
    ['active', { plan: 'pro', status: 'active' }],
    ['trialing', { plan: 'pro', status: 'active' }],
    ['past_due', { plan: 'pro', status: 'pastDue' }],
    ['canceled', ends],
    ['incomplete', { plan: 'free', status: 'active' }],
    // Never paid: such a user has the status active.
    ['incomplete_expired', { plan: 'free', status: 'active' }],
    ['unknown', { plan: 'free', status: 'active' }],
  ])('state %s of a new subscription sets plan and status of a Free user', (state, expected) => {
    const { user } = look(buildUser(), one({ state }), event)
    expect(user.subscription).toMatchObject(expected)
  })
})

describe('an active subscription', () => {
  it('an active subscription grants Pro with ids, dates and limits and keeps the usage', () => {
    const { user, step } = look(buildUser(), one(), event)
    expect(user).toMatchObject({
      subscription: {
        plan: 'pro',
        status: 'active',
        processorCustomerId: 'cus_1',
        processorSubscriptionId: 'sub_1',
        currentPeriodStart: T0,
        currentPeriodEnd: after(T0, MONTH),
        cancelAtPeriodEnd: false,
      },
      limits: LIMITS.pro,
      usage: used,
    })
    expect(kinds(step)).toEqual(['planChanged'])
    expect(describeBillingUpdate(buildUser(), step)).toBe('pro/active until 2026-03-31')
  })

  it('an unchanged subscription changes nothing', () => {
    const user = pro()
    const { step } = look(user, one())
    expect(step).toMatchObject({ isChanged: false, events: [], subscription: {} })
    expect(describeBillingUpdate(user, step)).toBe('nothing')
  })

  it('dates and cancellation are updated even when plan and status stay', () => {
    const dates = { currentPeriodStart: after(T0, MONTH), currentPeriodEnd: after(T0, 2 * MONTH) }
    const { user, step } = look(pro(), one({ ...dates, cancelAtPeriodEnd: true }))
    expect(user.subscription).toMatchObject({ ...dates, cancelAtPeriodEnd: true, plan: 'pro' })
    expect(kinds(step)).toEqual(['planEnding'])
    expect(kinds(look(user, one(dates)).step)).toEqual(['planContinues'])
  })

  it('a failed payment keeps Pro and is reported once', () => {
    const failed = look(pro(), one({ state: 'past_due' }))
    expect(failed.user).toMatchObject({ subscription: { plan: 'pro', status: 'pastDue' }, limits: LIMITS.pro })
    expect(kinds(failed.step)).toEqual(['paymentFailed'])
    expect(kinds(look(failed.user, one({ state: 'unpaid' })).step)).toEqual([])
    expect(kinds(look(failed.user, one()).step)).toEqual(['paymentRecovered'])
  })

  it('an unchanged plan keeps the limits of the user', () => {
    const limits = { maxPosts: 100, maxCaptionGenerations: 50 }
    expect(look({ ...pro(), limits }, one({ state: 'past_due' })).user.limits).toEqual(limits)
  })
})

describe('the end of a subscription', () => {
  it('an ended subscription downgrades to Free, keeps the customer id and resets the usage', () => {
    const { user, step } = look(pro(), one({ state: 'canceled' }), event)
    expect(user).toMatchObject({
      subscription: {
        plan: 'free',
        status: 'cancelled',
        processorCustomerId: 'cus_1',
        processorSubscriptionId: null,
        currentPeriodStart: null,
        currentPeriodEnd: null,
        cancelAtPeriodEnd: false,
      },
      limits: LIMITS.free,
      usage: unused,
    })
    expect(kinds(step)).toEqual(['planChanged'])
  })

  it('the end of an unknown subscription has the same result', () => {
    const { user } = look(buildUser(), one({ state: 'canceled' }), event)
    const { user: slowly } = look(pro(), one({ state: 'canceled' }), event)
    expect({ ...user, billing: null }).toEqual({ ...slowly, billing: null })
  })

  it('the usage of a Free user is not reset again, not even by an invoice', () => {
    const free = userAfter(one(), one({ state: 'canceled' }))
    const late = buildEvent({ type: 'invoice.payment_succeeded', invoiceId: 'in_2', toldInvoice: renewal })
    for (const told of [null, event, late]) {
      const { user } = look(free, one({ state: 'canceled', latestInvoice: renewal }), told)
      expect(user.usage).toEqual(used)
    }
  })

  it('an ended subscription never resumes because of an old payload', () => {
    const free = userAfter(one(), one({ state: 'canceled' }))
    for (const truth of [one(), { subscriptions: [] }]) {
      const { user } = look(free, truth, buildEvent({ told: buildSubscription() }))
      expect(user.subscription).toMatchObject({ plan: 'free', status: 'cancelled' })
    }
  })

  it('the end of an unpaid subscription keeps a plan that an admin granted', () => {
    const given: User = {
      ...buildUser(),
      subscription: { ...buildUser().subscription, plan: 'pro' },
      limits: LIMITS.pro,
    }
    const { user } = look(given, one({ state: 'incomplete_expired', latestInvoice: null }), event)
    expect(user).toMatchObject({ subscription: { plan: 'pro', status: 'active' }, limits: LIMITS.pro, usage: used })
  })

  it('a new subscription can follow an ended one', () => {
    const free = userAfter(one(), one({ state: 'canceled' }))
    const again = buildSubscription({ id: 'sub_2', createdAt: after(T0, MONTH) })
    const { user } = look(free, { subscriptions: [again] }, buildEvent({ subscriptionId: 'sub_2' }))
    expect(user.subscription).toMatchObject({ plan: 'pro', status: 'active', processorSubscriptionId: 'sub_2' })
  })
})

describe('usage', () => {
  const paid = (id: string, fields = {}) => one({ latestInvoice: buildInvoice({ id, isFirst: false, ...fields }) })

  it('the usage is reset once per paid renewal, not again by repeated events', () => {
    const first = look(pro(), paid('in_2'))
    expect(first.user.usage).toEqual(unused)
    expect(look({ ...first.user, usage: used }, paid('in_2'), event).user.usage).toEqual(used)
    expect(look({ ...first.user, usage: used }, paid('in_3')).user.usage).toEqual(unused)
  })

  it('the usage stays when the first invoice is paid and when a later one is unpaid', () => {
    expect(look(pro(), one()).user.usage).toEqual(used)
    expect(look(pro(), paid('in_2', { isPaid: false })).user.usage).toEqual(used)
  })

  it('the usage is reset by the paid invoice of an event while a newer one is unpaid', () => {
    const truth = { ...paid('in_3', { isPaid: false }), invoices: [renewal] }
    const told = buildEvent({ type: 'invoice.payment_succeeded', invoiceId: 'in_2' })
    const { user } = look(pro(), truth, told)
    expect(user.usage).toEqual(unused)
    expect(look({ ...user, usage: used }, truth, told).user.usage).toEqual(used)
  })

  it('an invoice of an earlier period does not reset the usage', () => {
    const user = { ...look(pro(), paid('in_3')).user, usage: used }
    const told = buildEvent({ type: 'invoice.payment_succeeded', invoiceId: 'in_2' })
    expect(look(user, { ...paid('in_3'), invoices: [renewal] }, told).user.usage).toEqual(used)
  })

  it('an invoice without the subscription does not reset the usage', () => {
    const told = buildEvent({ subscriptionId: null, invoiceId: 'in_9' })
    const other = buildInvoice({ id: 'in_9', isFirst: false, subscriptionId: null })
    expect(look(pro(), { ...one(), invoices: [other] }, told).user.usage).toEqual(used)
  })
})

describe("an admin's override", () => {
  const overridden = (user: User, plan: 'free' | 'pro'): User => ({
    ...user,
    subscription: { ...user.subscription, plan },
    limits: LIMITS[plan],
  })

  it('an override stays until the state at the processor changes', () => {
    const free = overridden(pro(), 'free')
    const renewed = look(free, one({ latestInvoice: renewal, currentPeriodEnd: after(T0, 2 * MONTH) }), event).user
    expect(renewed).toMatchObject({
      subscription: { plan: 'free', currentPeriodEnd: after(T0, 2 * MONTH), processorSubscriptionId: 'sub_1' },
      limits: LIMITS.free,
    })
    const { user } = look(renewed, one({ state: 'past_due' }))
    expect(user).toMatchObject({ subscription: { plan: 'pro', status: 'pastDue' }, limits: LIMITS.pro })
  })

  it('an override does not apply to the next subscription', () => {
    const next = buildSubscription({ id: 'sub_2', createdAt: after(T0, 1_000) })
    const both = look(
      overridden(pro(), 'free'),
      { subscriptions: [buildSubscription(), next] },
      buildEvent({ subscriptionId: 'sub_2' }),
    )
    expect(both.user.subscription.plan).toBe('free')
    const { user } = look(both.user, { subscriptions: [buildSubscription({ state: 'canceled' }), next] })
    expect(user).toMatchObject({ subscription: { plan: 'pro', processorSubscriptionId: 'sub_2' }, limits: LIMITS.pro })
  })

  it('an override to Pro stays after the end of a subscription and without one', () => {
    for (const user of [buildUser(), userAfter(one(), one({ state: 'canceled' }))]) {
      const given = look(overridden(user, 'pro'), one({ state: 'canceled' })).user
      expect(given).toMatchObject({ subscription: { plan: 'pro' }, limits: LIMITS.pro })
    }
  })
})

describe('a second subscription', () => {
  const second = buildSubscription({ id: 'sub_2', createdAt: after(T0, 1_000), currentPeriodEnd: after(T0, 2 * MONTH) })
  const both = { subscriptions: [buildSubscription(), second] }
  const ofSecond = buildEvent({ subscriptionId: 'sub_2' })

  it('a second subscription is flagged once, and the oldest stays on the record', () => {
    const { user, step } = look(pro(), both, ofSecond)
    expect(user.subscription).toMatchObject({ processorSubscriptionId: 'sub_1', currentPeriodEnd: after(T0, MONTH) })
    expect(step.events).toEqual([{ kind: 'secondSubscription', subscriptionId: 'sub_2' }])
    expect(look(user, both, ofSecond).step.events).toEqual([])
  })

  it('the newer subscription is the second one even when its event came first', () => {
    const early = look(buildUser(), both, ofSecond).user
    expect(early.subscription.processorSubscriptionId).toBe('sub_2')
    const { user, step } = look(early, both, buildEvent())
    expect(user.subscription.processorSubscriptionId).toBe('sub_1')
    expect(step.events).toEqual([{ kind: 'secondSubscription', subscriptionId: 'sub_2' }])
  })

  it('a second subscription takes over without a gap when the first ends', () => {
    const { user } = look(pro(), both, ofSecond)
    const over = { subscriptions: [buildSubscription({ state: 'canceled' }), second] }
    const next = look(user, over)
    expect(next.user).toMatchObject({
      subscription: { plan: 'pro', status: 'active', processorSubscriptionId: 'sub_2' },
      limits: LIMITS.pro,
      usage: unused,
    })
    expect(next.step.events).toEqual([])
  })

  it('a second subscription does not reset the usage when it renews or ends', () => {
    const paid = { ...second, latestInvoice: buildInvoice({ id: 'in_8', subscriptionId: 'sub_2', isFirst: false }) }
    for (const other of [paid, { ...paid, state: 'canceled' as const }]) {
      const { user } = look(look(pro(), both, ofSecond).user, { subscriptions: [buildSubscription(), other] })
      expect(user).toMatchObject({ usage: used, subscription: { processorSubscriptionId: 'sub_1' } })
    }
  })

  it('a renewal from before the takeover does not reset the usage later', () => {
    const paid = { ...second, latestInvoice: buildInvoice({ id: 'in_8', subscriptionId: 'sub_2', isFirst: false }) }
    const { user } = look(pro(), { subscriptions: [buildSubscription(), paid] }, ofSecond)
    const over = look(user, { subscriptions: [buildSubscription({ state: 'canceled' }), paid] }).user
    expect(look({ ...over, usage: used }, { subscriptions: [paid] }, ofSecond).user.usage).toEqual(used)
  })

  it('an unpaid subscription is not flagged as a second one', () => {
    const unpaid = { subscriptions: [buildSubscription(), { ...second, state: 'incomplete' as const }] }
    expect(look(pro(), unpaid, ofSecond).step.events).toEqual([])
  })
})

describe('a subscription that the processor no longer knows', () => {
  const gone: Truth = { subscriptions: [] }
  const saying = (state: ProcessorState, minute: number) =>
    buildEvent({ createdAt: after(T0, minute * 60_000), told: buildSubscription({ state }) })

  it('the newest signed payload determines an unknown subscription', () => {
    const [older, newer] = [saying('active', 1), saying('past_due', 2)]
    for (const events of [
      [older, newer],
      [newer, older],
      [newer, older, older, newer],
    ]) {
      const user = events.reduce((before, told) => look(before, gone, told).user, buildUser())
      expect(user.subscription).toMatchObject({ plan: 'pro', status: 'pastDue', processorSubscriptionId: 'sub_1' })
    }
  })

  it('a payload older than the last sync is ignored', () => {
    const seen = look(buildUser(), one({ state: 'past_due' }), saying('past_due', 2)).user
    expect(look(seen, gone, saying('active', 1)).user.subscription.status).toBe('pastDue')
  })

  it('a payload without dates and cancellation keeps the stored ones', () => {
    const silent = { currentPeriodStart: null, currentPeriodEnd: null, cancelAtPeriodEnd: null }
    const told = buildSubscription({ state: 'past_due', ...silent })
    const before = userAfter(one({ cancelAtPeriodEnd: true }))
    expect(look(before, gone, buildEvent({ told })).user.subscription).toMatchObject({
      status: 'pastDue',
      currentPeriodEnd: after(T0, MONTH),
      cancelAtPeriodEnd: true,
    })
  })

  it('a payload that reports the end ends the subscription permanently', () => {
    const { user } = look(pro(), gone, saying('canceled', 0))
    expect(user.subscription).toMatchObject({ plan: 'free', status: 'cancelled', processorCustomerId: 'cus_1' })
    expect(look(user, gone, saying('active', 5)).user.subscription.plan).toBe('free')
  })

  it.each([
    ['nothing is reported', null],
    ['the event says nothing of it', buildEvent({ type: 'invoice.payment_succeeded' })],
  ])('the subscription stays unchanged when %s, because the configured account may be wrong', (_, told) => {
    const before = pro()
    const { user } = look(before, gone, told)
    expect(user.subscription).toEqual(before.subscription)
    expect(user.billing.subscriptions).toMatchObject([{ id: 'sub_1' }])
  })

  it('an entirely unknown subscription changes nothing', () => {
    const { user } = look(buildUser(), gone, buildEvent({ customerId: null }))
    expect(user).toMatchObject({ subscription: { plan: 'free', status: 'active' }, billing: { subscriptions: [] } })
  })
})

describe('a checkout without an event', () => {
  const waiting = { ...buildUser(), billing: { ...buildUser().billing, checkoutId: 'cs_1' } }

  it('a checkout is checked while it is open and while its subscription is incomplete', () => {
    const open = { subscriptions: [], checkout: { status: 'open' as const, subscriptionId: null } }
    expect(look(waiting, open).step).toMatchObject({ isChanged: false, billing: { checkoutId: 'cs_1' } })
    const unsettled = {
      ...one({ state: 'incomplete' }),
      checkout: { status: 'complete' as const, subscriptionId: 'sub_1' },
    }
    expect(look(waiting, unsettled).user).toMatchObject({
      subscription: { plan: 'free' },
      billing: { checkoutId: 'cs_1' },
    })
  })

  it('a completed checkout grants the paid plan', () => {
    const truth = { ...one(), checkout: { status: 'complete' as const, subscriptionId: 'sub_1' } }
    expect(look(waiting, truth).user).toMatchObject({ subscription: { plan: 'pro' }, billing: { checkoutId: null } })
  })

  it('an expired or unknown checkout is dropped', () => {
    for (const checkout of [{ status: 'expired' as const, subscriptionId: null }, undefined]) {
      const { user } = look(waiting, { subscriptions: [], ...(checkout && { checkout }) })
      expect(user).toMatchObject({ subscription: { plan: 'free', status: 'active' }, billing: { checkoutId: null } })
    }
  })
})
