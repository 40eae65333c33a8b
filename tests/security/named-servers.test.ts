import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import { startMastodon, type Mastodon } from '../../sandbox/platforms/mastodon.ts'
import { createBluesky } from '../../src/platforms/bluesky/adapter.ts'
import type { Credentials } from '../../src/platforms/contract.ts'
import { PlatformError } from '../../src/platforms/errors.ts'
import { createMastodon } from '../../src/platforms/mastodon/adapter.ts'
import { createHttpClient } from '../../src/platforms/shared/http.ts'
import type { ResolveName } from '../../src/platforms/shared/public-lookup.ts'
import { createPublicServers } from '../../src/platforms/shared/public-servers.ts'
import { apiWorld, signIn, type ApiWorld } from '../support/api.ts'
import { controlOf } from '../support/platform-control.ts'
import { USER_AGENT } from '../support/user-agent.ts'
import { memoryApplications, memoryFacts, memoryMedia } from '../platforms/shared/support.ts'

/** Attacks with servers that a user names: calls to private addresses, and answers that never end. */

const REDIRECT_URI = 'https://api.example.test/api/platform/mastodon/callback'
const CONNECT = '/api/platform/mastodon/connect'
const ANSWER = 'the answer of a private server'

/** A server on the private network. Nothing may ever connect to it. */
let internal: { url: string; host: string; port: number; connections: number; stop(): Promise<void> }
let mastodon: Mastodon
/** A private server that users may name here. It refuses every request. */
let refusing: Awaited<ReturnType<typeof startAnswering>>
let world: ApiWorld
let opened: { close(): Promise<void> }[] = []

