import type { ChildProcess } from 'node:child_process'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../../sandbox/servers/process.ts'
import { CSV_COLUMNS } from '../../../src/domain/imports/csv-rows.ts'
import { SECOND } from '../../../src/domain/shared/times.ts'
import { signIn, type SignedIn } from '../../support/api.ts'
import { listOperations, type Operation } from '../../support/operations.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'
import { testContext } from '../../support/servers.ts'
import { EXAMPLES, SEED, TIMEOUT_MS } from './examples.ts'

/** Generated bodies that the fuzzer of the OpenAPI document does not send, to a process with a small heap. */

/** A response that takes longer is a hang. */
const LONGEST_MS = 30 * SECOND
const FILES = 50 * EXAMPLES
const FORMS = 2 * EXAMPLES

const processes = createProcesses()
let context: Awaited<ReturnType<typeof testContext>>
let api: ChildProcess
let baseUrl: string
let operations: Operation[]

beforeAll(async () => {
  const port = await freePort()
  context = await testContext({ PORT: port, RATE_LIMIT_PER_ADDRESS: 1_000_000, RATE_LIMIT_PER_USER: 1_000_000 })
  api = processes.start('src/server.ts', context.config, { LOG_LEVEL: 'info' }, ['--max-old-space-size=512'])
  api.stderr!.resume()
  await waitForLogEntry(api, 'api ready')
  baseUrl = `http://127.0.0.1:${port}`
  operations = await listOperations(baseUrl)
})
afterAll(async () => {
  processes.killAll()
  await context?.close()
})

interface Body {
  type: string
  bytes: Buffer<ArrayBuffer>
  query?: string
}

/** Sends a body, and checks that the response arrives in time, is documented and is no server error. */
async function send({ method, path, statuses }: Operation, who: SignedIn, { type, bytes, query = '' }: Body) {
  const response = await fetch(`${baseUrl}${path}${query}`, {
    method,
    headers: { ...who.headers, 'content-type': type },
    body: bytes,
    signal: AbortSignal.timeout(LONGEST_MS),
  })
  const text = await response.text()
  const isDocumented = response.status < 500 && statuses.includes(String(response.status))
  if (!isDocumented) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
  return { status: response.status, text }
}

/** The same bodies in every run, so that a failure is repeatable; a smaller counterexample is not worth its time. */
const forEachBody = (bodies: fc.Arbitrary<Body>, numRuns: number, use: (body: Body) => Promise<void>) =>
  fc.assert(fc.asyncProperty(bodies, use), { numRuns, seed: SEED, endOnFailure: true })

async function expectAlive(): Promise<void> {
  expect((await fetch(`${baseUrl}/health/live`)).status).toBe(200)
  expect([api.exitCode, api.signalCode]).toEqual([null, null])
}

const anyText = fc.string({ unit: 'binary', maxLength: 40 })
/** Runs of what parsers have to count, match or unfold. */
const longText = fc
  .tuple(
    fc.constantFrom('a', '"', '""', ';', ',', '\n', '[', '{"a":', '#\u00e9 ', '\0', '--x\r\n'),
    fc.integer({ min: 1, max: 8_000 }),
  )
  .map(([unit, count]) => unit.repeat(count))

const VALUES = [
  ...['', 'Good morning', 'bluesky', 'bluesky;mastodon', 'DRAFT', 'SCHEDULED', 'Europe/Berlin', '""', '[]'],
  ...['2090-05-01T09:30', '5/1/2090 9:30', '1.5.2090', '69000.5', '[{"storageKey":"x"}]', '{"bluesky":{"text":"x"}}'],
]

const cell = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...VALUES) }, { weight: 2, arbitrary: anyText }, longText)

