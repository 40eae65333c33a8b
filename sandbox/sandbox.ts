import { join } from 'node:path'
import { buildConsole } from '../scripts/build-console.ts'
import { step } from '../scripts/provision.mjs'
import { collectionSettings } from '../src/config/analytics.ts'
import { readConfig } from '../src/config/schema.ts'
import { createApiClient } from './api-client.ts'
import { ensureApiKey } from './api-key.ts'
import { processesFile, type Processes } from './folder.ts'
import type { Started } from './banner.ts'
import { audienceOn } from './demo/audience.ts'
import { seedDemo } from './demo/seed.ts'
import { startFrontend } from './frontend.ts'
import { connectFurtherAccount, listAccounts, listFurtherAccounts } from './further-accounts.ts'
import type { Options } from './options.ts'
import { startStartPage } from './start-page.ts'
import {
  listFronts,
  listPostServers,
  startPlatforms,
  startSecondMastodon,
  type PostServer,
  type SecondServer,
} from './platforms/all.ts'
import { writeJson } from './platforms/json-file.ts'
import type { RunningPlatform } from './platforms/sandbox-platform.ts'
import { startServices, type RunningService, type ServiceName } from './services/all.ts'
import { claimDatabase, publishFirstPost, seedUsers, uploadPicture, userApi } from './seed.ts'
import { findMongod, startMongod, type Mongod } from './servers/mongod.ts'
import { findObjectStorage, startObjectStorage, type ObjectStorage } from './servers/object-storage.ts'
import type { Running } from './servers/process.ts'
import { findTemporal, startTemporal, type Temporal } from './servers/temporal.ts'
import { TEMPORAL_NAMESPACE, publicAddresses, serviceEnvironment, runSetup, startApi, startWorker } from './service.ts'
import { keep, resolveSettings, type Settings } from './settings.ts'
import { supervise, type Supervised } from './supervisor.ts'
import { removeWorld, writeWorld, type World } from './world.ts'

/** The name of the sample user's accounts on all platforms. */
const ACCOUNT_NAME = 'postonce'

interface Servers {
  mongod: Supervised<Mongod>
  temporal: Supervised<Temporal>
  storage: Supervised<ObjectStorage>
  platforms: RunningPlatform[]
  secondMastodon: SecondServer
  postServers: PostServer[]
  services: RunningService[]
  startPage: string
  frontend: string
}

type ProcessName = keyof World['processes']

