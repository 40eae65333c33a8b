import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { SECOND } from '../../../src/domain/shared/times.ts'
import { createTestKey } from '../../support/api-keys.ts'
import { signIn, type SignedIn } from '../../support/api.ts'
import { poll } from '../../support/service-in-process.ts'
import { connect, connectSocketIo, openPlain, STREAM, TRANSPORTS, type Transport } from './clients.ts'
import { realtimeWorld, type RealtimeWorld } from './world.ts'

const FRONTEND = 'https://app.example.test'
const FURTHER = 'https://admin.example.test'

let world: RealtimeWorld
let ann: SignedIn
/** A token that expires soon. */
let short: string
beforeAll(async () => {
  world = await realtimeWorld({ FRONTEND_URL: `${FRONTEND}/start`, CORS_ORIGINS: FURTHER, SOCKETS_PER_USER: 3 })
  ann = await signIn(world.context)
  short = await world.tokenFor(ann, 1)
})
afterAll(() => world?.close())

const ENGINE = '/socket.io/?EIO=4&transport='
const openEngine = (headers: Record<string, string> = {}) =>
  new WebSocket(new URL(`${ENGINE}websocket`, world.address), { headers })

/** Returns the status of an upgrade response: 101 when the upgrade succeeded. */
function statusOf(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => {
    socket.on('error', () => {})
    socket.once('upgrade', () => resolve(101))
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
  }).then((status) => {
    socket.terminate()
    return status as number
  })
}

const openOver = (transport: Transport) => world.figure(`postonce_sockets_open{transport="${transport}"}`)

/** Waits until unauthenticated connections are closed. */
async function untilStrangersClosed(): Promise<void> {
  world.putForward(11 * SECOND)
  for (const transport of TRANSPORTS) {
    await poll(
      () => openOver(transport),
      (open) => open === 0,
    )
  }
}

describe('the origin of a real-time request', () => {
  const ORIGINS: [string | undefined, boolean][] = [
    [undefined, true],
    [FRONTEND, true],
    [FURTHER, true],
    ['http://localhost:4000', true],
    [`${FRONTEND}:8443`, false],
    ['http://app.example.test', false],
    ['https://app.example.test.evil.test', false],
    ['https://evil.test', false],
    [`${FRONTEND}/`, false],
    ['null', false],
    ['', false],
  ]

  it.each(ORIGINS)('every transport accepts or refuses the origin: %s', async (origin, isAllowed) => {
    const headers = origin === undefined ? {} : { origin }
    const wanted = isAllowed ? [101, 101, 200] : [403, 403, 403]
    expect(
      await Promise.all([
        statusOf(openPlain(world.address, { headers })),
        statusOf(openEngine(headers)),
        fetch(new URL(`${ENGINE}polling`, world.address), { headers }).then(({ status }) => status),
      ]),
    ).toEqual(wanted)
  })

  it('pages of allowed origins may read the response to a poll', async () => {
    const response = await fetch(new URL(`${ENGINE}polling`, world.address), { headers: { origin: FURTHER } })
    expect(response.headers.get('access-control-allow-origin')).toBe(FURTHER)
    expect(response.headers.get('access-control-allow-credentials')).toBe('true')
  })
})

describe.each(TRANSPORTS)('access tokens over %s', (transport) => {
  const BAD: Record<string, (good: string) => string> = {
    'that is malformed': () => 'x',
    'that is empty': () => '',
    'with another signature': (good) => `${good.slice(0, -4)}AAAA`,
    'with algorithm none': (good) =>
      `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${good.split('.')[1]}.`,
    'that is too long': () => 'x'.repeat(3_000),
  }

  it.each(Object.keys(BAD))('a token %s is answered with Unauthorized and closes the connection', async (kind) => {
    const open = await openOver(transport)
    const ended = await world.figure('postonce_sockets_ended_total{reason="unauthorized"}')
    await expect(connect(world.address, transport, BAD[kind]!(ann.accessToken))).rejects.toThrow('Unauthorized')
    expect(await world.figure('postonce_sockets_ended_total{reason="unauthorized"}')).toBe(ended + 1)
    await expect.poll(() => openOver(transport)).toBeLessThanOrEqual(open)
  })

  it('an API key is answered with Unauthorized', async () => {
    const { secret } = await createTestKey(world.context, ann)
    await expect(connect(world.address, transport, secret)).rejects.toThrow('Unauthorized')
  })

  it('an expired token is answered with Unauthorized', async () => {
    await expect.poll(() => world.context.accessTokens.verify(short), { timeout: 50_000 }).toBeNull()
    await expect(connect(world.address, transport, short)).rejects.toThrow('Unauthorized')
  })

  it('a token of a disabled account is answered with the reason', async () => {
    const bob = await signIn(world.context, { isDisabled: true })
    await expect(connect(world.address, transport, bob.accessToken)).rejects.toThrow('Account is disabled')
  })

  it('a token of a user with the maximum number of sockets is refused until a socket closes', async () => {
    const bob = await signIn(world.context)
    const sockets = await Promise.all([1, 2, 3].map(() => connect(world.address, transport, bob.accessToken)))
    await expect(connect(world.address, transport, bob.accessToken)).rejects.toThrow('Too many open connections')
    sockets[0]!.close()
    await sockets[0]!.closed
    await expect
      .poll(() =>
        connect(world.address, transport, bob.accessToken).then(
          (client) => client.close(),
          (error: Error) => error.message,
        ),
      )
      .toBeUndefined()
    for (const socket of sockets) socket.close()
  })
})

