import { heartbeat } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'
import { tsToMs } from '@temporalio/common/lib/time.js'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import {
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker'
import { handleWhen, retry } from 'cockatiel'
import { inject } from 'vitest'
import { createActivities, type Activities } from '../../src/activities/index.ts'
import { createRunningWork } from '../../src/activities/shared/running-work.ts'
import type { Clock } from '../../src/clock.ts'
import { derivePostEvents } from '../../src/domain/events/post-events.ts'
import type { NewNotification } from '../../src/domain/notifications/notifications.ts'
import { addNotifications } from '../../src/domain/notifications/post-notifications.ts'
import type { Move, Post, Published } from '../../src/domain/posts/post.ts'
import { toPublishPlan } from '../../src/domain/posts/publish-plan.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { ServiceError } from '../../src/domain/shared/service-error.ts'
import { SECOND } from '../../src/domain/shared/times.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { newUser } from '../../src/domain/users/user.ts'
import type { Credentials, PlatformAdapter, NotFoundResult } from '../../src/platforms/contract.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import {
  PUBLISH_SIGNALS,
  publishPostWorkflowId,
  type DeliveryInput,
  type PublishPostResult,
  type PublishSignal,
} from '../../src/workflows/contract/publishing.ts'
import type {} from '../support/test-server-setup.ts'
import { buildPost } from '../support/posts.ts'

/** A post that a platform accepted. */
export interface SentPost {
  platform: Platform
  text: string
  at: number
}

/**
 * Runs the real workflows and activities under skipped time with one post in memory. The store applies the same moves as the real
 * one, the clock is that of the test server, and the test scripts the responses of the platforms.
 */
export async function startSkippedTime() {
  const env = await startTestServer()
  const workflowBundle = await loadBundle()
  // All scenarios share this queue and its one worker: a task that a stopped worker's last poll received would be lost.
  let current: Activities | undefined
  const preparingWorker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: 'preparing',
    activities: { preparePlatform: (input: DeliveryInput) => current!.preparePlatform(input) },
  })
  const running = preparingWorker.run()
  return {
    scenario: (options: ScenarioOptions = {}) =>
      startScenario(env, workflowBundle, options, (activities) => {
        current = activities
      }),
    async stop(): Promise<void> {
      preparingWorker.shutdown()
      await running
      await env.teardown()
    },
  }
}

// The SDK ends a test server that does not accept connections within 5 s, which its JVM exceeds on a busy machine.
const startSlowly = retry(
  handleWhen((error) => error instanceof Error && error.message.includes('did not start within')),
  { maxAttempts: 5 },
)

/** Starts a Temporal test server that skips time while all workflows wait. */
export function startTestServer(): Promise<TestWorkflowEnvironment> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  })
  return startSlowly.execute(() =>
    TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: inject('testServer') } },
    }),
  )
}

export type SkippedTime = Awaited<ReturnType<typeof startSkippedTime>>

interface ScenarioOptions {
  /** Milliseconds from now; without it the post is immediate. */
  dueIn?: number
  platforms?: Platform[]
  post?: Partial<Parameters<typeof buildPost>[0]>
  /** Responds to the visible call. It throws the errors of the platform. */
  respond?: (platform: Platform, call: number) => Promise<void>
  prepare?: (...args: [...Parameters<PlatformAdapter['prepare']>, Platform]) => Promise<void>
  /** Responds to a probe of a server that could not be reached. */
  probe?: () => Promise<void>
  /** Reconciles a call with an unknown outcome. By default the platform finds the posts that it accepted. */
  reconcile?: PlatformAdapter['reconcile']
  activities?: Partial<Activities>
  /** How far the worker's clock is behind the server's, milliseconds. */
  behindMs?: number
  /** Replays the workflow for each of its tasks, as a restarted worker does. */
  forgetsWorkflows?: boolean
}

let scenarios = 0

