import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startBluesky } from '../../sandbox/platforms/bluesky.ts'
import { findMongod, startMongod } from '../../sandbox/servers/mongod.ts'
import { findObjectStorage, startObjectStorage } from '../../sandbox/servers/object-storage.ts'
import { findTemporal, startTemporal } from '../../sandbox/servers/temporal.ts'

/** The real servers of one test run. Every world has its own database, namespace, bucket and accounts on them. */
export interface TestServers {
  /** The folder of the run, deleted at its end. */
  dir: string
  /** The URL of a replica set, without a database name. */
  mongoUrl: string
  temporalAddress: string
  s3: { endpoint: string; accessKeyId: string; secretAccessKey: string }
  /** `url` is the fault proxy, `control` its control interface, `pdsUrl` the server behind it. Faults affect every test file. */
  bluesky: { url: string; control: string; pdsUrl: string; directoryUrl: string }
}

declare module 'vitest' {
  interface ProvidedContext {
    servers: TestServers
  }
}

/** Vitest loads this file once per project. The servers of the first project serve all others, until the last one ends. */
const run = globalThis as { postonceServers?: { servers: Promise<TestServers>; projects: number; stops: Stop[] } }

type Stop = () => Promise<void>

export async function setup(project: TestProject): Promise<void> {
  const shared = (run.postonceServers ??= start())
  shared.projects++
  try {
    project.provide('servers', await shared.servers)
  } catch (error) {
    await teardown()
    throw error
  }
}

export async function teardown(): Promise<void> {
  const shared = run.postonceServers
  if (!shared || --shared.projects > 0) return
  delete run.postonceServers
  for (const stop of shared.stops.toReversed()) await stop()
}

/** Linux keeps the files of this folder in memory. */
const MEMORY = '/dev/shm'
/** Several times what the databases of a whole run need. */
const ROOM_BYTES = 4 * 1024 ** 3

/** Returns where the database keeps its files. No data outlives the run, and on a disk every write waits for it. */
function databaseParent(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, process.availableMemory()) >= ROOM_BYTES ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

function start() {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-tests-'))
  const database = mkdtempSync(join(databaseParent(), 'postonce-tests-mongod-'))
  const stops = [dir, database].map(
    (folder): Stop =>
      async () =>
        rmSync(folder, { recursive: true, force: true }),
  )
  return { servers: startServers({ dir, database }, stops), projects: 0, stops }
}

async function startServers(
  { dir, database }: Record<'dir' | 'database', string>,
  stops: Stop[],
): Promise<TestServers> {
  const [mongodProgram, temporalProgram, storageProgram] = [
    await findMongod(),
    await findTemporal(),
    await findObjectStorage(),
  ]
  const log = (name: string) => join(dir, `${name}.log`)
  /** Stops a server at teardown, even one that was still starting when another failed. */
  const stopAtTeardown = <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    stops.push(async () => (await starting.catch(() => null))?.stop())
    return starting
  }
  const [mongod, temporal, storage, bluesky] = await Promise.all([
    stopAtTeardown(startMongod({ program: mongodProgram, logFile: log('mongod'), dir: database })),
    stopAtTeardown(startTemporal({ program: temporalProgram, logFile: log('temporal') })),
    stopAtTeardown(
      startObjectStorage({
        program: storageProgram,
        logFile: log('storage'),
        accessKeyId: 'postonce-tests',
        secretAccessKey: 'postonce-tests-secret',
      }),
    ),
    stopAtTeardown(startBluesky()),
  ])
  const { endpoint, accessKeyId, secretAccessKey } = storage
  return {
    dir,
    mongoUrl: mongod.url,
    temporalAddress: temporal.address,
    s3: { endpoint, accessKeyId, secretAccessKey },
    bluesky: {
      url: bluesky.url,
      control: bluesky.control,
      pdsUrl: bluesky.pdsUrl,
      directoryUrl: bluesky.directoryUrl,
    },
  }
}
