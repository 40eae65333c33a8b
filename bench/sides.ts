import { setTimeout as delay } from 'node:timers/promises'
import { Connection, WorkflowClient, WorkflowNotFoundError } from '@temporalio/client'
import { createPost } from '../src/commands/posts/create-post.ts'
import type { Config } from '../src/config/schema.ts'
import { createContext, type Context } from '../src/context.ts'
import type { SubscriptionPlan } from '../src/domain/billing/subscription.ts'
import type { Platform } from '../src/domain/shared/platforms.ts'
import { openDatabase } from '../src/store/shared/database.ts'
import { CONNECTION_OPTIONS, toWorkerOptions } from '../src/worker/create-workers.ts'
import { publishPostWorkflowId, type PublishPostResult } from '../src/workflows/contract/publishing.ts'
import { createCommandCounter } from '../tests/support/driver-commands.ts'
import { closedLoop } from './loops.ts'
import { INSTANT_PLATFORMS, toCallId } from './platforms.ts'
import { startChild, type Child } from './processes.ts'
import { createUsers } from './users.ts'
import type { World } from './world.ts'

const RECORDED_WITHIN_MS = 20_000
const SWEPT_WITHIN_MS = 120_000

/** One side of a comparison. Each has its own worker process and Temporal namespace, and each of ours its own database. */
export interface Side {
  name: 'ours' | 'bare'
  workerPid: number
  /** Publishes immediately to three platforms; resolves when the workflow has ended. */
  publish(lane: number): Promise<void>
  /** Schedules a post; returns the id with which its visible call will arrive at the receiver. */
  schedule(lane: number, dueAt: number): Promise<string>
  /** Returns the commands to MongoDB so far, by process, kind and collection. */
  countCommands(): Promise<Record<string, number>>
  /** Rejects when the worker ends. */
  failed: Promise<never>
  /** @throws when due work is not recorded as completed at the first attempt: a fast run that dropped posts is void */
  verify(): Promise<void>
  stop(): Promise<void>
}

interface SideOptions {
  /** The URL for visible calls; without it none are made. */
  receiver?: string
}

interface OurOptions extends SideOptions {
  /** The number of users. */
  users: number
  /** The plan of each user, Free by default. */
  toPlan?: (user: number) => SubscriptionPlan
}

/** Opens our side: posts are created by the command, delivered by the worker and the sweeper, and recorded in MongoDB. */
export async function openOurs(world: World, { users: count, receiver, toPlan }: OurOptions) {
  const config = await world.config()
  const { counts, onCommand } = createCommandCounter()
  const context = await createContext(config, { database: await openDatabase(config.MONGODB_URL, { onCommand }) })
  await context.database.createSchema()
  // Without the sweeper, a post whose start Temporal did not acknowledge in time would never be sent.
  await context.orchestrator.ensureSearchAttributes()
  await context.orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS)
  const users = await createUsers(context, count, toPlan)
  const env = { BENCH_BUNDLE: await world.bundle(), ...receiverIn(receiver) }
  const worker = await startChild('worker', config, env)
  const { workflows, close } = await openWorkflows(config)
  const created: { id: string; platforms: readonly Platform[] }[] = []

  async function create(user: number, platforms: readonly Platform[], dueAt?: number): Promise<string> {
    const { _id: userId, subscription } = users[user]!
    const { data } = await createPost(context, {
      userId,
      plan: subscription.plan,
      input: {
        content: { text: 'As fast as it goes' },
        selectedPlatforms: [...platforms],
        ...(dueAt !== undefined && { scheduledAt: new Date(dueAt).toISOString() }),
      },
      metadata: { source: 'api', client: 'api' },
      idempotency: null,
    })
    await context.startQueue.idle()
    created.push({ id: data.postId, platforms })
    return data.postId
  }

  /** Creates a post on three platforms and waits for its end. */
  async function publishAndDescribe(user: number, dueAt?: number) {
    const handle = workflows.getHandle(publishPostWorkflowId(await create(user, INSTANT_PLATFORMS, dueAt)))
    const { status } = (await resultOf(() => handle.result())) as PublishPostResult
    if (status !== 'COMPLETED') throw new Error(`A post ended as ${status}`)
    return handle
  }

  return {
    name: 'ours' as const,
    workerPid: worker.pid,
    failed: worker.failed,
    context,
    publishAndDescribe,
    publish: async (user: number) => void (await publishAndDescribe(user)),
    /** Without a time, the post is immediate. */
    async schedule(user: number, dueAt?: number) {
      return toCallId(await create(user, ['mastodon'], dueAt), 'mastodon')
    },
    async countCommands() {
      const ofWorker = await worker.ask<typeof counts>('commands')
      const prefixed = (process: string, all: typeof counts) =>
        Object.entries(all).map(([name, value]) => [`${process}: ${name}`, value])
      return Object.fromEntries([...prefixed('API', counts), ...prefixed('worker', ofWorker)]) as typeof counts
    },
    verify: () => verify(context, created),
    async stop() {
      await close()
      await worker.stop()
      await context.close()
    },
  } satisfies Side & Record<string, unknown>
}