async function startScenario(
  env: TestWorkflowEnvironment,
  workflowBundle: WorkflowBundleOption,
  options: ScenarioOptions,
  useForPreparing: (activities: Activities) => void,
) {
  const clock = await createSkippedClock(env, options.behindMs)
  const start = clock.now()
  const scheduledAt = options.dueIn === undefined ? null : new Date(start.getTime() + options.dueIn)
  let stored: Post | null = buildPost(
    { selectedPlatforms: options.platforms ?? ['bluesky'], scheduledAt, ...options.post },
    start,
  )
  const postId = stored._id
  const sent: SentPost[] = []
  const calls = new Map<Platform, number>()
  const notifications: NewNotification[] = []
  const preparations: Platform[] = []

  /** When servers worked again after an outage. */
  const returns = new Map<string, Date>()

  const posts = {
    find: async () => stored,
    async *streamHeld(server: string) {
      const isHeld = stored?.platformStatuses.some(
        ({ delivery: { outage, leaseUntil } }) => outage?.server === server && leaseUntil === null,
      )
      if (isHeld) yield stored!
    },
    async transition(_post: unknown, move: Move): Promise<Post> {
      if (!stored) throw new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
      const moved = move(stored, clock.now())
      if (moved !== stored) {
        const events = addNotifications(derivePostEvents(stored, moved, clock.now()), moved)
        notifications.push(...events.flatMap(({ notification }) => notification ?? []))
        stored = { ...moved, revision: stored.revision + 1, updatedAt: clock.now() }
      }
      return stored
    },
  }

  const buildAdapter = (platform: Platform): PlatformAdapter => ({
    platform,
    async prepare(...args) {
      preparations.push(platform)
      await options.prepare?.(...args, platform)
    },
    async publish(outgoing): Promise<Published> {
      const call = (calls.get(platform) ?? 0) + 1
      calls.set(platform, call)
      await options.respond?.(platform, call)
      sent.push({ platform, text: outgoing.content.text, at: clock.now().getTime() })
      return { platformPostId: `${platform}-1`, platformPostUrl: `https://${platform}.example/1` }
    },
    async reconcile(...args): Promise<Published | NotFoundResult> {
      if (options.reconcile) return options.reconcile(...args)
      const isSent = sent.some((entry) => entry.platform === platform)
      return isSent ? { platformPostId: `${platform}-1`, platformPostUrl: `https://${platform}.example/1` } : 'absent'
    },
    async profile() {
      await options.probe?.()
      return { displayName: 'X', handle: 'x.test', avatar: null }
    },
  })

  const account: Credentials = { accountId: 'did:plc:x', handle: 'x.test', accessToken: 'token', version: 1 }
  const owner = newUser(
    {
      _id: stored.userId,
      email: 'x@example.com',
      name: 'X',
      passwordHash: null,
      limits: { maxPosts: 1, maxCaptionGenerations: 1 },
    },
    start,
  )
  const real = createActivities({
    posts: { ...unused, ...posts },
    users: { findById: async () => owner },
    notifications: {
      ...unused,
      insertOnce: async (notification: NewNotification) => {
        notifications.push(notification)
        return true
      },
    },
    credentials: {
      ...unused,
      get: async () => account,
      renew: async () => account,
      markExpired: async () => true,
      markRefused: async () => {},
    },
    platforms: { find: buildAdapter },
    discardPrepared: () => undefined,
    orchestrator: {
      start: async () => true,
      signal: (post: Post) => handle.signal(PUBLISH_SIGNALS.changed, post.revision).then(() => true),
    },
    callWindows: {
      readReturn: async (server: string) => returns.get(server) ?? null,
      async saveReturn(server: string, since: Date, at: Date) {
        if ((returns.get(server) ?? since) > since) return false
        returns.set(server, at)
        return true
      },
    },
    logger: { info: () => {}, warn: () => {} },
    backlogs: [],
    clock,
    metrics: createMetrics(),
    draining: new AbortController().signal,
    running: createRunningWork(),
    publishTimeoutMs: 8_000,
    unansweredSettleMs: 600_000,
    maxLatenessMs: 86_400_000,
    callsInFlight: 10,
    planWeights: { free: 1, pro: 1 },
    activitySlots: 100,
    preparationSlots: 100,
    notificationSlots: 100,
    collection: { ages: [], retentionMs: 0, deletionGraceMs: 0, callsInFlight: 1, timeoutMs: 1 },
  } as unknown as Parameters<typeof createActivities>[0])

  const taskQueue = `skipped-${process.pid}-${++scenarios}`
  const activities = synced({ ...real, ...options.activities }, clock.sync)
  useForPreparing(activities)
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    activities,
    workflowBundle,
    maxCachedWorkflows: options.forgetsWorkflows ? 0 : 10,
    maxHeartbeatThrottleInterval: 1,
    defaultHeartbeatThrottleInterval: 1,
  })
  const running = worker.run()
  const workflowId = publishPostWorkflowId(postId)
  const client = env.client.workflow
  const plan = () => toPublishPlan(stored!)!
  const startOptions = { workflowId, taskQueue, workflowIdConflictPolicy: 'USE_EXISTING' as const }
  let handle: WorkflowHandle = await client.start('publishPost', { ...startOptions, args: [plan()] })

  return {
    postId,
    sent,
    notifications,
    preparations,
    clock,
    dueAt: () => stored!.dueAt!.getTime(),
    post: () => stored,
    workflowId,

    /** Changes the post as a route does: with a move and then a signal. */
    async change(move: Move, signal: PublishSignal): Promise<void> {
      await clock.sync()
      const post = await posts.transition(stored, move)
      if (signal === 'retry') {
        handle = await client.signalWithStart('publishPost', {
          ...startOptions,
          signal: PUBLISH_SIGNALS.retry,
          signalArgs: [post.revision],
          args: [plan()],
        })
      } else {
        await handle.signal(PUBLISH_SIGNALS[signal], post.revision)
      }
    },

    /** Deletes the post as the route does. */
    async remove(): Promise<void> {
      const revision = stored!.revision
      stored = null
      await handle.signal(PUBLISH_SIGNALS.cancel, revision + 1)
    },

    cancelWorkflow: () => handle.cancel(),

    /** Moves the server's clock forward. */
    pass: (ms: number) => env.sleep(ms),

    /** Skips to the workflow's end and returns the status of the post. */
    result: async () => ((await handle.result()) as PublishPostResult).status,

    /** Skips to the workflow's end and returns the outcome of each platform. */
    outcomes: async () => ((await handle.result()) as PublishPostResult).platforms,

    history: () => handle.fetchHistory(),

    /** Returns when the workflow ended by the server's clock. */
    async endedAt(): Promise<number> {
      const { events } = await handle.fetchHistory()
      return tsToMs(events?.at(-1)?.eventTime)
    },

    async stop(): Promise<void> {
      worker.shutdown()
      await running
    },
  }
}

