import { setTimeout as delay } from 'node:timers/promises'
import { createPost } from '../src/commands/create-post.ts'
import { createContext, type Context } from '../src/context.ts'
import type { Platform } from '../src/domain/platforms.ts'
import { publishPostWorkflowId } from '../src/workflows/messages.ts'
import { CONNECTION_OPTIONS, workerShape } from '../src/workers.ts'
import { openWorkflows } from './clients.ts'
import { closedLoop } from './loops.ts'
import { INSTANT_PLATFORMS } from './platforms.ts'
import { startChild, type Child } from './processes.ts'
import { createUsers } from './users.ts'
import type { World } from './world.ts'

const RECORDED_WITHIN_MS = 20_000

/** What both sides of a comparison can do, each with a worker process, a namespace and (ours) a database of its own. */
export interface Side {
  name: 'ours' | 'bare'
  worker: Child
  /** One immediate piece of work at three platforms, from its start to the end of its workflow. */
  publish(lane: number): Promise<void>
  /** One visible call at the instant; under the id that is answered it will arrive at the receiver. */
  schedule(lane: number, dueAt: number): Promise<string>
  /** @throws when anything that was due was not done and recorded, or not at the first attempt: a fast run that dropped posts is void */
  verify(): Promise<void>
  stop(): Promise<void>
}

export interface SideOptions {
  /** So many pieces of work at a time; of ours each lane is a user. */
  lanes: number
  /** Where visible calls go; without it they are nothing at all. */
  receiver?: string
}

/** The service: posts by the create command, delivered by its worker, recorded in MongoDB. */
export async function openOurs(world: World, { lanes, receiver }: SideOptions): Promise<Side & { context: Context }> {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createIndexes()
  const users = await createUsers(context, lanes)
  const worker = await startChild('worker', config, {
    ...world,
    env: { BENCH_BUNDLE: await world.bundle('ours'), ...receiverIn(receiver) },
  })
  const { workflows, close } = await openWorkflows(config)
  let published = 0
  const scheduled: { id: string; dueAt: number }[] = []

  const create = async (lane: number, selectedPlatforms: Platform[], scheduledAt?: Date) => {
    const { data } = await createPost(context, {
      userId: users[lane]!._id,
      input: {
        content: { text: 'As fast as it goes' },
        selectedPlatforms,
        ...(scheduledAt ? { scheduledAt: scheduledAt.toISOString() } : {}),
      },
      source: 'api',
      idempotency: null,
    })
    return data.postId
  }

  return {
    name: 'ours',
    worker,
    context,
    async publish(lane) {
      const postId = await create(lane, [...INSTANT_PLATFORMS])
      const status = (await workflows.getHandle(publishPostWorkflowId(postId)).result()) as string
      if (status !== 'COMPLETED') throw new Error(`A post ended as ${status}`)
      published += 1
    },
    async schedule(lane, dueAt) {
      const id = await create(lane, ['mastodon'], new Date(dueAt))
      scheduled.push({ id, dueAt })
      return id
    },
    async verify() {
      const due = scheduled.filter(({ dueAt }) => dueAt <= Date.now()).map(({ id }) => id)
      await verify(context, { published, scheduled: scheduled.length, due })
    },
    async stop() {
      await close()
      await worker.stop()
      await context.close()
    },
  }
}

/** The baseline: workflows with activities that do nothing, on a worker with the same settings. Two connections, as ours has. */
export async function openBare(world: World, { receiver }: SideOptions): Promise<Side> {
  const config = await world.config()
  const shape = workerShape('publishing', config.WORKER_ACTIVITY_SLOTS, {})
  const worker = await startChild('bare-worker', config, {
    ...world,
    env: {
      BENCH_BUNDLE: await world.bundle('bare'),
      BENCH_CONNECTION: JSON.stringify(CONNECTION_OPTIONS),
      BENCH_SHAPE: JSON.stringify(shape),
      ...receiverIn(receiver),
    },
  })
  const [starting, waiting] = [await openWorkflows(config), await openWorkflows(config)]
  const taskQueue = 'publishing'
  let next = 0
  return {
    name: 'bare',
    worker,
    async publish() {
      const workflowId = `three-${next++}`
      await starting.workflows.start('threeActivities', { workflowId, taskQueue, args: [] })
      await waiting.workflows.getHandle(workflowId).result()
    },
    async schedule(_lane, dueAt) {
      const id = `${config.TEMPORAL_NAMESPACE}-${next++}`
      await starting.workflows.start('timer', { workflowId: id, taskQueue, args: [{ id, dueAt }] })
      return id
    },
    verify: async () => {},
    async stop() {
      await starting.close()
      await waiting.close()
      await worker.stop()
    },
  }
}

const receiverIn = (url: string | undefined) => (url === undefined ? {} : { BENCH_RECEIVER: url })

/** Runs so many pieces of work at a time, and ends when the worker does. */
export function publishAll(side: Side, count: number, lanes: number): Promise<void> {
  return Promise.race([closedLoop(count, lanes, (_index, lane) => side.publish(lane)), side.worker.failed])
}

interface Made {
  published: number
  scheduled: number
  /** Which of the scheduled ones have been due. */
  due: string[]
}

/** Looks again for a while: the outcome of the last calls is written a moment after they arrived. */
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

async function compareRecords({ database: { connection } }: Context, { published, scheduled, due }: Made) {
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
  const [atOnce, onTime, created, told, allowance] = await Promise.all([
    posts.countDocuments({ scheduledAt: null, ...atFirstAttempt }),
    posts.countDocuments({ _id: { $in: due }, ...atFirstAttempt }),
    notifications.countDocuments({ dedupeKey: /^post-created:/ }),
    notifications.countDocuments({ dedupeKey: /^post-published:/ }),
    allowances.next(),
  ])
  return [
    { what: 'immediate posts completed at the first attempt', found: atOnce, expected: published },
    { what: 'scheduled posts completed at the first attempt', found: onTime, expected: due.length },
    { what: 'notifications of a created post', found: created, expected: published + scheduled },
    { what: 'notifications of a delivery', found: told, expected: published * INSTANT_PLATFORMS.length + due.length },
    { what: 'posts counted against the allowance', found: allowance?.posts ?? 0, expected: published + scheduled },
  ]
}