export type Ours = Awaited<ReturnType<typeof openOurs>>

interface BareOptions extends SideOptions {
  /** The workflow that stands for an immediate post. */
  immediate?: 'threeActivities' | 'threeLocalActivities'
}

/** Opens the baseline: workflows with empty activities on a worker with the same settings. Like our side, it uses two connections. */
export async function openBare(
  world: World,
  { receiver, immediate = 'threeActivities' }: BareOptions = {},
): Promise<Side> {
  const config = await world.config()
  const worker = await startBareWorker(world, config, receiver)
  const [starting, waiting] = [await openWorkflows(config), await openWorkflows(config)]
  const taskQueue = 'publishing'
  let next = 0
  return {
    name: 'bare',
    workerPid: worker.pid,
    failed: worker.failed,
    async publish() {
      const workflowId = `three-${next++}`
      await starting.workflows.start(immediate, { workflowId, taskQueue, args: [] })
      await waiting.workflows.getHandle(workflowId).result()
    },
    async schedule(_lane, dueAt) {
      const id = `${config.TEMPORAL_NAMESPACE}-${next++}`
      await starting.workflows.start('timer', { workflowId: id, taskQueue, args: [{ id, dueAt }] })
      return id
    },
    countCommands: async () => ({}),
    verify: async () => {},
    async stop() {
      await starting.close()
      await waiting.close()
      await worker.stop()
    },
  }
}

/** Starts a worker process that loads nothing of the service and has the settings of its worker. */
export async function startBareWorker(world: World, config: Config, receiver?: string): Promise<Child> {
  const env = {
    BENCH_BUNDLE: await world.bareBundle(),
    BENCH_CONNECTION: JSON.stringify(CONNECTION_OPTIONS),
    BENCH_WORKER_OPTIONS: JSON.stringify(toWorkerOptions('publishing', config, {})),
    ...receiverIn(receiver),
  }
  return startChild('bare-worker', config, env)
}

/** Opens a client of the run's Temporal. */
export async function openWorkflows({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }: Config) {
  const connection = await Connection.connect({ address })
  return { workflows: new WorkflowClient({ connection, namespace }), close: () => connection.close() }
}

/** Returns the result of a workflow. If Temporal did not start it within five seconds, the sweeper does so later. */
async function resultOf(read: () => Promise<unknown>): Promise<unknown> {
  const giveUpAt = Date.now() + SWEPT_WITHIN_MS
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError) || Date.now() > giveUpAt) throw error
      await delay(100)
    }
  }
}

const receiverIn = (url: string | undefined) => (url === undefined ? {} : { BENCH_RECEIVER: url })

/** Publishes `count` times with `lanes` concurrent jobs; fails when the worker ends. */
export function publishAll(side: Side, count: number, lanes: number): Promise<void> {
  return Promise.race([closedLoop(count, lanes, (_index, lane) => side.publish(lane)), side.failed])
}

/** Repeats the query for a while, because outcomes are written a moment after the calls arrive. */
async function verify(
  { database: { connection } }: Context,
  created: { id: string; platforms: readonly Platform[] }[],
): Promise<void> {
  const ids = created.map(({ id }) => id)
  const isOther = { $or: [{ status: { $ne: 'completed' } }, { attemptCount: { $ne: 1 } }] }
  const completed = { status: 'COMPLETED', platformStatuses: { $not: { $elemMatch: isOther } } }
  const deliveries = created.reduce((sum, { platforms }) => sum + platforms.length, 0)
  const expected = [ids.length, ids.length, deliveries]
  const notifications = connection.collection('notifications')
  const giveUpAt = Date.now() + RECORDED_WITHIN_MS
  for (;;) {
    const found = await Promise.all([
      connection.collection<{ _id: string }>('posts').countDocuments({ _id: { $in: ids }, ...completed }),
      notifications.countDocuments({ dedupeKey: /^post-created:/ }),
      notifications.countDocuments({ dedupeKey: /^post-published:/ }),
    ])
    if (String(found) === String(expected)) return
    if (Date.now() > giveUpAt) {
      const what = 'posts completed at the first attempt, notifications of created posts and of deliveries'
      throw new Error(`This run is void: ${what} are ${found.join(', ')} instead of ${expected.join(', ')}`)
    }
    await delay(200)
  }
}
