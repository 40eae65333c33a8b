import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ProcessorInvoice, ProcessorState, ProcessorSubscription } from '../../../../src/domain/billing/billing.ts'
import type { PaymentEvent } from '../../../../src/domain/billing/payment-events.ts'
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

/** The possible next states at the processor. Likelier ones appear more than once. */
const NEXT_STATES: Record<ProcessorState, ProcessorState[]> = {
  incomplete: ['active', 'active', 'trialing', 'incomplete_expired'],
  trialing: ['active', 'past_due', 'paused', 'canceled'],
  active: ['past_due', 'past_due', 'paused', 'canceled'],
  past_due: ['active', 'active', 'unpaid', 'canceled'],
  unpaid: ['active', 'canceled'],
  paused: ['active', 'canceled'],
  canceled: [],
  incomplete_expired: [],
  unknown: [],
}

const LONG = { minLength: 5, maxLength: 40, size: 'max' } as const

type Action =
  | { do: 'move'; which: number }
  | { do: 'renew'; isPaid: boolean }
  | { do: 'cancelAtPeriodEnd' }
  | { do: 'sync'; which: number | null }
  | { do: 'use' }
  | { do: 'override'; plan: 'free' | 'pro' }

const processorAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('move' as const), which: fc.nat({ max: 11 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('renew' as const), isPaid: fc.boolean() }) },
  fc.constant({ do: 'cancelAtPeriodEnd' as const }),
  { weight: 5, arbitrary: fc.record({ do: fc.constant('sync' as const), which: fc.option(fc.nat()) }) },
)
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: processorAction },
  { weight: 3, arbitrary: fc.constant({ do: 'use' as const }) },
  fc.record({ do: fc.constant('override' as const), plan: fc.constantFrom('free' as const, 'pro' as const) }),
)

/** Creates a processor with one subscription, its current state and the events of its changes. */
function createProcessor() {
  let subscription = buildSubscription({ state: 'incomplete', latestInvoice: buildInvoice({ isPaid: false }) })
  const invoices: ProcessorInvoice[] = [subscription.latestInvoice!]
  const events: PaymentEvent[] = []
  const hasEnded = () => NEXT_STATES[subscription.state].length === 0
  const change = (changes: Partial<ProcessorSubscription>) => {
    subscription = { ...subscription, ...changes }
    const createdAt = after(T0, events.length * 1_000)
    const invoiceId = subscription.latestInvoice?.id ?? null
    events.push(buildEvent({ createdAt, payloadSubscription: subscription, invoiceId }))
  }
  return {
    events,
    data: (): ProcessorData => ({ subscriptions: [subscription], invoices }),
    state: () => subscription,
    move(which: number) {
      const states = NEXT_STATES[subscription.state]
      const state = states[which % states.length]
      if (!state) return
      const first = subscription.state === 'incomplete' && state !== 'incomplete_expired'
      change({ state, ...(first && { latestInvoice: { ...subscription.latestInvoice!, isPaid: true } }) })
    },
    renew(isPaid: boolean) {
      if (hasEnded() || subscription.state === 'incomplete') return
      const invoice = buildInvoice({ id: `in_${invoices.length + 1}`, isFirst: false, isPaid })
      invoices.push(invoice)
      change({ latestInvoice: invoice, currentPeriodEnd: after(subscription.currentPeriodEnd!, MONTH) })
    },
    cancelAtPeriodEnd() {
      if (!hasEnded()) change({ cancelAtPeriodEnd: !subscription.cancelAtPeriodEnd })
    },
  }
}