/** Creates a sandbox: the service, its servers and the simulated platforms, on one machine and in one folder. */
export function createSandbox(options: Options) {
  const { dir } = options
  const logs = join(dir, 'logs')
  const stops: (() => Promise<unknown>)[] = []
  const running: Partial<Record<ProcessName, Supervised<Running>>> = {}
  /** Set while everything is ready. */
  let world: (() => World) | null = null
  let isStopping = false

  /** Supervises a process and records it. It is stopped with the sandbox even while it is still starting. */
  async function run<T extends Running>(
    name: ProcessName,
    title: string,
    start: (signal: AbortSignal) => Promise<T>,
  ): Promise<Supervised<T>> {
    if (isStopping) throw new Error('The sandbox is stopping')
    const stopping = new AbortController()
    const supervised = supervise(title, start, { changed: recordProcesses, stopping })
    stops.push(async () => {
      stopping.abort()
      await (await supervised.catch(() => null))?.stop()
    })
    const process = await supervised
    running[name] = process
    recordProcesses()
    return process
  }

  function recordProcesses(): void {
    const program = { api: 'src/server.ts', worker: 'src/worker.ts', mongod: dir, temporal: dir, storage: dir }
    const processes: Processes = {}
    for (const [name, process] of Object.entries(running)) {
      processes[name] = { pid: process.current().pid, program: program[name as ProcessName] }
    }
    writeJson(processesFile(dir), processes)
    if (world !== null) writeWorld(dir, world())
  }

  async function startServers({ ports, secrets }: Settings, programs: Programs): Promise<Servers> {
    const data = (name: string) => join(dir, name)
    const log = (name: string) => join(logs, `${name}.log`)
    const starting = startPlatforms(dir, { crowdOn: audienceOn })
    const startingSecond = startSecondMastodon(dir, { crowdOn: audienceOn })
    const startingServices = startServices(dir)
    for (const group of [starting, startingServices]) {
      stops.push(async () => Promise.all((await group.catch(() => [])).map(({ stop }) => stop())))
    }
    stops.push(async () => (await startingSecond.catch(() => null))?.stop())
    const [mongod, temporal, storage, platforms, secondMastodon, services, folder] = await Promise.all([
      run('mongod', 'MongoDB', (signal) =>
        startMongod({
          program: programs.mongod,
          logFile: log('mongod'),
          dir: data('mongodb'),
          port: ports.mongod,
          signal,
        }),
      ),
      run('temporal', 'Temporal', (signal) =>
        startTemporal({
          program: programs.temporal,
          logFile: log('temporal'),
          file: data('temporal/temporal.db'),
          port: ports.temporal,
          uiPort: ports.temporalUi,
          signal,
        }),
      ),
      run('storage', 'Object storage', (signal) =>
        startObjectStorage({
          program: programs.storage,
          logFile: log('storage'),
          dir: data('storage'),
          port: ports.storage,
          signal,
          accessKeyId: secrets.s3AccessKeyId,
          secretAccessKey: secrets.s3SecretAccessKey,
        }),
      ),
      starting,
      startingSecond,
      startingServices,
      buildConsole(),
    ])
    const postServers = listPostServers(platforms, secondMastodon)
    const page = await startStartPage(postServers, services, ports.startPage)
    const frontend = await startFrontend({
      folder,
      apiUrl: `http://localhost:${ports.api}`,
      storageUrl: storage.current().endpoint,
      port: ports.frontend,
    })
    stops.push(page.stop, frontend.stop)
    const shown = { startPage: page.url, frontend: frontend.url }
    return { mongod, temporal, storage, platforms, secondMastodon, postServers, services, ...shown }
  }

  async function startService(
    settings: Settings,
    servers: Servers,
  ): Promise<{ current: () => World; env: NodeJS.ProcessEnv }> {
    const { mongod, temporal, storage, platforms, secondMastodon, services } = servers
    const places = { mongoUrl: mongod.current().url, storageEndpoint: storage.current().endpoint }
    const shown = publicAddresses(settings, places)
    const env = serviceEnvironment(
      settings,
      { ...places, temporalAddress: temporal.current().address },
      Object.assign(
        { CONSOLE: 'on' },
        ...[...platforms, secondMastodon, ...services].map(({ env: settingsFor }) => settingsFor(shown.api)),
      ),
      options,
    )
    await claimDatabase(shown.mongo)
    const schema = runSetup(env)
    const [api, worker, described] = await Promise.all([
      // Only the API waits for the indexes.
      schema.then(() => run('api', 'The API', (signal) => startApi(env, logs, signal))),
      run('worker', 'The worker', (signal) => startWorker(env, logs, signal)),
      describePlatforms(platforms),
      seedUsers(shown.mongo, Object.values(settings.users)),
    ])
    const { address } = temporal.current()
    const pidOf = (process: Supervised<Running>) => process.current().pid
    const current = (): World => ({
      api: shown.api,
      frontend: servers.frontend,
      temporal: { address, ui: `http://localhost:${settings.ports.temporalUi}`, namespace: TEMPORAL_NAMESPACE },
      mongo: shown.mongo,
      storage: shown.storage,
      processes: {
        api: pidOf(api),
        worker: pidOf(worker),
        mongod: pidOf(mongod),
        temporal: pidOf(temporal),
        storage: pidOf(storage),
      },
      users: Object.values(settings.users),
      apiKey: settings.apiKey ?? '',
      platforms: described,
      secondMastodon: { url: secondMastodon.url, control: secondMastodon.control },
      ...placesOf(services),
    })
    return { current, env }
  }

  /** Creates only what earlier starts have not: a sandbox continues where it ended, including the user's changes. */
  async function seed(
    settings: Settings,
    { api: base, mongo, platforms }: World,
    servers: Servers,
    env: NodeJS.ProcessEnv,
  ): Promise<void> {
    const publishes = options.firstPost && settings.firstPost === null
    const hasPast = !options.firstPost || settings.hasPast
    const unconnected = servers.platforms.filter((platform) => !isConnected(platform, settings))
    const { furtherAccounts } = settings
    const further = Object.entries(listFurtherAccounts(servers.platforms, servers.secondMastodon)).filter(
      ([key, { server }]) => furtherAccounts[key]?.server !== server,
    )
    if (unconnected.length === 0 && further.length === 0 && !publishes && hasPast) return
    const api = createApiClient(base)
    const token = await api.logIn(settings.users.user)
    const user = userApi(api, token)
    for (const platform of unconnected) {
      await platform.connect(ACCOUNT_NAME, user)
      for (const [name, { url }] of listFronts([platform])) settings.connectedAt[name] = url
      keep(dir, settings)
    }
    for (const [key, account] of further) {
      furtherAccounts[key] = await connectFurtherAccount(user, account, furtherAccounts[key])
      keep(dir, settings)
    }
    if (!publishes && hasPast) return
    const picture = await uploadPicture(api, token)
    if (!hasPast) {
      const { ages, retentionMs } = collectionSettings(readConfig(env))
      const place = { mongoUrl: mongo, fronts: listFronts(servers.platforms) }
      const collecting = { now: new Date(), ages, retentionMs }
      await step('Two weeks of sample posts and analytics', () =>
        seedDemo(place, settings.users.user.email, picture, collecting),
      )
      settings.hasPast = true
      keep(dir, settings)
    }
    if (!publishes) return
    try {
      const added = Object.values(furtherAccounts).map(({ accountId }) => accountId)
      // The user may have changed the accounts since an earlier start without a first post.
      const present = (await listAccounts(user)).filter(({ _id, isDefault }) => added.includes(_id) && !isDefault)
      const ids = present.map(({ _id }) => _id)
      settings.firstPost = await step('The first post', () => publishFirstPost(api, token, picture, platforms, ids))
      keep(dir, settings)
    } catch (error) {
      throw new Error(
        `The first post was not published: ${error instanceof Error ? error.message : error}. See the logs in ${logs}`,
      )
    }
  }

  return {
    async start(): Promise<Started> {
      const { settings, moved } = await resolveSettings(options)
      const programs = await findPrograms()
      const servers = await step('MongoDB, Temporal, object storage, the platforms and the console', () =>
        startServers(settings, programs),
      )
      const { current, env } = await step('Schema, API and worker', () => startService(settings, servers))
      await ensureApiKey(current().api, dir, settings)
      await seed(settings, current(), servers, env)
      world = current
      recordProcesses()
      const { frontend } = options
      const { postServers, services, startPage } = servers
      return { world: world(), settings, moved, frontend, postServers, services, startPage }
    },

    /** Stops in reverse order, the service before its servers. */
    async stop(): Promise<void> {
      isStopping = true
      world = null
      removeWorld(dir)
      for (const stop of stops.toReversed()) await stop()
    },
  }
}

function isConnected(platform: RunningPlatform, { connectedAt }: Settings): boolean {
  return listFronts([platform]).every(([name, { url }]) => connectedAt[name] === url)
}

function placesOf(services: RunningService[]): Pick<World, ServiceName> {
  const places = services.map(({ name, url, control, facts }) => [name, { url, control, ...facts }])
  return Object.fromEntries(places) as Pick<World, ServiceName>
}

async function describePlatforms(platforms: RunningPlatform[]): Promise<World['platforms']> {
  const described = await Promise.all(
    platforms.map(async (platform) => {
      const facts = await platform.facts?.(ACCOUNT_NAME)
      return listFronts([platform]).map(([name, { url, control }]) => [name, { url, control, ...facts }] as const)
    }),
  )
  return Object.fromEntries(described.flat()) as World['platforms']
}

type Programs = Awaited<ReturnType<typeof findPrograms>>

/** Finds the programs in sequence: building two concurrently saves no time and mixes their output. */
async function findPrograms() {
  return { mongod: await findMongod(), temporal: await findTemporal(), storage: await findObjectStorage() }
}
