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
const DUE_POSTS = 10
const FIRST_DUE_MS = 5_000
const BETWEEN_DUE_MS = 400

/** The maximum slowdown of a hostile run. A calm run counts as at least `CALM_MS`, because other processes delay both runs. */
const SLOWER_AT_MOST = 20
const CALM_MS = 250

const processes = createProcesses()
let world: PlatformsWorld
let api: string
let figures: string[]
let attacker: User
let bystander: User
let importer: User

beforeAll(async () => {
  world = await startPlatformsWorld(ALL_QUEUES)
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
})
afterAll(async () => {
  processes.killAll()
  await world?.stop()
})

it(
  'hostile texts sent to every route that takes text neither delay health checks nor posts of other users',
  { timeout: 180_000 },
  async () => {
    const calm = await run(async () => [])
    const hostile = await run(sendCorpus)

    expect(hostile.statuses.length).toBeGreaterThan(HOSTILE_TEXTS.length)
    expect(hostile.statuses.filter((status) => status >= 500)).toEqual([])
    expect(hostile.slowestHealthMs).toBeLessThan(SLOWER_AT_MOST * Math.max(CALM_MS, calm.slowestHealthMs))
    expect(hostile.latestPostMs).toBeLessThan(SLOWER_AT_MOST * Math.max(CALM_MS, calm.latestPostMs))
    for (const address of figures) {
      expect(await (await fetch(address)).text()).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
    }
  },
)

/** Runs `attack` while posts of the bystander become due and health checks run. */
async function run(attack: () => Promise<number[]>) {
  const start = Date.now()
  const scheduled = await Promise.all(
    Array.from({ length: DUE_POSTS }, async (_, index) => {
      const dueAt = start + FIRST_DUE_MS + index * BETWEEN_DUE_MS
      const text = `Due at ${dueAt}`
      const postId = await bystander.post(['bluesky'], text, { scheduledAt: new Date(dueAt).toISOString() })
      return { postId, dueAt, text }
    }),
  )
  const ended = new AbortController()
  const health = slowestHealth(ended.signal)
  const [statuses] = await Promise.all([attack(), ...scheduled.map(({ postId }) => bystander.until(postId))])
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
  body: string,
  { by = attacker, contentType = 'application/json' }: { by?: User; contentType?: string } = {},
): Promise<number> {
  const response = await fetch(api + path, {
    method,
    headers: { authorization: `Bearer ${by.secrets.token}`, 'content-type': contentType },
    ...(method === 'GET' ? {} : { body }),
  })
  await response.arrayBuffer()
  return response.status
}