/** Runs the actions. `watch` gets the user before and after each sync, and the processor's state. */
function runActions(actions: Action[], watch: (before: User, after: User, state: ProcessorSubscription) => void) {
  const processor = createProcessor()
  let user = buildUser()
  const sync = (event: PaymentEvent | null) => {
    const before = user
    user = syncBilling(user, processor.data(), event).user
    watch(before, user, processor.state())
  }
  for (const action of actions) {
    if (action.do === 'move') processor.move(action.which)
    else if (action.do === 'renew') processor.renew(action.isPaid)
    else if (action.do === 'cancelAtPeriodEnd') processor.cancelAtPeriodEnd()
    else if (action.do === 'use') user = { ...user, usage: { postsCreated: 7, captionGenerations: 3 } }
    else if (action.do === 'override') {
      user = { ...user, subscription: { ...user.subscription, plan: action.plan }, limits: LIMITS[action.plan] }
    } else sync(action.which === null ? null : (processor.events[action.which % processor.events.length] ?? null))
  }
  return { processor, sync, user: () => user }
}

const selectVisible = ({ subscription, limits, usage }: User) => ({ subscription, limits, usage })
const ignore = () => undefined

function shuffle<T>(items: T[], order: Iterator<number>): T[] {
  return items
    .map((item) => ({ item, place: order.next().value as number }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item)
}

it('repeated syncs in any order end in the same state as one sync with the final state', () => {
  const runs = fc.record({ actions: fc.array(processorAction, LONG), order: fc.infiniteStream(fc.nat()) })
  fc.assert(
    fc.property(runs, ({ actions, order }) => {
      const { processor, sync, user } = runActions(actions, ignore)
      const deliveries = [...processor.events, ...processor.events.filter(() => order.next().value % 2 === 0)]
      for (const event of shuffle(deliveries, order)) sync(event)
      const expected = processor.events.reduce(
        (before, event) => syncBilling(before, processor.data(), event).user,
        buildUser(),
      )
      expect(selectVisible(user())).toEqual(selectVisible(expected))
    }),
    { numRuns: 500 },
  )
})

it('signed payloads in any order lead to the final state when the processor no longer knows the subscription', () => {
  const runs = fc.record({ actions: fc.array(processorAction, LONG), order: fc.infiniteStream(fc.nat()) })
  const unknown: ProcessorData = { subscriptions: [] }
  const findFinalState = (data: ProcessorData, events: PaymentEvent[]) => {
    const { subscription, limits } = events.reduce((user, event) => syncBilling(user, data, event).user, buildUser())
    return { subscription, limits }
  }
  fc.assert(
    fc.property(runs, ({ actions, order }) => {
      const { events, data } = runActions(actions, ignore).processor
      const deliveries = [...events, ...events.filter(() => order.next().value % 2 === 0)]
      expect(findFinalState(unknown, shuffle(deliveries, order))).toEqual(findFinalState(data(), events))
    }),
    { numRuns: 500 },
  )
})

it('limits always match the plan, and the usage is reset at most once per invoice or end', () => {
  fc.assert(
    fc.property(fc.array(anyAction, LONG), (actions) => {
      let resets = 0
      const { processor, user } = runActions(actions, (before, next) => {
        if (before.usage.postsCreated > 0 && next.usage.postsCreated === 0) resets += 1
        expect(next.limits).toEqual(LIMITS[next.subscription.plan])
      })
      const renewals = processor.data().invoices!.filter(({ isFirst, isPaid }) => isPaid && !isFirst)
      expect(resets).toBeLessThanOrEqual(renewals.length + (processor.state().state === 'canceled' ? 1 : 0))
      expect(user().billing.endedIds.length).toBeLessThanOrEqual(1)
    }),
    { numRuns: 500 },
  )
})

it('an override by an admin stays until a sync finds another state than the last applied one', () => {
  fc.assert(
    fc.property(fc.array(anyAction, LONG), (actions) => {
      runActions(actions, (before, next, state) => {
        if (before.billing.applied?.state !== state.state) return
        expect(next.subscription.plan).toBe(before.subscription.plan)
        expect(next.limits).toEqual(before.limits)
      })
    }),
    { numRuns: 500 },
  )
})