/** The last message and the close code that a raw socket received. */
async function endOf(socket: WebSocket): Promise<{ last: string; code: number }> {
  let last = ''
  socket.on('error', () => {})
  socket.on('message', (text: Buffer) => (last = text.toString()))
  const [code] = (await once(socket, 'close')) as [number]
  return { last, code }
}

/**
 * Resolves when the socket is open. A first message can arrive together with the upgrade response, so tests that need it
 * listen before they wait for this.
 */
async function opened(socket: WebSocket): Promise<WebSocket> {
  await once(socket, 'open')
  return socket
}

const auth = () => JSON.stringify({ auth: { token: ann.accessToken } })

describe('the plain WebSocket transport', () => {
  const closedWith = (code: number, words: string) => ({ code, last: expect.stringContaining(words) as string })
  const MESSAGES: Record<string, [() => string | Buffer, object]> = {
    'that is not JSON': [() => 'hello', closedWith(1008, 'not valid')],
    'that is null': [() => 'null', closedWith(1008, 'not valid')],
    'that is an array': [() => '[]', closedWith(1008, 'not valid')],
    'with another event': [() => '{"event":"notification"}', closedWith(1008, 'not valid')],
    'with a token that is not text': [() => '{"auth":{"token":{"$ne":1}}}', closedWith(1008, 'not valid')],
    'that is empty': [() => '', closedWith(1008, 'not valid')],
    'that is binary': [() => Buffer.from(auth()), closedWith(1008, 'not valid')],
    'larger than 4 KiB': [() => ' '.repeat(4_097), { code: 1009, last: '' }],
  }

  it.each(Object.keys(MESSAGES))('the connection closes on a first message %s', async (kind) => {
    const [message, wanted] = MESSAGES[kind]!
    const socket = await opened(openPlain(world.address))
    const ended = endOf(socket)
    socket.send(message())
    expect(await ended).toEqual(wanted)
  })

  it('the connection closes on more than ten messages in a second', async () => {
    const socket = await opened(openPlain(world.address, { headers: ann.headers }))
    const ended = endOf(socket)
    // Twice as many messages, because a second may end in between.
    for (let nth = 0; nth < 22; nth++) socket.send(auth())
    expect(await ended).toMatchObject({ code: 1008 })
    expect(await world.figure('postonce_sockets_ended_total{reason="flooding"}')).toBeGreaterThan(0)
  })

  it('pings count as messages', async () => {
    const socket = await opened(openPlain(world.address, { headers: ann.headers }))
    const ended = endOf(socket)
    for (let nth = 0; nth < 22; nth++) socket.ping()
    expect(await ended).toMatchObject({ code: 1008 })
  })

  it('the Authorization header authenticates the connection', async () => {
    const socket = openPlain(world.address, { headers: ann.headers })
    const [text] = (await once(socket, 'message')) as [Buffer]
    expect(JSON.parse(text.toString())).toMatchObject({ event: 'ready' })
    socket.close()
  })

  it('a request that is not a WebSocket upgrade is 426', async () => {
    const response = await fetch(new URL(STREAM, world.address))
    expect(response.status).toBe(426)
    expect(await response.json()).toMatchObject({ success: false, code: 'UPGRADE_REQUIRED' })
  })
})

