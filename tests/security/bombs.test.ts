import type { ChildProcess } from 'node:child_process'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import { freePort } from '../../sandbox/servers/process.ts'
import { signIn, type SignedIn } from '../support/api.ts'
import { FOREIGN_READS } from '../support/foreign-reads.ts'
import {
  arrays,
  HEADERS,
  HOSTILE_RESPONSES,
  IMPORT_FILES,
  JSON_SHAPES,
  LARGE_JSON_SHAPES,
  OTHER_BODIES,
  QUERIES,
} from '../support/hostile-bodies.ts'
import { listOperations, type Operation } from '../support/operations.ts'
import { createProcesses, waitForExit, waitForLogEntry } from '../support/processes.ts'
import { testContext } from '../support/servers.ts'

const MIB = 1_048_576
/** Below the limits of bodies without and with a session. */
const [ANONYMOUS_BYTES, SIGNED_IN_BYTES] = [60_000, MIB - 100]
/** Node refuses a request whose first line and headers are longer than 16 KiB. */
const HEAD_LENGTH = 14_000
const CAPTIONS = '/api/generate/captions'
const SENDERS = 6

const processes = createProcesses()
let context: Awaited<ReturnType<typeof testContext>>
let api: ChildProcess
let port: number
let users: SignedIn[]

beforeAll(async () => {
  port = await freePort()
  context = await testContext({ PORT: port, RATE_LIMIT_PER_ADDRESS: 1_000_000, RATE_LIMIT_PER_USER: 1_000_000 })
  users = await Promise.all(
    Array.from({ length: 6 }, () => signIn(context, { limits: { maxPosts: 100, maxCaptionGenerations: 100 } })),
  )
  api = processes.start('src/server.ts', context.config, { LOG_LEVEL: 'info' }, ['--max-old-space-size=512'])
  api.stderr!.resume()
  await waitForLogEntry(api, 'api ready')
})
afterAll(async () => {
  processes.killAll()
  await context?.close()
})

interface Attack {
  name: string
  isBody?: boolean
  method?: string
  path: string
  /** Generates the body when it is sent, because all bodies together have hundreds of megabytes. */
  makeBody?: () => string | Buffer
  headers?: Record<string, string>
  /** Sends the body in chunks without a Content-Length. */
  isChunked?: boolean
}

/** Returns the response; status 0 when the server closed the connection while the body was sent. */
async function send({
  method = 'POST',
  path,
  makeBody,
  headers = {},
  isChunked = false,
}: Omit<Attack, 'name' | 'isBody'>) {
  const body = makeBody?.()
  const socket = connect(port, '127.0.0.1')
  const size = body === undefined ? 0 : Buffer.byteLength(body)
  const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(size) }
  const lines = Object.entries({
    host: 'x',
    connection: 'close',
    ...(body !== undefined && { 'content-type': 'application/json', ...length }),
    ...headers,
  })
  let answer = ''
  socket.on('data', (chunk) => {
    answer += String(chunk)
    // A stream has no end.
    if (answer.includes('text/event-stream')) socket.destroy()
  })
  socket.on('error', () => undefined)
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  if (isChunked) socket.write(`${size.toString(16)}\r\n`)
  if (body !== undefined) socket.write(body)
  if (isChunked) socket.write('\r\n0\r\n\r\n')
  // Not `once`, which fails on the error that a server causes by closing early.
  await new Promise((resolve) => socket.on('close', resolve))
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), answer }
}

/** The operations of the document, and Socket.IO, which is not part of it. */
async function listAllOperations(): Promise<Operation[]> {
  const path = '/socket.io?EIO=4&transport=polling'
  const socketIo = { method: 'POST', path, types: [], query: [], isAnonymous: true, statuses: [] }
  return [...(await listOperations(`http://127.0.0.1:${port}`)), socketIo]
}

function signInFor({ path }: Operation): Promise<SignedIn> {
  const isAdmin = /^\/api\/(admin|status)\//.test(path)
  return signIn(context, { role: isAdmin ? 'admin' : 'user' })
}

/** Shapes are generated once per size, and not for every route. */
const cache = new Map<string, Buffer>()
function cached(name: string, make: (bytes: number) => string, bytes: number): Buffer {
  const key = `${name} ${bytes}`
  const body = cache.get(key) ?? Buffer.from(make(bytes))
  cache.set(key, body)
  return body
}

