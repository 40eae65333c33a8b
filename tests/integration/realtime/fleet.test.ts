import { afterAll, beforeAll, expect, it } from 'vitest'
import { signIn, type SignedIn } from '../../support/api.ts'
import { newNotification } from '../../support/notifications.ts'
import { connect, connectSocketIo, TRANSPORTS, type Client, type Transport } from './clients.ts'
import { startFleet, type Fleet } from '../../support/fleet.ts'

let fleet: Fleet
beforeAll(async () => {
  fleet = await startFleet(2)
})
afterAll(() => fleet?.close())

const addresses = () => fleet.members.map(({ address }) => address)

/** Stores a notification like a worker, without a connection to either API process. */
async function storeNotification(who: SignedIn): Promise<string> {
  const notification = newNotification(who.user._id)
  await fleet.context.notifications.insertOnce({ ...notification, message: notification.dedupeKey })
  return notification.dedupeKey
}

const USERS = 50
const SOCKETS_PER_USER = 20

it(
  `notifications reach the ${USERS * SOCKETS_PER_USER} sockets of ${USERS} users on two processes, and each socket only its own user's`,
  { timeout: 120_000 },
  async () => {
    const users = await Promise.all(Array.from({ length: USERS }, () => signIn(fleet.context)))
    const listen = (who: SignedIn, nth: number) => {
      const transport: Transport = nth % 2 === 0 ? 'plain' : 'websocket'
      return connect(addresses()[Math.floor(nth / 2) % 2]!, transport, who.accessToken)
    }
    const clients: Client[][] = []
    for (const who of users) {
      clients.push(await Promise.all(Array.from({ length: SOCKETS_PER_USER }, (_, nth) => listen(who, nth))))
    }
    const all = clients.flat()
    expect(await Promise.all(fleet.members.map(({ readMetric }) => readMetric('postonce_sockets_open')))).toEqual([
      500, 500,
    ])

    const delays: number[] = []
    for (const [nth, who] of users.entries()) {
      const storedAt = performance.now()
      const coming = clients[nth]!.map(async (client) => {
        await client.next()
        delays.push(performance.now() - storedAt)
      })
      await storeNotification(who)
      await Promise.all(coming)
    }
    for (const [nth, { user }] of users.entries()) {
      for (const { received } of clients[nth]!) expect(received.map(({ userId }) => userId)).toEqual([user._id])
    }
    delays.sort((a, b) => a - b)
    const percentile = (share: number) => delays[Math.floor(delays.length * share)]!.toFixed(1)
    console.log(
      `${all.length} sockets: from before the insert to the client p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`,
    )
    for (const client of all) client.close()
  },
)

const EVENTS = 100

it(`${EVENTS} events are all in the list and arrive at most once at clients that connect and disconnect`, async () => {
  const ann = await signIn(fleet.context)
  const received = new Set<string>()
  const receivedIds: string[] = []
  let isOver = false

  /** Connects to either process, stays for some events, disconnects without a message, and reads the list after it reconnects. */
  async function reconnectUntilOver(nth: number): Promise<void> {
    while (!isOver) {
      const address = addresses()[Math.floor(Math.random() * 2)]!
      const client =
        nth % 2 === 0
          ? await connect(address, 'plain', ann.accessToken)
          : await connectSocketIo(address, ann.accessToken, { transports: nth % 4 === 1 ? ['websocket'] : ['polling'] })
      for (const id of await listed(address)) received.add(id)
      for (let stay = Math.ceil(Math.random() * 5); stay > 0 && !isOver; stay--) {
        await Promise.race([client.next(), over])
      }
      client.close()
      const ids = client.received.map(({ _id }) => _id)
      expect(new Set(ids).size).toBe(ids.length)
      receivedIds.push(...ids)
      for (const id of ids) received.add(id)
    }
  }

  async function listed(address: string): Promise<string[]> {
    const response = await fetch(new URL('/api/notifications?limit=200', address), { headers: ann.headers })
    const { data } = (await response.json()) as { data: { notifications: { _id: string }[] } }
    return data.notifications.map(({ _id }) => _id)
  }

  let end = (): void => {}
  const over = new Promise<void>((resolve) => void (end = resolve))
  const clients = [0, 1, 2, 3].map(reconnectUntilOver)
  const lasting = await connect(addresses()[0]!, 'websocket', ann.accessToken)
  for (let nth = 0; nth < EVENTS; nth++) {
    const coming = lasting.next()
    await storeNotification(ann)
    await coming
  }
  isOver = true
  end()
  await Promise.all(clients)
  const list = await listed(addresses()[1]!)
  expect(list).toHaveLength(EVENTS)
  expect(lasting.received.map(({ _id }) => _id).toReversed()).toEqual(list)
  expect([...received].every((id) => list.includes(id))).toBe(true)
  expect(receivedIds.length).toBeGreaterThan(EVENTS / 10)
  lasting.close()
})

it('a stopping process informs its clients and ends in time', { timeout: 60_000 }, async () => {
  const { accessToken } = await signIn(fleet.context)
  const [leaving, staying] = addresses() as [string, string]
  const transports = Array.from({ length: 30 }, (_, nth) => TRANSPORTS[nth % TRANSPORTS.length]!)
  const clients = await Promise.all(transports.map((transport) => connect(leaving, transport, accessToken)))
  // A process whose shutdown exceeds its time exits with another code.
  expect(await fleet.members[0]!.stop()).toBe(0)
  const words = await Promise.all(clients.map(({ closed }) => closed))
  expect(words).toEqual(clients.map(() => 'The service is restarting. Connect again.'))
  const again = await connect(staying, 'plain', accessToken)
  expect(again.isOpen()).toBe(true)
  again.close()
})
