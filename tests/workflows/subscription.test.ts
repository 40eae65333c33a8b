import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/domain/shared/times.ts'
import { createOrchestrator, type PublishOrchestrator } from '../../src/integrations/temporal/orchestrator.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import type { SubscriptionState } from '../../src/workflows/messages/billing.ts'
import { startTestServer } from './skipped-time.ts'

/** Tests the workflow alone under skipped time. `answers` sets the results of its activities. */
interface Answers {
  apply?: (eventId: string) => Promise<SubscriptionState | null> | SubscriptionState | null
  look?: () => SubscriptionState
}

let env: TestWorkflowEnvironment
let worker: Worker
let running: Promise<void>
let orchestrator: PublishOrchestrator
let answers: Answers = {}
/** Everything that was asked, with its instant. */
const asked: { what: string; at: number }[] = []
let atOnce = 0
let mostAtOnce = 0

async function ask(what: string, answer: () => unknown): Promise<unknown> {
  asked.push({ what, at: await env.currentTimeMs() })
  mostAtOnce = Math.max(mostAtOnce, ++atOnce)
  try {
    return await answer()
  } finally {
    atOnce -= 1
  }
}

beforeAll(async () => {
  env = await startTestServer()
  worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: 'billing',
    workflowBundle: await bundleWorkflows(),
    activities: {
      applyPaymentEvent: (_userId: string, eventId: string) =>
        ask(eventId, () => (answers.apply ? answers.apply(eventId) : ended)),
      lookAtSubscription: () => ask('look', () => (answers.look ? answers.look() : ended)),
    },
  })
  running = worker.run()
  orchestrator = createOrchestrator({ address: env.address, namespace: 'default' })
})
afterEach(() => {
  answers = {}
  asked.length = 0
  mostAtOnce = 0
})
afterAll(async () => {
  worker?.shutdown()
  await running
  await orchestrator?.close()
  await env?.teardown()
})

const ended: SubscriptionState = { isLive: false, periodEndsAt: null, standing: 'free/cancelled', change: 'ended' }
const liveUntil = (periodEndsAt: number): SubscriptionState => ({
  isLive: true,
  periodEndsAt,
  standing: 'pro/active',
  change: 'goes on',
})
const tell = async (userId: string, eventId: string, type = 'customer.subscription.updated') =>
  expect(await orchestrator.notifySubscription(userId, { eventId, type })).toBe(true)
const handleOf = (userId: string) => env.client.workflow.getHandle(`subscription/${userId}`)
const eventsAsked = () => asked.map(({ what }) => what).filter((what) => what !== 'look')
const detailsOf = async (userId: string) => {
  const { currentDetails } = await handleOf(userId).query<{ currentDetails: string }>('__temporal_workflow_metadata')
  return currentDetails
}

describe('events', () => {
  it('payment events are applied one at a time, in order, and once each', async () => {
    const userId = newId()
    let letGo = () => {}
    const held = new Promise<void>((resolve) => (letGo = resolve))
    answers.apply = async (eventId) => {
      if (eventId === 'a') await held
      return ended
    }
    for (const eventId of ['a', 'b', 'a', 'c', 'b', 'c', 'a']) await tell(userId, eventId)
    letGo()
    await handleOf(userId).result()
    expect(eventsAsked()).toEqual(['a', 'b', 'c'])
    expect(mostAtOnce).toBe(1)
  })

  it('payment events are retried until the processor answers', async () => {
    const userId = newId()
    const backAt = (await env.currentTimeMs()) + 3 * HOUR
    answers.apply = async () => {
      if ((await env.currentTimeMs()) < backAt) throw new Error('The processor does not answer')
      return ended
    }
    await tell(userId, 'a')
    await handleOf(userId).result()
    const last = asked.at(-1)!
    expect(last.at - backAt).toBeLessThan(2 * MINUTE)
    // Tries leave no trace in the history.
    expect((await handleOf(userId).fetchHistory()).events!.length).toBeLessThan(15)
  })

  it('an event that was applied before makes the workflow read the subscription', async () => {
    const userId = newId()
    answers.apply = () => null
    await tell(userId, 'a')
    await handleOf(userId).result()
    expect(asked.map(({ what }) => what)).toEqual(['a', 'look'])
  })
})

