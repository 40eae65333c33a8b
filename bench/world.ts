import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { mongo } from 'mongoose'
import { startBluesky, type Bluesky } from '../sandbox/platforms/bluesky.ts'
import { findMongod, startMongod } from '../sandbox/servers/mongod.ts'
import { findTemporal, startTemporal } from '../sandbox/servers/temporal.ts'
import { readConfig, type Config } from '../src/config/schema.ts'
import { DAY } from '../src/domain/shared/times.ts'
import { bundleWorkflows } from '../src/worker/bundle.ts'
import type { Profiling } from './profiling.ts'

export interface World {
  bluesky: Bluesky
  pids: { mongod: number; temporal: number }
  /** The profiler of the measured processes; null without `--profile`. */
  profiling: Profiling | null
  /** Versions of the servers. */
  versions: Record<'mongodb' | 'temporal', string>
  /** Returns the file with the workflow bundle of one side. It is built once, so that no worker builds it at its start. */
  bundle(side: Bundled): Promise<string>
  /** Builds the workflow bundle of a copy of the project and returns its file. */
  bundleCopy(root: string): Promise<string>
  /** Returns a configuration with an unused database and a new Temporal namespace. */
  config(overrides?: Record<string, string>): Promise<Config>
  stop(): Promise<void>
}

type Bundled = 'ours' | 'bare'
type Build = () => Promise<{ code: string }>

const BUNDLES: Record<Bundled, Build> = {
  ours: bundleWorkflows,
  bare: () =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('workflows/bare.ts', import.meta.url)),
      logger: new DefaultLogger('WARN'),
    }),
}

/** Starts real servers for one run. Their data is in memory or in a folder that `stop` deletes. */
export async function startWorld(profiling: Profiling | null = null): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-bench-'))
  const stops: (() => Promise<unknown>)[] = [async () => rmSync(dir, { recursive: true, force: true })]
  const stop = async () => {
    for (const end of stops.splice(0).toReversed()) await end()
  }
  const keep = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
    stops.push(async () => (await starting.catch(() => null))?.stop())
    return starting
  }
  try {
    const [mongodProgram, temporalProgram] = [await findMongod(), await findTemporal()]
    const [mongod, temporal, bluesky] = await Promise.all([
      keep(startMongod({ program: mongodProgram, logFile: join(dir, 'mongod.log') })),
      keep(startTemporal({ program: temporalProgram, logFile: join(dir, 'temporal.log') })),
      keep(startBluesky()),
    ])
    const settings = {
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      HOST: '127.0.0.1',
      TEMPORAL_ADDRESS: temporal.address,
      // No server: only measurements with media set a real one.
      S3_ENDPOINT: 'http://127.0.0.1:1',
      S3_SECRET_ACCESS_KEY: 'unused',
      JWT_SECRET: randomBytes(32).toString('hex'),
      REFRESH_TOKEN_SECRET: randomBytes(32).toString('hex'),
      OAUTH_STATE_SECRET: randomBytes(32).toString('hex'),
      TOKEN_ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      BLUESKY_ENTRY_URL: bluesky.url,
      BLUESKY_VIDEO_URL: bluesky.url,
      BLUESKY_DIRECTORY_URL: bluesky.url,
      RATE_LIMIT_PER_ADDRESS: '100000000',
      RATE_LIMIT_PER_USER: '100000000',
    }
    const bundles = new Map<Bundled, Promise<string>>()
    return {
      bluesky,
      pids: { mongod: mongod.pid, temporal: temporal.pid },
      profiling,
      versions: { mongodb: await mongodVersion(mongod.url), temporal: await temporalVersion(temporal.address) },
      bundle(side) {
        const known = bundles.get(side) ?? writeBundle(BUNDLES[side], join(dir, `workflow-bundle-${side}.js`))
        bundles.set(side, known)
        return known
      },
      async bundleCopy(root) {
        const { bundleWorkflows: build } = (await import(join(root, 'src/worker/bundle.ts'))) as {
          bundleWorkflows: Build
        }
        return writeBundle(build, join(root, 'workflow-bundle.js'))
      },
      async config(overrides = {}) {
        const name = `bench-${randomBytes(4).toString('hex')}`
        await registerNamespace(temporal.address, name)
        const database = new URL(mongod.url)
        database.pathname = `/${name}`
        return readConfig({ ...settings, MONGODB_URL: database.href, TEMPORAL_NAMESPACE: name, ...overrides })
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function writeBundle(build: Build, file: string): Promise<string> {
  const { code } = await build()
  await writeFile(file, code)
  return file
}

async function mongodVersion(url: string): Promise<string> {
  const client = await new mongo.MongoClient(url).connect()
  try {
    const { version } = await client.db('admin').command({ buildInfo: 1 })
    return String(version)
  } finally {
    await client.close()
  }
}

async function temporalVersion(address: string): Promise<string> {
  const connection = await Connection.connect({ address })
  try {
    return (await connection.workflowService.getSystemInfo({})).serverVersion ?? 'unknown'
  } finally {
    await connection.close()
  }
}

async function registerNamespace(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address })
  try {
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs(DAY) })
  } finally {
    await connection.close()
  }
}
