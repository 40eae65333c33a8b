import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client'
import { createPost } from '../src/commands/posts/create-post.ts'
import { createContext, type Context } from '../src/context.ts'
import type { SubscriptionPlan } from '../src/domain/billing/subscription.ts'
import type { Platform } from '../src/domain/shared/platforms.ts'
import { createLogger } from '../src/logger.ts'
import { publishPostWorkflowId, type PublishPostResult } from '../src/workflows/contract/publishing.ts'
import { CONNECTION_OPTIONS, toWorkerOptions } from '../src/worker/create-workers.ts'
import { openWorkflows } from './clients.ts'
import { closedLoop } from './loops.ts'
import { INSTANT_PLATFORMS } from './platforms.ts'
import { startChild, type Child } from './processes.ts'
import { createUsers } from './users.ts'
import type { World } from './world.ts'

const RECORDED_WITHIN_MS = 20_000
const SWEPT_WITHIN_MS = 120_000

/** One side of a comparison. Each has its own worker process and Temporal namespace, and ours also its own database. */
export interface Side {
  name: 'ours' | 'bare'
  /** The first worker process. */
  worker: Child
  /** Publishes immediately to three platforms; resolves when the workflow has ended. */
  publish(lane: number): Promise<void>
  /** Schedules one visible call; returns the id with which it will arrive at the receiver. */
  schedule(lane: number, dueAt: number): Promise<string>
  /** @throws when due work is not recorded as completed at the first attempt: a fast run that dropped posts is void */
  verify(): Promise<void>
  /** Returns details of unfinished work, to find the reason. */
  explain(ids: string[]): Promise<string>
  stop(): Promise<void>
}

export interface SideOptions {
  /** Concurrent jobs; on our side each lane is a user. */
  lanes: number
  /** The URL for visible calls; without it none are made. */
  receiver?: string
  /** Worker processes, 1 by default. */
  workers?: number
}

interface OurOptions extends SideOptions {
  /** The folder of a copy of the project that the worker is started from. */
  root?: string | null
  /** The platforms of a scheduled post, Mastodon by default. */
  scheduledOn?: readonly Platform[]
  /** How much later each platform responds than the one before it, milliseconds. */
  spreadMs?: number
  /** The plan of each lane's user, Free by default. */
  toPlan?: (lane: number) => SubscriptionPlan
}

interface BareOptions extends SideOptions {
  /** The workflow that stands for an immediate post. */
  immediate?: 'threeActivities' | 'threeLocalActivities'
}

export interface Ours extends Side {
  context: Context
  /** Creates an immediate post on the platforms of the scheduled ones; returns the id with which it will arrive at the receiver. */
  publishOne(lane: number): Promise<string>
  /** Returns the number of logged warnings: mostly workflow starts that Temporal did not acknowledge within a second. */
  warnings(): number
}

/** Opens our side: posts are created by the command, delivered by the worker and the sweeper, and recorded in MongoDB. */
export async function openOurs(
  world: World,
  { lanes, receiver, workers: count = 1, root = null, scheduledOn = ['mastodon'], spreadMs = 0, toPlan }: OurOptions,
): Promise<Ours> {
  const config = await world.config()
  let warnings = 0
  const context = await createContext(config, { logger: createLogger('warn', { write: () => void (warnings += 1) }) })
  await context.database.createSchema()
  // Without the sweeper, a post whose start Temporal did not acknowledge in time would never be sent.
  await context.orchestrator.ensureSearchAttributes()
  await context.orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS)
  const users = await createUsers(context, lanes, toPlan)
  const bundle = root === null ? await world.bundle('ours') : await world.bundleCopy(root)
  const env = { BENCH_BUNDLE: bundle, BENCH_SPREAD_MS: String(spreadMs), ...receiverIn(receiver) }
  const workers = await startWorkers(count, () =>
    startChild('worker', config, { profiling: world.profiling, env, root }),
  )
  const { workflows, close } = await openWorkflows(config)
  const published: string[] = []
  const scheduled: { id: string; dueAt: number }[] = []

  const create = async (lane: number, selectedPlatforms: Platform[], scheduledAt?: Date) => {
    const { data } = await createPost(context, {
      userId: users[lane]!._id,
      plan: users[lane]!.subscription.plan,
      input: {
        content: { text: 'As fast as it goes' },
        selectedPlatforms,
        ...(scheduledAt ? { scheduledAt: scheduledAt.toISOString() } : {}),
      },
      source: 'api',
      idempotency: null,
    })
    await context.startQueue.idle()
    return data.postId
  }

  return {
    name: 'ours',
    worker: workers[0]!,
    context,
    warnings: () => warnings,
    async publish(lane) {
      const postId = await create(lane, [...INSTANT_PLATFORMS])
      const { status } = (await resultOf(workflows, publishPostWorkflowId(postId))) as PublishPostResult
      if (status !== 'COMPLETED') throw new Error(`A post ended as ${status}`)
      published.push(postId)
    },
    async schedule(lane, dueAt) {
      const id = await create(lane, [...scheduledOn], new Date(dueAt))
      scheduled.push({ id, dueAt })
      return id
    },
    async publishOne(lane) {
      const id = await create(lane, [...scheduledOn])
      scheduled.push({ id, dueAt: Date.now() })
      return id
    },
    async verify() {
      const due = scheduled.filter(({ dueAt }) => dueAt <= Date.now()).map(({ id }) => id)
      await verify(context, {
        published,
        scheduled: scheduled.length,
        due,
        dueDeliveries: due.length * scheduledOn.length,
      })
    },
    async explain(ids) {
      const posts = context.database.connection.collection<{ _id: string }>('posts')
      const fields = { status: 1, startPending: 1, 'platformStatuses.status': 1, 'platformStatuses.delivery': 1 }
      const found = await posts.find({ _id: { $in: ids } }, { projection: fields }).toArray()
      const workflowStates = await Promise.all(
        ids.map((id) =>
          workflows
            .getHandle(publishPostWorkflowId(id))
            .describe()
            .then(({ status, historyLength }) => `${status.name} after ${historyLength} events`)
            .catch(() => 'never started'),
        ),
      )
      return JSON.stringify({ posts: found, workflows: workflowStates })
    },
    async stop() {
      await close()
      await Promise.all(workers.map((worker) => worker.stop()))
      await context.close()
    },
  }
}

