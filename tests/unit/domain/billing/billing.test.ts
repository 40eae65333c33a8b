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
  MONTH,
  syncBilling,
  type ProcessorData,
} from '../../../support/billing.ts'

const unused = { postsCreated: 0, captionGenerations: 0 }
const used = { postsCreated: 7, captionGenerations: 3 }
const withSubscription = (fields: Parameters<typeof buildSubscription>[0] = {}): ProcessorData => ({
  subscriptions: [buildSubscription(fields)],
})
const event = buildEvent()
/** Returns a user after a sync with each state in order, with usage after each sync. */
const userAfter = (...states: ProcessorData[]): User =>
  states.reduce((user, data) => ({ ...syncBilling(user, data, event).user, usage: used }), buildUser())
const buildProUser = () => userAfter(withSubscription())
const renewal = buildInvoice({ id: 'in_2', isFirst: false })
const listEventKinds = ({ events }: ReturnType<typeof syncBilling>['step']) => events.map(({ kind }) => kind)

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
    const { user } = syncBilling(buildProUser(), withSubscription({ state }))
    expect(user.subscription).toMatchObject(expected)
    expect(user.limits).toEqual(LIMITS[user.subscription.plan])
  })

  it.each<[ProcessorState, Partial<User['subscription']>]>([
    ['active', { plan: 'pro', status: 'active' }],
    ['trialing', { plan: 'pro', status: 'active' }],
    ['past_due', { plan: 'pro', status: 'pastDue' }],
    ['canceled', ends],
    ['incomplete', { plan: 'free', status: 'active' }],
    // The user never paid, and therefore has the status active.
    ['incomplete_expired', { plan: 'free', status: 'active' }],
    ['unknown', { plan: 'free', status: 'active' }],
  ])('state %s of a new subscription sets plan and status of a Free user', (state, expected) => {
    const { user } = syncBilling(buildUser(), withSubscription({ state }), event)
    expect(user.subscription).toMatchObject(expected)
  })
})

describe('an active subscription', () => {
  it('an active subscription grants Pro with ids, dates and limits and keeps the usage', () => {
    const { user, step } = syncBilling(buildUser(), withSubscription(), event)
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
    expect(listEventKinds(step)).toEqual(['planChanged'])
    expect(describeBillingUpdate(buildUser(), step)).toBe('pro/active until 2026-03-31')
  })

  it('an unchanged subscription changes nothing', () => {
    const user = buildProUser()
    const { step } = syncBilling(user, withSubscription())
    expect(step).toMatchObject({ isChanged: false, events: [], subscription: {} })
    expect(describeBillingUpdate(user, step)).toBe('nothing')
  })

  it('dates and cancellation are updated even when plan and status stay', () => {
    const dates = { currentPeriodStart: after(T0, MONTH), currentPeriodEnd: after(T0, 2 * MONTH) }
    const { user, step } = syncBilling(buildProUser(), withSubscription({ ...dates, cancelAtPeriodEnd: true }))
    expect(user.subscription).toMatchObject({ ...dates, cancelAtPeriodEnd: true, plan: 'pro' })
    expect(listEventKinds(step)).toEqual(['planEnding'])
    expect(listEventKinds(syncBilling(user, withSubscription(dates)).step)).toEqual(['planContinues'])
  })

  it('a failed payment keeps Pro and is reported once', () => {
    const failed = syncBilling(buildProUser(), withSubscription({ state: 'past_due' }))
    expect(failed.user).toMatchObject({ subscription: { plan: 'pro', status: 'pastDue' }, limits: LIMITS.pro })
    expect(listEventKinds(failed.step)).toEqual(['paymentFailed'])
    expect(listEventKinds(syncBilling(failed.user, withSubscription({ state: 'unpaid' })).step)).toEqual([])
    expect(listEventKinds(syncBilling(failed.user, withSubscription()).step)).toEqual(['paymentRecovered'])
  })

  it('an unchanged plan keeps the limits of the user', () => {
    const limits = { maxPosts: 100, maxCaptionGenerations: 50 }
    const { user, step } = syncBilling({ ...buildProUser(), limits }, withSubscription({ state: 'past_due' }))
    expect([user.limits, step.limits]).toEqual([limits, null])
  })
})

