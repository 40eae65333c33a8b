import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSweepActivities } from '../../../src/activities/publishing/sweep.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { readHistories } from '../../faults/gather.ts'
import { readCommands, runCommands } from '../../support/documented-commands.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'
import { testContext, unique } from '../../support/servers.ts'
import { poll, startServiceInProcess } from '../../support/service-in-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { hang, startReceiver, verifySignature, type Receiver } from '../../support/webhook-receiver.ts'
import { addEvents, postEvent, storeEvents } from './world.ts'

const SLOTS = 4
let receiver: Receiver
let service: Awaited<ReturnType<typeof startServiceInProcess>>
beforeAll(async () => {
  receiver = await startReceiver()
  const context = await testContext({
    ALLOWED_PRIVATE_SERVERS: 'http://127.0.0.1:*',
    WORKER_WEBHOOK_SLOTS: SLOTS,
    WEBHOOK_TIMEOUT_MS: 8_000,
    WORKER_QUEUES: 'publishing,webhooks',
  })
  await context.orchestrator.ensureSearchAttributes()
  service = await startServiceInProcess(context)
})
afterAll(async () => {
  await service?.stop()
  await receiver?.stop()
})

type User = Awaited<ReturnType<typeof service.logIn>>

async function createWebhook(user: User) {
  const path = `/${unique('hook')}`
  const { body } = await user.call('POST', '/api/webhooks', { url: `${receiver.origin}${path}` })
  return { path, id: body.data.id as string, secret: body.data.secret as string }
}

const sweep = (): Promise<{ restarted: number }> =>
  new MockActivityEnvironment().run(createSweepActivities(service.context).sweepDeliveries)
const untilState = (user: User, id: string, state: string, count = 1) =>
  poll(
    async () => (await user.call('GET', `/api/webhooks/${id}/deliveries?state=${state}`)).body.data.total as number,
    (total) => total === count,
  )

it('stored events reach the webhook of their user alone', async () => {
  const [user, other] = [await service.logIn(), await service.logIn()]
  const [hook, others] = [await createWebhook(user), await createWebhook(other)]
  const events = [postEvent('a'), postEvent('a'), postEvent('b')]
  await addEvents(service.context, user.userId, events)
  const received = await receiver.until(hook.path, 3)
  for (const request of received) verifySignature(hook.secret, request)
  expect(received.map(({ event }) => event.id).toSorted()).toEqual(events.map(({ id }) => id).toSorted())
  await untilState(user, hook.id, 'delivered', 3)
  expect(receiver.requestsTo(others.path)).toEqual([])
})

it('the sweeper wakes a webhook when the notice about an event was lost', async () => {
  const user = await service.logIn()
  const hook = await createWebhook(user)
  await storeEvents(service.context, user.userId, [postEvent('a')])
  await sweep()
  await receiver.until(hook.path, 1)
  await untilState(user, hook.id, 'delivered')
})

it('the sweeper wakes a webhook whose workflow was lost while it waited for a retry', async () => {
  const user = await service.logIn()
  const hook = await createWebhook(user)
  receiver.respond(hook.path, (_, response) => void response.writeHead(503, { 'retry-after': '86400' }).end())
  await addEvents(service.context, user.userId, [postEvent('a')])
  await poll(
    async () => (await service.context.webhooks.find(user.userId, hook.id))!,
    ({ wakeAt, health }) => health.pausedUntil !== null && wakeAt?.getTime() === health.pausedUntil.getTime(),
  )
  await service.context.orchestrator.deleteWorkflows([`deliver-webhooks/${hook.id}`])
  receiver.accept(hook.path)
  const past = new Date(Date.now() - DAY)
  await service.context.database.connection
    .collection<{ _id: string }>('webhooks')
    .updateOne({ _id: hook.id }, { $set: { wakeAt: past, 'health.pausedUntil': past } })
  await service.context.database.connection
    .collection('webhookDeliveries')
    .updateOne({ webhookId: hook.id }, { $set: { nextAttemptAt: past } })
  await poll(sweep, () => receiver.requestsTo(hook.path).length === 2)
})

