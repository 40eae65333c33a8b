import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mongo } from 'mongoose'
import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { seedUsers } from '../../sandbox/seed.ts'
import { findMongod, startMongod } from '../../sandbox/servers/mongod.ts'
import { findObjectStorage, startObjectStorage } from '../../sandbox/servers/object-storage.ts'
import { freePort } from '../../sandbox/servers/process.ts'
import { findTemporal, startTemporal } from '../../sandbox/servers/temporal.ts'
import {
  publicAddresses,
  serviceEnvironment,
  runAdmin,
  runSetup,
  startApi,
  startWorker,
  TEMPORAL_NAMESPACE,
} from '../../sandbox/service.ts'
import { makeSecrets, type Settings } from '../../sandbox/settings.ts'
import { PLATFORMS } from '../../src/domain/shared/platforms.ts'
import { createJournal } from './journal.ts'
import type { Canary, Document } from './judge/evidence.ts'
import { createManagedProcess, type ManagedProcess } from './managed-process.ts'
import { startFaultPlatforms } from './platforms.ts'

/** A short timeout, so that lost calls are reconciled soon. The lease outlives the call by two seconds. */
const PUBLISH_TIMEOUT_MS = 3_000
const LEASE_MS = PUBLISH_TIMEOUT_MS + 2_000
/** How late an abandoned call may still be accepted and found. The third reconciliation is the first to accept its absence. */
export const SETTLE_MS = 30_000

export interface FaultClusterOptions {
  /** The folder for data, logs and the journal. */
  dir: string
  apis?: number
  workers?: number
  /** The folder whose `src` is run: this project, a copy with a planted fault, or the last release. */
  root?: string
  /** Further settings of the processes; also derived from those of the platforms. */
  env?: Record<string, string> | ((platforms: Record<string, string>) => Record<string, string>)
}

