import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { freePort } from '../../../sandbox/servers/process.ts'
import type { Config } from '../../../src/config/schema.ts'
import { openDatabase, type Database } from '../../../src/store/shared/database.ts'
import { SCHEMA_VERSION } from '../../../src/store/shared/schema-version.ts'
import { createProcesses, waitForExit, waitForLogEntry } from '../../support/processes.ts'
import { registerNamespace, testConfig } from '../../support/servers.ts'

const processes = createProcesses()
let config: Config
let database: Database

beforeAll(async () => {
  config = testConfig({ LOG_LEVEL: 'info' })
  await registerNamespace(config)
  database = await openDatabase(config.MONGODB_URL)
})
beforeEach(() => database.connection.dropDatabase())
afterEach(() => processes.killAll())
afterAll(() => database.close())

const storeVersion = (version: number) =>
  database.connection.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'schema', version })

/** Runs a process that has to end by itself, and returns its exit code and the lines of its stderr. */
async function run(entry: string, ...args: string[]): Promise<{ code: number; lines: string[] }> {
  const child = processes.start(entry, config, { PORT: '0' }, [], args)
  child.stdout!.resume()
  const { code, errors } = await waitForExit(child)
  return { code, lines: errors.trim().split('\n') }
}

const ENTRIES = ['src/cli/setup.ts', 'src/server.ts', 'src/worker.ts', 'src/cli/admin.ts']

it.each(
  ENTRIES.flatMap((entry) => [
    [entry, 'older', SCHEMA_VERSION - 1] as const,
    [entry, 'newer', SCHEMA_VERSION + 1] as const,
  ]),
)('%s exits with one sentence on a database of an earlier or later release: %s', async (entry, age, version) => {
  await storeVersion(version)
  const { code, lines } = await run(entry, 'list')
  expect(code).toBe(1)
  expect(lines).toEqual([expect.stringContaining(`The database has schema version ${version}`)])
  expect(lines[0]).toContain(`${age} release`)
})

it('setup, the API and the admin command do not use a database with records and without a version', async () => {
  await database.connection.collection('users').insertOne({ email: 'ann@example.com' })
  const setup = await run('src/cli/setup.ts')
  expect(setup).toEqual({ code: 1, lines: [expect.stringContaining('has records but no schema version')] })
  expect(await run('src/cli/admin.ts', 'list')).toEqual({ code: 1, lines: ['Run "npm run setup" first.'] })

  const port = await freePort()
  const api = processes.start('src/server.ts', config, { PORT: String(port) })
  await waitForLogEntry(api, 'waiting for dependencies')
  // On a busy machine the database may not answer a check in time.
  await expect
    .poll(async () => {
      const ready = await fetch(`http://127.0.0.1:${port}/health/ready`)
      return { status: ready.status, ...((await ready.json()) as { missing: string[] }) }
    })
    .toMatchObject({ status: 503, missing: expect.arrayContaining(['schema version']) })
  expect((await fetch(`http://127.0.0.1:${port}/api/posts`)).status).toBe(503)
})
