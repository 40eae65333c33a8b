import { setTimeout as delay } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createBillingActivities } from '../../../src/activities/billing/billing-activities.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/shared/times.ts'
import { poll } from '../../support/service-in-process.ts'
import { startBillingService, type BillingService, type Customer } from './service.ts'

let world: BillingService
beforeAll(async () => {
  world = await startBillingService()
  await world.startWorkers()
})
afterEach(async () => {
  world.controls.webhooks({ held: false })
  await world.faults.clearFaults()
})
afterAll(() => world?.stop())

/** Runs the daily workflow. */
const reconcile = () =>
  world.client.workflow.execute('reconcileBilling', { taskQueue: 'maintenance', workflowId: 'reconcileBilling' })
const failCallsTo = (path: string) => world.faults.fault({ path, action: { status: 500 } })
const planOf = async ({ userId }: { userId: string }) => (await world.recordOf(userId)).subscription.plan
const isWatched = async ({ userId }: { userId: string }) =>
  (await world.workflowOf(userId).describe()).status.name === 'RUNNING'

/** The activities without a worker. */
const activities = () => createBillingActivities(world.context)
const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
  new MockActivityEnvironment().run(activity, ...args)

describe('changes without a webhook', () => {
  it('the daily sync finds an end, a renewal and a checkout without webhooks', async () => {
    const [ended, renewed] = [await world.customer(), await world.customer()]
    const bought = await world.atCheckout()
    world.controls.webhooks({ held: true })
    world.controls.end(ended.subscriptionId)
    world.controls.pay(bought.checkoutId)
    world.controls.advance({ advanceMs: 32 * DAY })
    await world.context.users.takeAllowance('posts', renewed.userId)
    const before = await world.recordOf(renewed.userId)
    expect(before.usage.postsCreated).toBe(1)
    await world.workflowOf(renewed.userId).terminate()

    expect(await reconcile()).toMatchObject({ failed: 0 })
    expect(await Promise.all([planOf(ended), planOf(renewed), planOf(bought)])).toEqual(['free', 'pro', 'pro'])
    const after = await world.recordOf(renewed.userId)
    expect(after.usage.postsCreated).toBe(0)
    expect(after.subscription.currentPeriodEnd!.getTime()).toBeGreaterThan(
      before.subscription.currentPeriodEnd!.getTime() + 25 * DAY,
    )
    // The subscription workflow runs again for a paying user.
    expect(await isWatched(renewed)).toBe(true)
    expect(await isWatched(bought)).toBe(true)
  })

  it('the daily sync continues when the processor refuses to answer for one user', async () => {
    const [refused, ended] = [await world.customer(), await world.customer()]
    world.controls.webhooks({ held: true })
    world.controls.end(refused.subscriptionId)
    world.controls.end(ended.subscriptionId)
    await failCallsTo(refused.subscriptionId)
    expect(await reconcile()).toMatchObject({ failed: 1 })
    expect(await Promise.all([planOf(refused), planOf(ended)])).toEqual(['pro', 'free'])
    await world.faults.clearFaults()
    expect(await reconcile()).toMatchObject({ failed: 0 })
    expect(await planOf(refused)).toBe('free')
  })

  it('the daily sync is retried when the processor is unreachable', async () => {
    await world.customer()
    await failCallsTo('/v1/')
    await expect(run(activities().reconcileBilled, { by: 'subscription', after: '' })).rejects.toThrow(/read/)
  })
})

