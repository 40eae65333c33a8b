import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { MockActivityEnvironment, type TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findMongod, startMongod, type Mongod } from '../../sandbox/servers/mongod.ts'
import { startPayments, type SandboxPayments } from '../../sandbox/services/payments.ts'
import { createBillingActivities } from '../../src/activities/billing/billing-activities.ts'
import { buildApp } from '../../src/api/app.ts'
import { readConfig } from '../../src/config/schema.ts'
import { createContext, type Context } from '../../src/context.ts'
import { DAY, HOUR, MINUTE } from '../../src/domain/shared/times.ts'
import type { User } from '../../src/domain/users/user.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import { backgroundWorkflowId } from '../../src/workflows/contract/background-work.ts'
import { signIn, type SignedIn } from '../support/api.ts'
import { poll } from '../support/service-in-process.ts'
import { startTestServer } from './skipped-time.ts'

/** Tests a year of a subscription. Only the clocks of Temporal and of the payment processor differ from production. */
const dir = mkdtempSync(join(tmpdir(), 'postonce-year-'))
let env: TestWorkflowEnvironment
let mongod: Mongod
let processor: SandboxPayments
let context: Context
let app: FastifyInstance
let worker: Worker
let running: Promise<void>
let subscriber: SignedIn
let purchase: { customerId: string; subscriptionId: string }

beforeAll(async () => {
  ;[env, mongod, processor] = await Promise.all([
    startTestServer(),
    findMongod().then((program) => startMongod({ program, logFile: join(dir, 'mongod.log') })),
    startPayments({ workMs: 0 }),
  ])
  const secret = () => randomBytes(32).toString('base64')
  const config = readConfig({
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    MONGODB_URL: mongod.url,
    TEMPORAL_ADDRESS: env.address,
    S3_ENDPOINT: 'http://127.0.0.1:9',
    S3_SECRET_ACCESS_KEY: 'unused',
    JWT_SECRET: secret(),
    REFRESH_TOKEN_SECRET: secret(),
    OAUTH_STATE_SECRET: secret(),
    TOKEN_ENCRYPTION_KEYS: `test:${secret()}`,
    BLUESKY_ENTRY_URL: 'http://127.0.0.1:9',
    ...processor.env('http://127.0.0.1:9'),
  })
  processor.processor.webhooks({ held: true })
  context = await createContext(config)
  await context.database.createSchema()
  app = await buildApp(context)
  processor.setEndpoints([`${await app.listen({ host: '127.0.0.1', port: 0 })}/api/payments/webhook`])
  worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: 'billing',
    workflowBundle: await loadBundle(),
    activities: createBillingActivities(context),
  })
  running = worker.run()
  subscriber = await signIn(context, { limits: context.planLimits.free })
})
afterAll(async () => {
  processor?.setEndpoints([])
  await app?.close()
  worker?.shutdown()
  await running
  await context?.close()
  await Promise.all([processor?.stop(), mongod?.stop(), env?.teardown()])
  rmSync(dir, { recursive: true, force: true })
})

const readUser = async (): Promise<User> => (await context.users.findById(subscriber.user._id))!
const workflow = () => env.client.workflow.getHandle(backgroundWorkflowId('subscription', subscriber.user._id))
const waitForUser = (fits: (user: User) => boolean) => poll(readUser, fits)
const post = async (path: string) => {
  const answer = await app.inject({ method: 'POST', url: `/api/payments/${path}`, headers: subscriber.headers })
  expect(answer.statusCode).toBe(200)
}

/** Waits until every stored event is applied. */
async function waitUntilApplied(): Promise<void> {
  const events = context.database.connection.collection('paymentEvents')
  await poll(
    () => events.countDocuments({ state: 'waiting' }),
    (waiting) => waiting === 0,
  )
}

/** Waits until the workflow has no task. The test server stops skipping time when a workflow is terminated during one. */
async function waitUntilIdle(): Promise<void> {
  await poll(
    () => workflow().describe(),
    ({ raw }) => raw.pendingActivities?.length === 0 && !raw.pendingWorkflowTask,
  )
}

/** Moves the processor's clock forward, with the billing of that time, and then the workflow's clock. */
async function pass(ms: number): Promise<void> {
  processor.processor.advance({ advanceMs: ms })
  await deliverEvents()
  await env.sleep(ms)
  await deliverEvents()
}

const deliveredIds = new Set<string>()

/** Delivers the processor's events one by one. Another test delivers them concurrently to a real server. */
async function deliverEvents(): Promise<void> {
  for (const { id } of processor.processor.events()) {
    if (deliveredIds.has(id)) continue
    deliveredIds.add(id)
    if (losesEvents) continue
    expect(await processor.processor.deliver([id])).toEqual([{ id, status: 200 }])
    await waitUntilApplied()
  }
}

/** True while events from the processor are lost. */
let losesEvents = false