describe('the end of a subscription', () => {
  it('an ended subscription downgrades to Free, keeps the customer id and resets the usage', () => {
    const { user, step } = syncBilling(buildProUser(), withSubscription({ state: 'canceled' }), event)
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
    expect(listEventKinds(step)).toEqual(['planChanged'])
    expect(describeBillingUpdate(buildProUser(), step)).toBe('free/cancelled, usage reset')
  })

  it('the end of an unknown subscription has the same result', () => {
    const { user } = syncBilling(buildUser(), withSubscription({ state: 'canceled' }), event)
    const { user: subscriber } = syncBilling(buildProUser(), withSubscription({ state: 'canceled' }), event)
    expect({ ...user, billing: null }).toEqual({ ...subscriber, billing: null })
  })

  it('the usage of a Free user is not reset again, not even by an invoice', () => {
    const free = userAfter(withSubscription(), withSubscription({ state: 'canceled' }))
    const late = buildEvent({ type: 'invoice.payment_succeeded', invoiceId: 'in_2', payloadInvoice: renewal })
    for (const cause of [null, event, late]) {
      const { user } = syncBilling(free, withSubscription({ state: 'canceled', latestInvoice: renewal }), cause)
      expect(user.usage).toEqual(used)
    }
  })

  it('an ended subscription never resumes because of an old payload', () => {
    const free = userAfter(withSubscription(), withSubscription({ state: 'canceled' }))
    for (const data of [withSubscription(), { subscriptions: [] }]) {
      const { user } = syncBilling(free, data, buildEvent({ payloadSubscription: buildSubscription() }))
      expect(user.subscription).toMatchObject({ plan: 'free', status: 'cancelled' })
    }
  })

  it('the end of an unpaid subscription keeps a plan that an admin granted', () => {
    const granted: User = {
      ...buildUser(),
      subscription: { ...buildUser().subscription, plan: 'pro' },
      limits: LIMITS.pro,
    }
    const { user } = syncBilling(granted, withSubscription({ state: 'incomplete_expired', latestInvoice: null }), event)
    expect(user).toMatchObject({ subscription: { plan: 'pro', status: 'active' }, limits: LIMITS.pro, usage: used })
  })

  it('a new subscription can follow an ended one', () => {
    const free = userAfter(withSubscription(), withSubscription({ state: 'canceled' }))
    const again = buildSubscription({ id: 'sub_2', createdAt: after(T0, MONTH) })
    const { user } = syncBilling(free, { subscriptions: [again] }, buildEvent({ subscriptionId: 'sub_2' }))
    expect(user.subscription).toMatchObject({ plan: 'pro', status: 'active', processorSubscriptionId: 'sub_2' })
  })
})

describe('usage', () => {
  const paid = (id: string, fields = {}) =>
    withSubscription({ latestInvoice: buildInvoice({ id, isFirst: false, ...fields }) })

  it('the usage is reset once per paid renewal, not again by repeated events', () => {
    const first = syncBilling(buildProUser(), paid('in_2'))
    expect(first.user.usage).toEqual(unused)
    expect(syncBilling({ ...first.user, usage: used }, paid('in_2'), event).user.usage).toEqual(used)
    expect(syncBilling({ ...first.user, usage: used }, paid('in_3')).user.usage).toEqual(unused)
  })

  it('the usage stays when the first invoice is paid and when a later one is unpaid', () => {
    expect(syncBilling(buildProUser(), withSubscription()).user.usage).toEqual(used)
    expect(syncBilling(buildProUser(), paid('in_2', { isPaid: false })).user.usage).toEqual(used)
  })

  it('the usage is reset by the paid invoice of an event while a newer one is unpaid', () => {
    const data = { ...paid('in_3', { isPaid: false }), invoices: [renewal] }
    const invoiceEvent = buildEvent({ type: 'invoice.payment_succeeded', invoiceId: 'in_2' })
    const { user } = syncBilling(buildProUser(), data, invoiceEvent)
    expect(user.usage).toEqual(unused)
    expect(syncBilling({ ...user, usage: used }, data, invoiceEvent).user.usage).toEqual(used)
  })

  it('an invoice of an earlier period does not reset the usage', () => {
    const user = { ...syncBilling(buildProUser(), paid('in_3')).user, usage: used }
    const invoiceEvent = buildEvent({ type: 'invoice.payment_succeeded', invoiceId: 'in_2' })
    expect(syncBilling(user, { ...paid('in_3'), invoices: [renewal] }, invoiceEvent).user.usage).toEqual(used)
  })

  it('an invoice without the subscription does not reset the usage', () => {
    const invoiceEvent = buildEvent({ subscriptionId: null, invoiceId: 'in_9' })
    const other = buildInvoice({ id: 'in_9', isFirst: false, subscriptionId: null })
    expect(syncBilling(buildProUser(), { ...withSubscription(), invoices: [other] }, invoiceEvent).user.usage).toEqual(
      used,
    )
  })
})