/** Returns the attacks on an operation in every format that it reads, each with as much as it accepts. */
function attackWithEverything({ method, path, types, query, isAnonymous }: Operation): Attack[] {
  const bytes = isAnonymous ? ANONYMOUS_BYTES : SIGNED_IN_BYTES
  const bodies = method === 'GET' ? [] : Object.entries(JSON_SHAPES)
  const others = method === 'GET' ? [] : Object.entries(OTHER_BODIES)
  const separator = path.includes('?') ? '&' : '?'
  const attack = (what: string, one: Partial<Attack>): Attack => {
    return { name: `${method} ${path} with ${what}`, method, path, ...one }
  }
  return [
    ...bodies.map(([shape, make], index) =>
      attack(`a body of ${shape}`, {
        isBody: true,
        // A route without a body refuses any size.
        makeBody: () => cached(shape, make, types.length > 0 ? bytes : ANONYMOUS_BYTES),
        isChunked: index % 4 === 3,
      }),
    ),
    ...others.map(([what, { type, make }]) =>
      attack(`a body of type ${what}`, {
        isBody: true,
        makeBody: () => cached(what, make, ANONYMOUS_BYTES),
        headers: { 'content-type': type },
      }),
    ),
    ...Object.entries(QUERIES).map(([what, make]) =>
      attack(`a query of ${what}`, { path: path + separator + make(HEAD_LENGTH, query.length > 0 ? query : ['a']) }),
    ),
    ...Object.entries(HEADERS).map(([what, make]) => attack(`a header ${what}`, { headers: make(HEAD_LENGTH) })),
  ]
}

/** Returns attacks with bodies beyond the limits of most routes. */
function largeAttacks(): Attack[] {
  const beyond = Object.entries(LARGE_JSON_SHAPES).map(([shape, make], index) => ({
    name: `8 MiB of ${shape} to the sign-up`,
    path: '/api/auth/signup',
    makeBody: () => make(8 * MIB),
    isChunked: index % 2 === 0,
  }))
  const captions = Object.entries(LARGE_JSON_SHAPES).map(([shape, make], index) => ({
    name: `20 MiB of ${shape} to the captions`,
    path: index % 2 === 0 ? CAPTIONS : `${CAPTIONS}/bluesky`,
    makeBody: () => make(20 * MIB - 100),
    headers: users[index % users.length]!.headers,
    isChunked: index % 2 === 1,
  }))
  const cookies = [
    { name: 'a proof that is none', headers: { 'x-verification-token': 'x'.repeat(43) } },
    { name: 'a long cookie', headers: { cookie: `verificationToken=${'x'.repeat(10_000)}` } },
    { name: 'many cookies', headers: { cookie: 'verificationToken=x; '.repeat(500) } },
    { name: 'a refresh cookie that is none', headers: { cookie: `refreshToken=${'0'.repeat(24)}.${'x'.repeat(43)}` } },
  ].map((attack) => ({ ...attack, path: '/api/auth/signup', makeBody: () => arrays(8 * MIB) }))
  return [...beyond, ...captions, ...cookies]
}

/** Sends health checks repeatedly until the returned function is called, which returns their statuses. */
function watchHealth() {
  const statuses: number[] = []
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      statuses.push((await fetch(`http://127.0.0.1:${port}/health/live`)).status)
      // Often enough to detect an outage, and rarely enough to leave the CPU to the bombs.
      await setTimeout(20)
    }
  })()
  return async () => {
    isOver = true
    await watching
    return statuses
  }
}

/** Runs `attack` and checks that the process survives and answers health checks meanwhile. */
async function expectHealthDuring<T>(attack: () => Promise<T>): Promise<T> {
  const stop = watchHealth()
  const result = await attack()
  const health = await stop()
  expect(new Set(health)).toEqual(new Set([200]))
  expect([api.exitCode, api.signalCode]).toEqual([null, null])
  return result
}

/** Runs `work` for all items, a few at a time. */
async function forAll<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value)
    }),
  )
}

