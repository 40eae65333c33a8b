import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn, type SignedIn } from '../../support/api.ts'
import { newNotification } from '../../support/notifications.ts'
import { connect, connectSocketIo, openPlain, TRANSPORTS, type Client } from './clients.ts'
import { realtimeWorld, type RealtimeWorld } from './world.ts'

let world: RealtimeWorld
beforeAll(async () => {
  world = await realtimeWorld()
})
afterAll(() => world?.close())

/** Stores a notification and resolves when the client has received it, and thus every earlier one. */
async function expectDelivery(who: SignedIn, client: Client): Promise<void> {
  const coming = client.next()
  await world.notify(who)
  await coming
}

describe.each(TRANSPORTS)('real-time notifications over %s', (transport) => {
  it('a user receives their own notifications immediately, as in the list, and other users do not', async () => {
    const [ann, bob] = [await signIn(world.context), await signIn(world.context)]
    const hers = await connect(world.address, transport, ann.accessToken)
    const his = await connect(world.address, transport, bob.accessToken)
    const coming = hers.next()
    const message = await world.notify(ann)
    expect(await coming).toMatchObject({ message, userId: ann.user._id })
    const { data } = (await world.app.inject({ url: '/api/notifications', headers: ann.headers })).json()
    expect(hers.received).toEqual(data.notifications)

    const comingToo = his.next()
    await world.notify(bob)
    await comingToo
    expect(his.received.map(({ userId }) => userId)).toEqual([bob.user._id])
    expect(hers.received).toHaveLength(1)
    for (const client of [hers, his]) client.close()
  })

  it('all clients of a user receive a notification, whatever their transport', async () => {
    const ann = await signIn(world.context)
    const mine = await connect(world.address, transport, ann.accessToken)
    const others = await Promise.all(TRANSPORTS.map((other) => connect(world.address, other, ann.accessToken)))
    const coming = [mine, ...others].map((client) => client.next())
    const message = await world.notify(ann)
    expect(await Promise.all(coming)).toEqual(coming.map(() => expect.objectContaining({ message }) as object))
    for (const client of [mine, ...others]) client.close()
  })

  it('a notification stored right after a client connects reaches it', async () => {
    const ann = await signIn(world.context)
    for (let time = 0; time < 10; time++) {
      const client = await connect(world.address, transport, ann.accessToken)
      const coming = client.next()
      const message = await world.notify(ann)
      expect(await coming).toMatchObject({ message })
      client.close()
      await client.closed
    }
  })

  it('an aborted transaction sends no notification', async () => {
    const ann = await signIn(world.context)
    const client = await connect(world.address, transport, ann.accessToken)
    const { database, notifications } = world.context
    const given = database.transaction(async (session) => {
      await notifications.insert(await notifications.toRecords([newNotification(ann.user._id)]), session)
      throw new Error('given up')
    })
    await expect(given).rejects.toThrow('given up')
    await expectDelivery(ann, client)
    expect(client.received).toHaveLength(1)
    client.close()
  })
})

describe('Socket.IO notifications', () => {
  it('the namespaces / and /api send the same notifications, also over a single connection', async () => {
    const ann = await signIn(world.context)
    const shared = { transports: ['websocket'], forceNew: false }
    const clients = [
      await connectSocketIo(world.address, ann.accessToken, shared, { namespace: '/' }),
      await connectSocketIo(world.address, ann.accessToken, shared, { namespace: '/api' }),
    ]
    expect(await world.figure('postonce_sockets_open{transport="websocket"}')).toBe(1)
    const coming = clients.map((client) => client.next())
    await world.notify(ann)
    const [one, other] = await Promise.all(coming)
    expect(one).toEqual(other)

    clients[0]!.close()
    await expectDelivery(ann, clients[1]!)
    expect(clients[0]!.received).toHaveLength(1)
    clients[1]!.close()
  })

  it('a client that switches from polling to a WebSocket misses nothing', async () => {
    const ann = await signIn(world.context)
    const client = await connectSocketIo(world.address, ann.accessToken, { transports: ['polling', 'websocket'] })
    let sent = 0
    do {
      await expectDelivery(ann, client)
      sent++
    } while ((await world.figure('postonce_sockets_open{transport="websocket"}')) === 0)
    await expectDelivery(ann, client)
    expect(new Set(client.received.map(({ _id }) => _id)).size).toBe(sent + 1)
    expect(client.received).toHaveLength(sent + 1)
    client.close()
  })
})

/** Delays the opened change stream for a moment and reports when it opens. */
function delayChangeStream({ context }: RealtimeWorld): string[] {
  const order: string[] = []
  const { changes } = context
  const { follow } = changes
  changes.follow = (follower) => {
    const feed = follow(follower)
    const late = feed.opened().then(() => delay(300))
    void late.then(() => order.push('followed'))
    return { ...feed, opened: () => late }
  }
  return order
}

it('a process opens a single change stream before it reports a client as connected, and none without clients', async () => {
  const quiet = await realtimeWorld()
  const { connection } = quiet.context.database
  const admin = connection.getClient().db('admin')
  const ofThisDatabase = { ns: { $regex: `^${connection.name}[.]` }, 'cursor.tailable': true }
  const running = [{ $currentOp: { allUsers: true, idleCursors: true } }, { $match: ofThisDatabase }]
  const streams = async () => {
    const options = { readConcern: { level: 'local' } } as const
    const found = await admin.aggregate<{ cursor?: { cursorId: bigint } }>(running, options).toArray()
    return new Set(found.flatMap(({ cursor }) => (cursor ? [String(cursor.cursorId)] : []))).size
  }
  expect(await streams()).toBe(0)
  const order = delayChangeStream(quiet)
  const users = await Promise.all([1, 2, 3].map(() => signIn(quiet.context)))
  for (const { accessToken } of users) {
    for (const transport of TRANSPORTS) await connect(quiet.address, transport, accessToken)
    order.push('connected')
  }
  expect(order).toEqual(['followed', 'connected', 'connected', 'connected'])
  expect(await streams()).toBe(1)
  await quiet.app.close()
  await expect.poll(streams, { timeout: 50_000 }).toBe(0)
  await quiet.context.close()
})

it('an unauthenticated client receives nothing', async () => {
  const ann = await signIn(world.context)
  const stranger = openPlain(world.address)
  const received: unknown[] = []
  stranger.on('message', (text) => received.push(text))
  await once(stranger, 'open')
  await expectDelivery(ann, await connect(world.address, 'plain', ann.accessToken))
  const pong = once(stranger, 'pong')
  stranger.ping()
  await pong
  expect(received).toEqual([])
  stranger.close()
})