async function startInternal() {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    internal.connections += 1
    sockets.add(socket.on('error', () => undefined))
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    port,
    connections: 0,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

beforeAll(async () => {
  internal = await startInternal()
  mastodon = await startMastodon()
  refusing = await startAnswering((response) => response.writeHead(418, { 'x-secret': ANSWER }).end(ANSWER))
  world = await apiWorld({
    MASTODON_INSTANCE_URL: mastodon.url,
    MASTODON_CLIENT_ID: 'id',
    MASTODON_CLIENT_SECRET: 'secret',
    ALLOWED_PRIVATE_SERVERS: refusing.url,
  })
})
afterEach(async () => {
  await Promise.all(opened.map(({ close }) => close()))
  opened = []
  if (internal.connections > 0) throw new Error('The private server got a connection')
})
afterAll(async () => {
  await world?.close()
  await refusing?.close()
  await mastodon?.stop()
  await internal?.stop()
})

const within = (ms: number) => ({ signal: AbortSignal.timeout(ms) })

async function failureOf(work: Promise<unknown>): Promise<PlatformError> {
  const error = await work.then(
    () => new Error('It did not fail'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof PlatformError) return error
  throw error
}

function mastodonAdapter({ allowedPrivate = [] as string[], resolve = undefined as ResolveName | undefined }) {
  const created = createMastodon({
    instanceUrl: mastodon.url,
    clientId: 'id',
    clientSecret: 'secret',
    named: {
      allowedPrivate,
      ...(resolve && { resolve }),
      application: { name: 'postonce', website: 'https://api.example.test' },
    },
    applications: memoryApplications(),
    publishTimeoutMs: 1_500,
    media: memoryMedia().media,
    facts: memoryFacts(),
    userAgent: USER_AGENT,
  })
  opened.push(created)
  const begin = (server: string, ms = 5_000) =>
    created.redirect.begin({ state: 's', redirectUri: REDIRECT_URI, server }, within(ms))
  return { ...created, begin }
}

/** Starts a server that answers every request in one way, and records how much it could send. */
async function startAnswering(answer: (response: ServerResponse) => void) {
  const sent = { bytes: 0, closed: 0, requests: 0 }
  const server: HttpServer = createServer((request, response) => {
    sent.requests += 1
    request.resume()
    const { socket } = request
    response.on('error', () => undefined)
    response.on('close', () => {
      sent.closed += 1
      sent.bytes = socket.bytesWritten
    })
    answer(response)
  })
  const url = await listenOnLoopback(server)
  return { url, sent, close: () => closeServer(server) }
}

/** Such a server for one test. */
async function useAnswering(answer: (response: ServerResponse) => void) {
  const server = await startAnswering(answer)
  opened.push(server)
  return server
}

const accountAt = (serviceUrl: string): Credentials => ({
  accountId: '1@x',
  handle: 'ann@x',
  serviceUrl,
  accessToken: 'token',
  version: 1,
})

describe('the connect route', () => {
  const port = () => internal.port
  it.each<[string, () => string]>([
    ['loopback', () => internal.url],
    ['loopback without a scheme', () => internal.host],
    ['loopback by name', () => `http://localhost:${port()}`],
    ['loopback by https', () => `https://127.0.0.1:${port()}`],
    ['loopback in decimal', () => `http://2130706433:${port()}`],
    ['loopback in octal', () => `http://0177.0.0.1:${port()}`],
    ['loopback in hex', () => `http://0x7f.0x0.0x0.0x1:${port()}`],
    ['loopback, shortened', () => `127.1`],
    ['loopback in IPv6', () => `http://[::1]:${port()}`],
    ['loopback, mapped', () => `http://[::ffff:127.0.0.1]:${port()}`],
    ['loopback, mapped in hex', () => `https://[::ffff:7f00:1]`],
    ['any address', () => `http://0.0.0.0:${port()}`],
    ['loopback behind a user', () => `http://mastodon.social@127.0.0.1:${port()}`],
    ['loopback behind a handle', () => `@ann@127.0.0.1`],
    ['loopback behind a fragment', () => `http://127.0.0.1:${port()}#mastodon.social`],
    ['loopback behind a backslash', () => `https://127.0.0.1:${port()}\\.mastodon.social`],
    ['a private address', () => 'https://10.0.0.1'],
    ['a private address', () => '192.168.1.1'],
    ['a link-local address', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a link-local address', () => 'https://[fe80::1]'],
    ['a unique local address', () => 'https://[fd00::1]'],
    ['NAT64', () => 'https://[64:ff9b::7f00:1]'],
    ['a public address', () => 'https://1.1.1.1'],
    ['a name of the cloud', () => 'metadata.google.internal'],
    ['a single label', () => 'mongodb'],
    ['another port of a public name', () => 'mastodon.social:6379'],
    ['a file', () => 'file:///etc/passwd'],
    ['a line end', () => 'mastodon.social\r\nx: y'],
    ['NUL', () => 'mastodon.social\0'],
  ])('%s is refused with 400', async (_, instance) => {
    const { headers } = await signIn(world.context)
    const payload = { instance: instance() }
    const { statusCode, body } = await world.app.inject({ method: 'POST', url: CONNECT, headers, payload })
    expect([statusCode, JSON.parse(body).code]).toEqual([
      400,
      expect.stringMatching(/^(VALIDATION_FAILED|BAD_REQUEST)$/),
    ])
    expect(body).not.toContain(ANSWER)
  })

  it.each([
    [{ instance: '' }],
    [{ instance: 7 }],
    [{ instance: null }],
    [{ instance: { $ne: '' } }],
    [{ instance: ['a.org'] }],
  ])('the body %j is refused with 400', async (payload) => {
    const { headers } = await signIn(world.context)
    const response = await world.app.inject({ method: 'POST', url: CONNECT, headers, payload })
    expect(response.statusCode).toBe(400)
  })

  it('without a body or a server the default instance is used', async () => {
    const { headers } = await signIn(world.context)
    for (const payload of [undefined, {}]) {
      const response = await world.app.inject({ method: 'POST', url: CONNECT, headers, ...(payload && { payload }) })
      expect(new URL(response.json().data.authUrl).origin).toBe(mastodon.url)
    }
  })

  it('an allowed private server is called, and its failure does not reveal what it answered', async () => {
    const { headers } = await signIn(world.context)
    const payload = { instance: refusing.url }
    const response = await world.app.inject({ method: 'POST', url: CONNECT, headers, payload })
    expect([response.statusCode, response.json().code]).toEqual([502, 'PLATFORM_UNAVAILABLE'])
    expect(response.body).not.toContain(ANSWER)
    expect(response.body).not.toContain('418')
    expect(refusing.sent.requests).toBeGreaterThan(0)
  })

  it('a user can name thirty servers per hour', async () => {
    const { headers } = await signIn(world.context)
    const name = () => world.app.inject({ method: 'POST', url: CONNECT, headers, payload: { instance: 'localhost' } })
    const statuses = []
    for (let count = 0; count < 31; count++) statuses.push((await name()).statusCode)
    expect(statuses).toEqual([...Array<number>(30).fill(400), 429])
  })
})

describe('names that resolve to private addresses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    'fd00::1',
    '64:ff9b::a00:1',
    '2002:7f00:1::',
  ])('a name that resolves to %s is refused before and at the connection', async (address) => {
    const resolve: ResolveName = async () => [{ address, family: address.includes(':') ? 6 : 4 }]
    const { begin, adapter } = mastodonAdapter({ resolve })
    expect(await failureOf(begin('evil.example.org'))).toMatchObject({ name: 'ServerNotAllowedError' })
    const { guard } = createPublicServers({ configured: [], resolve })
    const client = createHttpClient({ userAgent: USER_AGENT, connections: 1, guard })
    opened.push(client)
    const url = new URL(`https://evil.example.org:${internal.port}/`)
    await expect(client.send({ method: 'GET', url, ...within(5_000) })).rejects.toMatchObject({
      name: 'HttpFailure',
      message: 'could not be reached',
      sent: false,
    })
    client.warm(url)
    const stored = accountAt('https://evil.example.org')
    expect(await failureOf(adapter.profile(stored, within(5_000)))).toMatchObject({
      class: 'transient',
      certain: true,
    })
  })

  it('a name that resolves to a private address after the check is refused at the connection', async () => {
    const answers = [[{ address: '1.1.1.1', family: 4 }], [{ address: '127.0.0.1', family: 4 }]]
    const resolve: ResolveName = async () => answers.shift() ?? [{ address: '127.0.0.1', family: 4 }]
    const servers = createPublicServers({ configured: [], resolve })
    const client = createHttpClient({ userAgent: USER_AGENT, connections: 1, guard: servers.guard })
    opened.push(client)
    await servers.assertPublic('https://rebind.example.org', within(5_000))
    const url = new URL(`https://rebind.example.org:${internal.port}/`)
    await expect(client.send({ method: 'GET', url, ...within(5_000) })).rejects.toMatchObject({ sent: false })
    expect(answers).toEqual([])
  })

  it('a connection uses the addresses of its only resolution', async () => {
    let resolutions = 0
    // The socket would try the second answer if it resolved the name again.
    const resolve: ResolveName = async () => [{ address: resolutions++ === 0 ? '1.1.1.1' : '127.0.0.1', family: 4 }]
    const { guard } = createPublicServers({ configured: [], resolve })
    const client = createHttpClient({ userAgent: USER_AGENT, connections: 1, guard })
    opened.push(client)
    const url = new URL(`https://pinned.example.org:${internal.port}/`)
    await expect(client.send({ method: 'GET', url, timeoutMs: 1_000, ...within(5_000) })).rejects.toMatchObject({
      sent: false,
    })
    expect(resolutions).toBe(1)
  })

  it.each(['http://evil.example.org', 'https://127.0.0.1', 'https://[::1]', 'https://1.1.1.1'])(
    'the client does not connect to %s whatever the resolver answers',
    async (origin) => {
      const resolve: ResolveName = async () => [{ address: '1.1.1.1', family: 4 }]
      const { guard } = createPublicServers({ configured: [], resolve })
      const client = createHttpClient({ userAgent: USER_AGENT, connections: 1, guard })
      opened.push(client)
      const url = new URL(`${origin}:${internal.port}/`)
      await expect(client.send({ method: 'GET', url, ...within(2_000) })).rejects.toMatchObject({
        message: 'could not be reached',
        cause: { name: 'NoPublicAddressError' },
      })
    },
  )
})

