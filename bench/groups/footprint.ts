import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../sandbox/servers/process.ts'
import { buildConsole, measureFirstPage } from '../../scripts/build-console.ts'
import { leashed } from '../../scripts/provision.mjs'
import type { Config } from '../../src/config/schema.ts'
import { createContext } from '../../src/context.ts'
import { SECOND } from '../../src/domain/shared/times.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import { startBrowser } from '../../tests/browser/browser.ts'
import { compare, measureRounds, type Figure, type Sample, type Scale } from '../figure.ts'
import { residentMib, settingsOf, startChild } from '../processes.ts'
import { startBareWorker } from '../sides.ts'
import type { World } from '../world.ts'

/** V8 releases memory after a process has been idle for some seconds. */
const QUIET_MS = 12 * SECOND
const READY_WITHIN_MS = 60 * SECOND

const READY = { unit: 'ms', value: 'ready', bound: { of: 'ours', atMost: 3 * SECOND } as const }
const IDLE = { unit: 'MiB', value: 'idle' }
const SIZE = { unit: 'KB', value: 'size', bound: { of: 'ours', atMost: 300 } as const }
const INTERACTIVE = { unit: 'ms', value: 'interactive', bound: { of: 'ours', atMost: 2 * SECOND } as const }

interface Started {
  pid: number
  stop(): Promise<void>
}

/**
 * Measures idle memory and start times of the API and the worker, compared with processes that contain nothing of the service, and what the
 * first page of the console weighs.
 */
export async function measureFootprint(world: World, scale: Scale): Promise<Figure[]> {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createSchema()
  await context.close()
  // Builds the workflow bundles, so that a warm start of the worker is measured.
  await Promise.all([loadBundle(), world.bareBundle()])
  const sides = {
    API: () => measureStart(() => startProcess('src/server.ts', config, 'api ready')),
    bareAPI: () => measureStart(() => startChild('bare-api', config)),
    worker: () => measureStart(() => startProcess('src/worker.ts', config, 'worker ready')),
    bareworker: () => measureStart(() => startBareWorker(world, config)),
    console: () => measureConsole(config),
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
  ])
}

/** Opens the console in a browser without a cache. */
async function measureConsole(config: Config): Promise<Sample> {
  const size = measureFirstPage(await buildConsole()) / 1_000
  const port = await freePort()
  const url = `http://localhost:${port}`
  const api = await startProcess('src/server.ts', { ...config, CONSOLE: 'on', PUBLIC_URL: url }, 'api ready', port)
  const browser = await startBrowser()
  try {
    const page = await browser.newPage()
    const startedAt = performance.now()
    await page.goto(url)
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor()
    return { size, interactive: performance.now() - startedAt }
  } finally {
    await browser.stop()
    await api.stop()
  }
}

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
