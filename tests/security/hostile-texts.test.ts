import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../sandbox/servers/process.ts'
import { HOSTILE_TEXTS, LONGEST_TEXT } from '../support/hostile-texts.ts'
import { ALL_QUEUES } from '../support/delivery-world.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../support/platforms-world.ts'
import { createProcesses, waitForLogEntry } from '../support/processes.ts'

type User = Awaited<ReturnType<PlatformsWorld['user']>>

/** Slightly below the limit of Facebook in UTF-16 units; Tumblr accepts more. */
const POSTED_LENGTH = 60_000
const POSTED_TEXTS = 24
/** All texts fit into one file, each four times. */
const IMPORTED_LENGTH = 5_000
const SENDERS = 3

/** Posts of another user, with their delays after the start of a run. */
interface Due {
  posts: number
  firstMs: number
  betweenMs: number
}
const DUE_BESIDE_TEXTS: Due = { posts: 10, firstMs: 5_000, betweenMs: 400 }
const DUE_BESIDE_GREED: Due = { posts: 4, firstMs: 4_000, betweenMs: 700 }

/** As many requests as a user may send in a minute. */
const GREEDY_REQUESTS = 300

/** The maximum slowdown of a hostile run. A calm run counts as at least `CALM_MS`, because other processes delay both runs. */
const SLOWER_AT_MOST = 20
const CALM_MS = 250

const processes = createProcesses()
let world: PlatformsWorld
let api: string
let figures: string[]
/** How long things take without an attack. */
let calm: Awaited<ReturnType<typeof run>>
let attacker: User
let bystander: User
let importer: User

beforeAll(async () => {
  world = await startPlatformsWorld({ ...ALL_QUEUES, ACCESS_TOKEN_TTL_SECONDS: 7_200 })
  ;[attacker, bystander, importer] = await Promise.all([world.user(), world.user(), world.user()])
  // Only separate processes have event loops that can be compared.
  await world.stopWorkers()
  const [port, ...metricsPorts] = await Promise.all([freePort(), freePort(), freePort()])
  const started = ['src/server.ts', 'src/worker.ts'].map((entry, index) =>
    processes.start(entry, world.context.config, {
      PORT: String(port),
      METRICS_PORT: String(metricsPorts[index]),
      LOG_LEVEL: 'info',
    }),
  )
  for (const child of started) child.stderr!.resume()
  await Promise.all([waitForLogEntry(started[0]!, 'api ready'), waitForLogEntry(started[1]!, 'worker ready')])
  api = `http://127.0.0.1:${port}`
  figures = metricsPorts.map((metricsPort) => `http://127.0.0.1:${metricsPort}/metrics`)
  calm = await run(async () => [], DUE_BESIDE_TEXTS)
})
afterAll(async () => {
  processes.killAll()
  await world?.stop()
})

it(
  'hostile texts sent to every route that takes text neither delay health checks nor posts of other users',
  { timeout: 180_000 },
  async () => {
    const hostile = await run(sendCorpus, DUE_BESIDE_TEXTS)

    expect(hostile.statuses.length).toBeGreaterThan(HOSTILE_TEXTS.length)
    expectOnTime(hostile)
    for (const address of figures) {
      expect(await (await fetch(address)).text()).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
    }
  },
)

type Request = [method: string, path: string, body?: object]

const ALL = ['bluesky', 'threads', 'facebook', 'mastodon', 'tumblr']
const draft = (text: string) => ({ content: { text }, selectedPlatforms: ALL, status: 'DRAFT' })

/** Requests that a user can repeat without pause, by the resource that users share. Each function returns those of one turn. */
const GREED: Record<string, (turn: number) => Request[]> = {
  'checks of posts': () => [['POST', '/api/posts/validate', draft('#é http://a.b/c) @a.b '.repeat(4_000))]],
  'refreshes of accounts': () => ALL.map((platform): Request => ['GET', `/api/platform/${platform}/refresh`]),
  'starts of connections': () => [
    ...['tumblr', 'threads', 'facebook'].map((platform): Request => ['GET', `/api/platform/${platform}/connect`]),
    ['POST', '/api/platform/mastodon/connect', { instance: 'mastodon.example.com' }],
    ['POST', '/api/platform/bluesky/connect', { identifier: 'greedy.test', appPassword: 'aaaa-bbbb-cccc-dddd' }],
  ],
  'limits and lists': () => [
    ['GET', '/api/platform/limits'],
    ['GET', '/api/posts?limit=200&include=metrics'],
    ['GET', '/api/analytics/overview?period=1y'],
  ],
  exports: () => [
    ['GET', '/api/exports/posts?format=csv'],
    ['GET', '/api/profile/export'],
  ],
  'slots of imports': () => [['POST', '/api/imports', Array.from({ length: 500 }, (_, row) => draft(`Row ${row}`))]],
  captions: () => [['POST', '/api/generate/captions', { prompt: 'x'.repeat(2_000) }]],
  "transactions of a user's record": () => [
    ['POST', '/api/keys', { name: 'Greedy', scopes: ['posts:read'] }],
    ['POST', '/api/webhooks', { url: 'https://hooks.example.com/greedy' }],
    ['POST', '/api/posts', draft('Greedy')],
  ],
  'password hashes and mails': () => [
    ['POST', '/api/auth/login', { email: 'greedy@example.com', password: 'not a password' }],
    ['POST', '/api/auth/request-otp', { email: 'greedy@example.com' }],
    ['POST', '/api/auth/send-reset-email', { email: 'greedy@example.com' }],
  ],
  'uploads and avatars': () => [
    ['POST', '/api/posts/media/upload', { contentType: 'image/png' }],
    ['POST', '/api/profile/upload-url', { contentType: 'image/png', sizeBytes: 1_000 }],
  ],
  // Last, because these posts are still being published afterwards.
  'queues, pools and call quotas': (turn) => [
    ['POST', '/api/posts', { content: { text: `Greedy ${turn}` }, selectedPlatforms: ALL }],
  ],
  'the second of another post': (turn) => {
    const content = { content: { text: `Later ${turn}` }, selectedPlatforms: ['bluesky'] }
    return [['POST', '/api/posts', { ...content, status: 'SCHEDULED', scheduledAt: inSeconds(3) }]]
  },
}

