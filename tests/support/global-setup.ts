import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startBluesky } from '../../sandbox/platforms/bluesky.ts'
import { findMongod, startMongod } from '../../sandbox/servers/mongod.ts'
import { findObjectStorage, startObjectStorage } from '../../sandbox/servers/object-storage.ts'
import { findTemporal, startTemporal } from '../../sandbox/servers/temporal.ts'

/** The real servers of one test run. Every test file has its own database, namespace, bucket and accounts on them. */
export interface TestServers {
  /** The URL of a replica set, without a database name. */
  mongoUrl: string
  temporalAddress: string
  s3: { endpoint: string; accessKeyId: string; secretAccessKey: string }
  /** `url` is the fault proxy, `control` its control interface, `pdsUrl` the server behind it. Faults affect every test file. */
  bluesky: { url: string; control: string; pdsUrl: string }
}

declare module 'vitest' {
  interface ProvidedContext {
    servers: TestServers
  }
}

const stops: (() => Promise<void>)[] = []

export async function setup(project: TestProject): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-tests-'))
  stops.push(async () => rmSync(dir, { recursive: true, force: true }))
  try {
    project.provide('servers', await startServers(dir))
  } catch (error) {
    await teardown()
    throw error
  }
}

export async function teardown(): Promise<void> {
  for (const stop of stops.splice(0).toReversed()) await stop()
}

async function startServers(dir: string): Promise<TestServers> {
  const [mongodProgram, temporalProgram, storageProgram] = [
    await findMongod(),
    await findTemporal(),
    await findObjectStorage(),
  ]
  const log = (name: string) => join(dir, `${name}.log`)
  const [mongod, temporal, storage, bluesky] = await Promise.all([
    stopAtTeardown(startMongod({ program: mongodProgram, logFile: log('mongod') })),
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
    mongoUrl: mongod.url,
    temporalAddress: temporal.address,
    s3: { endpoint, accessKeyId, secretAccessKey },
    bluesky: { url: bluesky.url, control: bluesky.control, pdsUrl: bluesky.pdsUrl },
  }
}

/** Stops a server at teardown, even one that was still starting when another failed. */
async function stopAtTeardown<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  stops.push(async () => (await starting.catch(() => null))?.stop())
  return starting
}
