import type { CommandContext } from '../../src/commands/context.ts'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MockActivityEnvironment } from '@temporalio/testing'
import type * as DeliveryAttemptsModule from '../../src/activities/publishing/delivery-attempt.ts'
import type * as PostActivitiesModule from '../../src/activities/publishing/post-activities.ts'
import type * as ServerOutagesModule from '../../src/activities/publishing/server-outages.ts'
import type * as SweepModule from '../../src/activities/publishing/sweep.ts'
import type * as CallLimiterModule from '../../src/activities/shared/call-limiter.ts'
import type * as ClockModule from '../../src/clock.ts'
import type * as CancelPostModule from '../../src/commands/posts/cancel-post.ts'
import type * as DeletePostModule from '../../src/commands/posts/delete-post.ts'
import type * as NotifyWorkflowModule from '../../src/commands/shared/notify-workflow.ts'
import type * as RetryPostModule from '../../src/commands/posts/retry-post.ts'
import type * as StartQueueModule from '../../src/commands/posts/start-queue.ts'
import type * as PostMovesModule from '../../src/domain/posts/post-moves.ts'
import type { PostChange } from '../../src/domain/posts/post-moves.ts'
import type { Post } from '../../src/domain/posts/post.ts'
import type * as PublishPlanModule from '../../src/domain/posts/publish-plan.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { PublishOrchestrator } from '../../src/integrations/temporal/orchestrator.ts'
import type * as RegistryModule from '../../src/platforms/registry.ts'
import type * as HttpModule from '../../src/platforms/shared/http.ts'
import type * as PostStoreModule from '../../src/store/posts/posts.ts'
import type * as DecisionsModule from '../../src/workflows/publishing/decisions.ts'
import type { DeliveryInput, DeliveryResult } from '../../src/workflows/contract/publishing.ts'
import type * as NativeImportModule from '../faults/planted/native-import.ts'
import { connectMemory } from './memory-database.ts'
import type { SimulatedPlatform } from './platforms.ts'
import type { AttemptContext, AttemptEnd, Temporal, Worker } from './temporal.ts'
import type { Process, World } from './world.ts'
import { partial } from '../support/partial.ts'

/** Copies of the source are loaded without Vite, which would need more processor time than the simulation. */
const { importNatively } = createRequire(import.meta.url)(
  '../faults/planted/native-import.ts',
) as typeof NativeImportModule

const PUBLISH_TIMEOUT_MS = 8_000
/** How long after its claim the service may still call, as the judge reads it. */
export const LEASE_MS = PUBLISH_TIMEOUT_MS + 2_000
const UNANSWERED_SETTLE_MS = 600_000
const MAX_LATENESS_MS = 86_400_000
const BRIEF_MS = 2_000
/** How long a caller waits for Temporal's acknowledgement. */
const ACKNOWLEDGED_WITHIN_MS = 1_000

/** Loads the modules of the service from the `src` of a folder. */
export async function loadService(root: string) {
  const load = <Module>(file: string) => importNatively(pathToFileURL(join(root, 'src', file)).href) as Promise<Module>
  const [deliveries, sweeping, limiter, clock, posts, registry, http, moves, plans, decisions] = await Promise.all([
    load<typeof DeliveryAttemptsModule>('activities/publishing/delivery-attempt.ts'),
    load<typeof SweepModule>('activities/publishing/sweep.ts'),
    load<typeof CallLimiterModule>('activities/shared/call-limiter.ts'),
    load<typeof ClockModule>('clock.ts'),
    load<typeof PostStoreModule>('store/posts/posts.ts'),
    load<typeof RegistryModule>('platforms/registry.ts'),
    load<typeof HttpModule>('platforms/shared/http.ts'),
    load<typeof PostMovesModule>('domain/posts/post-moves.ts'),
    load<typeof PublishPlanModule>('domain/posts/publish-plan.ts'),
    load<typeof DecisionsModule>('workflows/publishing/decisions.ts'),
  ])
  const [cancelling, deleting, retrying, starting, notifying, records, outages] = await Promise.all([
    load<typeof CancelPostModule>('commands/posts/cancel-post.ts'),
    load<typeof DeletePostModule>('commands/posts/delete-post.ts'),
    load<typeof RetryPostModule>('commands/posts/retry-post.ts'),
    load<typeof StartQueueModule>('commands/posts/start-queue.ts'),
    load<typeof NotifyWorkflowModule>('commands/shared/notify-workflow.ts'),
    load<typeof PostActivitiesModule>('activities/publishing/post-activities.ts'),
    load<typeof ServerOutagesModule>('activities/publishing/server-outages.ts'),
  ])
  const source = {
    ...{ deliveries, sweeping, limiter, clock, posts, registry, http, moves, plans, decisions },
    ...{ cancelling, deleting, retrying, starting, notifying, records, outages },
  }
  // Modules that are loaded with the first delivery would be real input in virtual time.
  const { platforms, close } = createPlatforms(source, [], http.createHttpClient)
  await platforms.warmUp()
  await close()
  return source
}

export type Source = Awaited<ReturnType<typeof loadService>>