/** Mostly what a spreadsheet writes, so that many files get as far as their rows. */
const csvFile = fc
  .record({
    columns: fc.shuffledSubarray(CSV_COLUMNS.filter((name) => name !== 'text')),
    further: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(cell, { maxLength: 3 })),
    rows: fc.array(fc.array(cell, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 12 }),
    isQuoted: fc.constantFrom(true, true, true, true, false),
    separator: fc.constantFrom(',', ',', ';', ';', '\t', '|'),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    beginning: fc.constantFrom('', '', '\ufeff', 'sep=;\n', '\n'),
    encoding: fc.constantFrom<BufferEncoding>('utf8', 'utf8', 'utf8', 'utf8', 'utf16le', 'latin1'),
    bytes: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, fc.nat(3_000)),
    type: fc.constantFrom('text/csv', 'text/csv; charset=utf-8; header=present', 'TEXT/CSV'),
    query: fc.constantFrom('', '?dateOrder=dmy', '?dateOrder=mdy&gapMinutes=0', '?timezone=Asia/Tokyo'),
  })
  .map(({ columns, further, rows, isQuoted, separator, lineEnd, beginning, encoding, bytes, type, query }): Body => {
    const quote = (value: string) => (isQuoted ? `"${value.replaceAll('"', '""')}"` : value)
    const lines = [['text', ...columns, ...further], ...rows].map((cells) => cells.map(quote).join(separator))
    const whole = Buffer.from(beginning + lines.join(lineEnd), encoding)
    return { type, query, bytes: whole.subarray(0, bytes) }
  })

it(
  'a generated CSV file is planned or refused by every route that takes files, and nothing hangs',
  async () => {
    const routes = operations.filter(({ types }) => types.includes('text/csv'))
    expect(routes.length).toBeGreaterThan(0)
    for (const route of routes) {
      const who = await signIn(context)
      let planned = 0
      await forEachBody(csvFile, FILES, async (file) => {
        const { status } = await send(route, who, file)
        if (status !== 201) return
        planned += 1
        // A user can have ten.
        await context.imports.removeAllOf(who.user._id)
      })
      expect(planned, 'files that were read to their end').toBeGreaterThan(FILES / 4)
    }
    await expectAlive()
  },
  TIMEOUT_MS,
)

const MULTIPART_TYPES = [
  ...['multipart/form-data; boundary=x', 'multipart/form-data', 'multipart/form-data; boundary="x"; boundary=y'],
  ...[
    'multipart/mixed; boundary=x',
    'Multipart/Form-Data;boundary=',
    `multipart/form-data; boundary=${'x'.repeat(300)}`,
  ],
  'application/x-www-form-urlencoded',
]

const part = fc
  .record({
    name: fc.oneof(fc.constantFrom('text', 'file', 'content', '__proto__', 'a[b][c]'), anyText),
    filename: fc.option(anyText),
    header: fc.constantFrom('', 'content-type: application/json\r\n', 'content-transfer-encoding: base64\r\n', 'x: '),
    value: fc.oneof({ weight: 4, arbitrary: fc.constantFrom('{}', '[1]', 'text') }, anyText, longText),
    begin: fc.constantFrom('--x\r\n', '--x\r\n', '--y\n', '--x--\r\n', ''),
  })
  .map(({ name, filename, header, value, begin }) => {
    const file = filename === null ? '' : `; filename="${filename}"`
    return `${begin}content-disposition: form-data; name="${name}"${file}\r\n${header}\r\n${value}\r\n`
  })

const form = fc
  .record({
    type: fc.constantFrom(...MULTIPART_TYPES),
    parts: fc.array(part, { maxLength: 4 }),
    end: fc.constantFrom('--x--\r\n', '--x', ''),
  })
  .map(({ type, parts, end }): Body => ({ type, bytes: Buffer.from(parts.join('') + end) }))

it(
  'a generated form is refused by every route, because none takes forms, and nothing hangs',
  async () => {
    const routes = operations.filter(({ method }) => method !== 'GET')
    expect(routes.length).toBeGreaterThan(60)
    for (const route of routes) {
      const who = await signIn(context, { role: 'admin' })
      await forEachBody(form, FORMS, async (body) => {
        const { status, text } = await send(route, who, body)
        if (status < 400) throw new Error(`${route.method} ${route.path} accepted a form: ${text}`)
      })
    }
    await expectAlive()
  },
  TIMEOUT_MS,
)
