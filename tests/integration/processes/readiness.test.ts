import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMongod, startMongod, type Mongod } from '../../../sandbox/servers/mongod.ts'
import { freePort } from '../../../sandbox/servers/process.ts'
import { findTemporal, startTemporal, type Temporal } from '../../../sandbox/servers/temporal.ts'
import type { Config } from '../../../src/config/schema.ts'
import { createProcesses, waitForExit, waitForLogEntry } from '../../support/processes.ts'
import { testConfig } from '../../support/servers.ts'

/** The data folder of servers that only this file uses. Their data survives a restart. */
const dir = mkdtempSync(join(tmpdir(), 'postonce-readiness-'))
const processes = createProcesses()
const UNREACHABLE_MONGODB = 'mongodb://127.0.0.1:9/postonce?replicaSet=rs0'
const wait = { timeout: 60_000, interval: 250 }
let mongod: Mongod | undefined
let temporal: Temporal | undefined
let config: Config
let ports: { mongod: number; temporal: number; api: number; metrics: number }
let api: ChildProcess
let worker: ChildProcess

async function startDatabase(): Promise<void> {
  const logFile = join(dir, 'mongod.log')
  mongod = await startMongod({ program: await findMongod(), logFile, dir: join(dir, 'mongodb'), port: ports.mongod })
}

async function startOrchestrator(): Promise<void> {
  temporal = await startTemporal({
    program: await findTemporal(),
    logFile: join(dir, 'temporal.log'),
    file: join(dir, 'temporal.db'),
    port: ports.temporal,
    // An idle worker polls at this interval, so the server soon detects that it is gone.
    dynamicConfig: { 'matching.longPollExpirationInterval': '2s' },
  })
}

async function get(path: string): Promise<{ status: number; missing: string[] }> {
  const response = await fetch(`http://127.0.0.1:${ports.api}${path}`)
  const body = (await response.json()) as { missing?: string[] }
  return { status: response.status, missing: body.missing ?? [] }
}

/** Reads from the API's metrics which servers are up. */
async function readServersUp(): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text()
  const lines = text.matchAll(/^postonce_server_up{server="(\w+)"} (\d)$/gm)
  return Object.fromEntries([...lines].map(([, server, value]) => [server, Number(value)]))
}

const unserved = expect.arrayContaining([
  'No worker polls the task queue publishing for workflows',
  'No worker polls the task queue publishing for activities',
  'No worker polls the task queue preparing for activities',
  'No worker polls the task queue maintenance for workflows',
]) as string[]

beforeAll(async () => {
  ports = { mongod: await freePort(), temporal: await freePort(), api: await freePort(), metrics: await freePort() }
  config = testConfig({
    LOG_LEVEL: 'info',
    PORT: ports.api,
    MONGODB_URL: `mongodb://127.0.0.1:${ports.mongod}/postonce?replicaSet=rs0`,
    TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
    TEMPORAL_NAMESPACE: 'default',
    WORKER_SILENCE_MS: 8_000,
  })
  await Promise.all([startDatabase(), startOrchestrator()])
  const setup = processes.start('src/cli/setup.ts', config)
  setup.stdout!.resume()
  const { code, errors } = await waitForExit(setup)
  if (code !== 0) throw new Error(errors)
  await Promise.all([mongod!.stop(), temporal!.stop()])
})

afterAll(async () => {
  processes.killAll()
  await Promise.all([mongod?.stop(), temporal?.stop()])
  rmSync(dir, { recursive: true, force: true })
})