describe("an admin's override", () => {
  const overridden = (user: User, plan: 'free' | 'pro'): User => ({
    ...user,
    subscription: { ...user.subscription, plan },
    limits: LIMITS[plan],
  })

  it('an override stays until the state at the processor changes', () => {
    const free = overridden(buildProUser(), 'free')
    const renewed = syncBilling(
      free,
      withSubscription({ latestInvoice: renewal, currentPeriodEnd: after(T0, 2 * MONTH) }),
      event,
    ).user
    expect(renewed).toMatchObject({
      subscription: { plan: 'free', currentPeriodEnd: after(T0, 2 * MONTH), processorSubscriptionId: 'sub_1' },
      limits: LIMITS.free,
    })
    const { user } = syncBilling(renewed, withSubscription({ state: 'past_due' }))
    expect(user).toMatchObject({ subscription: { plan: 'pro', status: 'pastDue' }, limits: LIMITS.pro })
  })

  it('an override does not apply to the next subscription', () => {
    const next = buildSubscription({ id: 'sub_2', createdAt: after(T0, 1_000) })
    const both = syncBilling(
      overridden(buildProUser(), 'free'),
      { subscriptions: [buildSubscription(), next] },
      buildEvent({ subscriptionId: 'sub_2' }),
    )
    expect(both.user.subscription.plan).toBe('free')
    const { user } = syncBilling(both.user, { subscriptions: [buildSubscription({ state: 'canceled' }), next] })
    expect(user).toMatchObject({ subscription: { plan: 'pro', processorSubscriptionId: 'sub_2' }, limits: LIMITS.pro })
  })

  it('an override to Pro stays after the end of a subscription and without one', () => {
    for (const user of [buildUser(), userAfter(withSubscription(), withSubscription({ state: 'canceled' }))]) {
      const synced = syncBilling(overridden(user, 'pro'), withSubscription({ state: 'canceled' })).user
      expect(synced).toMatchObject({ subscription: { plan: 'pro' }, limits: LIMITS.pro })
    }
  })
})