describe('answers of a server that a user named', () => {
  it.each([301, 302, 303, 307, 308])('a redirect %i to a private address is not followed', async (status) => {
    const { url, sent } = await useAnswering((response) => response.writeHead(status, { location: internal.url }).end())
    const { begin, adapter } = mastodonAdapter({ allowedPrivate: [url] })
    expect(await failureOf(begin(url))).toMatchObject({ class: 'transient' })
    expect(await failureOf(adapter.profile(accountAt(url), within(5_000)))).toMatchObject({ class: 'transient' })
    expect(sent.requests).toBe(2)
  })

  it('an endless answer is cut off', async () => {
    const chunk = Buffer.alloc(65_536, 'x')
    const { url, sent } = await useAnswering((response) => {
      const write = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', write)
      write()
    })
    const { begin } = mastodonAdapter({ allowedPrivate: [url] })
    expect(await failureOf(begin(url))).toMatchObject({
      class: 'transient',
      message: 'Mastodon sent an unreadable response',
    })
    await expect.poll(() => sent.closed).toBe(1)
    expect(sent.bytes).toBeLessThan(32 * 1_048_576)
  })

  it('an announced huge answer is not read', async () => {
    const { url } = await useAnswering((response) => {
      response.writeHead(200, { 'content-length': String(2 ** 40) })
      response.write('{')
    })
    const { begin } = mastodonAdapter({ allowedPrivate: [url] })
    expect(await failureOf(begin(url))).toMatchObject({ message: 'Mastodon sent an unreadable response' })
  })

  it('a compressed answer is not read', async () => {
    const { url } = await useAnswering((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'))
    const { begin } = mastodonAdapter({ allowedPrivate: [url] })
    expect(await failureOf(begin(url))).toMatchObject({ message: 'Mastodon sent an unreadable response' })
  })

  it('an answer that drips slowly ends with the deadline, and its connection is closed', async () => {
    const { url, sent } = await useAnswering((response) => {
      const drip = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(drip))
    })
    const { begin } = mastodonAdapter({ allowedPrivate: [url] })
    await expect(begin(url, 500)).rejects.toThrow()
    await expect.poll(() => sent.closed, { timeout: 50_000 }).toBe(1)
  })

  it.each([
    ['no JSON', '<html>'],
    ['null', 'null'],
    ['an application without id', '{"client_secret":"x"}'],
    ['an id that is an object', '{"client_id":{"$gt":""},"client_secret":"x"}'],
    ['an id of 1 MiB', JSON.stringify({ client_id: 'x'.repeat(1_048_576), client_secret: 'x' })],
    ['deep nesting', '['.repeat(500_000)],
  ])('a registration with %s is refused', async (_, body) => {
    const { url } = await useAnswering((response) => response.end(body))
    const { begin } = mastodonAdapter({ allowedPrivate: [url] })
    expect(await failureOf(begin(url))).toMatchObject({ class: 'transient' })
  })
})

describe('Bluesky accounts', () => {
  const DID = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa'

  function blueskyAdapter(entryUrl: string, directoryUrl: string) {
    const created = createBluesky({
      entryUrl,
      accountHosts: [],
      directoryUrl,
      videoUrl: internal.url,
      appUrl: 'https://bsky.app',
      publishTimeoutMs: 1_500,
      media: memoryMedia().media,
      userAgent: USER_AGENT,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    })
    opened.push(created)
    return created
  }

  const serveJson = (body: () => unknown) =>
    useAnswering((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body())),
    )

  it('a DID document does not lead to a private server, nor to a service of the operator', async () => {
    for (const endpoint of [
      internal.url,
      `https://localhost:${internal.port}`,
      `https://2130706433:${internal.port}`,
      'https://[::ffff:7f00:1]',
      'https://evil.example.org:8443',
      'https://evil.example.org/path',
    ]) {
      const service = [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: endpoint }]
      const session = { did: DID, handle: 'a.b', accessJwt: 'a', refreshJwt: 'b', didDoc: { id: DID, service } }
      const { url: entryUrl } = await serveJson(() => session)
      const { url: directoryUrl } = await serveJson(() => ({ id: DID, service }))
      const { direct } = blueskyAdapter(entryUrl, directoryUrl)
      const { credentials } = await direct.connect(DID, 'password', within(5_000))
      expect(credentials.serviceUrl).toBe(entryUrl)
    }
  })

  it('a public name of a server that resolves to a private address gets no login', async () => {
    const serviceEndpoint = 'https://evil.example.org'
    const service = [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint }]
    const { url: directoryUrl, sent } = await serveJson(() => ({ id: DID, service }))
    const { direct } = blueskyAdapter(mastodon.url, directoryUrl)
    expect(await failureOf(direct.connect(DID, 'password', within(5_000)))).toMatchObject({
      class: 'transient',
      certain: true,
    })
    expect(sent.requests).toBe(1)
    expect((await controlOf(mastodon.control).requests()).filter(({ path }) => path.includes('createSession'))).toEqual(
      [],
    )
  })

  it.each([
    'did:web:127.0.0.1',
    'did:web:localhost',
    'did:web:evil.example.org%3A8443',
    'did:web:a.org:x',
    'did:key:z6Mk',
    'did:plc:../../x',
  ])('the document of %s is not fetched', async (did) => {
    const { url, sent } = await serveJson(() => ({ error: 'AuthenticationRequired', message: 'x' }))
    const { direct } = blueskyAdapter(url, url)
    await failureOf(direct.connect(did, 'password', within(5_000)))
    expect(sent.requests).toBe(1)
  })
})