it(
  'an API with a 512 MB heap refuses the corpus on every route, in every format that the route reads, and answers health checks',
  { timeout: 300_000 },
  async () => {
    const operations = await listAllOperations()
    expect(operations.length).toBeGreaterThan(100)
    const wrong: string[] = []
    const statuses = new Set<number>()
    await expectHealthDuring(() =>
      forAll(operations, async (operation) => {
        const user = await signInFor(operation)
        const calm = await send({ ...operation, headers: user.headers })
        for (const { name, isBody, ...attack } of attackWithEverything(operation)) {
          // Some of these routes end sessions.
          const { headers } = operation.path.startsWith('/api/auth/') ? await signInFor(operation) : user
          const { status } = await send({ ...attack, headers: { ...headers, ...attack.headers } })
          statuses.add(status)
          const isRefused = status >= 400 && status < 500
          const isRead = isBody && operation.types.length > 0
          const isAsWithout = (status < 400 && !isRead) || (status === calm.status && calm.status >= 400)
          if (!isRefused && !isAsWithout) wrong.push(`${name}: ${status}`)
        }
      }),
    )
    expect(wrong).toEqual([])
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 413, 415]))
  },
)

it('an API with a 512 MB heap refuses bodies beyond all limits with a 4xx, and answers health checks meanwhile', async () => {
  const wrong: string[] = []
  await expectHealthDuring(() =>
    forAll(largeAttacks(), async (attack) => {
      const { status } = await send(attack)
      // When the connection closes in the middle of a refused body, the response may be lost.
      if (status !== 0 && !(status >= 400 && status < 500)) wrong.push(`${attack.name}: ${status}`)
    }),
  )
  expect(wrong).toEqual([])
})

it('caption requests with 15 MB of images still work afterwards, and the process stays responsive', async () => {
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#f00' } })
    .png()
    .toBuffer()
  const picture = `data:image/png;base64,${Buffer.concat([png, Buffer.alloc(4_900_000)]).toString('base64')}`
  const body = JSON.stringify({ prompt: 'Our new café', media: [picture, picture, picture] })
  const answers = await expectHealthDuring(() =>
    Promise.all(users.slice(0, 4).map(({ headers }) => send({ path: CAPTIONS, makeBody: () => body, headers }))),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

it.each(IMPORT_FILES)(
  'an import of %s in a %s file ends with one true message, and health checks are answered',
  async (_name, type, makeBody, answer) => {
    const contentType = type === 'csv' ? 'text/csv' : 'application/json'
    // As many users as a process reads files of at a time.
    const responses = await expectHealthDuring(() =>
      Promise.all(
        users.slice(0, 2).map(({ headers }) => {
          return send({ path: '/api/imports', makeBody, headers: { ...headers, 'content-type': contentType } })
        }),
      ),
    )
    for (const response of responses) expect(response.answer.slice(0, 20_000)).toContain(answer)
  },
)

/** The longest turn of the event loop for a response, CPU time: 30 ms with the limits, 200 ms without those of JSON. */
const LONGEST_TURN_MS = 100

it('a process with a 512 MB heap survives every response of another server, and none of them holds up the event loop', async () => {
  const servers = await Promise.all(
    Object.entries(HOSTILE_RESPONSES).map(async ([name, { headers = {}, body, isEndless = false }]) => {
      let sent: string | Buffer | undefined
      const server = createServer((request, response) => {
        request.resume()
        response.on('error', () => undefined)
        // The token for push messages, which the read of their service needs.
        if (request.url === '/token') return void response.end('{"access_token":"x","expires_in":60}')
        response.writeHead(200, { 'content-type': 'application/json', ...headers })
        sent ??= body()
        if (!isEndless) return void response.end(sent)
        const write = () => {
          while (!response.destroyed && response.write(sent));
        }
        response.on('drain', write)
        write()
      })
      return { name, server, url: await listenOnLoopback(server) }
    }),
  )
  const child = processes.start(
    'tests/support/read-hostile-responses.ts',
    context.config,
    {},
    ['--max-old-space-size=512'],
    servers.map(({ url }) => url),
  )
  const [output, { code, errors }] = await Promise.all([readText(child.stdout!), waitForExit(child)])
  await Promise.all(servers.map(({ server }) => closeServer(server)))
  const results = output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ReadResult)
  const reads = Object.values(FOREIGN_READS).flatMap((some) => Object.keys(some))
  const nameOf = (url: string) => servers.find((one) => one.url === url)!.name
  expect([code, errors]).toEqual([0, ''])
  expect(results).toHaveLength(reads.length * servers.length)
  const slow = results.filter(({ longestMs }) => longestMs > LONGEST_TURN_MS)
  expect(slow.map(({ name, url, longestMs }) => `${name} on ${nameOf(url)}: ${longestMs} ms`)).toEqual([])
}, 300_000)

/** The output of `read-hostile-responses.ts`. */
interface ReadResult {
  name: string
  url: string
  longestMs: number
}
