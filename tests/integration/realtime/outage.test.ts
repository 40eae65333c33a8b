import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { connect as connectTcp, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findMongod, startMongod, type Mongod } from '../../../sandbox/servers/mongod.ts'
import { freePort } from '../../../sandbox/servers/process.ts'
import { createContext } from '../../../src/context.ts'
import { signIn, type SignedIn } from '../../support/api.ts'
import { newNotification } from '../../support/notifications.ts'
import { poll } from '../../support/service-in-process.ts'
import { connect, type Client } from './clients.ts'
import { realtimeWorld, type RealtimeWorld } from './world.ts'

/** A database for this file only, which keeps its data during an outage. */
const dir = mkdtempSync(join(tmpdir(), 'postonce-realtime-'))
let port: number
let mongod: Mongod
let world: RealtimeWorld
let ann: SignedIn
let client: Client

const startDatabase = async (data: string): Promise<Mongod> =>
  startMongod({ program: await findMongod(), logFile: join(dir, 'mongod.log'), dir: join(dir, data), port })

beforeAll(async () => {
  port = await freePort()
  mongod = await startDatabase('first')
  world = await realtimeWorld({ MONGODB_URL: mongod.url })
  ann = await signIn(world.context)
  client = await connect(world.address, 'plain', ann.accessToken)
})

afterAll(async () => {
  await world?.close()
  await mongod?.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** Retries storing the notification until the database accepts it. */
const notifyWithRetries = () =>
  poll(
    () => world.notify(ann).catch(() => null),
    (message) => message !== null,
  )

async function expectNotification(): Promise<void> {
  const next = client.next()
  const message = await notifyWithRetries()
  expect(await next).toMatchObject({ message })
}

it('clients reconnect when the database lost the stream position, and then receive notifications as before', async () => {
  await expectNotification()
  await mongod.stop()
  mongod = await startDatabase('second')
  await world.context.database.createSchema()
  // The first event shows that the stream cannot resume.
  await notifyWithRetries()
  expect(await client.closed).toBe('Notifications may have been missed. Connect again and reload the list.')
  ann = await signIn(world.context)
  client = await connect(world.address, 'plain', ann.accessToken)
  await expectNotification()
})

describe('listening clients receive each notification exactly once', () => {
  it('listening clients miss nothing when the primary steps down', async () => {
    await expectNotification()
    const admin = world.context.database.connection.getClient().db('admin')
    await admin.command({ replSetStepDown: 1, force: true }).catch(() => {})
    await expectNotification()
  })

  it('listening clients miss nothing when the database is killed and restarts', async () => {
    process.kill(mongod.pid, 'SIGKILL')
    mongod = await startDatabase('second')
    await expectNotification()
    await expectNotification()
    expect(client.isOpen()).toBe(true)
    expect(new Set(client.received.map(({ _id }) => _id)).size).toBe(client.received.length)
    const { data } = (await world.app.inject({ url: '/api/notifications', headers: ann.headers })).json()
    expect(client.received.toReversed()).toEqual(data.notifications)
  })

  it('a connection of an account that was disabled during an outage is closed', async () => {
    const bob = await signIn(world.context)
    const his = await connect(world.address, 'websocket', bob.accessToken)
    process.kill(mongod.pid, 'SIGSTOP')
    const users = world.context.database.connection.collection<{ _id: string }>('users')
    const disabled = users.updateOne({ _id: bob.user._id }, { $set: { isDisabled: true } })
    process.kill(mongod.pid, 'SIGCONT')
    await disabled
    expect(await his.closed).toBe('Account is disabled')
  })
})

/** The connection of a single process to the database, which a test can cut. */
async function startCuttableProxy(to: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((socket) => {
    const onward = connectTcp(to, '127.0.0.1')
    for (const side of [socket, onward]) {
      sockets.add(side)
      side
        .on('error', () => undefined)
        .once('close', () => {
          sockets.delete(side)
          for (const other of [socket, onward]) other.destroy()
        })
    }
    if (isCut) socket.destroy()
    else socket.pipe(onward).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: own } = server.address() as AddressInfo
  return {
    url: `mongodb://127.0.0.1:${own}/cut?directConnection=true`,
    cut(): void {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    reconnect: (): void => void (isCut = false),
    close: () => void server.close(),
  }
}

it('a process that was cut off from the database sends all missed notifications in order and once', async () => {
  const proxy = await startCuttableProxy(port)
  const cutOff = await realtimeWorld({ MONGODB_URL: proxy.url })
  const elsewhere = await createContext({
    ...cutOff.context.config,
    MONGODB_URL: proxy.url.replace(/:\d+/, `:${port}`),
  })
  const bob = await signIn(cutOff.context)
  const his = await connect(cutOff.address, 'websocket', bob.accessToken)
  const warn = vi.spyOn(cutOff.context.logger, 'warn')
  proxy.cut()
  for (let nth = 0; nth < 5; nth++) await elsewhere.notifications.insertOnce(newNotification(bob.user._id))
  // The driver searches for the database for some seconds and then leaves the recovery to the service.
  await poll(
    async () => warn.mock.calls.length,
    (warnings) => warnings > 0,
  )
  for (let nth = 0; nth < 5; nth++) await elsewhere.notifications.insertOnce(newNotification(bob.user._id))
  proxy.reconnect()
  const stored = await elsewhere.notifications.listOf(bob.user._id, 10)
  await poll(
    async () => his.received.length,
    (received) => received >= stored.length,
  )
  expect(his.received.map(({ _id }) => _id)).toEqual(stored.map(({ _id }) => _id).toReversed())
  his.close()
  await Promise.all([cutOff.close(), elsewhere.close()])
  proxy.close()
})