/** Everything that a process of the service shares with the others. */
interface Surroundings {
  source: Source
  world: World
  temporal: Temporal
  platforms: SimulatedPlatform[]
}

/** Metrics and logs of a simulated process go nowhere. */
const silent = new Proxy({}, { get: () => () => undefined }) as never

const ORIGINS: Record<Platform, string> = {
  bluesky: 'https://bluesky.test',
  mastodon: 'https://mastodon.test',
  tumblr: 'https://tumblr.test',
  threads: 'https://threads.test',
  facebook: 'https://facebook.test',
  instagram: 'https://instagram.test',
}
export const originOf = (platform: Platform): string => ORIGINS[platform]

function createPlatforms(
  { registry }: Pick<Source, 'registry'>,
  platforms: SimulatedPlatform[],
  createClient: typeof HttpModule.createHttpClient,
) {
  const has = (name: Platform) => platforms.some(({ platform }) => platform === name)
  const created = registry.createPlatformRegistry({
    publishTimeoutMs: PUBLISH_TIMEOUT_MS,
    unansweredInFlightMs: UNANSWERED_SETTLE_MS,
    media: silent,
    userAgent: 'simulation',
    facts: { find: async () => null, save: async () => {} },
    createClient,
    bluesky: { entryUrl: ORIGINS.bluesky, accountHosts: [], videoUrl: ORIGINS.bluesky, appUrl: ORIGINS.bluesky },
    mastodon: has('mastodon') ? { instanceUrl: ORIGINS.mastodon, clientId: 'id', clientSecret: 'secret' } : null,
    tumblr: has('tumblr')
      ? { consumerKey: 'key', consumerSecret: 'secret', authorizeUrl: ORIGINS.tumblr, apiUrl: ORIGINS.tumblr }
      : null,
    threads: has('threads')
      ? { authorizeUrl: ORIGINS.threads, graphUrl: ORIGINS.threads, appId: 'id', appSecret: 'secret' }
      : null,
    facebook: has('facebook')
      ? {
          ...{ version: 'v23.0', appId: 'id', appSecret: 'secret' },
          ...{ dialogUrl: ORIGINS.facebook, graphUrl: ORIGINS.facebook },
        }
      : null,
    instagram: null,
  })
  return { platforms: created, close: () => created.close() }
}

/** Creates the parts of both kinds of processes: stores, accounts and the connection to Temporal. */
function createParts(process: Process, { source, world, temporal, platforms: simulated }: Surroundings) {
  const database = connectMemory(world.storage, process.send)
  const now = () => new Date()
  const posts = source.posts.createPostStore(database.connection, now)
  const { platforms } = createPlatforms(source, simulated, process.createClient)
  const credentials = {
    async get(userId: string, platform: Platform) {
      await process.running()
      const accountId = platform === 'bluesky' ? `did:plc:${userId}` : `${platform}-${userId}`
      return { accountId, handle: userId, accessToken: `token-of-${accountId}`, tokenSecret: 'secret', version: 1 }
    },
    renew: () => Promise.reject(new Error('no token of the simulation expires')),
    markExpired: async () => {},
    markRefused: async () => {},
  }

  /** Returns whether Temporal acknowledged. The request may take effect without an acknowledgement. */
  async function notify(apply: () => void): Promise<boolean> {
    await process.running()
    const isLost = !world.state.temporal
    await world.sleep(isLost ? ACKNOWLEDGED_WITHIN_MS : 5)
    if (isLost || !world.state.temporal) {
      await process.running()
      return false
    }
    apply()
    await world.sleep(5)
    await process.running()
    return world.state.temporal
  }
  const { toPublishPlan } = source.plans
  const orchestrator = partial<PublishOrchestrator>({
    async start(post) {
      const plan = toPublishPlan(post)
      return plan ? notify(() => temporal.start(plan)) : true
    },
    async signal(post, signal) {
      const plan = toPublishPlan(post)
      return notify(() => {
        if (signal !== 'cancel' && plan) temporal.start(plan)
        temporal.signal(post._id, post.revision)
      })
    },
    startWork: async () => true,
    terminateStuck: async () => false,
    listOverdue: async () => [],
  })
  const notifications = {
    async insertOnce() {
      await process.running()
      return true
    },
    toRecords: async () => [],
    insert: async () => {},
    beginSending: () => {},
  } as never
  const events = { append: async () => {}, announce: () => {} } as never
  const users = { findById: async () => ({ isDisabled: false, subscription: { plan: 'free' } }) } as never
  const discardPrepared = async () => {}
  const shared = { database, posts, platforms, orchestrator, notifications, events, users, discardPrepared }
  return {
    ...shared,
    credentials: credentials as never,
    clock: source.clock.systemClock,
    logger: silent,
    metrics: silent,
  }
}

/** Creates the records of servers that returned after an outage, as one process reads and writes them. */
function createReturns({ send }: Process, { returns }: World) {
  return {
    readReturn: (server: string) => send('find quotas', () => returns.get(server) ?? null),
    saveReturn: (server: string, since: Date, at: Date) =>
      send('update quotas', () => {
        if ((returns.get(server) ?? since) > since) return false
        returns.set(server, at)
        return true
      }),
  } as never
}

