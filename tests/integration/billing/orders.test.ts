import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PaymentEvent } from '../../../src/domain/billing/payment-events.ts'
import { DAY, MINUTE } from '../../../src/domain/shared/times.ts'
import type { Subscription } from '../../../src/domain/billing/subscription.ts'
import { LIMITS } from '../../support/billing.ts'
import { billingWorld, UNUSED, USED, type BillingWorld } from './world.ts'

const MONTH_MS = 32 * DAY
const CONCURRENT = 12

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})
afterAll(() => world?.close())

/** The final state at the processor and the expected record. All begin with one paid and one unpaid month. */
interface FinalState {
  name: string
  /** Runs every nth of the 120 orders; where it matters most, every one. */
  every: number
  end(subscriber: Subscriber): void
  last: PaymentEvent['type']
  expected: Partial<Subscription>
  /** Earlier usage continues to count. */
  isUsed?: true
}

interface Subscriber {
  userId: string
  customerId: string
  subscriptionId: string
}

const FINAL_STATES: FinalState[] = [
  {
    name: 'ended',
    every: 1,
    end: ({ subscriptionId }) => world.processor.end(subscriptionId),
    last: 'customer.subscription.deleted',
    expected: { plan: 'free', status: 'cancelled' },
  },
  {
    name: 'ended, and not known any more',
    every: 6,
    end({ subscriptionId }) {
      world.processor.end(subscriptionId)
      world.processor.forget(subscriptionId)
    },
    last: 'customer.subscription.deleted',
    expected: { plan: 'free', status: 'cancelled' },
  },
  {
    name: 'ended, and bought again',
    every: 6,
    end({ userId, customerId, subscriptionId }) {
      world.processor.end(subscriptionId)
      world.subscribe(userId, customerId)
    },
    last: 'customer.subscription.deleted',
    expected: { plan: 'pro', status: 'active' },
  },
  {
    name: 'paid after all',
    every: 1,
    end({ customerId }) {
      world.processor.setCard(customerId, 'works')
      world.processor.retryPayment(customerId)
    },
    last: 'customer.subscription.updated',
    expected: { plan: 'pro', status: 'active', cancelAtPeriodEnd: false },
  },
  {
    name: 'unpaid, and to end with the month',
    every: 6,
    end: ({ subscriptionId }) => world.processor.cancel(subscriptionId),
    last: 'customer.subscription.updated',
    expected: { plan: 'pro', status: 'pastDue', cancelAtPeriodEnd: true },
    isUsed: true,
  },
]

const TYPES: PaymentEvent['type'][] = [
  'checkout.session.completed',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
  'customer.subscription.updated',
]

it(
  'all 120 orders of five events, with repeats, end in the state of the processor, whatever that is',
  { timeout: 2 * MINUTE },
  async () => {
    const orders = permutations([0, 1, 2, 3, 4])
    expect(new Set(orders.map(String))).toHaveLength(120)
    const stories = FINAL_STATES.flatMap((finalState) =>
      orders.filter((_, index) => index % finalState.every === 0).map((order) => ({ finalState, order })),
    )
    const subscribers = await Promise.all(stories.map(subscribe))
    for (const { customerId } of subscribers) world.processor.setCard(customerId, 'fails')
    world.processor.advance({ advanceMs: MONTH_MS })
    for (const [index, { finalState }] of stories.entries()) finalState.end(subscribers[index]!)
    const events = await eventsByUser()
    await runLimited(
      stories.map(({ finalState, order }, index) => async () => {
        const subscriber = subscribers[index]!
        const five = pick(events.get(subscriber.userId)!, finalState)
        const inOrder = order.map((place) => five[place]!)
        for (const event of withRepeats(inOrder, index)) await world.apply(subscriber.userId, event)
      }),
    )
    expect(await world.context.paymentEvents.listUnapplied(new Date(), 1)).toEqual([])

    const ends = await Promise.all(
      stories.map(async (story, index) => {
        const { subscription, limits, usage } = await world.user(subscribers[index]!.userId)
        const { processorSubscriptionId: id } = subscription
        const atProcessor = id && (await world.payments.readSubscription(id))
        return { ...story, subscription, limits, usage, atProcessor }
      }),
    )
    for (const { finalState, order, subscription, limits, usage, atProcessor } of ends) {
      const about = `${finalState.name}, in the order ${order.join()}`
      expect(subscription, about).toMatchObject(finalState.expected)
      expect(limits, about).toEqual(LIMITS[subscription.plan])
      expect(subscription.processorCustomerId, about).toMatch(/^cus_/)
      expect(usage, about).toEqual(finalState.isUsed ? USED : UNUSED)
      if (atProcessor) expect(atProcessor, about).toMatchObject({ currentPeriodEnd: subscription.currentPeriodEnd })
    }
  },
)

async function subscribe() {
  const { _id: userId } = await world.newUser()
  return { userId, ...world.subscribe(userId) }
}

async function eventsByUser(): Promise<Map<string, PaymentEvent[]>> {
  const events = await Promise.all(world.processor.events().map(({ body }) => world.read(body)))
  return Map.groupBy(events, ({ userId }) => userId ?? '')
}

/** The newest event of each type. */
function pick(events: PaymentEvent[], { last }: FinalState): PaymentEvent[] {
  const found = TYPES.map((type) => events.findLast((event) => event.type === type)!)
  const fifth = events.findLast((event) => event.type === last && !found.includes(event))!
  return [...found, fifth]
}

/** Some arrive twice in a row, some again at the end. */
function withRepeats<T>(items: T[], seed: number): T[] {
  const twice = items.flatMap((item, index) => ((seed + index) % 12 === 0 ? [item, item] : [item]))
  return [...twice, ...items.filter((_, index) => (seed + index) % 10 === 0)]
}

function permutations<T>(items: T[]): T[][] {
  if (items.length <= 1) return [items]
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}

async function runLimited(works: (() => Promise<void>)[]): Promise<void> {
  const waiting = works.values()
  await Promise.all(
    Array.from({ length: CONCURRENT }, async () => {
      for (const work of waiting) await work()
    }),
  )
}
