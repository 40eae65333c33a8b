import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { signIn, type SignedIn } from '../../support/api.ts'
import { newNotification } from '../../support/notifications.ts'
import { connect, openPlain } from './clients.ts'
import { startFleet, type Fleet } from '../../support/fleet.ts'

const READERS = 100
const MiB = 1024 * 1024
/** Half of this is more than the kernel buffers for a client. */
const MOST_SENT = 75
const MESSAGE_BYTES = 128 * 1024

let fleet: Fleet
let ann: SignedIn
beforeAll(async () => {
  fleet = await startFleet(1)
  ann = await signIn(fleet.context)
})
afterAll(() => fleet?.close())

const address = () => fleet.members[0]!.address
const figure = (name: string) => fleet.members[0]!.readMetric(name)

/** Connects and then stops reading. */
const PAUSED: Record<string, () => Promise<() => void>> = {
  async plain() {
    const socket = openPlain(address(), { headers: ann.headers })
    await resolveOnMessage(socket, '"ready"')
    socket.pause()
    return () => socket.terminate()
  },
  async websocket() {
    const url = `${address().replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`
    const socket = new WebSocket(url)
    await resolveOnMessage(socket, '0{')
    socket.send(`40${JSON.stringify({ token: ann.accessToken })}`)
    await resolveOnMessage(socket, '40')
    socket.pause()
    return () => socket.terminate()
  },
  async polling() {
    const url = `${address()}/socket.io/?EIO=4&transport=polling`
    const { sid } = JSON.parse((await (await fetch(url)).text()).slice(1)) as { sid: string }
    const body = `40${JSON.stringify({ token: ann.accessToken })}`
    await fetch(`${url}&sid=${sid}`, { method: 'POST', body })
    await fetch(`${url}&sid=${sid}`)
    return () => {}
  },
}

function resolveOnMessage(socket: WebSocket, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (text: Buffer) => text.toString().includes(words) && resolve())
  })
}

it.each(Object.keys(PAUSED))(
  `${READERS} clients over %s that stop reading are dropped at 1 MiB each, and other clients are not affected`,
  async (transport) => {
    const reader = await connect(address(), 'websocket', ann.accessToken)
    const before = await figure('process_resident_memory_bytes')
    const dropped = await figure('postonce_sockets_ended_total')
    const stop = await Promise.all(Array.from({ length: READERS }, PAUSED[transport]!))
    expect(await figure('postonce_sockets_open')).toBe(READERS + 1)

    let most = 0
    let sent = 0
    while ((await figure('postonce_sockets_open')) > 1 && sent < MOST_SENT) {
      const coming = reader.next()
      const notification = newNotification(ann.user._id, { message: 'x'.repeat(MESSAGE_BYTES) })
      await fleet.context.notifications.insertOnce(notification)
      await coming
      sent++
      most = Math.max(most, await figure('process_resident_memory_bytes'))
    }
    expect(await figure('postonce_sockets_open')).toBe(1)
    expect((await figure('postonce_sockets_ended_total')) - dropped).toBe(READERS)
    expect(reader.received).toHaveLength(sent)
    expect((most - before) / MiB).toBeLessThan(READERS * 3)
    reader.close()
    for (const end of stop) end()
  },
)
