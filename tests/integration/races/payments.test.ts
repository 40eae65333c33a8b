import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startPayments, type SandboxPayments } from '../../../sandbox/services/payments.ts'
import type { Config } from '../../../src/config/schema.ts'
import type { Context } from '../../../src/context.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import { signIn, type SignedIn } from '../../support/api.ts'
import { startFleet, type Fleet } from '../../support/fleet.ts'
import { controlOf, type Control } from '../../support/platform-control.ts'
import { poll } from '../../support/service-in-process.ts'

/** Payments over two API processes. A single process could serialize concurrent requests; here only the database decides. */

let outside: SandboxPayments
let processor: SandboxPayments['processor']
let control: Control
let fleet: Fleet
let context: Context
let workers: Awaited<ReturnType<typeof startWorkers>>

beforeAll(async () => {
  // As slow as the real processor: concurrent retries find the idempotency key in use.
  outside = await startPayments({ workMs: 600 })
  processor = outside.processor
  control = controlOf(outside.control)
  const settings = outside.env('http://127.0.0.1:9') as Partial<Config>
  fleet = await startFleet(2, {
    ...settings,
    RATE_LIMIT_PER_USER: 1_000_000,
    PAYMENTS_TIMEOUT_MS: 3_000,
    WORKER_QUEUES: 'billing',
  })
  context = fleet.context
  outside.setEndpoints(fleet.members.map(({ address }) => `${address}/api/payments/webhook`))
  workers = await startWorkers(context)
})
beforeEach(() => void processor.webhooks({ held: false }))
afterEach(() => control.clearFaults())
afterAll(async () => {
  await workers?.stop()
  await fleet?.close()
  await outside?.stop()
})

interface Answer {
  status: number
  body: { code?: string; data?: { url: string } }
}

/** Sends the same request concurrently over both processes. */
function sendConcurrently(times: number, { headers }: SignedIn, path: string): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: times }, async (_, index) => {
      const { address } = fleet.members[index % 2]!
      const response = await fetch(`${address}/api/payments/${path}`, { method: 'POST', headers })
      return { status: response.status, body: (await response.json()) as Answer['body'] }
    }),
  )
}

const recordOf = async ({ user }: SignedIn) => (await context.users.findById(user._id))!
const eventsAbout = (subscriptionId: string) =>
  processor.events().filter(({ body }) => JSON.stringify(body).includes(subscriptionId))
const settled = (id: string) =>
  poll(
    () => context.paymentEvents.find(id),
    (event) => event !== null && event.state !== 'waiting',
  )
const notificationsOf = ({ user }: SignedIn) => context.notifications.listOf(user._id, 100)

async function subscriber(): Promise<SignedIn & { subscriptionId: string }> {
  const who = await signIn(context)
  await sendConcurrently(1, who, 'create-checkout')
  const { subscriptionId } = processor.pay((await recordOf(who)).billing.checkoutId!)
  for (const { id } of eventsAbout(subscriptionId!)) await settled(id)
  expect((await recordOf(who)).subscription).toMatchObject({ plan: 'pro', processorSubscriptionId: subscriptionId })
  return { ...who, subscriptionId: subscriptionId! }
}

describe('concurrent clicks on checkout', () => {
  it.each([2, 8])('%i concurrent checkouts lead to a single page that is paid once', async (times) => {
    const who = await signIn(context)
    const answers = await sendConcurrently(times, who, 'create-checkout')
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(new Set(answers.map(({ body }) => body.data!.url)).size).toBe(1)

    const { checkoutId } = (await recordOf(who)).billing
    processor.pay(checkoutId!)
    expect(() => processor.pay(checkoutId!)).toThrow('complete')
    const again = await sendConcurrently(times, who, 'create-checkout')
    expect(again.map(({ body }) => body.code)).toEqual(again.map(() => 'ALREADY_SUBSCRIBED'))
    const paid = (await control.ledger()) as unknown as { userId: string }[]
    expect(paid.filter(({ userId }) => userId === who.user._id)).toHaveLength(1)
  })
})