export type Scenario = Awaited<ReturnType<typeof startScenario>>

/** Replaces methods that the code under test must not call. */
const unused = new Proxy(
  {},
  { get: (_target, name) => () => Promise.reject(new Error(`${String(name)} is not expected`)) },
)

type SkippedClock = Clock & { sync(): Promise<void> }

/** Creates a clock that follows the server's. Its offset changes only when time is skipped, and `sync` measures it again. */
export async function createSkippedClock(env: TestWorkflowEnvironment, behindMs = 0): Promise<SkippedClock> {
  let aheadMs = 0
  const sync = async () => {
    aheadMs = (await env.currentTimeMs()) - behindMs - Date.now()
  }
  const now = () => new Date(Date.now() + aheadMs)
  await sync()
  return {
    now,
    sync,
    async sleepUntil(instant, signal) {
      for (let left = instant.getTime() - now().getTime(); left > 0; left = instant.getTime() - now().getTime()) {
        signal?.throwIfAborted()
        // Time is skipped in steps with a heartbeat each. After one long skip the server would take the worker for dead.
        await Promise.race([env.sleep(Math.min(left, SECOND)), aborted(signal)])
        heartbeat()
        await sync()
      }
      signal?.throwIfAborted()
    },
  }
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** Makes each activity measure the clock first, because time may have been skipped since the last one. */
export function synced<T extends object>(activities: T, sync: () => Promise<void>): T {
  const wrapped = Object.entries(activities).map(([name, activity]) => [
    name,
    async (...args: unknown[]) => {
      await sync()
      return (activity as (...input: unknown[]) => Promise<unknown>)(...args)
    },
  ])
  return Object.fromEntries(wrapped) as T
}