describe('a second subscription', () => {
  const second = buildSubscription({ id: 'sub_2', createdAt: after(T0, 1_000), currentPeriodEnd: after(T0, 2 * MONTH) })
  const both = { subscriptions: [buildSubscription(), second] }
  const secondEvent = buildEvent({ subscriptionId: 'sub_2' })

  it('a second subscription is flagged once, and the oldest stays on the record', () => {
    const { user, step } = syncBilling(buildProUser(), both, secondEvent)
    expect(user.subscription).toMatchObject({ processorSubscriptionId: 'sub_1', currentPeriodEnd: after(T0, MONTH) })
    expect(step.events).toEqual([{ kind: 'secondSubscription', subscriptionId: 'sub_2' }])
    expect(syncBilling(user, both, secondEvent).step.events).toEqual([])
  })

  it('the newer subscription is the second one even when its event came first', () => {
    const early = syncBilling(buildUser(), both, secondEvent).user
    expect(early.subscription.processorSubscriptionId).toBe('sub_2')
    const { user, step } = syncBilling(early, both, buildEvent())
    expect(user.subscription.processorSubscriptionId).toBe('sub_1')
    expect(step.events).toEqual([{ kind: 'secondSubscription', subscriptionId: 'sub_2' }])
  })

  it('a second subscription takes over without a gap when the first ends', () => {
    const { user } = syncBilling(buildProUser(), both, secondEvent)
    const firstEnded = { subscriptions: [buildSubscription({ state: 'canceled' }), second] }
    const next = syncBilling(user, firstEnded)
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
      const { user } = syncBilling(syncBilling(buildProUser(), both, secondEvent).user, {
        subscriptions: [buildSubscription(), other],
      })
      expect(user).toMatchObject({ usage: used, subscription: { processorSubscriptionId: 'sub_1' } })
    }
  })

  it('a renewal from before the takeover does not reset the usage later', () => {
    const paid = { ...second, latestInvoice: buildInvoice({ id: 'in_8', subscriptionId: 'sub_2', isFirst: false }) }
    const { user } = syncBilling(buildProUser(), { subscriptions: [buildSubscription(), paid] }, secondEvent)
    const afterTakeover = syncBilling(user, { subscriptions: [buildSubscription({ state: 'canceled' }), paid] }).user
    expect(syncBilling({ ...afterTakeover, usage: used }, { subscriptions: [paid] }, secondEvent).user.usage).toEqual(
      used,
    )
  })

  it('a second subscription and a reset of the usage are described for operators', () => {
    const user = buildProUser()
    const flagged = syncBilling(user, both, secondEvent)
    expect(flagged.step.subscription).toEqual({})
    expect(describeBillingUpdate(user, flagged.step)).toBe('second subscription flagged')
    const renewed = withSubscription({ latestInvoice: renewal, currentPeriodEnd: after(T0, 2 * MONTH) })
    expect(describeBillingUpdate(user, syncBilling(user, renewed).step)).toBe(
      'pro/active until 2026-04-30, usage reset',
    )
    const ending = withSubscription({ cancelAtPeriodEnd: true })
    expect(describeBillingUpdate(user, syncBilling(user, ending).step)).toBe('pro/active until 2026-03-31, then free')
  })

  it('a subscription that takes over does not inherit dates from the one before', () => {
    const unreported = { currentPeriodStart: null, currentPeriodEnd: null, cancelAtPeriodEnd: null }
    const next = { subscriptions: [buildSubscription({ state: 'canceled' }), { ...second, ...unreported }] }
    expect(syncBilling(buildProUser(), next, secondEvent).user.subscription).toMatchObject({
      processorSubscriptionId: 'sub_2',
      currentPeriodStart: null,
      currentPeriodEnd: null,
      cancelAtPeriodEnd: false,
    })
  })

  it('a change of the internal billing state alone is a change', () => {
    const unpaid = { subscriptions: [buildSubscription(), { ...second, state: 'incomplete' as const }] }
    expect(syncBilling(buildProUser(), unpaid, secondEvent).step).toMatchObject({ subscription: {}, isChanged: true })
  })

  it('an unpaid subscription is not flagged as a second one', () => {
    const unpaid = { subscriptions: [buildSubscription(), { ...second, state: 'incomplete' as const }] }
    expect(syncBilling(buildProUser(), unpaid, secondEvent).step.events).toEqual([])
  })
})

