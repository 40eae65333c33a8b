import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../sandbox/servers/process.ts'
import { signIn, type SignedIn } from '../support/api.ts'
import { createProcesses } from '../support/processes.ts'
import { testContext } from '../support/servers.ts'

const MIB = 1_048_576
const CAPTIONS = '/api/generate/captions'

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
  api = processes.start('src/server.ts', context.config, {}, ['--max-old-space-size=512'])
})
afterAll(async () => {
  processes.killAll()
  await context?.close()
})

interface Attack {
  name: string
  path: string
  /** Generates the body when it is sent, because all bodies together have about 250 MB. */
  makeBody: () => string | Buffer
  headers?: Record<string, string>
  /** Sends the body in chunks without a Content-Length. */
  isChunked?: boolean
}

/** Returns the response; status 0 when the server closed the connection while the body was sent. */
async function send({ path, makeBody, headers = {}, isChunked = false }: Omit<Attack, 'name'>) {
  const body = makeBody()
  const socket = connect(port, '127.0.0.1')
  const size = Buffer.byteLength(body)
  const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(size) }
  const lines = Object.entries({
    host: 'x',
    'content-type': 'application/json',
    connection: 'close',
    ...length,
    ...headers,
  })
  let answer = ''
  socket.on('data', (chunk) => (answer += String(chunk)))
  socket.on('error', () => undefined)
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  if (isChunked) socket.write(`${size.toString(16)}\r\n`)
  socket.write(body)
  if (isChunked) socket.write('\r\n0\r\n\r\n')
  // Not `once`, which fails on the error that a server causes by closing early.
  await new Promise((resolve) => socket.on('close', resolve))
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), answer }
}