describe('the Socket.IO transport', () => {
  it.each([
    ['a binary message', () => Buffer.from('40')],
    ['a malformed packet', () => 'x'],
    ['a packet larger than 4 KiB', () => `40${' '.repeat(4_097)}`],
    ['an event before a namespace was joined', () => '42["auth",{}]'],
  ])('the connection closes on %s', async (_, message) => {
    const socket = openEngine()
    await once(socket, 'message')
    const ended = endOf(socket)
    socket.send(message())
    await ended
  })

  it('the connection closes on more than ten packets in a second, also in a single body', async () => {
    const ended = await world.figure('postonce_sockets_ended_total{reason="flooding"}')
    const url = new URL(`${ENGINE}polling`, world.address)
    const { sid } = JSON.parse((await (await fetch(url)).text()).slice(1)) as { sid: string }
    url.searchParams.set('sid', sid)
    await fetch(url, { method: 'POST', body: Array(200).fill('3').join('\x1e') })
    expect(await world.figure('postonce_sockets_ended_total{reason="flooding"}')).toBe(ended + 1)
  })

  it('a body larger than 4 KiB is refused', async () => {
    const url = new URL(`${ENGINE}polling`, world.address)
    const { sid } = JSON.parse((await (await fetch(url)).text()).slice(1)) as { sid: string }
    url.searchParams.set('sid', sid)
    expect((await fetch(url, { method: 'POST', body: '4'.repeat(4_097) })).status).toBe(413)
  })

  it('pings detect a client that does not read within 30 s', async () => {
    const socket = openEngine()
    const [text] = (await once(socket, 'message')) as [Buffer]
    const { pingInterval, pingTimeout } = JSON.parse(text.toString().slice(1)) as Record<string, number>
    expect(pingInterval! + pingTimeout!).toBeLessThanOrEqual(30 * SECOND)
    socket.terminate()
  })

  it('other namespaces do not exist', async () => {
    const options = { namespace: '/admin' }
    const client = connectSocketIo(world.address, ann.accessToken, { transports: ['websocket'] }, options)
    await expect(client).rejects.toThrow('Invalid namespace')
  })
})

it('an unauthenticated client is disconnected after 10 s on every transport', async () => {
  await untilStrangersClosed()
  const ended = await world.figure('postonce_sockets_ended_total{reason="silent"}')
  await opened(openPlain(world.address))
  await once(openEngine(), 'message')
  await fetch(new URL(`${ENGINE}polling`, world.address))
  expect(await Promise.all(TRANSPORTS.map(openOver))).toEqual([1, 1, 1])
  await untilStrangersClosed()
  expect(await world.figure('postonce_sockets_ended_total{reason="silent"}')).toBe(ended + 3)
})

it('a client that responds to no ping is disconnected after 30 s', async () => {
  const socket = openPlain(world.address, { headers: ann.headers, autoPong: false })
  await once(socket, 'message')
  const pinged = once(socket, 'ping')
  world.putForward(11 * SECOND)
  await pinged
  const ended = endOf(socket)
  world.putForward(21 * SECOND)
  expect((await ended).code).toBe(1006)
})

describe('a process with the maximum number of connections', () => {
  const fill = async (overrides: object, token: string | null) => {
    const full = await realtimeWorld(overrides)
    const { accessToken } = await signIn(full.context)
    const socket = await opened(openPlain(full.address))
    if (token !== null) {
      socket.send(JSON.stringify({ auth: { token: accessToken } }))
      await once(socket, 'message')
    }
    return full
  }

  it.each([
    ['in total', { SOCKETS_PER_PROCESS: 1 }, 'a token'],
    ['without a token', { SOCKETS_WITHOUT_TOKEN: 1 }, null],
  ])('a further connection is 503 when the limit is on connections %s', async (_, overrides, token) => {
    const full = await fill(overrides, token)
    expect(await statusOf(openPlain(full.address))).toBe(503)
    const polling = await fetch(new URL(`${ENGINE}polling`, full.address))
    expect(polling.status).toBe(503)
    expect(polling.headers.get('retry-after')).toBe('10')
    await full.close()
  })
})

it('connection attempts count against the limit per address', async () => {
  const limited = await realtimeWorld({ RATE_LIMIT_PER_ADDRESS: 3 })
  const statuses: number[] = []
  for (let nth = 0; nth < 2; nth++) statuses.push(await statusOf(openPlain(limited.address)))
  statuses.push((await fetch(new URL(`${ENGINE}polling`, limited.address))).status)
  statuses.push(await statusOf(openPlain(limited.address)))
  const engine = new WebSocket(new URL(`${ENGINE}websocket`, limited.address))
  statuses.push(await statusOf(engine))
  expect(statuses).toEqual([101, 101, 200, 429, 429])
  await limited.close()
})

describe('other upgrade requests', () => {
  it.each([
    ['to HTTP/2 on any route', '/health/live', 'h2c', 200],
    ['to WebSocket on a route without one', '/health/live', 'websocket', 200],
    ['to HTTP/2 on the stream', STREAM, 'h2c', 426],
  ])('an upgrade is answered like a normal request: %s', async (_, path, upgrade, status) => {
    const { hostname, port } = new URL(world.address)
    const socket = connectTcp(Number(port), hostname)
    // The connection stays usable for the next request.
    for (let time = 0; time < 2; time++) {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`))
    }
    socket.destroy()
  })
})
