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
  look,
  MONTH,
  type Truth,
} from '../../../support/billing.ts'

/** What may follow at the processor, more than once what is likelier. */
const MOVES: Record<ProcessorState, ProcessorState[]> = {
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

type Happening =
  | { do: 'move'; which: number }
  | { do: 'renew'; isPaid: boolean }
  | { do: 'cancelAtPeriodEnd' }
  | { do: 'look'; which: number | null }
  | { do: 'use' }
  | { do: 'override'; plan: 'free' | 'pro' }

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('move' as const), which: fc.nat({ max: 11 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('renew' as const), isPaid: fc.boolean() }) },
  fc.constant({ do: 'cancelAtPeriodEnd' as const }),
  { weight: 5, arbitrary: fc.record({ do: fc.constant('look' as const), which: fc.option(fc.nat()) }) },
)
const eventful: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 5, arbitrary: happening },
  { weight: 3, arbitrary: fc.constant({ do: 'use' as const }) },
  fc.record({ do: fc.constant('override' as const), plan: fc.constantFrom('free' as const, 'pro' as const) }),
)

/** The processor's side of one subscription: what it says now, and the events of how that came to be. */
function processor() {
  let subscription = buildSubscription({ state: 'incomplete', latestInvoice: buildInvoice({ isPaid: false }) })
  const invoices: ProcessorInvoice[] = [subscription.latestInvoice!]
  const events: PaymentEvent[] = []
  const isOver = () => MOVES[subscription.state].length === 0
  const tell = (changes: Partial<ProcessorSubscription>) => {
    subscription = { ...subscription, ...changes }
    const createdAt = after(T0, events.length * 1_000)
    const invoiceId = subscription.latestInvoice?.id ?? null
    events.push(buildEvent({ createdAt, told: subscription, invoiceId }))
  }
  return {
    events,
    truth: (): Truth => ({ subscriptions: [subscription], invoices }),
    state: () => subscription,
    move(which: number) {
      const states = MOVES[subscription.state]
      const state = states[which % states.length]
      if (!state) return
      const first = subscription.state === 'incomplete' && state !== 'incomplete_expired'
      tell({ state, ...(first && { latestInvoice: { ...subscription.latestInvoice!, isPaid: true } }) })
    },
    renew(isPaid: boolean) {
      if (isOver() || subscription.state === 'incomplete') return
      const invoice = buildInvoice({ id: `in_${invoices.length + 1}`, isFirst: false, isPaid })
      invoices.push(invoice)
      tell({ latestInvoice: invoice, currentPeriodEnd: after(subscription.currentPeriodEnd!, MONTH) })
    },
    cancelAtPeriodEnd() {
      if (!isOver()) tell({ cancelAtPeriodEnd: !subscription.cancelAtPeriodEnd })
    },
  }
}

/** Plays an event; `watch` gets the record before and after each sync. */
function happen(happenings: Happening[], watch: (before: User, after: User, truth: ProcessorSubscription) => void) {
  const theirs = processor()
  let user = buildUser()
  const lookWith = (event: PaymentEvent | null) => {
    const before = user
    user = look(user, theirs.truth(), event).user
    watch(before, user, theirs.state())
  }
  for (const one of happenings) {
    if (one.do === 'move') theirs.move(one.which)
    else if (one.do === 'renew') theirs.renew(one.isPaid)
    else if (one.do === 'cancelAtPeriodEnd') theirs.cancelAtPeriodEnd()
    else if (one.do === 'use') user = { ...user, usage: { postsCreated: 7, captionGenerations: 3 } }
    else if (one.do === 'override') {
      user = { ...user, subscription: { ...user.subscription, plan: one.plan }, limits: LIMITS[one.plan] }
    } else lookWith(one.which === null ? null : (theirs.events[one.which % theirs.events.length] ?? null))
  }
  return { theirs, lookWith, user: () => user }
}

const shown = ({ subscription, limits, usage }: User) => ({ subscription, limits, usage })
const ignore = () => undefined

function shuffled<T>(items: T[], order: Iterator<number>): T[] {
  return items
    .map((item) => ({ item, place: order.next().value as number }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item)
}

it('repeated syncs in any order end in the same state as one sync with the final state', () => {
  const story = fc.record({ happenings: fc.array(happening, LONG), order: fc.infiniteStream(fc.nat()) })
  fc.assert(
    fc.property(story, ({ happenings, order }) => {
      const { theirs, lookWith, user } = happen(happenings, ignore)
      const late = [...theirs.events, ...theirs.events.filter(() => order.next().value % 2 === 0)]
      for (const event of shuffled(late, order)) lookWith(event)
      const atOnce = theirs.events.reduce((one, event) => look(one, theirs.truth(), event).user, buildUser())
      expect(shown(user())).toEqual(shown(atOnce))
    }),
    { numRuns: 500 },
  )
})

it('signed payloads in any order lead to the final state when the processor no longer knows the subscription', () => {
  const story = fc.record({ happenings: fc.array(happening, LONG), order: fc.infiniteStream(fc.nat()) })
  const nothing: Truth = { subscriptions: [] }
  const endOf = (truth: Truth, events: PaymentEvent[]) => {
    const { subscription, limits } = events.reduce((user, event) => look(user, truth, event).user, buildUser())
    return { subscription, limits }
  }
  fc.assert(
    fc.property(story, ({ happenings, order }) => {
      const { events, truth } = happen(happenings, ignore).theirs
      const late = [...events, ...events.filter(() => order.next().value % 2 === 0)]
      expect(endOf(nothing, shuffled(late, order))).toEqual(endOf(truth(), events))
    }),
    { numRuns: 500 },
  )
})

it('limits always match the plan, and the usage is reset at most once per invoice or end', () => {
  fc.assert(
    fc.property(fc.array(eventful, LONG), (happenings) => {
      let resets = 0
      const { theirs, user } = happen(happenings, (before, next) => {
        if (before.usage.postsCreated > 0 && next.usage.postsCreated === 0) resets += 1
        expect(next.limits).toEqual(LIMITS[next.subscription.plan])
      })
      const renewals = theirs.truth().invoices!.filter(({ isFirst, isPaid }) => isPaid && !isFirst)
      expect(resets).toBeLessThanOrEqual(renewals.length + (theirs.state().state === 'canceled' ? 1 : 0))
      expect(user().billing.endedIds.length).toBeLessThanOrEqual(1)
    }),
    { numRuns: 500 },
  )
})

it('an override by an admin stays until a sync finds another state than the last applied one', () => {
  fc.assert(
    fc.property(fc.array(eventful, LONG), (happenings) => {
      happen(happenings, (before, next, truth) => {
        if (before.billing.applied?.state !== truth.state) return
        expect(next.subscription.plan).toBe(before.subscription.plan)
        expect(next.limits).toEqual(before.limits)
      })
    }),
    { numRuns: 500 },
  )
})