const arrays = (bytes: number) => `[${'[],'.repeat(bytes / 3 - 1)}[]]`
const nested = (bytes: number) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)
const objects = (bytes: number) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`
const names = (bytes: number) => {
  const members = Array.from({ length: bytes / 14 }, (_, index) => `"k${String(index).padStart(8, '0')}":0`)
  return `{${members.join(',')}}`
}
const equalNames = (bytes: number) => `{${'"a":0,'.repeat(bytes / 6 - 1)}"a":0}`
const text = (bytes: number) => `{"email":"${'a'.repeat(bytes)}"}`
const escapes = (bytes: number) => `{"email":"${String.raw`\"`.repeat(bytes / 2)}"}`
const digits = (bytes: number) => `{"email":${'9'.repeat(bytes)}}`
const exponents = (bytes: number) => `[${'1e400,'.repeat(bytes / 6 - 1)}1e400]`
const wide = (bytes: number) => `{"prompt":"${'\u{1f4a9}'.repeat(bytes / 4)}"}`
const unclosed = (bytes: number) => '{"a":['.repeat(bytes / 6)
const blanks = (bytes: number) => ' '.repeat(bytes)

const SHAPES = { arrays, nested, objects, names, equalNames, text, escapes, digits, exponents, wide, unclosed, blanks }
/** For sizes at which a single shape of each kind is enough. */
const LARGE_SHAPES = { arrays, nested, equalNames, escapes, unclosed }

function attacks(): Attack[] {
  const [ann] = users as [SignedIn]
  const anonymous = Object.entries(SHAPES).map(([shape, make]) => ({
    name: `64 KiB of ${shape} to the login`,
    path: '/api/auth/login',
    makeBody: () => make(60_000),
  }))
  const beyond = Object.entries(LARGE_SHAPES).map(([shape, make], index) => ({
    name: `8 MiB of ${shape} to the sign-up`,
    path: '/api/auth/signup',
    makeBody: () => make(8 * MIB),
    isChunked: index % 2 === 0,
  }))
  const signedIn = Object.entries(SHAPES).map(([shape, make], index) => ({
    name: `1 MiB of ${shape}`,
    path: index % 2 === 0 ? '/api/posts' : CAPTIONS,
    makeBody: () => make(MIB - 100),
    headers: ann.headers,
  }))
  const captions = Object.entries(LARGE_SHAPES).map(([shape, make], index) => ({
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
  return [...anonymous, ...beyond, ...signedIn, ...captions, ...cookies]
}

/** Sends requests repeatedly until `stop` is called. @returns the responses */
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

it('an API with a 512 MB heap refuses every bomb with a 4xx, survives, and answers health checks meanwhile', async () => {
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isReady, { timeout: 45_000 }).toBe(true)
  const stop = watchHealth()
  const queue = attacks()
  const wrong: string[] = []
  const statuses = new Set<number>()
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let attack = queue.pop(); attack; attack = queue.pop()) {
        const { status } = await send(attack)
        statuses.add(status)
        // When the connection closes in the middle of a refused body, the response may be lost.
        const isUnread = attack.path === '/api/auth/signup' || attack.path.startsWith(CAPTIONS)
        const isRefused = (status >= 400 && status < 500) || (status === 0 && isUnread)
        if (!isRefused) wrong.push(`${attack.name}: ${status}`)
      }
    }),
  )
  const health = await stop()
  expect(wrong).toEqual([])
  expect([...statuses]).toEqual(expect.arrayContaining([400, 413]))
  expect(new Set(health)).toEqual(new Set([200]))
  expect(health.length).toBeGreaterThan(5)
  expect([api.exitCode, api.signalCode]).toEqual([null, null])
})

it('caption requests with 15 MB of images still work afterwards, and the process stays responsive', async () => {
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#f00' } })
    .png()
    .toBuffer()
  const picture = `data:image/png;base64,${Buffer.concat([png, Buffer.alloc(4_900_000)]).toString('base64')}`
  const body = JSON.stringify({ prompt: 'Our new café', media: [picture, picture, picture] })
  const stop = watchHealth()
  const answers = await Promise.all(
    users.slice(0, 4).map(({ headers }) => send({ path: CAPTIONS, makeBody: () => body, headers })),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(new Set(await stop())).toEqual(new Set([200]))
  expect([api.exitCode, api.signalCode]).toEqual([null, null])
})

const FIFTEEN = 15 * MIB
const csv = (...lines: string[]) => ['text,platforms,accounts,media,accountContent', ...lines].join('\n')
const json = (rows: string[]) => `[${rows.join(',')}]`
const rowsOf = (row: string, count: number) => Array.from({ length: count }, () => row)

/** Files that were built to exhaust an import, with what the plan or the refusal says of them. */
const FILES: [name: string, type: 'csv' | 'json', make: () => string | Buffer, answer: string][] = [
  ['a header of 100,000 names', 'csv', () => rowsOf('name', 100_000).join(','), 'has more than 100 cells'],
  ['a header that is too long', 'csv', () => 'x'.repeat(FIFTEEN), 'is larger than 1048576 characters'],
  ['500,000 empty cells', 'csv', () => csv(','.repeat(500_000)), 'has more than 100 cells'],
  ['commas', 'csv', () => ','.repeat(FIFTEEN), 'has more than 100 cells'],
  ['commas in UTF-16', 'csv', () => Buffer.from(csv(','.repeat(FIFTEEN / 2)), 'utf16le'), 'has more than 100 cells'],
  ['quoted commas', 'csv', () => csv('",",'.repeat(FIFTEEN / 4)), 'has more than 100 cells'],
  ['an open quote', 'csv', () => csv(`"${'a,\n'.repeat(FIFTEEN / 3)}`), 'or a quote is not closed'],
  ['doubled quotes', 'csv', () => csv(`"${'""'.repeat(FIFTEEN / 2)}`), 'or a quote is not closed'],
  ['empty lines', 'csv', () => csv('\n'.repeat(FIFTEEN)), 'The file has no rows'],
  ['empty rows', 'csv', () => csv(',\n'.repeat(FIFTEEN / 2)), 'has more than 50000 rows'],
  ['short rows', 'csv', () => csv('a\n'.repeat(FIFTEEN / 2)), 'at most 10000 rows'],
  [
    'half a million entries in lists',
    'csv',
    () => csv(rowsOf(`a,${';'.repeat(500_000)},"${'a,'.repeat(250_000)}",,`, 10).join('\n')),
    '"error":10,',
  ],
  [
    'cells nested 5,000 deep',
    'csv',
    () => csv(rowsOf(`a,bluesky,,,${'['.repeat(5_000)}`, 1_500).join('\n')),
    '"error":1500,',
  ],
  [
    'cells with many values',
    'csv',
    () => csv(rowsOf(`a,bluesky,,"[${'1,'.repeat(600)}1]",`, 10_000).join('\n')),
    '"error":10000,',
  ],
  ['arrays', 'json', () => arrays(FIFTEEN), 'at most 10000 rows'],
  ['nested arrays', 'json', () => nested(FIFTEEN), 'is larger than 1048576 bytes'],
  [
    'nested objects',
    'json',
    () => json(rowsOf('['.repeat(5_000) + ']'.repeat(5_000), 1_500)),
    'is nested more than 32 levels deep',
  ],
  ['names', 'json', () => json([names(MIB - 14)]), 'has more than 10000 values'],
  ['an open text', 'json', () => `["${'a'.repeat(FIFTEEN)}`, 'is larger than 1048576 bytes'],
  ['blanks', 'json', () => blanks(FIFTEEN), 'is not a JSON array'],
  ['UTF-16', 'json', () => Buffer.from(arrays(FIFTEEN / 2), 'utf16le'), 'at most 10000 rows'],
  [
    'values that are not allowed',
    'json',
    () => json(rowsOf(`{"content":{"mediaItems":[${'1,'.repeat(700)}1]}}`, 10_000)),
    '"error":10000,',
  ],
]

it.each(FILES)(
  'an import of %s in a %s file ends with one true message, and health checks are answered',
  async (_name, type, makeBody, answer) => {
    const stop = watchHealth()
    const contentType = type === 'csv' ? 'text/csv' : 'application/json'
    // As many users as a process reads files of at a time.
    const responses = await Promise.all(
      users.slice(0, 2).map(({ headers }) => {
        return send({ path: '/api/imports', makeBody, headers: { ...headers, 'content-type': contentType } })
      }),
    )
    for (const response of responses) expect(response.answer.slice(0, 20_000)).toContain(answer)
    expect(new Set(await stop())).toEqual(new Set([200]))
    expect([api.exitCode, api.signalCode]).toEqual([null, null])
  },
)