it.each(Object.keys(GREED))(
  'one user who takes what users share without pause does not delay the posts of another user: %s',
  { timeout: 120_000 },
  async (shared) => {
    const greedy = await world.user()
    const taken = await run((signal) => takeWithoutPause(greedy, GREED[shared]!, signal), DUE_BESIDE_GREED)
    expect(taken.statuses.length).toBeGreaterThan(0)
    expectOnTime(taken)
  },
)

it(
  'one user whose import drips in without end delays neither the posts nor the imports of another user',
  { timeout: 120_000 },
  async () => {
    const greedy = await world.user()
    const taken = await run(async (signal) => {
      const dripping = Array.from({ length: 20 }, () => drip(greedy, signal))
      const file = JSON.stringify([{ ...draft('Mine'), selectedPlatforms: ['bluesky'] }])
      const status = await send('POST', '/api/imports', file, { by: importer })
      await Promise.all(dripping)
      return [status]
    }, DUE_BESIDE_GREED)
    expect(taken.statuses).toEqual([201])
    expectOnTime(taken)
  },
)

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

function expectOnTime({ statuses, slowestHealthMs, latestPostMs }: Awaited<ReturnType<typeof run>>): void {
  expect(statuses.filter((status) => status >= 500 && status !== 502)).toEqual([])
  expect(slowestHealthMs).toBeLessThan(SLOWER_AT_MOST * Math.max(CALM_MS, calm.slowestHealthMs))
  expect(latestPostMs).toBeLessThan(SLOWER_AT_MOST * Math.max(CALM_MS, calm.latestPostMs))
}

/** Repeats the requests until the signal aborts or the user has sent as many as they may, several at a time. */
async function takeWithoutPause(by: User, requests: (turn: number) => Request[], signal: AbortSignal) {
  const statuses: number[] = []
  let turn = 0
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (!signal.aborted && statuses.length < GREEDY_REQUESTS) {
        for (const [method, path, body] of requests((turn += 1))) {
          statuses.push(await send(method, path, JSON.stringify(body), { by }))
        }
      }
    }),
  )
  return statuses
}

/** Sends the beginning of an import, and then a byte now and then, until the signal aborts. Begins again when the API closes the connection. */
async function drip({ secrets: { token } }: User, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(api)
  while (!signal.aborted) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined).resume()
    const head = ['POST /api/imports HTTP/1.1', 'host: x', `authorization: Bearer ${token}`]
    socket.write([...head, 'content-type: application/json', 'content-length: 1000000', '', '['].join('\r\n'))
    const dripping = setInterval(() => socket.write(' '), 100)
    const cut = () => socket.destroy()
    signal.addEventListener('abort', cut, { once: true })
    await new Promise((resolve) => socket.on('close', resolve))
    signal.removeEventListener('abort', cut)
    clearInterval(dripping)
  }
}

/** Runs `attack` while posts of the bystander become due and health checks run. Its signal aborts when all of them are published. */
async function run(attack: (published: AbortSignal) => Promise<number[]>, { posts, firstMs, betweenMs }: Due) {
  const start = Date.now()
  const scheduled = await Promise.all(
    Array.from({ length: posts }, async (_, index) => {
      const dueAt = start + firstMs + index * betweenMs
      const text = `Due at ${dueAt}`
      const postId = await bystander.post(['bluesky'], text, { scheduledAt: new Date(dueAt).toISOString() })
      return { postId, dueAt, text }
    }),
  )
  const [ended, published] = [new AbortController(), new AbortController()]
  const health = slowestHealth(ended.signal)
  const attacking = attack(published.signal)
  await Promise.all(scheduled.map(({ postId }) => bystander.until(postId)))
  published.abort()
  const statuses = await attacking
  ended.abort()
  const calls = await bystander.visibleCalls('bluesky')
  const lateness = scheduled.map(
    ({ dueAt, text }) => Date.parse(calls.find((call) => call.text === text)!.receivedAt) - dueAt,
  )
  return { statuses, slowestHealthMs: await health, latestPostMs: Math.max(...lateness) }
}