describe('an event without a workflow', () => {
  const waiting = () => world.context.paymentEvents.listUnapplied(new Date(Date.now() + HOUR), 10)

  /** Sends the event while Temporal does not answer. */
  async function sendUnacknowledged(trigger: (who: Customer) => void): Promise<Customer> {
    const who = await world.customer()
    await world.untilSettled()
    const { orchestrator } = world.context
    const { notifySubscription } = orchestrator
    try {
      orchestrator.notifySubscription = async () => false
      trigger(who)
      await poll(waiting, (events) => events.length === 1)
      // The route waits for Temporal at most this long.
      await delay(700)
    } finally {
      orchestrator.notifySubscription = notifySubscription
    }
    return who
  }

  it('the sweeper starts an unprocessed event after a minute, and it is then processed', async () => {
    const { userId } = await sendUnacknowledged(({ subscriptionId }) => world.controls.cancel(subscriptionId))
    expect(await world.sweep(MINUTE / 2)).toEqual({ restarted: 0 })
    expect((await world.recordOf(userId)).subscription.cancelAtPeriodEnd).toBe(false)
    expect(await world.sweep(MINUTE + 1_000)).toEqual({ restarted: 1 })
    await world.until(userId, ({ subscription }) => subscription.cancelAtPeriodEnd)
    await world.untilSettled()
  })

  it('the sweeper starts an event once, however long the processor is unreachable', async () => {
    const { userId } = await sendUnacknowledged(({ subscriptionId }) => {
      world.controls.cancel(subscriptionId)
      void world.faults.fault({ path: subscriptionId, action: { cut: true } })
    })
    expect(await world.sweep(MINUTE + 1_000)).toEqual({ restarted: 1 })
    await poll(waiting, (events) => events.length === 0)
    expect(await world.sweep(HOUR)).toEqual({ restarted: 0 })
    await world.faults.clearFaults()
    await world.until(userId, ({ subscription }) => subscription.cancelAtPeriodEnd)
    await world.untilSettled()
  })
})

describe('the owner of an event', () => {
  it('the owner of an event is read from the processor when it is unknown here', async () => {
    const who = await world.signIn()
    world.controls.webhooks({ held: true })
    const { subscriptionId } = world.controls.subscribe({ userId: who.user._id, email: who.user.email })
    const event = { ...NO_EVENT, id: `evt_asked_${subscriptionId}`, subscriptionId }
    await world.context.paymentEvents.insertOrRead(event, new Date())
    expect(await run(activities().routePaymentEvent, event.id)).toEqual({ isProcessed: false })
    await world.until(who.user._id, ({ subscription }) => subscription.plan === 'pro')
    await world.untilSettled()
    expect(await run(activities().routePaymentEvent, event.id)).toEqual({ isProcessed: true })
    expect(await world.context.paymentEvents.find(event.id)).toMatchObject({ userId: who.user._id, state: 'applied' })
  })

  it('an event without an owner is acknowledged and recorded, and changes nothing', async () => {
    const { subscriptionId } = world.controls.subscribe({ userId: 'of-another-service', email: 'x@example.test' })
    const events = world.context.database.connection.collection('paymentEvents')
    await poll(
      () => events.find({ subscriptionId }).toArray(),
      (stored) => stored.length >= 2 && stored.every(({ state }) => state === 'ignored'),
    )
    expect(await world.context.payments!.readSubscription(subscriptionId)).toMatchObject({ state: 'active' })
  })

  it('an event of an erased user ends the subscription immediately and deletes the customer', async () => {
    const who = await world.atCheckout()
    const { context } = world
    await context.database.transaction((session) => context.erasures.begin(who.userId, new Date(), session))
    await context.database.transaction((session) => context.users.remove(who.userId, session))
    const { subscriptionId, customerId } = world.controls.pay(who.checkoutId)
    await poll(
      () => context.payments!.readSubscription(subscriptionId!),
      (subscription) => subscription?.state === 'canceled',
    )
    await world.untilSettled()
    const authorization = `Bearer ${context.config.STRIPE_SECRET_KEY}`
    const answer = await fetch(`${world.processor.url}/v1/customers/${customerId}`, { headers: { authorization } })
    expect(JSON.stringify(await answer.json())).not.toContain(who.user.email)
    await world.workflowOf(who.userId).result()
  })
})

const NO_EVENT = {
  type: 'customer.subscription.updated',
  createdAt: new Date(),
  userId: null,
  customerId: null,
  subscriptionId: null,
  invoiceId: null,
  payloadSubscription: null,
  payloadInvoice: null,
}