describe('a subscription that the processor no longer knows', () => {
  const gone: ProcessorData = { subscriptions: [] }
  const buildEventWith = (state: ProcessorState, minute: number) =>
    buildEvent({ createdAt: after(T0, minute * 60_000), payloadSubscription: buildSubscription({ state }) })

  it('the newest signed payload determines an unknown subscription', () => {
    const [older, newer] = [buildEventWith('active', 1), buildEventWith('past_due', 2)]
    for (const events of [
      [older, newer],
      [newer, older],
      [newer, older, older, newer],
    ]) {
      const user = events.reduce((before, payload) => syncBilling(before, gone, payload).user, buildUser())
      expect(user.subscription).toMatchObject({ plan: 'pro', status: 'pastDue', processorSubscriptionId: 'sub_1' })
    }
  })

  it('a payload older than the last sync is ignored', () => {
    const synced = syncBilling(buildUser(), withSubscription({ state: 'past_due' }), buildEventWith('past_due', 2)).user
    expect(syncBilling(synced, gone, buildEventWith('active', 1)).user.subscription.status).toBe('pastDue')
  })

  it('an outdated payload counts no invoice', () => {
    const newer = syncBilling(buildUser(), gone, buildEventWith('past_due', 2)).user
    const outdated = buildEvent({ createdAt: T0, payloadSubscription: buildSubscription({ latestInvoice: renewal }) })
    const { user } = syncBilling(newer, gone, outdated)
    expect(user.billing.countedInvoiceIds).toEqual([])
  })

  it('of two payloads with the same timestamp the one with the greater event id counts, in any order', () => {
    const first = buildEvent({ id: 'evt_a', payloadSubscription: buildSubscription({ state: 'active' }) })
    const second = buildEvent({ id: 'evt_b', payloadSubscription: buildSubscription({ state: 'past_due' }) })
    for (const events of [
      [first, second],
      [second, first],
    ]) {
      const user = events.reduce((before, payload) => syncBilling(before, gone, payload).user, buildUser())
      expect(user.subscription.status).toBe('pastDue')
      expect(user.billing.subscriptions).toMatchObject([{ newestEvent: { eventId: 'evt_b' } }])
    }
  })

  it('a payload without dates and cancellation keeps the stored ones', () => {
    const unreported = { currentPeriodStart: null, currentPeriodEnd: null, cancelAtPeriodEnd: null }
    const payloadSubscription = buildSubscription({ state: 'past_due', ...unreported })
    const before = userAfter(withSubscription({ cancelAtPeriodEnd: true }))
    expect(syncBilling(before, gone, buildEvent({ payloadSubscription })).user.subscription).toMatchObject({
      status: 'pastDue',
      currentPeriodEnd: after(T0, MONTH),
      cancelAtPeriodEnd: true,
    })
  })

  it('a payload that reports the end ends the subscription permanently', () => {
    const { user } = syncBilling(buildProUser(), gone, buildEventWith('canceled', 0))
    expect(user.subscription).toMatchObject({ plan: 'free', status: 'cancelled', processorCustomerId: 'cus_1' })
    expect(syncBilling(user, gone, buildEventWith('active', 5)).user.subscription.plan).toBe('free')
  })

  it.each([
    ['nothing is reported', null],
    ['the event does not contain it', buildEvent({ type: 'invoice.payment_succeeded' })],
  ])('the subscription stays unchanged when %s, because the configured account may be wrong', (_, payload) => {
    const before = buildProUser()
    const { user } = syncBilling(before, gone, payload)
    expect(user.subscription).toEqual(before.subscription)
    expect(user.billing.subscriptions).toMatchObject([{ id: 'sub_1' }])
  })

  it('an entirely unknown subscription changes nothing', () => {
    const { user } = syncBilling(buildUser(), gone, buildEvent({ customerId: null }))
    expect(user).toMatchObject({ subscription: { plan: 'free', status: 'active' }, billing: { subscriptions: [] } })
  })
})

describe('a checkout without an event', () => {
  const waiting = { ...buildUser(), billing: { ...buildUser().billing, checkoutId: 'cs_1' } }

  it('a checkout is checked while it is open and while its subscription is incomplete', () => {
    const open = { subscriptions: [], checkout: { status: 'open' as const, subscriptionId: null } }
    expect(syncBilling(waiting, open).step).toMatchObject({ isChanged: false, billing: { checkoutId: 'cs_1' } })
    const incomplete = {
      ...withSubscription({ state: 'incomplete' }),
      checkout: { status: 'complete' as const, subscriptionId: 'sub_1' },
    }
    expect(syncBilling(waiting, incomplete).user).toMatchObject({
      subscription: { plan: 'free' },
      billing: { checkoutId: 'cs_1' },
    })
  })

  it('a completed checkout grants the paid plan', () => {
    const data = { ...withSubscription(), checkout: { status: 'complete' as const, subscriptionId: 'sub_1' } }
    expect(syncBilling(waiting, data).user).toMatchObject({
      subscription: { plan: 'pro' },
      billing: { checkoutId: null },
    })
  })

  it('an expired or unknown checkout is dropped', () => {
    for (const checkout of [{ status: 'expired' as const, subscriptionId: null }, undefined]) {
      const { user } = syncBilling(waiting, { subscriptions: [], ...(checkout && { checkout }) })
      expect(user).toMatchObject({ subscription: { plan: 'free', status: 'active' }, billing: { checkoutId: null } })
    }
  })
})
