import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/domain/shared/times.ts'
import { createOrchestrator, type PublishOrchestrator } from '../../src/integrations/temporal/orchestrator.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import type { SubscriptionState } from '../../src/workflows/contract/billing.ts'
import { startTestServer } from './skipped-time.ts'

/** The results of the activities. The workflow runs alone under skipped time. */
interface ActivityResults {
  apply?: (eventId: string) => Promise<SubscriptionState | null> | SubscriptionState | null
  read?: () => SubscriptionState
}

let env: TestWorkflowEnvironment
let worker: Worker
let workerRun: Promise<void>
let orchestrator: PublishOrchestrator
let results: ActivityResults = {}
/** The activities that ran: the event id, or `read`. */
const calls: { name: string; at: number }[] = []
let running = 0
let mostRunning = 0

async function record(name: string, act: () => unknown): Promise<unknown> {
  calls.push({ name, at: await env.currentTimeMs() })
  mostRunning = Math.max(mostRunning, ++running)
  try {
    return await act()
  } finally {
    running -= 1
  }
}

beforeAll(async () => {
  env = await startTestServer()
  worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: 'billing',
    workflowBundle: await loadBundle(),
    activities: {
      applyPaymentEvent: (_userId: string, eventId: string) =>
        record(eventId, () => (results.apply ? results.apply(eventId) : ended)),
      syncSubscription: () => record('read', () => (results.read ? results.read() : ended)),
    },
  })
  workerRun = worker.run()
  orchestrator = createOrchestrator({ address: env.address, namespace: 'default' })
})
afterEach(() => {
  results = {}
  calls.length = 0
  mostRunning = 0
})
afterAll(async () => {
  worker?.shutdown()
  await workerRun
  await orchestrator?.close()
  await env?.teardown()
})

const ended: SubscriptionState = { isLive: false, periodEndsAt: null, planAndStatus: 'free/cancelled', change: 'ended' }
const liveUntil = (periodEndsAt: number): SubscriptionState => ({
  isLive: true,
  periodEndsAt,
  planAndStatus: 'pro/active',
  change: 'goes on',
})
/** Signals until Temporal acknowledges in time, which may take several tries on a busy machine. The workflow ignores repeated events. */
const notify = (userId: string, eventId: string, type = 'customer.subscription.updated') =>
  expect.poll(() => orchestrator.notifySubscription(userId, { eventId, type }), { timeout: 20_000 }).toBe(true)
const getWorkflow = (userId: string) => env.client.workflow.getHandle(`subscription/${userId}`)
const listEvents = () => calls.map(({ name }) => name).filter((name) => name !== 'read')
const readDetails = async (userId: string) => {
  const { currentDetails } = await getWorkflow(userId).query<{ currentDetails: string }>('__temporal_workflow_metadata')
  return currentDetails
}

describe('events', () => {
  it('payment events are applied one at a time, in order, and once each', async () => {
    const userId = newId()
    const held = Promise.withResolvers<void>()
    results.apply = async (eventId) => {
      if (eventId === 'a') await held.promise
      return ended
    }
    for (const eventId of ['a', 'b', 'a', 'c', 'b', 'c', 'a']) await notify(userId, eventId)
    held.resolve()
    await getWorkflow(userId).result()
    expect(listEvents()).toEqual(['a', 'b', 'c'])
    expect(mostRunning).toBe(1)
  })

  it('payment events are retried until the processor responds', async () => {
    const userId = newId()
    const backAt = (await env.currentTimeMs()) + 3 * HOUR
    results.apply = async () => {
      if ((await env.currentTimeMs()) < backAt) throw new Error('The processor does not respond')
      return ended
    }
    await notify(userId, 'a')
    await getWorkflow(userId).result()
    const last = calls.at(-1)!
    expect(last.at - backAt).toBeLessThan(2 * MINUTE)
    // Retries of an activity add no events to the history.
    expect((await getWorkflow(userId).fetchHistory()).events!.length).toBeLessThan(15)
  })

  it('an event that was applied before makes the workflow read the subscription', async () => {
    const userId = newId()
    results.apply = () => null
    await notify(userId, 'a')
    await getWorkflow(userId).result()
    expect(calls.map(({ name }) => name)).toEqual(['a', 'read'])
  })
})