/** Passes time until after the end of the period, and returns that end. */
async function passPeriodEnd(afterMs = MINUTE): Promise<Date> {
  const end = (await readUser()).subscription.currentPeriodEnd!
  await pass(end.getTime() + afterMs - Date.parse(processor.processor.clock().now))
  return end
}

/** Uses the allowance of two posts and a caption. */
async function useAllowance(): Promise<void> {
  for (const kind of ['posts', 'posts', 'captions'] as const)
    await context.users.takeAllowance(kind, subscriber.user._id)
}

async function expectSubscription(expected: Partial<User['subscription']>, used: 'used' | 'unused'): Promise<void> {
  const { subscription, usage, limits } = await readUser()
  expect(subscription).toMatchObject(expected)
  expect(usage).toEqual(
    used === 'used' ? { postsCreated: 2, captionGenerations: 1 } : { postsCreated: 0, captionGenerations: 0 },
  )
  expect(limits).toEqual(context.planLimits[subscription.plan])
}

const onPro = { plan: 'pro', status: 'active', cancelAtPeriodEnd: false } as const

it('a checkout starts the subscription', async () => {
  await expectSubscription({ plan: 'free', status: 'active' }, 'unused')
  await post('create-checkout')
  const paid = processor.processor.pay((await readUser()).billing.checkoutId!)
  purchase = { customerId: paid.customerId!, subscriptionId: paid.subscriptionId! }
  await deliverEvents()
  await expectSubscription({ ...onPro, processorCustomerId: purchase.customerId }, 'unused')
})

it.each([1, 2, 3, 4])('the subscription is renewed in month %d', async () => {
  await useAllowance()
  await expectSubscription(onPro, 'used')
  const end = await passPeriodEnd()
  await expectSubscription({ ...onPro, currentPeriodStart: end }, 'unused')
})

it('month 5: a renewal without an event is found five minutes after the period ends', async () => {
  await useAllowance()
  losesEvents = true
  const end = await passPeriodEnd(2 * MINUTE)
  await expectSubscription(onPro, 'used')
  await env.sleep(10 * MINUTE)
  await waitForUser(({ usage }) => usage.postsCreated === 0)
  await expectSubscription({ ...onPro, currentPeriodStart: end }, 'unused')
  losesEvents = false
})

it('month 6: the subscription stays Pro after a failed payment that succeeds three days later', async () => {
  await useAllowance()
  processor.processor.setCard(purchase.customerId, 'fails')
  await passPeriodEnd(2 * HOUR)
  await expectSubscription({ plan: 'pro', status: 'pastDue' }, 'used')
  await pass(3 * DAY)
  await expectSubscription({ plan: 'pro', status: 'pastDue' }, 'used')
  processor.processor.setCard(purchase.customerId, 'works')
  processor.processor.retryPayment(purchase.customerId)
  await deliverEvents()
  await expectSubscription(onPro, 'unused')
})

it('month 7: the daily reconcile finds a renewal without an event and without a workflow', async () => {
  await useAllowance()
  await waitUntilIdle()
  await workflow().terminate()
  losesEvents = true
  const end = await passPeriodEnd(HOUR)
  await expectSubscription(onPro, 'used')
  const { reconcileBilled } = createBillingActivities(context)
  const page = await new MockActivityEnvironment().run(reconcileBilled, { by: 'subscription', after: '' } as const)
  expect(page).toMatchObject({ checked: 1, failed: 0 })
  await expectSubscription({ ...onPro, currentPeriodStart: end }, 'unused')
  expect((await workflow().describe()).status.name).toBe('RUNNING')
  losesEvents = false
})

it.each([8, 9, 10])('the subscription is renewed in month %d', async () => {
  await useAllowance()
  await passPeriodEnd()
  await expectSubscription(onPro, 'unused')
})

it('month 11: a cancelled subscription stays until its period ends', async () => {
  await useAllowance()
  await post('cancel')
  await deliverEvents()
  await expectSubscription({ ...onPro, cancelAtPeriodEnd: true }, 'used')
  await pass(20 * DAY)
  await expectSubscription({ ...onPro, cancelAtPeriodEnd: true }, 'used')
})

it('month 12: the subscription and its workflow end', async () => {
  await passPeriodEnd(HOUR)
  await expectSubscription(
    { plan: 'free', status: 'cancelled', processorSubscriptionId: null, currentPeriodEnd: null },
    'unused',
  )
  await workflow().result()
  const notifications = await context.notifications.listOf(subscriber.user._id, 100)
  expect(notifications.map(({ message }) => message).toReversed()).toEqual([
    expect.stringContaining('is now on the Pro plan'),
    expect.stringContaining('The payment for your Pro plan failed'),
    expect.stringContaining('went through'),
    expect.stringContaining('Your Pro plan ends on'),
    expect.stringContaining('is now on the Free plan'),
  ])
})