/** Creates the part of a worker that publishes, with the sweeper. */
export function createWorker(process: Process, surroundings: Surroundings) {
  const { source } = surroundings
  const parts = createParts(process, surroundings)
  const draining = new AbortController()
  const running = new Map<string, Promise<AttemptEnd>>()
  const callWindows = createReturns(process, surroundings.world)
  const wakeDeliveries = source.outages.createWakeDeliveries(partial({ ...parts, callWindows }))
  const { attemptDelivery } = source.deliveries.createDeliveryAttempts(
    partial({
      ...parts,
      callWindows,
      wakeDeliveries,
      callLimiter: source.limiter.createCallLimiter({ start: 64, most: 512 }, silent, {
        now: () => Date.now(),
        onReturn: (held) => void wakeDeliveries(held),
      }),
      planWeights: { free: 1, pro: 1 },
      publicationLedger: {
        async request() {
          await process.running()
          return { grant: {} }
        },
        takeBack: async () => {},
        report: async () => {},
        read: async () => new Map(),
      },
      publishTimeoutMs: PUBLISH_TIMEOUT_MS,
      unansweredSettleMs: UNANSWERED_SETTLE_MS,
      maxLatenessMs: MAX_LATENESS_MS,
      activitySlots: 100,
    }),
  )
  const records = source.records.createPostActivities(partial(parts))
  const sweeper = source.sweeping.createSweepActivities(
    partial({
      ...parts,
      backlogs: [],
      eventRelay: partial({ relayLeftOver: async () => 0 }),
      users: partial({ findTimezones: async () => new Map() }),
      uploads: partial({ listDue: async () => [], recordSize: async () => {} }),
      storage: silent,
    }),
  )

  /** Makes an attempt as the activity does (`publish-activities.ts`). */
  async function publish(input: DeliveryInput, context: AttemptContext): Promise<AttemptEnd> {
    try {
      const end = await attemptDelivery(input, {
        signal: context.signal,
        report: () => {},
        remembered: context.details as never,
        remember: context.heartbeat,
        waitUntil: () => {},
        runId: 'run',
        log: () => {},
      })
      return end.kind === 'retryIn' ? { waitMs: end.waitMs } : { result: end.result }
    } catch (error) {
      if (draining.signal.aborted) return { waitMs: 250 }
      if (context.signal.aborted) return { result: { outcome: 'superseded', status: 'PROCESSING', revision: 0 } }
      void error
      return {}
    }
  }

  const toKey = ({ postId, platform, round }: DeliveryInput) => `${postId}/${platform}/${round}`

  const worker: Worker = {
    process,
    draining: draining.signal,
    async publish(input, context) {
      await running.get(toKey(input))?.catch(() => {})
      return publish(input, context)
    },
    async publishBriefly(inputs): Promise<(DeliveryResult | null)[]> {
      const tooLong = surroundings.world.sleep(BRIEF_MS).then(() => null)
      return Promise.all(
        inputs.map(async (input) => {
          const publishing = publish(input, { signal: draining.signal, details: null, heartbeat: () => {} })
          running.set(toKey(input), publishing)
          void publishing.then(() => running.delete(toKey(input)))
          const end = await Promise.race([publishing, tooLong])
          return end && 'result' in end ? end.result : null
        }),
      )
    },
    readPost: records.readPost,
  }
  return {
    ...worker,
    /** Stops taking work: what waits moves to another worker. */
    drain: () => draining.abort(new Error('this worker is stopping')),
    sweep: () => new MockActivityEnvironment({}, { logger: silent }).run(sweeper.sweepDeliveries),
  }
}

/** Creates an API process: the commands of its routes, without HTTP. */
export function createApi(process: Process, surroundings: Surroundings) {
  const { source } = surroundings
  const parts = partial<CommandContext>({
    ...createParts(process, surroundings),
    snapshots: partial({ removeByPost: async () => {} }),
    deadLetters: partial({ removeByPost: async () => {} }),
    uploads: partial({ setNamed: async () => {}, hold: async () => [] }),
    users: partial({ raiseAnalyticsVersion: async () => true }),
  })
  const { posts, database } = parts
  const startQueue = source.starting.createStartQueue(parts, { free: 1, pro: 1 })
  return {
    async create(post: Post): Promise<void> {
      await database.transaction((session) => posts.insert([post], session))
      if (post.status !== 'DRAFT') void startQueue.add(post)
    },
    async edit(userId: string, postId: string, change: PostChange): Promise<void> {
      const post = await posts.transition({ _id: postId, userId }, source.moves.edit(change))
      await source.notifying.notifyWorkflow(parts, post, 'changed')
    },
    cancel: (userId: string, postId: string, accountIds?: string[]) =>
      source.cancelling.cancelPost(parts, { userId, postId, accountIds }),
    retry: (userId: string, postId: string) => source.retrying.retryPost(parts, { userId, postId }),
    delete: (userId: string, postId: string) => source.deleting.deletePost(parts, userId, postId),
  }
}
