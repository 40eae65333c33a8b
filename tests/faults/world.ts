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
  runSetup,
  startApi,
  startWorker,
  TEMPORAL_NAMESPACE,
} from '../../sandbox/service.ts'
import { makeSecrets, type Settings } from '../../sandbox/settings.ts'
import { createJournal } from './journal.ts'
import type { Canary, Document } from './judge/evidence.ts'
import { createPart, type Part } from './part.ts'
import { startFaultPlatforms } from './platforms.ts'

/** Short deadlines, so that lost calls are reconciled soon. The lease outlives the call by two seconds. */
const PUBLISH_TIMEOUT_MS = 3_000
const LEASE_MS = PUBLISH_TIMEOUT_MS + 2_000
/** How late an abandoned call may still be accepted and found. The third reconciliation is the first to accept its absence. */
export const SETTLE_MS = 30_000

export interface FaultWorldOptions {
  /** Data, logs and the journal go here. */
  dir: string
  apis?: number
  workers?: number
  /** The folder whose `src` is run: this project's, or a copy with a fault planted in it. */
  root?: string
  env?: Record<string, string>
}

/** The whole service as processes of its own on real servers, which can be stopped and started separately. */
export async function startFaultWorld({
  dir,
  apis = 2,
  workers = 2,
  root = PROJECT_ROOT,
  env = {},
}: FaultWorldOptions) {
  const logs = join(dir, 'logs')
  mkdirSync(logs, { recursive: true })
  const journal = createJournal(join(dir, 'journal.jsonl'))
  const settings = await settle()
  const servers = await createServers(dir, settings)
  const parts: Part[] = []
  const part = (name: string, start: Parameters<typeof createPart>[2]): Part => {
    const made = createPart(name, journal, start)
    parts.push(made)
    return made
  }
  const mongod = part('mongod', servers.mongod)
  const temporal = part('temporal', servers.temporal)
  const storage = part('storage', servers.storage)
  const stops: (() => Promise<unknown>)[] = []

  async function stop(): Promise<void> {
    for (const running of parts.toReversed()) await running.stop()
    for (const end of stops.toReversed()) await end()
  }

  try {
    const shown = publicAddresses(settings, servers.addresses)
    // The harder kind of server: what holds there holds on Mastodon itself.
    const starting = startFaultPlatforms(dir, shown.api, { mastodonOfAnotherMaker: true })
    stops.push(async () => (await starting.catch(() => null))?.stop())
    const [outside] = await Promise.all([starting, mongod.start(), temporal.start(), storage.start()])
    const { platforms } = outside

    const environment = {
      ...serviceEnvironment(settings, servers.addresses, outside.env),
      PUBLISH_TIMEOUT_MS: String(PUBLISH_TIMEOUT_MS),
      UNANSWERED_CALL_SETTLE_MS: String(SETTLE_MS),
      SHUTDOWN_GRACE_MS: '5000',
      ...env,
    } as Record<string, string>
    const addresses: string[] = []
    for (let number = 1; number <= apis; number++) {
      const port = number === 1 ? settings.ports.api : await freePort()
      addresses.push(`http://127.0.0.1:${port}`)
      const name = `api-${number}`
      part(name, () => startApi({ ...environment, PORT: String(port) }, logs, undefined, { root, name }))
    }
    const addWorker = (name: string, source = root, more: Record<string, string> = {}): Part =>
      part(name, () => startWorker({ ...environment, ...more }, logs, undefined, { root: source, name }))
    for (let number = 1; number <= workers; number++) addWorker(`worker-${number}`)
    await runSetup(environment, { root })
    const usual = [...parts]
    await Promise.all(usual.map((started) => started.start()))

    const database = new mongo.MongoClient(shown.mongo, { serverSelectionTimeoutMS: 30_000 })
    stops.push(() => database.close())

    return {
      dir,
      journal,
      platforms,
      /** New accounts on all of them, for one user. */
      connect: outside.connect,
      addresses,
      database: database.db(),
      temporalAddress: servers.addresses.temporalAddress,
      temporalNamespace: TEMPORAL_NAMESPACE,
      leaseMs: LEASE_MS,
      secrets: { ...settings.secrets, ...outside.secrets },
      /** What every session so far had to keep secret. */
      canaries: [] as Canary[],
      /** Folders whose files must contain no secret: all except those of the platforms and the storage. */
      folders: ['mongodb', 'temporal', 'logs'].map((folder) => join(dir, folder)),

      part(name: string): Part {
        const found = parts.find((candidate) => candidate.name === name)
        if (!found) throw new Error(`The world has no ${name}`)
        return found
      },
      /** One more, of another source; it is not up yet, and never among `parts`. */
      addWorker,
      parts: (kind: 'api' | 'worker'): Part[] => parts.filter(({ name }) => new RegExp(`^${kind}-\\d`).test(name)),

      /** Takes every fault back; returns when all answers again. */
      async heal(): Promise<void> {
        for (const frozen of parts) frozen.thaw()
        await Promise.all(platforms.map(({ control }) => control.clearFaults()))
        await Promise.all(usual.map((missing) => missing.start()))
      },

      /** Users who can log in; there is no registration yet. */
      addUsers: (users: { email: string; password: string }[]) =>
        seedUsers(
          shown.mongo,
          users.map((user) => ({ ...user, role: 'user' as const })),
        ),

      /** How much the processes have logged so far, for `logsSince`. */
      logMarks: (): Record<string, number> =>
        Object.fromEntries(
          parts.map(({ name }) => [name, statSync(join(logs, `${name}.log`), { throwIfNoEntry: false })?.size ?? 0]),
        ),

      logsSince: (marks: Record<string, number>): Document[] =>
        parts
          .filter(({ name }) => /^(api|worker)-/.test(name))
          .map(({ name }) => ({
            where: `the log of ${name}`,
            text: readFileSync(join(logs, `${name}.log`))
              .subarray(marks[name] ?? 0)
              .toString(),
          })),

      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export type FaultWorld = Awaited<ReturnType<typeof startFaultWorld>>

/** Ports stay the same over restarts, and are not the default ones, so that a sandbox can run concurrently. */
async function settle(): Promise<Pick<Settings, 'ports' | 'secrets'>> {
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

/** Allowed in handles, addresses and marks. */
export const unique = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`