it("hanging receivers of a user delay no other user's events", async () => {
  const [slow, quick] = [await service.logIn(), await service.logIn()]
  let ended = 0
  const hooks = await Promise.all(Array.from({ length: SLOTS + 2 }, () => createWebhook(slow)))
  for (const { path } of hooks) {
    receiver.respond(path, (received, response) => {
      response.on('close', () => (ended += 1))
      hang(received, response)
    })
  }
  await addEvents(service.context, slow.userId, [postEvent('a')])
  const hanging = () => hooks.filter(({ path }) => receiver.requestsTo(path).length > 0).length
  await poll(
    async () => hanging(),
    (count) => count >= SLOTS - 1,
  )
  const hook = await createWebhook(quick)
  await addEvents(service.context, quick.userId, [postEvent('a')])
  await receiver.until(hook.path, 1)
  expect(ended).toBe(0)
  for (const { path } of hooks) receiver.accept(path)
})

it('the history of a delivery has ids only', async () => {
  const user = await service.logIn()
  const hook = await createWebhook(user)
  await addEvents(service.context, user.userId, [
    postEvent('a', { data: { postId: 'a', url: 'https://secret.example' } }),
  ])
  await untilState(user, hook.id, 'delivered')
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = service.context.config
  const histories = JSON.stringify(await readHistories(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE))
  expect(histories).toContain(`deliver-webhooks/${hook.id}`)
  for (const secret of [hook.path, hook.secret, 'secret.example']) expect(histories).not.toContain(secret)
})

it('the commands of the guide receive a test event and verify its signature', async () => {
  const user = await service.logIn()
  const api = await service.app.listen({ host: '127.0.0.1', port: 0 })
  const port = await findFreePort()
  const commands = readCommands('guide/webhooks.md', 'Receive events')
    .replace('http://localhost:4000', api)
    .replace('http://localhost:8800', `http://127.0.0.1:${port}`)
  const env = { TOKEN: user.secrets.token, NODE_PATH: fileURLToPath(new URL('../../../node_modules', import.meta.url)) }
  const output = await runCommands(commands, env, temporaryFolder())
  expect(output).toMatch(/webhook\.test evt_test-\S+\n/)
  expect(output.slice(output.lastIndexOf('\n') + 1)).toContain('"eventType":"webhook.test"')
})

/** Returns a port that was free a moment ago. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('a killed worker', () => {
  it('a webhook gets every event with one id when the worker is killed before and during its delivery', async () => {
    const processes = createProcesses()
    async function startWorker() {
      const worker = processes.start('src/worker.ts', { ...service.context.config, LOG_LEVEL: 'info' })
      worker.stderr!.resume()
      await waitForLogEntry(worker, 'worker ready')
      return worker
    }
    try {
      const user = await service.logIn()
      const hook = await createWebhook(user)
      await service.stopWorkers()
      const worker = await startWorker()
      const [before, during, after] = [postEvent('a'), postEvent('a'), postEvent('a')]
      // The receiver has the event, and the worker dies before it knows.
      receiver.respond(hook.path, hang)
      await addEvents(service.context, user.userId, [before])
      await receiver.until(hook.path, 1)
      await storeEvents(service.context, user.userId, [during])
      worker.kill('SIGKILL')
      await once(worker, 'exit')
      await addEvents(service.context, user.userId, [after])
      receiver.accept(hook.path)
      await startWorker()
      await untilState(user, hook.id, 'delivered', 3)
      const received = receiver.requestsTo(hook.path)
      expect(received.map(({ event }) => event.id)).toEqual([before.id, before.id, during.id, after.id])
      for (const request of received) {
        expect(request.headers['webhook-id']).toBe(request.event.id)
        verifySignature(hook.secret, request)
      }
    } finally {
      processes.killAll()
    }
  })
})
