import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../sandbox/servers/process.ts'
import { leashed } from '../../scripts/provision.mjs'
import type { Config } from '../../src/config/schema.ts'
import { createContext } from '../../src/context.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import { CONNECTION_OPTIONS, toWorkerOptions } from '../../src/worker/create-workers.ts'
import { figureOfRounds, type Figure } from '../figure.ts'
import { residentBytes, settingsOf, startChild } from '../processes.ts'
import { median, rounded } from '../stats.ts'
import type { World } from '../world.ts'

const MIB = 2 ** 20
const POLL_MS = 5
/** V8 releases memory after a process has been idle for some seconds. */
const QUIET_MS = 12_000
const READY_WITHIN_MS = 60_000
const AIM_READY_MS = 3_000

export interface FootprintSize {
  rounds: number
}

interface Started {
  pid: number
  readyMs: number
  stop(): Promise<void>
}

interface Footprint {
  readyMs: number
  atReady: number | null
  quiet: number | null
}

const ALL = ['api', 'bare-api', 'worker', 'bare-worker'] as const
type Name = (typeof ALL)[number]

/** Measures idle memory and start times of the API and the worker, compared with processes that contain nothing of the service. */
export async function measureFootprint(world: World, { rounds }: FootprintSize): Promise<Figure[]> {
  const config = await world.config()
  await createIndexes(config)
  // Builds the workflow bundle, so that a warm start of the worker is measured.
  await loadBundle()
  const bareEnv = {
    BENCH_BUNDLE: await world.bundle('bare'),
    BENCH_CONNECTION: JSON.stringify(CONNECTION_OPTIONS),
    BENCH_WORKER_OPTIONS: JSON.stringify(toWorkerOptions('publishing', config, {})),
  }
  const start: Record<Name, () => Promise<Started>> = {
    api: () => startApi('src/server.ts', config),
    'bare-api': () => startApi('bench/processes/bare-api.ts', config),
    worker: () => startWorker(config),
    'bare-worker': () => timed(() => startChild('bare-worker', config, { env: bareEnv })),
  }
  const found = Object.fromEntries(ALL.map((name) => [name, []])) as unknown as Record<Name, Footprint[]>
  for (let round = 0; round < rounds; round++) {
    const started: { name: Name; process: Started; atReady: number | null }[] = []
    try {
      for (const name of ALL) {
        const process = await start[name]()
        started.push({ name, process, atReady: residentBytes(process.pid) })
      }
      await delay(QUIET_MS)
      for (const { name, process, atReady } of started) {
        found[name].push({ readyMs: process.readyMs, atReady, quiet: residentBytes(process.pid) })
      }
    } finally {
      await Promise.all(started.map(({ process }) => process.stop()))
    }
  }
  return [...figuresOf('API', found.api, found['bare-api']), ...figuresOf('worker', found.worker, found['bare-worker'])]
}

function figuresOf(what: string, ours: Footprint[], bare: Footprint[]): Figure[] {
  const mib = (all: Footprint[], when: 'atReady' | 'quiet') =>
    all
      .map((one) => one[when])
      .filter((bytes) => bytes !== null)
      .map((bytes) => bytes / MIB)
  const [quiet, bareQuiet] = [mib(ours, 'quiet'), mib(bare, 'quiet')]
  const ready = figureOfRounds({
    group: 'footprint',
    name: `${what}, from start to ready`,
    unit: 'ms',
    ours: ours.map(({ readyMs }) => readyMs),
    baseline: bare.map(({ readyMs }) => readyMs),
    aim: { text: `at most ${AIM_READY_MS / 1_000} s`, met: ({ ours: readyMs }) => readyMs <= AIM_READY_MS },
  })
  // Not every system reports the memory of a process.
  if (quiet.length === 0 || bareQuiet.length === 0) return [ready]
  const memory = figureOfRounds({
    group: 'footprint',
    name: `${what}, memory when idle`,
    unit: 'MiB',
    ours: quiet,
    baseline: bareQuiet,
    details: {
      'ours when ready, MiB': rounded(median(mib(ours, 'atReady'))),
      'baseline when ready, MiB': rounded(median(mib(bare, 'atReady'))),
    },
  })
  return [memory, ready]
}

async function createIndexes(config: Config): Promise<void> {
  const context = await createContext(config)
  await context.database.createSchema()
  await context.close()
}

/** Starts an API process like `npm start` and waits until /health/ready responds with success. */
async function startApi(file: string, config: Config): Promise<Started> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/health/ready`
  const startedAt = performance.now()
  const { child, stop } = startProcess(file, config, { PORT: String(port), BENCH_PORT: String(port) })
  child.stdout.pipe(process.stdout)
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() - startedAt > READY_WITHIN_MS) {
      await stop()
      throw new Error(`${file} did not become ready`)
    }
    await delay(POLL_MS)
  }
  return { pid: child.pid ?? 0, readyMs: performance.now() - startedAt, stop }
}

/** Starts the worker like `npm run worker` and waits until it logs that it polls its task queues. */
async function startWorker(config: Config): Promise<Started> {
  const startedAt = performance.now()
  const { child, stop } = startProcess('src/worker.ts', config, { LOG_LEVEL: 'info' })
  await Promise.race([untilLogged(child, '"worker ready"'), delay(READY_WITHIN_MS)])
  const readyMs = performance.now() - startedAt
  if (child.exitCode !== null || readyMs >= READY_WITHIN_MS) {
    await stop()
    throw new Error('src/worker.ts did not become ready')
  }
  return { pid: child.pid ?? 0, readyMs, stop }
}

function startProcess(file: string, config: Config, env: Record<string, string>) {
  const [command, args] = leashed(process.execPath, [fileURLToPath(new URL(`../../${file}`, import.meta.url))])
  const child = spawn(command, args, {
    env: { ...process.env, ...settingsOf(config), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return {
    child,
    async stop(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Resolves when the process has logged this text or has ended. */
function untilLogged(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve) => {
    let tail = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      tail = `${tail}${String(chunk)}`.slice(-10_000)
      if (tail.includes(text)) resolve()
    })
    child.once('exit', () => resolve())
  })
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

async function timed(start: () => ReturnType<typeof startChild>): Promise<Started> {
  const startedAt = performance.now()
  const child = await start()
  return { pid: child.pid, readyMs: performance.now() - startedAt, stop: () => child.stop() }
}