/** Runs checks in sequence and returns the slowest response time. */
async function slowestHealth(ended: AbortSignal): Promise<number> {
  let slowest = 0
  while (!ended.aborted) {
    const askedAt = performance.now()
    const { status } = await fetch(`${api}/health/live`)
    expect(status).toBe(200)
    slowest = Math.max(slowest, performance.now() - askedAt)
  }
  return slowest
}

/** Sends each text of the corpus to a few routes and posts some of them. Returns the statuses of all responses. */
async function sendCorpus(): Promise<number[]> {
  const draft = await attacker.create({ content: { text: 'A draft' }, selectedPlatforms: ['tumblr'], status: 'DRAFT' })
  const platforms = world.platforms.map(({ platform }) => platform)
  const every = Math.floor(HOSTILE_TEXTS.length / POSTED_TEXTS)
  const routes: ((text: string) => [method: string, path: string, body: object])[] = [
    (text) => ['POST', '/api/posts', { content: { text }, selectedPlatforms: platforms, status: 'DRAFT' }],
    (text) => ['PATCH', `/api/posts/${draft}`, { content: { text } }],
    (text) => ['POST', '/api/generate/captions/mastodon', { prompt: text.slice(0, 2_000), text }],
    (text) => ['PATCH', '/api/profile/change-name', { name: text }],
    (text) => ['PATCH', '/api/profile/change-timezone', { timezone: text }],
    (text) => ['POST', '/api/auth/request-otp', { email: text }],
    (text) => ['POST', '/api/auth/login', { email: `${text}@example.com`, password: text }],
    (text) => [
      'POST',
      '/api/posts',
      { content: { text }, selectedPlatforms: ['tumblr'], scheduledAt: text, timezone: text },
    ],
    (text) => ['GET', `/api/posts?from=${encodeURIComponent(text.slice(0, 1_000).toWellFormed())}`, {}],
  ]
  const requests = HOSTILE_TEXTS.flatMap(({ make }, index) => {
    const text = make(LONGEST_TEXT)
    const validate = ['POST', '/api/posts/validate', { content: { text }, selectedPlatforms: platforms }] as const
    const posted = [
      'POST',
      '/api/posts',
      { content: { text: make(POSTED_LENGTH) }, selectedPlatforms: ['tumblr', 'facebook'] },
    ] as const
    return [validate, routes[index % routes.length]!(text), ...(index % every === 0 ? [posted] : [])]
  })
  const statuses: number[] = []
  const queue = requests.values()
  await Promise.all([
    ...Array.from({ length: SENDERS }, async () => {
      for (const [method, path, body] of queue) statuses.push(await send(method, path, JSON.stringify(body)))
    }),
    sendFiles(platforms),
  ])
  return statuses
}

/** Imports files whose rows have the texts of the corpus, each file in another format. */
async function sendFiles(platforms: readonly string[]): Promise<void> {
  const texts = HOSTILE_TEXTS.map(({ make }) => make(IMPORTED_LENGTH).toWellFormed())
  const quoted = texts.map((text) => `"${text.replaceAll('"', '""')}"`)
  const selected = platforms.join(';')
  const files = [
    ['application/json', JSON.stringify(texts.map((text) => ({ content: { text }, selectedPlatforms: platforms })))],
    ['text/csv', ['text,platforms', ...quoted.map((text) => `${text},${selected}`)].join('\n')],
    [
      'text/csv',
      ['text\tplatforms\tstatus\ttimezone', ...quoted.map((text) => `${text}\t${text}\t${text}\t${text}`)].join('\n'),
    ],
  ] as const
  for (const [contentType, body] of files) {
    expect(await send('POST', '/api/imports', body, { by: importer, contentType })).toBe(201)
  }
  // A row with too many cells refuses the file after the text, so that the user does not collect imports.
  for (const text of texts) {
    const file = `text\n${text}\n${','.repeat(200)}`
    expect(await send('POST', '/api/imports', file, { by: importer, contentType: 'text/csv' })).toBe(400)
  }
}

async function send(
  method: string,
  path: string,
  body: string | undefined,
  { by = attacker, contentType = 'application/json' }: { by?: User; contentType?: string } = {},
): Promise<number> {
  const response = await fetch(api + path, {
    method,
    headers: {
      authorization: `Bearer ${by.secrets.token}`,
      ...(body !== undefined && { 'content-type': contentType }),
    },
    ...(method === 'GET' || body === undefined ? {} : { body }),
  })
  await response.arrayBuffer()
  return response.status
}