describe('a period that ends without an event', () => {
  it('an ended period is checked after five minutes, after an hour, and daily until it changes', async () => {
    const userId = newId()
    const endsAt = (await env.currentTimeMs()) + 30 * DAY
    let reads = 0
    results.apply = () => liveUntil(endsAt)
    results.read = () => {
      reads += 1
      if (reads < 5) return liveUntil(endsAt)
      return reads === 5 ? liveUntil(endsAt + 60 * DAY) : ended
    }
    await notify(userId, 'a', 'checkout.session.completed')
    await getWorkflow(userId).result()
    const since = calls.slice(1).map(({ at }) => at - endsAt)
    const first = [5 * MINUTE, 65 * MINUTE, 65 * MINUTE + DAY, 65 * MINUTE + 2 * DAY, 65 * MINUTE + 3 * DAY]
    const expected = [...first, 60 * DAY + 5 * MINUTE]
    expect(since).toHaveLength(expected.length)
    expected.forEach((at, index) => expect(Math.abs(since[index]! - at)).toBeLessThan(MINUTE))
  })

  it('an event of the next period restarts the wait for its end', async () => {
    const userId = newId()
    const startedAt = await env.currentTimeMs()
    results.apply = (eventId) => liveUntil(startedAt + (eventId === 'renewal' ? 60 : 30) * DAY)
    await notify(userId, 'a')
    await env.sleep(29 * DAY)
    await notify(userId, 'renewal')
    await getWorkflow(userId).result()
    expect(calls.map(({ name }) => name)).toEqual(['a', 'renewal', 'read'])
    expect(calls[2]!.at - startedAt - 60 * DAY).toBeLessThan(5 * MINUTE + MINUTE)
  })
})

it('a workflow started by the daily reconcile reads the subscription first, and ends when it is not live', async () => {
  const userId = newId()
  const options = { summary: 'Watch', fairnessKey: userId }
  await expect.poll(() => orchestrator.startWork('subscription', userId, options), { timeout: 20_000 }).toBe(true)
  await getWorkflow(userId).result()
  expect(calls.map(({ name }) => name)).toEqual(['read'])
})

it('a cancel in Temporal ends the workflow immediately, and the next event starts it again', async () => {
  const userId = newId()
  results.apply = async (eventId) => {
    if (eventId === 'stuck') throw new Error('The processor does not respond')
    return liveUntil((await env.currentTimeMs()) + 30 * DAY)
  }
  await notify(userId, 'a')
  await notify(userId, 'stuck')
  await expect.poll(listEvents, { timeout: 10_000 }).toContain('stuck')
  await getWorkflow(userId).cancel()
  await expect(getWorkflow(userId).result()).rejects.toThrow('cancelled')
  results.apply = () => ended
  await notify(userId, 'stuck')
  await getWorkflow(userId).result()
  expect(listEvents().at(-1)).toBe('stuck')
})

it('the workflow details show operators the events of a customer with ids, states and times', async () => {
  const userId = newId()
  const endsAt = (await env.currentTimeMs()) + 30 * DAY
  results.apply = (eventId) =>
    eventId === 'evt_14'
      ? { ...liveUntil(endsAt), planAndStatus: 'pro/pastDue', change: 'payment failed' }
      : liveUntil(endsAt)
  for (let event = 0; event < 15; event++) await notify(userId, `evt_${event}`, 'invoice.payment_failed')
  await expect.poll(listEvents, { timeout: 20_000 }).toHaveLength(15)
  await expect.poll(() => readDetails(userId)).toContain('evt_14')
  const [title, ...lines] = (await readDetails(userId)).split('\n')
  expect(title).toBe(`pro/pastDue, period ends ${new Date(endsAt).toISOString()}`)
  expect(lines).toHaveLength(12)
  // Any year matches: the server may already have skipped the ten years that a workflow may run.
  expect(lines.at(-1)).toMatch(/^- \d{4}-\S+Z invoice\.payment_failed evt_14: payment failed$/)
  results.read = () => ended
  await env.sleep(30 * DAY + HOUR)
  await getWorkflow(userId).result()
  expect((await readDetails(userId)).split('\n')[0]).toBe('free/cancelled, no live subscription')
})