describe('concurrent clicks on cancel', () => {
  it('concurrent cancels end the subscription once and notify once', async () => {
    const who = await subscriber()
    const answers = await sendConcurrently(6, who, 'cancel')
    const codes = answers.map(({ status, body }) => (status === 200 ? 'done' : body.code))
    expect(codes).toContain('done')
    expect(codes.filter((code) => code !== 'done' && code !== 'ALREADY_CANCELLING')).toEqual([])
    expect((await recordOf(who)).subscription).toMatchObject({ plan: 'pro', cancelAtPeriodEnd: true })

    const changes = eventsAbout(who.subscriptionId).filter(({ type }) => type === 'customer.subscription.updated')
    expect(changes).toHaveLength(1)
    await settled(changes[0]!.id)
    const about = (await notificationsOf(who)).map(({ message }) => message)
    expect(new Set(about).size).toBe(about.length)
  })
})

describe('repeated deliveries of a payment event', () => {
  /** A monthly renewal without a delivered event. */
  function renewal({ subscriptionId }: { subscriptionId: string }): string {
    processor.webhooks({ held: true })
    processor.advance({ advanceMs: 31 * DAY })
    return eventsAbout(subscriptionId).findLast(({ type }) => type === 'invoice.payment_succeeded')!.id
  }

  const use = ({ user }: SignedIn, postsCreated: number) =>
    context.database.connection
      .collection<{ _id: string }>('users')
      .updateOne({ _id: user._id }, { $set: { 'usage.postsCreated': postsCreated } })

  it('an event delivered ten times in series has a single effect', async () => {
    const who = await subscriber()
    const eventId = renewal(who)
    await use(who, 7)
    const { revision } = (await recordOf(who)).billing
    await processor.deliver([eventId])
    await settled(eventId)
    expect((await recordOf(who)).usage.postsCreated).toBe(0)
    // Usage after the renewal stays, however often the event repeats.
    await use(who, 3)
    for (const { status } of await processor.deliver(Array.from({ length: 9 }, () => eventId))) expect(status).toBe(200)
    const after = await recordOf(who)
    expect([after.usage.postsCreated, after.billing.revision]).toEqual([3, revision + 1])
  })

  it('an event delivered fifty times concurrently has a single effect, and each delivery is acknowledged', async () => {
    const who = await subscriber()
    const eventId = renewal(who)
    await use(who, 7)
    const { revision } = (await recordOf(who)).billing
    const before = (await notificationsOf(who)).length
    const delivered = await Promise.all(Array.from({ length: 50 }, () => processor.deliver([eventId])))
    expect(delivered.flat().map(({ status }) => status)).toEqual(delivered.map(() => 200))
    await settled(eventId)
    expect(await context.paymentEvents.find(eventId)).toMatchObject({ userId: who.user._id, state: 'applied' })
    const after = await recordOf(who)
    expect([after.usage.postsCreated, after.billing.revision]).toEqual([0, revision + 1])
    expect(await notificationsOf(who)).toHaveLength(before)
  })

  it('an event is acknowledged while the processor is unavailable and processed afterwards', async () => {
    const who = await subscriber()
    const eventId = renewal(who)
    await use(who, 7)
    await control.fault({ action: { hang: true } })
    const before = (await control.requests()).length
    for (const when of ['before the call to the processor', 'while the processor does not respond']) {
      expect(await processor.deliver([eventId]), when).toEqual([{ id: eventId, status: 200 }])
      await poll(control.requests, ({ length }) => length > before)
    }
    expect(await context.paymentEvents.find(eventId)).toMatchObject({ state: 'waiting' })
    expect((await recordOf(who)).usage.postsCreated).toBe(7)
    await control.clearFaults()
    await settled(eventId)
    expect((await recordOf(who)).usage.postsCreated).toBe(0)
  })
})
