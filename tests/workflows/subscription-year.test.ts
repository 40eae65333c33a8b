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
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import { backgroundWorkflowId } from '../../src/workflows/background-work.ts'
import { signIn, type SignedIn } from '../support/api.ts'
import { poll } from '../support/service-in-process.ts'
import { startTestServer } from './skipped-time.ts'

/** Everything but the clocks of Temporal and of the payment processor is as it is in service. */
const dir = mkdtempSync(join(tmpdir(), 'postonce-year-'))
let env: TestWorkflowEnvironment
let mongod: Mongod
let processor: SandboxPayments
let context: Context
let app: FastifyInstance
let worker: Worker
let running: Promise<void>
let who: SignedIn
let bought: { customerId: string; subscriptionId: string }

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
  await context.database.createIndexes()
  app = await buildApp(context)
  processor.setEndpoints([`${await app.listen({ host: '127.0.0.1', port: 0 })}/api/payments/webhook`])
  worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: 'billing',
    workflowBundle: await bundleWorkflows(),
    activities: createBillingActivities(context),
  })
  running = worker.run()
  who = await signIn(context, { limits: context.planLimits.free })
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

const record = async (): Promise<User> => (await context.users.findById(who.user._id))!
const workflow = () => env.client.workflow.getHandle(backgroundWorkflowId('subscription', who.user._id))
const until = (fits: (user: User) => boolean) => poll(record, fits)
const call = async (path: string) => {
  const answer = await app.inject({ method: 'POST', url: `/api/payments/${path}`, headers: who.headers })
  expect(answer.statusCode).toBe(200)
}

/** Waits until every event is applied. */
async function untilSettled(): Promise<void> {
  const events = context.database.connection.collection('paymentEvents')
  await poll(
    () => events.countDocuments({ state: 'waiting' }),
    (waiting) => waiting === 0,
  )
}

/** Lets time pass at the processor, with what is billed meanwhile, and then for the workflow. */
async function pass(ms: number): Promise<void> {
  processor.processor.advance({ advanceMs: ms })
  await settled()
  await env.sleep(ms)
  await settled()
}

const brought = new Set<string>()

/** Delivers the processor's events one by one. Another test delivers them concurrently to a real server. */
async function settled(): Promise<void> {
  for (const { id } of processor.processor.events()) {
    if (brought.has(id)) continue
    brought.add(id)
    if (isDeaf) continue
    expect(await processor.processor.deliver([id])).toEqual([{ id, status: 200 }])
    await untilSettled()
  }
}

/** Whether events get lost now. */
let isDeaf = false

async function untilPeriodEnds(afterMs = MINUTE): Promise<Date> {
  const end = (await record()).subscription.currentPeriodEnd!
  await pass(end.getTime() + afterMs - Date.parse(processor.processor.clock().now))
  return end
}

/** Two posts a month. */
async function use(): Promise<void> {
  for (const kind of ['posts', 'posts', 'captions'] as const) await context.users.takeAllowance(kind, who.user._id)
}

async function expectRecord(wanted: Partial<User['subscription']>, used: 'used' | 'unused'): Promise<void> {
  const { subscription, usage, limits } = await record()
  expect(subscription).toMatchObject(wanted)
  expect(usage).toEqual(
    used === 'used' ? { postsCreated: 2, captionGenerations: 1 } : { postsCreated: 0, captionGenerations: 0 },
  )
  expect(limits).toEqual(context.planLimits[subscription.plan])
}

const onPro = { plan: 'pro', status: 'active', cancelAtPeriodEnd: false } as const

it('a checkout starts the subscription', async () => {
  await expectRecord({ plan: 'free', status: 'active' }, 'unused')
  await call('create-checkout')
  const paid = processor.processor.pay((await record()).billing.checkoutId!)
  bought = { customerId: paid.customerId!, subscriptionId: paid.subscriptionId! }
  await settled()
  await expectRecord({ ...onPro, processorCustomerId: bought.customerId }, 'unused')
})

it.each([1, 2, 3, 4])('the subscription is renewed in month %d', async () => {
  await use()
  await expectRecord(onPro, 'used')
  const end = await untilPeriodEnds()
  await expectRecord({ ...onPro, currentPeriodStart: end }, 'unused')
})

it('month 5: a renewal without an event is found five minutes after the period ends', async () => {
  await use()
  isDeaf = true
  const end = await untilPeriodEnds(2 * MINUTE)
  await expectRecord(onPro, 'used')
  await env.sleep(10 * MINUTE)
  await until(({ usage }) => usage.postsCreated === 0)
  await expectRecord({ ...onPro, currentPeriodStart: end }, 'unused')
  isDeaf = false
})

it('month 6: the subscription stays Pro after a failed payment that succeeds three days later', async () => {
  await use()
  processor.processor.setCard(bought.customerId, 'fails')
  await untilPeriodEnds(2 * HOUR)
  await expectRecord({ plan: 'pro', status: 'pastDue' }, 'used')
  await pass(3 * DAY)
  await expectRecord({ plan: 'pro', status: 'pastDue' }, 'used')
  processor.processor.setCard(bought.customerId, 'works')
  processor.processor.retryPayment(bought.customerId)
  await settled()
  await expectRecord(onPro, 'unused')
})

it('month 7: the daily reconcile finds a renewal without an event and without a workflow', async () => {
  await use()
  await workflow().terminate()
  isDeaf = true
  const end = await untilPeriodEnds(HOUR)
  await expectRecord(onPro, 'used')
  const { reconcileBilled } = createBillingActivities(context)
  const page = await new MockActivityEnvironment().run(reconcileBilled, { by: 'subscription', after: '' } as const)
  expect(page).toMatchObject({ looked: 1, failed: 0 })
  await expectRecord({ ...onPro, currentPeriodStart: end }, 'unused')
  expect((await workflow().describe()).status.name).toBe('RUNNING')
  isDeaf = false
})

it.each([8, 9, 10])('the subscription is renewed in month %d', async () => {
  await use()
  await untilPeriodEnds()
  await expectRecord(onPro, 'unused')
})

it('month 11: a cancelled subscription stays until its period ends', async () => {
  await use()
  await call('cancel')
  await settled()
  await expectRecord({ ...onPro, cancelAtPeriodEnd: true }, 'used')
  await pass(20 * DAY)
  await expectRecord({ ...onPro, cancelAtPeriodEnd: true }, 'used')
})

it('month 12: the subscription and its workflow end', async () => {
  await untilPeriodEnds(HOUR)
  await expectRecord(
    { plan: 'free', status: 'cancelled', processorSubscriptionId: null, currentPeriodEnd: null },
    'unused',
  )
  await workflow().result()
  const news = await context.notifications.listOf(who.user._id, 100)
  expect(news.map(({ message }) => message).toReversed()).toEqual([
    expect.stringContaining('is now on the Pro plan'),
    expect.stringContaining('The payment for your Pro plan failed'),
    expect.stringContaining('went through'),
    expect.stringContaining('Your Pro plan ends on'),
    expect.stringContaining('is now on the Free plan'),
  ])
})