describe('a period that ends without an event', () => {
  it('an ended period is checked after five minutes, after an hour, and daily until it changes', async () => {
    const userId = newId()
    const endsAt = (await env.currentTimeMs()) + 30 * DAY
    let looks = 0
    answers.apply = () => liveUntil(endsAt)
    answers.look = () => {
      looks += 1
      if (looks < 5) return liveUntil(endsAt)
      return looks === 5 ? liveUntil(endsAt + 60 * DAY) : ended
    }
    await tell(userId, 'a', 'checkout.session.completed')
    await handleOf(userId).result()
    const since = asked.slice(1).map(({ at }) => at - endsAt)
    const wanted = [5 * MINUTE, 65 * MINUTE, 65 * MINUTE + DAY, 65 * MINUTE + 2 * DAY, 65 * MINUTE + 3 * DAY]
    const all = [...wanted, 60 * DAY + 5 * MINUTE]
    expect(since).toHaveLength(all.length)
    all.forEach((at, index) => expect(Math.abs(since[index]! - at)).toBeLessThan(MINUTE))
  })

  it('an event of the next period restarts the wait for its end', async () => {
    const userId = newId()
    const startedAt = await env.currentTimeMs()
    answers.apply = (eventId) => liveUntil(startedAt + (eventId === 'renewal' ? 60 : 30) * DAY)
    await tell(userId, 'a')
    await env.sleep(29 * DAY)
    await tell(userId, 'renewal')
    await handleOf(userId).result()
    expect(asked.map(({ what }) => what)).toEqual(['a', 'renewal', 'look'])
    expect(asked[2]!.at - startedAt - 60 * DAY).toBeLessThan(5 * MINUTE + MINUTE)
  })
})

it('a workflow started by the daily reconcile reads the subscription first, and ends when it is not live', async () => {
  const userId = newId()
  const options = { summary: 'Watch', fairnessKey: userId }
  expect(await orchestrator.startWork('subscription', userId, options)).toBe(true)
  await handleOf(userId).result()
  expect(asked.map(({ what }) => what)).toEqual(['look'])
})

it('a cancel in Temporal ends the workflow immediately, and the next event starts it again', async () => {
  const userId = newId()
  answers.apply = async (eventId) => {
    if (eventId === 'stuck') throw new Error('The processor does not answer')
    return liveUntil((await env.currentTimeMs()) + 30 * DAY)
  }
  await tell(userId, 'a')
  await tell(userId, 'stuck')
  await expect.poll(eventsAsked, { timeout: 10_000 }).toContain('stuck')
  await handleOf(userId).cancel()
  await expect(handleOf(userId).result()).rejects.toThrow('cancelled')
  answers.apply = () => ended
  await tell(userId, 'stuck')
  await handleOf(userId).result()
  expect(eventsAsked().at(-1)).toBe('stuck')
})

it('the workflow details show operators the events of a customer with ids, states and times', async () => {
  const userId = newId()
  const endsAt = (await env.currentTimeMs()) + 30 * DAY
  answers.apply = (eventId) =>
    eventId === 'evt_14'
      ? { ...liveUntil(endsAt), standing: 'pro/pastDue', change: 'payment failed' }
      : liveUntil(endsAt)
  for (let event = 0; event < 15; event++) await tell(userId, `evt_${event}`, 'invoice.payment_failed')
  await expect.poll(eventsAsked, { timeout: 20_000 }).toHaveLength(15)
  await expect.poll(() => detailsOf(userId)).toContain('evt_14')
  const [title, ...story] = (await detailsOf(userId)).split('\n')
  expect(title).toBe(`pro/pastDue, period ends ${new Date(endsAt).toISOString()}`)
  expect(story).toHaveLength(12)
  // Whatever the year is: a server that skips time may have skipped the ten years that a workflow may run, too.
  expect(story.at(-1)).toMatch(/^- \d{4}-\S+Z invoice\.payment_failed evt_14: payment failed$/)
  answers.look = () => ended
  await env.sleep(30 * DAY + HOUR)
  await handleOf(userId).result()
  expect((await detailsOf(userId)).split('\n')[0]).toBe('free/cancelled, no live subscription')
})
