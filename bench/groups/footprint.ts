import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { freePort } from '../../sandbox/servers/process.ts'
import { buildConsole, measureFirstPage } from '../../scripts/build-console.ts'
import { leashed } from '../../scripts/provision.mjs'
import { createPost } from '../../src/commands/posts/create-post.ts'
import type { Config } from '../../src/config/schema.ts'
import { createContext, type Context } from '../../src/context.ts'
import { DAY, SECOND } from '../../src/domain/shared/times.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import { startBrowser } from '../../tests/browser/browser.ts'
import { openTestSession } from '../../tests/support/sessions.ts'
import { compare, measureRounds, type Figure, type Sample, type Scale } from '../figure.ts'
import { INSTANT_PLATFORMS } from '../platforms.ts'
import { residentMib, settingsOf, startChild } from '../processes.ts'
import { startBareWorker } from '../sides.ts'
import { createUsers } from '../users.ts'
import type { World } from '../world.ts'

/** V8 releases memory after a process has been idle for some seconds. */
const QUIET_MS = 12 * SECOND
const READY_WITHIN_MS = 60 * SECOND

const READY = { unit: 'ms', value: 'ready', bound: { of: 'ours', atMost: 3 * SECOND } as const }
const IDLE = { unit: 'MiB', value: 'idle' }
const SIZE = { unit: 'KB', value: 'size', bound: { of: 'ours', atMost: 300 } as const }
const INTERACTIVE = { unit: 'ms', value: 'interactive', bound: { of: 'ours', atMost: 2 * SECOND } as const }

/** One user has this many in each of two months. */
const CALENDAR_POSTS = 500
const POSTS_PER_DAY = 18
const DRAG_STEPS = 40
const CALENDAR = [
  {
    name: `console, from opening the calendar to a month of ${CALENDAR_POSTS} posts`,
    unit: 'ms',
    value: 'calendar',
    bound: { of: 'ours', atMost: 2 * SECOND },
  },
  {
    name: `console, from one month of ${CALENDAR_POSTS} posts to the next`,
    unit: 'ms',
    value: 'month',
    bound: { of: 'ours', atMost: SECOND },
  },
  {
    name: `console, longest task while a post is dragged over such a month; 0: none of 50 ms`,
    unit: 'ms',
    value: 'drag',
    bound: { of: 'ours', atMost: 200 },
  },
] as const

interface Started {
  pid: number
  stop(): Promise<void>
}

/**
 * Measures idle memory and start times of the API and the worker, compared with processes that contain nothing of the service, and what the
 * first page of the console weighs and how fast its calendar is.
 */
export async function measureFootprint(world: World, scale: Scale): Promise<Figure[]> {
  const port = await freePort()
  // One access token serves all rounds. It belongs to this address.
  const config = await world.config({
    PUBLIC_URL: `http://localhost:${port}`,
    ACCESS_TOKEN_TTL_SECONDS: String(DAY / SECOND),
  })
  const context = await createContext(config)
  await context.database.createSchema()
  const [author] = await createUsers(context, 1)
  await fillMonths(context, author!._id)
  const { accessToken } = await openTestSession(context, author!)
  await context.close()
  // Builds the workflow bundles, so that a warm start of the worker is measured.
  await Promise.all([loadBundle(), world.bareBundle()])
  const sides = {
    API: () => measureStart(() => startProcess('src/server.ts', config, 'api ready')),
    bareAPI: () => measureStart(() => startChild('bare-api', config)),
    worker: () => measureStart(() => startProcess('src/worker.ts', config, 'worker ready')),
    bareworker: () => measureStart(() => startBareWorker(world, config)),
    console: () => measureConsole(config, port, accessToken),
  }
  return measureRounds(sides, scale, (samples) => [
    ...(['API', 'worker'] as const).flatMap((what) => [
      compare(
        { ...READY, name: `${what}, from start to ready; a bare process` },
        samples[what],
        samples[`bare${what}`],
      ),
      compare({ ...IDLE, name: `${what}, memory when idle; a bare process` }, samples[what], samples[`bare${what}`]),
    ]),
    compare({ ...SIZE, name: 'console, files of the first page, compressed' }, samples.console),
    compare({ ...INTERACTIVE, name: 'console, from opening to the form of a login' }, samples.console),
    ...CALENDAR.map((quantity) => compare(quantity, samples.console)),
  ])
}