/** Starts the whole service as separate processes on real servers. Each can be stopped and started alone. */
export async function startFaultCluster({
  dir,
  apis = 2,
  workers = 2,
  root: initialRoot = PROJECT_ROOT,
  env = {},
}: FaultClusterOptions) {
  let root = initialRoot
  const logs = join(dir, 'logs')
  mkdirSync(logs, { recursive: true })
  const journal = createJournal(join(dir, 'journal.jsonl'))
  const settings = await chooseSettings()
  const servers = await createServers(dir, settings)
  const processes: ManagedProcess[] = []
  const addProcess = (name: string, start: Parameters<typeof createManagedProcess>[2]): ManagedProcess => {
    const added = createManagedProcess(name, journal, start)
    processes.push(added)
    return added
  }
  const mongod = addProcess('mongod', servers.mongod)
  const temporal = addProcess('temporal', servers.temporal)
  const storage = addProcess('storage', servers.storage)
  const cleanups: (() => Promise<unknown>)[] = []

  async function stop(): Promise<void> {
    for (const running of processes.toReversed()) await running.stop()
    for (const cleanUp of cleanups.toReversed()) await cleanUp()
  }

  try {
    const publicUrls = publicAddresses(settings, servers.addresses)
    // The harder kind of server: a service that works with it also works with Mastodon itself.
    const starting = startFaultPlatforms(dir, publicUrls.api, { mastodonOfAnotherMaker: true })
    cleanups.push(async () => (await starting.catch(() => null))?.stop())
    const [sandbox] = await Promise.all([starting, mongod.start(), temporal.start(), storage.start()])
    const { platforms } = sandbox

    const environment = {
      ...serviceEnvironment(settings, servers.addresses, sandbox.env),
      PUBLISH_TIMEOUT_MS: String(PUBLISH_TIMEOUT_MS),
      UNANSWERED_CALL_SETTLE_MS: String(SETTLE_MS),
      SHUTDOWN_GRACE_MS: '5000',
      // Two on each platform.
      PLAN_FREE_MAX_ACCOUNTS: String(2 * PLATFORMS.length),
      ...(typeof env === 'function' ? env(sandbox.env) : env),
    } as Record<string, string>
    const addresses: string[] = []
    for (let number = 1; number <= apis; number++) {
      const port = number === 1 ? settings.ports.api : await freePort()
      addresses.push(`http://127.0.0.1:${port}`)
      const name = `api-${number}`
      addProcess(name, () => startApi({ ...environment, PORT: String(port) }, logs, undefined, { root, name }))
    }
    const addWorker = (name: string, source?: string, overrides: Record<string, string> = {}): ManagedProcess =>
      addProcess(name, () =>
        startWorker({ ...environment, ...overrides }, logs, undefined, { root: source ?? root, name }),
      )
    for (let number = 1; number <= workers; number++) addWorker(`worker-${number}`)
    await runSetup(environment, { root })
    const initial = [...processes]
    await Promise.all(initial.map((process) => process.start()))

    const database = new mongo.MongoClient(publicUrls.mongo, { serverSelectionTimeoutMS: 30_000 })
    cleanups.push(() => database.close())

    return {
      dir,
      journal,
      platforms,
      /** Connects new accounts on every platform for one user. */
      connect: sandbox.connect,
      addresses,
      database: database.db(),
      temporalAddress: servers.addresses.temporalAddress,
      temporalNamespace: TEMPORAL_NAMESPACE,
      leaseMs: LEASE_MS,
      secrets: { ...settings.secrets, ...sandbox.secrets },
      /** The secrets of all sessions so far. */
      canaries: [] as Canary[],
      /** Folders whose files must contain no secret: all except those of the platforms and the storage. */
      folders: ['mongodb', 'temporal', 'logs'].map((folder) => join(dir, folder)),

      process(name: string): ManagedProcess {
        const found = processes.find((candidate) => candidate.name === name)
        if (!found) throw new Error(`The cluster has no process ${name}`)
        return found
      },
      /** Adds a worker, possibly of another source, without starting it. `processes` omits names without a number, like `worker-slow`. */
      addWorker,
      processes: (kind: 'api' | 'worker'): ManagedProcess[] =>
        processes.filter(({ name }) => new RegExp(`^${kind}-\\d`).test(name)),

      /** Lets the processes that start from now on run the `src` of this folder. */
      useSource: (folder: string) => void (root = folder),

      /** Runs the setup of the present source. */
      setUp: () => runSetup(environment, { root }),

      /** Runs a command of `npm run admin`, and returns its output. */
      admin: (...args: string[]) => runAdmin(environment, args, { root }),

      /** Ends every fault, and resolves when all initial processes respond again. */
      async heal(): Promise<void> {
        for (const process of processes) process.thaw()
        await Promise.all(platforms.map(({ control }) => control.clearFaults()))
        await Promise.all(initial.map((process) => process.start()))
      },

      /** Stores users who can log in. */
      addUsers: (users: { email: string; password: string }[]) =>
        seedUsers(
          publicUrls.mongo,
          users.map((user) => ({ ...user, role: 'user' as const })),
        ),

      /** Returns the current log size of each process in bytes, for `logsSince`. */
      logSizes: (): Record<string, number> =>
        Object.fromEntries(
          processes.map(({ name }) => [
            name,
            statSync(join(logs, `${name}.log`), { throwIfNoEntry: false })?.size ?? 0,
          ]),
        ),

      logsSince: (sizes: Record<string, number>): Document[] =>
        processes
          .filter(({ name }) => /^(api|worker)-/.test(name))
          .map(({ name }) => ({
            source: `the log of ${name}`,
            text: readFileSync(join(logs, `${name}.log`))
              .subarray(sizes[name] ?? 0)
              .toString(),
          })),

      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export type FaultCluster = Awaited<ReturnType<typeof startFaultCluster>>

/** Picks free ports, which stay the same over restarts. A sandbox on the default ports can run concurrently. */
async function chooseSettings(): Promise<Pick<Settings, 'ports' | 'secrets'>> {
  const names = ['api', 'frontend', 'mongod', 'temporal', 'temporalUi', 'storage'] as const
  const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()] as const)))
  return { ports: ports as Settings['ports'], secrets: makeSecrets() }
}

async function createServers(dir: string, { ports, secrets }: Pick<Settings, 'ports' | 'secrets'>) {
  const [mongod, temporal, storage] = [await findMongod(), await findTemporal(), await findObjectStorage()]
  const log = (name: string) => join(dir, 'logs', `${name}.log`)
  return {
    addresses: {
      mongoUrl: `mongodb://127.0.0.1:${ports.mongod}/?replicaSet=rs0`,
      temporalAddress: `127.0.0.1:${ports.temporal}`,
      storageEndpoint: `http://127.0.0.1:${ports.storage}`,
    },
    mongod: () =>
      startMongod({
        program: mongod,
        logFile: log('mongod'),
        dir: join(dir, 'mongodb'),
        port: ports.mongod,
        isReadable: true,
      }),
    temporal: () =>
      startTemporal({
        program: temporal,
        logFile: log('temporal'),
        file: join(dir, 'temporal/temporal.db'),
        port: ports.temporal,
      }),
    storage: () =>
      startObjectStorage({
        program: storage,
        logFile: log('storage'),
        dir: join(dir, 'storage'),
        port: ports.storage,
        accessKeyId: secrets.s3AccessKeyId,
        secretAccessKey: secrets.s3SecretAccessKey,
      }),
  }
}

/** Returns a name that no other call returns. Its characters are allowed in handles, addresses and markers. */
export const unique = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`
