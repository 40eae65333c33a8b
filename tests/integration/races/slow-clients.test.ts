import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../support/api.ts'

const EACH = 100
/** Only stops a test that fails: slow clients are cut within 11 s. */
const CUT_WITHIN_MS = 150_000

let world: ApiWorld
let ann: SignedIn
let address: URL

beforeAll(async () => {
  world = await apiWorld()
  ann = await signIn(world.context)
  address = new URL(await world.app.listen({ port: 0, host: '127.0.0.1' }))
})
afterAll(() => world?.close())

/** The headers after the request line, with everything that belongs to them. */
const request = (...lines: string[]) =>
  ['', 'Host: test', 'Content-Type: application/json', ...lines, '', ''].join('\r\n')
const authorized = () => `Authorization: Bearer ${ann.accessToken}`
const LONG_BODY = 'Content-Length: 60000'

/** The bytes that a client sends first and then repeatedly. */
const CLIENTS: Record<string, () => { first: string; again: string }> = {
  'say nothing at all': () => ({ first: '', again: '' }),
  'never end their first line': () => ({ first: 'GET /', again: 'x' }),
  'never end their headers': () => ({ first: 'GET /api/posts HTTP/1.1\r\nHost: test\r\n', again: 'x: y\r\n' }),
  'never send the body they announced': () => ({
    first: `POST /api/posts HTTP/1.1${request(authorized(), LONG_BODY)}`,
    again: '',
  }),
  'send their body slowly': () => ({
    first: `POST /api/posts HTTP/1.1${request(authorized(), LONG_BODY)}{`,
    again: ' ',
  }),
  'send chunks slowly': () => ({
    first: `POST /api/posts HTTP/1.1${request(authorized(), 'Transfer-Encoding: chunked')}`,
    again: '1\r\n \r\n',
  }),
  'send a refused body slowly': () => ({ first: `POST /api/posts HTTP/1.1${request(LONG_BODY)}{`, again: ' ' }),
  'pipeline an endless second request': () => ({
    first: 'GET /health/live HTTP/1.1\r\nHost: test\r\n\r\nGET /health/live HTTP/1.1\r\n',
    again: 'x: y\r\n',
  }),
}

function openSlow({ first, again }: { first: string; again: string }): Socket {
  const socket = connect(Number(address.port), address.hostname)
  onTestFinished(() => void socket.destroy())
  const timer = setInterval(() => again && socket.write(again), 500)
  socket.on('error', () => undefined).once('close', () => clearInterval(timer))
  socket.resume().write(first)
  return socket
}

it(
  `${EACH} endlessly slow clients of each kind are cut off, and others are served meanwhile`,
  { timeout: 180_000 },
  async () => {
    // Idle connections after a response are allowed and must not block others.
    for (let count = 0; count < EACH; count++) openSlow({ first: `GET /health/live HTTP/1.1${request()}`, again: '' })
    const sockets = Object.entries(CLIENTS).flatMap(([name, client]) =>
      Array.from({ length: EACH }, () => ({ name, socket: openSlow(client()) })),
    )
    const open = new Map(sockets.map(({ name, socket }) => [socket, name]))
    for (const { socket } of sockets) socket.once('close', () => open.delete(socket))

    const end = Date.now() + CUT_WITHIN_MS
    let served = 0
    while (open.size > 0 && Date.now() < end) {
      const response = await fetch(new URL('/api/posts', address), {
        headers: { ...ann.headers, connection: 'close' },
      })
      expect(response.status).toBe(200)
      served++
    }
    expect(new Set(open.values())).toEqual(new Set())
    expect(served).toBeGreaterThan(0)
    const connections = () => new Promise((resolve) => world.app.server.getConnections((_, count) => resolve(count)))
    await expect.poll(connections, { timeout: 20_000 }).toBeLessThanOrEqual(EACH + 1)
  },
)
