import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSweepActivities } from '../../../src/activities/publishing/sweep.ts'
import { DAY, MINUTE } from '../../../src/domain/shared/times.ts'
import { createAccount } from '../../support/api.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'
import { poll } from '../../support/service-in-process.ts'
import { startBillingService, type BillingService } from './service.ts'

/** Workers are killed at random instants between an event's receipt and its effect, and replaced. */
const PAYERS = 100
const KILLS = 3
const processes = createProcesses()
const userIds: string[] = []
/** The oldest first; the last ones are still starting. */
const workers: Promise<ChildProcess>[] = []
let world: BillingService

beforeAll(async () => {
  world = await startBillingService()
  world.controls.webhooks({ held: true })
  workers.push(startWorker(), startWorker())
  await Promise.all(workers)
  const users = await Promise.all(Array.from({ length: PAYERS }, () => createAccount(world.context)))
  for (const { _id: userId, email } of users) {
    userIds.push(userId)
    world.controls.subscribe({ userId, email })
  }
})
afterAll(async () => {
  processes.killAll()
  await world?.stop()
})

async function startWorker(): Promise<ChildProcess> {
  const worker = processes.start('src/worker.ts', {
    ...world.context.config,
    WORKER_QUEUES: 'billing',
    LOG_LEVEL: 'info',
  })
  worker.stderr!.resume()
  await waitForLogEntry(worker, 'worker ready')
  return worker
}

const stored = () => world.context.database.connection.collection<{ _id: string; state: string }>('paymentEvents')
const waiting = () => stored().countDocuments({ state: 'waiting' })
const users = () => world.context.database.connection.collection<{ _id: string }>('users')

/** Sends every event of this type at about the same time. */
async function deliver(type: string): Promise<string[]> {
  const ids = world.controls.events().flatMap((event) => (event.type === type ? [event.id] : []))
  const tenths = Array.from({ length: 10 }, (_, tenth) => ids.filter((_id, index) => index % 10 === tenth))
  const answers = await Promise.all(tenths.map((some) => world.controls.deliver(some)))
  expect(answers.flat().every(({ status }) => status === 200)).toBe(true)
  return ids
}

/**
 * Calls are slow, so that all events are in progress when the workers are killed.
 * @returns how many events were not processed then
 */
async function killAtRandom(): Promise<number[]> {
  await world.faults.fault({ path: '/v1/subscriptions', action: { delayMs: 700 } })
  const left: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await delay(100 + Math.random() * 900)
    const killed = await workers.shift()!
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    left.push(await waiting())
    workers.push(startWorker())
  }
  await world.faults.clearFaults()
  return left
}

const isApplied = async (ids: string[]) =>
  (await stored().countDocuments({ _id: { $in: ids }, state: 'applied' })) === ids.length

describe('a hundred events of as many users, while workers are killed', () => {
  it('events whose workflows were started are all applied once while workers are killed', async () => {
    const delivering = deliver('checkout.session.completed')
    const left = await killAtRandom()
    const ids = await delivering
    expect(ids).toHaveLength(PAYERS)
    await world.untilSettled()
    expect(left[0]).toBeGreaterThan(0)
    expect(await isApplied(ids)).toBe(true)
    for (const userId of userIds) {
      const { subscription, limits } = await world.recordOf(userId)
      expect(subscription).toMatchObject({ plan: 'pro', status: 'active', currentPeriodEnd: expect.any(Date) })
      expect(limits).toEqual(world.context.planLimits.pro)
      const news = await world.context.notifications.listOf(userId, 10)
      expect(news.map(({ message }) => message)).toEqual([expect.stringContaining('is now on the Pro plan')])
    }
  })

  it('events that only the sweeper knows of are all applied once while workers are killed', async () => {
    world.controls.advance({ advanceMs: 32 * DAY })
    await users().updateMany({}, { $set: { 'usage.postsCreated': 5 } })
    const { orchestrator, clock } = world.context
    const { notifySubscription } = orchestrator
    orchestrator.notifySubscription = async () => false
    const renewals = await deliver('invoice.payment_succeeded').finally(() => {
      orchestrator.notifySubscription = notifySubscription
    })
    expect(await waiting()).toBe(2 * PAYERS)
    const later = { ...clock, now: () => new Date(Date.now() + MINUTE + 1_000) }
    const { sweepDeliveries } = createSweepActivities({ ...world.context, clock: later })
    const sweep = () => new MockActivityEnvironment().run(sweepDeliveries)
    const sweeping = sweep()
    const left = await killAtRandom()
    await sweeping
    // Starts that Temporal did not acknowledge in time are left to the next sweep.
    await poll(
      async () => {
        await sweep()
        return waiting()
      },
      (count) => count === 0,
    )
    expect(left[0]).toBeGreaterThan(0)
    expect(await isApplied(renewals)).toBe(true)
    expect(await users().countDocuments({ 'usage.postsCreated': 0 })).toBe(PAYERS)
  })

  it('repeated events have no further effect', async () => {
    await users().updateMany({}, { $set: { 'usage.postsCreated': 7 } })
    await deliver('checkout.session.completed')
    await deliver('invoice.payment_succeeded')
    await Promise.all(userIds.map((userId) => world.context.syncSubscription(userId)))
    expect(await waiting()).toBe(0)
    expect(await users().countDocuments({ 'usage.postsCreated': 7 })).toBe(PAYERS)
    const news = await Promise.all(userIds.map((userId) => world.context.notifications.listOf(userId, 10)))
    expect(news.every((one) => one.length === 1)).toBe(true)
  })
})
