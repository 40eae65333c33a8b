import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findMongod, startMongod, type Mongod } from '../../sandbox/servers/mongod.ts'
import { freePort } from '../../sandbox/servers/process.ts'
import { createContext } from '../../src/context.ts'
import { signIn, type SignedIn } from '../support/api.ts'
import { newNotification } from '../support/notifications.ts'
import { poll } from '../support/service-in-process.ts'
import { connect, type Client } from './clients.ts'
import { realtimeWorld, type RealtimeWorld } from './world.ts'

/** A database of this file's own, which keeps its data while it is away. */
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

/** Stores it as soon as the database takes it again. */
const happenAtLast = () =>
  poll(
    () => world.happen(ann).catch(() => null),
    (message) => message !== null,
  )

/** By another process, which finds the database before the one whose stream it was. */
async function happenElsewhere(): Promise<void> {
  const other = await createContext(world.context.config)
  await other.notifications.insertOnce(newNotification(ann.user._id))
  await other.close()
}

async function expectToHear(): Promise<void> {
  const coming = client.next()
  const message = await happenAtLast()
  expect(await coming).toMatchObject({ message })
}

it('where the database no longer knows what was told last, clients are made to connect again, and then hear as before', async () => {
  await expectToHear()
  await mongod.stop()
  mongod = await startDatabase('second')
  await world.context.database.createIndexes()
  // With the first thing that happens it shows that the stream cannot be what it was.
  await happenAtLast()
  expect(await client.closed).toBe('Notifications may have been missed, connect again')
  ann = await signIn(world.context)
  client = await connect(world.address, 'plain', ann.accessToken)
  await expectToHear()
})

describe('those who listen go on hearing, each thing once,', () => {
  it('when the primary steps down', async () => {
    await expectToHear()
    const admin = world.context.database.connection.getClient().db('admin')
    await admin.command({ replSetStepDown: 1, force: true }).catch(() => {})
    await expectToHear()
  })

  it('when the database is killed and comes back, also of what was stored before the stream was open again', async () => {
    const warn = vi.spyOn(world.context.logger, 'warn')
    process.kill(mongod.pid, 'SIGKILL')
    // The driver looks for the database for some seconds, and then leaves the rest to us.
    await poll(
      async () => warn.mock.calls.length,
      (warnings) => warnings > 0,
    )
    mongod = await startDatabase('second')
    const coming = client.next()
    await happenElsewhere()
    expect(await coming).toMatchObject({ userId: ann.user._id })
    await expectToHear()
    expect(client.isOpen()).toBe(true)
    expect(new Set(client.received.map(({ _id }) => _id)).size).toBe(client.received.length)
    const { data } = (await world.app.inject({ url: '/api/notifications', headers: ann.headers })).json()
    expect(client.received.toReversed()).toEqual(data.notifications)
  })

  it('and an account that was disabled meanwhile is closed', async () => {
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
