import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startThreads, type Threads } from '../../../sandbox/platforms/threads.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { DAY, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { connecting } from '../../support/connecting.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { testConfig, unique } from '../../support/servers.ts'

let threads: Threads
let world: DeliveryWorld
let temporal: Connection
let client: Client

beforeAll(async () => {
  threads = await startThreads()
  const app = threads.createApp({
    name: 'postonce',
    redirectUris: [buildCallbackUrl(testConfig().PUBLIC_URL, 'threads')],
  })
  world = await startDeliveryWorld({
    THREADS_APP_ID: app.id,
    THREADS_APP_SECRET: app.secret,
    THREADS_AUTHORIZE_URL: threads.url,
    THREADS_GRAPH_URL: threads.url,
    WORKER_QUEUES: 'maintenance',
  })
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  temporal = await Connection.connect({ address })
  client = new Client({ connection: temporal, namespace })
  // Twice, because `npm run setup` must be repeatable.
  await world.context.orchestrator.ensureSchedules(DAY)
  await world.context.orchestrator.ensureSchedules(DAY)
})

afterAll(async () => {
  await temporal?.close()
  await world?.stop()
  await threads?.stop()
})

/** Triggers a run of the Schedule and returns its result. */
async function runSchedule(scheduleId: string): Promise<unknown> {
  const handle = client.schedule.getHandle(scheduleId)
  await handle.trigger()
  const { info } = await poll(
    () => handle.describe(),
    (described) => described.info.recentActions.length > 0,
  )
  const { workflow } = info.recentActions.at(-1)!.action
  return client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId).result()
}

it('the Schedule collects metrics every 15 minutes, some seconds into the slot, and never in two runs', async () => {
  const { spec, policies } = await client.schedule.getHandle('collectPostMetrics').describe()
  expect(spec.intervals).toEqual([{ every: 15 * MINUTE, offset: 5 * SECOND }])
  expect(policies.overlap).toBe('SKIP')
})

it('renewTokens renews an expiring Bluesky session', async () => {
  const { userId } = await world.user()
  const { connection } = world.context.database
  const accounts = connection.collection('accounts')
  await accounts.updateOne({ userId, platform: 'bluesky' }, { $set: { 'auth.endsAt': new Date(Date.now() + 5 * DAY) } })
  expect(await runSchedule('renewTokens')).toEqual({ renewed: 1, warned: 0 })
  const account = await world.context.accounts.findDefault(userId, 'bluesky')
  expect(account!.auth.endsAt!.getTime()).toBeGreaterThan(Date.now() + 60 * DAY)
  expect(account!.version).toBe(2)
})

/** Creates a user whose Threads connection expires in five days. */
async function expiringThreadsUser() {
  const user = await connecting('threads', world.context, world.app).newUser()
  const { id } = threads.createAccount({ username: unique('t').replace(/\W/g, '') })
  await user.connect(id)
  const accounts = world.context.database.connection.collection('accounts')
  const endsAt = new Date(Date.now() + 5 * DAY)
  await accounts.updateOne({ userId: user.userId, platform: 'threads' }, { $set: { 'auth.endsAt': endsAt } })
  return { ...user, accountId: id, endsAt }
}

it('renewTokens renews a token of Threads', async () => {
  const { accountId, stored } = await expiringThreadsUser()
  threads.ageTokens(accountId, 55 * DAY)
  expect(await runSchedule('renewTokens')).toEqual({ renewed: 1, warned: 0 })
  expect((await stored())!.auth.endsAt!.getTime()).toBeGreaterThan(Date.now() + 59 * DAY)
})

it('renewTokens keeps a connection whose token is too young for Threads to renew', async () => {
  const { stored, refresh, endsAt } = await expiringThreadsUser()
  expect(await runSchedule('renewTokens')).toEqual({ renewed: 0, warned: 1 })
  expect(await stored()).toMatchObject({ auth: { endsAt }, health: { status: 'active' } })
  expect((await refresh()).status).toBe(200)
})