/** Opens the console in a browser without a cache. */
async function measureConsole(config: Config, port: number, accessToken: string): Promise<Sample> {
  const size = measureFirstPage(await buildConsole()) / 1_000
  const api = await startProcess('src/server.ts', { ...config, CONSOLE: 'on' }, 'api ready', port)
  const browser = await startBrowser()
  try {
    const page = await browser.newPage()
    const interactive = await timed(async () => {
      await page.goto(config.PUBLIC_URL)
      await page.getByRole('button', { name: 'Log in', exact: true }).waitFor()
    })
    return { size, interactive, ...(await measureCalendar(page, config.PUBLIC_URL, accessToken)) }
  } finally {
    await browser.stop()
    await api.stop()
  }
}

/** Opens a month, goes to the next, and drags a post over its days without dropping it on one. */
async function measureCalendar(page: Page, url: string, accessToken: string): Promise<Sample> {
  const [first, second] = fullMonths()
  // Of the middle of the month, which no other month shows.
  const postOf = (month: string) => page.getByRole('button', { name: `${month}, post ${13 * POSTS_PER_DAY}` })
  await page.setViewportSize({ width: 1_280, height: 1_400 })
  await page.addInitScript({ content: COLLECT_TASKS })
  const calendar = await timed(async () => {
    await page.goto(`${url}/calendar?date=${first}-14#accessToken=${accessToken}`)
    await postOf(first).waitFor()
  })
  const month = await timed(async () => {
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await postOf(second).waitFor()
  })
  await postOf(second).hover()
  await page.mouse.down()
  await page.evaluate('tasks.length = 0')
  for (let step = 0; step < DRAG_STEPS; step++)
    await page.mouse.move(300 + (step % 10) * 100, 500 + Math.floor(step / 10) * 150, { steps: 2 })
  const drag = await page.evaluate<number>('Math.max(0, ...tasks)')
  await page.mouse.move(100, 800)
  await page.mouse.up()
  return { calendar, month, drag }
}

/** Chromium reports the tasks of 50 ms and more. */
const COLLECT_TASKS = `
  globalThis.tasks = []
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' })
`

async function timed(act: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await act()
  return performance.now() - startedAt
}

/** The two months after the next, such as 2026-05, in which no post is over. */
function fullMonths(): [string, string] {
  const now = new Date()
  const monthIn = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)).toISOString().slice(0, 7)
  return [monthIn(2), monthIn(3)]
}

async function fillMonths(context: Context, userId: string): Promise<void> {
  for (const month of fullMonths()) {
    for (let index = 0; index < CALENDAR_POSTS; index++) {
      const [day, hour] = [1 + Math.floor(index / POSTS_PER_DAY), index % POSTS_PER_DAY].map(twoDigits)
      await createPost(context, {
        userId,
        input: {
          content: { text: `${month}, post ${index}` },
          selectedPlatforms: [...INSTANT_PLATFORMS],
          status: 'DRAFT',
          scheduledAt: `${month}-${day}T${hour}:30:00Z`,
        },
        metadata: { source: 'api', client: 'api' },
        idempotency: null,
      })
    }
  }
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

async function measureStart(start: () => Promise<Started>): Promise<Sample> {
  const startedAt = performance.now()
  const started = await start()
  try {
    const ready = performance.now() - startedAt
    await delay(QUIET_MS)
    return { ready, idle: residentMib(started.pid) }
  } finally {
    await started.stop()
  }
}

/** Starts a process of the service like `npm start` and waits until it logs this event. */
async function startProcess(file: string, config: Config, event: string, port?: number): Promise<Started> {
  const [command, args] = leashed(process.execPath, [fileURLToPath(new URL(`../../${file}`, import.meta.url))])
  const child = spawn(command, args, {
    env: { ...process.env, ...settingsOf(config), LOG_LEVEL: 'info', PORT: String(port ?? (await freePort())) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  let logged = ''
  const isReady = new Promise<true>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      logged = `${logged}${String(chunk)}`.slice(-10_000)
      if (logged.includes(`"${event}"`)) resolve(true)
    })
  })
  if ((await Promise.race([isReady, exited, delay(READY_WITHIN_MS)])) !== true) {
    await stop()
    throw new Error(`${file} did not become ready`)
  }
  return { pid: child.pid ?? 0, stop }
}