describe('an API and a worker that start before their servers', () => {
  beforeAll(async () => {
    api = processes.start('src/server.ts', config, { METRICS_PORT: String(ports.metrics) })
    worker = processes.start('src/worker.ts', config)
    await Promise.all([waitForLogEntry(api, 'Server listening'), waitForLogEntry(worker, 'waiting for dependencies')])
  })

  it('the API without any server is live but not ready, and names everything missing', async () => {
    expect(await get('/health/live')).toMatchObject({ status: 200 })
    expect(await get('/health/ready')).toEqual({ status: 503, missing: ['database'] })
    const { status, missing } = await get('/health/delivery')
    expect(status).toBe(503)
    expect(missing.toSorted()).toEqual(['Temporal does not answer', 'The database does not answer'])
    expect(await get('/api/posts')).toMatchObject({ status: 503 })
    await expect.poll(readServersUp, wait).toEqual({ mongodb: 0, temporal: 0 })
  })

  it('the API with Temporal alone still names everything else as missing', async () => {
    await startOrchestrator()
    await expect.poll(() => get('/health/delivery'), wait).toMatchObject({ status: 503, missing: unserved })
    expect((await get('/health/delivery')).missing).toContain('The database does not answer')
    expect(await get('/health/live')).toMatchObject({ status: 200 })
    expect(await get('/health/ready')).toEqual({ status: 503, missing: ['database'] })
  })

  it('the waiting processes serve everything when MongoDB starts', async () => {
    await startDatabase()
    await expect.poll(() => get('/health/ready'), wait).toEqual({ status: 200, missing: [] })
    expect(await get('/api/posts')).toMatchObject({ status: 401 })
    await expect.poll(readServersUp, wait).toEqual({ mongodb: 1, temporal: 1 })
    await expect.poll(() => get('/health/delivery'), wait).toEqual({ status: 200, missing: [] })
    expect([api.exitCode, worker.exitCode]).toEqual([null, null])
  })
})

describe('a process that waits', () => {
  it.each([
    ['src/server.ts', 'MongoDB', { MONGODB_URL: UNREACHABLE_MONGODB }],
    ['src/worker.ts', 'MongoDB', { MONGODB_URL: UNREACHABLE_MONGODB }],
    ['src/worker.ts', 'Temporal', { TEMPORAL_ADDRESS: '127.0.0.1:9' }],
  ])('%s exits with 0 on SIGTERM while it waits for %s', async (entry, _server, addresses) => {
    const child = processes.start(entry, config, { PORT: '0', ...addresses })
    await waitForLogEntry(
      child,
      'MONGODB_URL' in addresses ? 'waiting for dependencies' : 'temporal unavailable, retrying',
    )
    const ended = waitForExit(child)
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  it('a process with an invalid address exits without waiting', async () => {
    const { code, errors } = await waitForExit(
      processes.start('src/server.ts', config, { PORT: '0', MONGODB_URL: 'mongo' }),
    )
    expect(code).toBe(1)
    expect(errors).not.toBe('')
  })
})

describe('when the only worker is gone', () => {
  it('delivery health reports a missing worker until a new worker starts, and the API keeps serving', async () => {
    worker.kill('SIGKILL')
    await expect.poll(() => get('/health/delivery'), wait).toMatchObject({ status: 503, missing: unserved })
    expect(await get('/health/ready')).toMatchObject({ status: 200 })
    worker = processes.start('src/worker.ts', config)
    await expect.poll(() => get('/health/delivery'), wait).toEqual({ status: 200, missing: [] })
  })
})

describe('when servers go away under running processes', () => {
  it('health names each missing server, and the processes recover without a restart', async () => {
    await temporal!.stop()
    await expect
      .poll(() => get('/health/delivery'), wait)
      .toEqual({ status: 503, missing: ['Temporal does not answer'] })
    expect(await get('/health/ready')).toMatchObject({ status: 200 })
    await mongod!.stop()
    await expect.poll(() => get('/health/ready'), wait).toEqual({ status: 503, missing: ['database'] })
    expect(await get('/health/live')).toMatchObject({ status: 200 })

    // The new worker finds the database before Temporal.
    worker.kill('SIGKILL')
    worker = processes.start('src/worker.ts', config)
    await startDatabase()
    await waitForLogEntry(worker, 'temporal unavailable, retrying')
    await startOrchestrator()
    await expect.poll(() => get('/health/ready'), wait).toEqual({ status: 200, missing: [] })
    await expect.poll(() => get('/health/delivery'), wait).toEqual({ status: 200, missing: [] })
    expect([api.exitCode, worker.exitCode]).toEqual([null, null])
  })

  it('every line that a worker writes is JSON, those of the native part of the SDK as well', async () => {
    const lines = recordLines(worker)
    await temporal!.stop()
    await expect.poll(() => lines().filter((line) => line.includes('"sdkComponent":"core"')), wait).not.toEqual([])
    expect(lines().filter((line) => !isJson(line))).toEqual([])
    await startOrchestrator()
    await expect.poll(() => get('/health/delivery'), wait).toEqual({ status: 200, missing: [] })
  })
})

/** Returns a function that returns the complete lines that the process has written since. */
function recordLines(child: ChildProcess): () => string[] {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (output += String(chunk)))
  return () => output.split('\n').slice(0, -1)
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}