/** Opens the baseline: workflows with empty activities on a worker with the same settings. Like our side, it uses two connections. */
export async function openBare(
  world: World,
  { receiver, workers: count = 1, immediate = 'threeActivities' }: BareOptions,
): Promise<Side> {
  const config = await world.config()
  const workerOptions = toWorkerOptions('publishing', config, {})
  const env = {
    BENCH_BUNDLE: await world.bundle('bare'),
    BENCH_CONNECTION: JSON.stringify(CONNECTION_OPTIONS),
    BENCH_WORKER_OPTIONS: JSON.stringify(workerOptions),
    ...receiverIn(receiver),
  }
  const workers = await startWorkers(count, () =>
    startChild('bare-worker', config, { profiling: world.profiling, env }),
  )
  const [starting, waiting] = [await openWorkflows(config), await openWorkflows(config)]
  const taskQueue = 'publishing'
  let next = 0
  return {
    name: 'bare',
    worker: workers[0]!,
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
    verify: async () => {},
    explain: async () => '',
    async stop() {
      await starting.close()
      await waiting.close()
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}

const startWorkers = (count: number, start: () => Promise<Child>): Promise<Child[]> =>
  Promise.all(Array.from({ length: count }, start))

/** Returns the result of a workflow. If Temporal did not start it within five seconds, the sweeper does so later. */
async function resultOf(workflows: WorkflowClient, workflowId: string): Promise<unknown> {
  const giveUpAt = Date.now() + SWEPT_WITHIN_MS
  for (;;) {
    try {
      return await workflows.getHandle(workflowId).result()
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError) || Date.now() > giveUpAt) throw error
      await delay(100)
    }
  }
}

const receiverIn = (url: string | undefined) => (url === undefined ? {} : { BENCH_RECEIVER: url })

/** Publishes `count` times with `lanes` concurrent jobs; fails when the worker ends. */
export function publishAll(side: Side, count: number, lanes: number): Promise<void> {
  return Promise.race([closedLoop(count, lanes, (_index, lane) => side.publish(lane)), side.worker.failed])
}

interface Made {
  /** Ids of the immediate posts. */
  published: string[]
  scheduled: number
  /** Ids of the scheduled posts that have been due. */
  due: string[]
  dueDeliveries: number
}

/** Repeats the query for a while, because outcomes are written a moment after the calls arrive. */
async function verify(context: Context, made: Made): Promise<void> {
  const giveUpAt = Date.now() + RECORDED_WITHIN_MS
  for (;;) {
    const wrong = (await compareRecords(context, made)).filter(({ found, expected }) => found !== expected)
    if (wrong.length === 0) return
    if (Date.now() > giveUpAt) {
      const list = wrong.map(({ what, found, expected }) => `${found} ${what}, not ${expected}`)
      throw new Error(`This run is void: ${list.join('; ')}`)
    }
    await delay(200)
  }
}

async function compareRecords(
  { database: { connection } }: Context,
  { published, scheduled, due, dueDeliveries }: Made,
) {
  const atFirstAttempt = {
    status: 'COMPLETED',
    platformStatuses: {
      $not: { $elemMatch: { $or: [{ status: { $ne: 'completed' } }, { attemptCount: { $ne: 1 } }] } },
    },
  }
  const posts = connection.collection<{ _id: string }>('posts')
  const notifications = connection.collection('notifications')
  const allowances = connection
    .collection('users')
    .aggregate<{ posts: number }>([{ $group: { _id: null, posts: { $sum: '$usage.postsCreated' } } }])
  const [immediate, completed, created, deliveries, allowance] = await Promise.all([
    posts.countDocuments({ _id: { $in: published }, ...atFirstAttempt }),
    posts.countDocuments({ _id: { $in: due }, ...atFirstAttempt }),
    notifications.countDocuments({ dedupeKey: /^post-created:/ }),
    notifications.countDocuments({ dedupeKey: /^post-published:/ }),
    allowances.next(),
  ])
  return [
    { what: 'immediate posts completed at the first attempt', found: immediate, expected: published.length },
    { what: 'scheduled posts completed at the first attempt', found: completed, expected: due.length },
    { what: 'notifications of a created post', found: created, expected: published.length + scheduled },
    {
      what: 'notifications of a delivery',
      found: deliveries,
      expected: published.length * INSTANT_PLATFORMS.length + dueDeliveries,
    },
    {
      what: 'posts counted against the allowance',
      found: allowance?.posts ?? 0,
      expected: published.length + scheduled,
    },
  ]
}
