import { Client, Connection } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { DAY } from '../../../src/domain/shared/times.ts'
import { createOrchestrator, type PublishOrchestrator } from '../../../src/integrations/temporal/orchestrator.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { loadBundle } from '../../../src/worker/bundle.ts'
import { CONNECTION_OPTIONS, toWorkerOptions } from '../../../src/worker/create-workers.ts'
import { backgroundWorkflowId } from '../../../src/workflows/contract/background-work.ts'
import type { SubscriptionState } from '../../../src/workflows/contract/billing.ts'
import { registerNamespace, testConfig } from '../../support/servers.ts'

/** Uses the real workflow and server; the activities return prepared results. */
let native: NativeConnection
let connection: Connection
let client: Client
let worker: Worker
let running: Promise<void>
let orchestrator: PublishOrchestrator
let apply: (eventId: string) => Promise<SubscriptionState> = async () => ended
const applied: string[] = []
let concurrent = 0
let maxConcurrent = 0

beforeAll(async () => {
  const config = testConfig()
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = config
  await registerNamespace(config)
  native = await NativeConnection.connect({ address, ...CONNECTION_OPTIONS })
  connection = await Connection.connect({ address })
  client = new Client({ connection, namespace })
  worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue: 'billing',
    ...toWorkerOptions('billing', config, { workflowBundle: await loadBundle() }),
    activities: {
      async applyPaymentEvent(_userId: string, eventId: string) {
        applied.push(eventId)
        maxConcurrent = Math.max(maxConcurrent, ++concurrent)
        try {
          return await apply(eventId)
        } finally {
          concurrent -= 1
        }
      },
      syncSubscription: async () => ended,
    },
  })
  running = worker.run()
  orchestrator = createOrchestrator({ address, namespace })
})
afterEach(() => {
  applied.length = 0
  maxConcurrent = 0
})
afterAll(async () => {
  worker?.shutdown()
  await running
  await orchestrator?.close()
  await connection?.close()
  await native?.close()
})

const ended: SubscriptionState = { isLive: false, periodEndsAt: null, planAndStatus: 'free/cancelled', change: 'ended' }
const activeSubscription = (): SubscriptionState => ({
  isLive: true,
  periodEndsAt: Date.now() + 30 * DAY,
  planAndStatus: 'pro/active',
  change: 'nothing',
})
/** Repeats until acknowledged, like the webhook: on a busy server a second may be too short. */
const notify = async (userId: string, eventId: string) => {
  let isNotified = false
  while (!isNotified)
    isNotified = await orchestrator.notifySubscription(userId, { eventId, type: 'invoice.payment_succeeded' })
}
const handleOf = (userId: string) => client.workflow.getHandle(backgroundWorkflowId('subscription', userId))

it('five hundred concurrent signals process each event once, one at a time, over short histories', async () => {
  const userId = newId()
  const ids = Array.from({ length: 250 }, (_, index) => `evt_${index}`)
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  apply = async (eventId) => {
    if (eventId === 'evt_0') await held
    return eventId === 'evt_249' ? ended : activeSubscription()
  }
  await notify(userId, 'evt_0')
  const first = await handleOf(userId).describe()
  // Some while it waits and some while it works, across a continue-as-new, each of them twice.
  for (let next = 1; next < 249; next += 10) {
    if (next > 120) release()
    const some = ids.slice(next, Math.min(next + 10, 249))
    await Promise.all([...some, ...some].map((eventId) => notify(userId, eventId)))
  }
  await expect.poll(() => new Set(applied).size, { timeout: 50_000 }).toBe(249)
  await notify(userId, 'evt_249')
  await client.workflow.getHandle(first.workflowId, first.runId, { followRuns: true }).result()
  expect(applied).toHaveLength(250)
  expect(new Set(applied)).toEqual(new Set(ids))
  expect(maxConcurrent).toBe(1)
  const last = await handleOf(userId).describe()
  expect(last.runId).not.toBe(first.runId)
  for (const { historyLength } of [await client.workflow.getHandle(first.workflowId, first.runId).describe(), last]) {
    expect(historyLength).toBeLessThan(4_000)
  }
})

it('an event that arrives at the moment the workflow ends is not lost', async () => {
  const users = Array.from({ length: 40 }, () => newId())
  const sent: Promise<void>[] = []
  apply = async (eventId) => {
    const [which, userId] = eventId.split(' ')
    if (which === 'first') {
      // Before, at and after the end.
      const delayMs = users.indexOf(userId!)
      sent.push(new Promise((resolve) => setTimeout(resolve, delayMs)).then(() => notify(userId!, `last ${userId}`)))
    }
    return ended
  }
  await Promise.all(users.map((userId) => notify(userId, `first ${userId}`)))
  const isOver = () => applied.filter((eventId) => eventId.startsWith('last')).length
  await expect.poll(isOver, { timeout: 50_000 }).toBe(users.length)
  await Promise.all(sent)
  await Promise.all(users.map((userId) => handleOf(userId).result()))
  expect(applied.toSorted()).toEqual(users.flatMap((userId) => [`first ${userId}`, `last ${userId}`]).toSorted())
})
