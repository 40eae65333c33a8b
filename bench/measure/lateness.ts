import { setTimeout as delay } from 'node:timers/promises'
import { createPost } from '../../src/commands/create-post.ts'
import { createContext, type Context } from '../../src/context.ts'
import { SECOND } from '../../src/domain/times.ts'
import { closedLoop, openWorkflows } from '../clients.ts'
import { figure, type Aim, type Figure } from '../figure.ts'
import { startChild } from '../processes.ts'
import { startReceiver, type Receiver } from '../receiver.ts'
import { median, percentile, rounded } from '../stats.ts'
import { connectToBluesky, createUsers } from '../users.ts'
import type { World } from '../world.ts'

/** Posts are armed at most this long before their instant; what is measured is created before that. */
const LONGEST_LEAD_MS = 10 * SECOND
const CREATE_IN_FLIGHT = 16
const CREATE_MS_PER_POST = 25
const LONE_SPACING_MS = 400
const GIVE_UP_AFTER_MS = 60 * SECOND

export interface LatenessSize {
  lone: number
  bursts: number[]
}

/** A visible call that is due: under which id it arrives, and when it should. */
interface Due {
  id: string
  dueAt: number
}

/** From the instant a post is due to the arrival of its visible call at the platform, beside workflow timers set to that instant. */
export async function measureLateness(world: World, size: LatenessSize): Promise<Figure[]> {
  const receiver = await startReceiver()
  try {
    const lone = Array.from({ length: size.lone }, (_, index) => index * LONE_SPACING_MS)
    const figures = [
      compare({
        name: `${size.lone} lone posts to Bluesky, p95`,
        bare: await bareTimers(world, receiver, lone),
        ours: await onBluesky(world, lone),
        aim: { text: 'at most 50 ms', met: ({ ours }) => ours <= 50 },
      }),
    ]
    for (const count of size.bursts) {
      const atOnce = Array<number>(count).fill(0)
      figures.push(
        compare({
          name: `${count} posts at one instant to an instant platform, p95`,
          bare: await bareTimers(world, receiver, atOnce),
          ours: await onInstantPlatform(world, receiver, atOnce),
          aim: { text: 'at most a third of bare timers', met: ({ ratio }) => ratio <= 1 / 3 },
        }),
      )
    }
    return figures
  } finally {
    await receiver.stop()
  }
}

function compare({ name, bare, ours, aim }: { name: string; bare: number[]; ours: number[]; aim: Aim }): Figure {
  return figure({
    group: 'lateness',
    name,
    unit: 'ms late',
    ours: percentile(ours, 0.95),
    baseline: percentile(bare, 0.95),
    aim,
    details: { ...spreadOf('ours', ours), ...spreadOf('bare', bare) },
  })
}

async function bareTimers(world: World, receiver: Receiver, instants: number[]): Promise<number[]> {
  const config = await world.config()
  const worker = await startChild('bare-worker', config, { env: { BENCH_RECEIVER: receiver.url } })
  const { workflows, close } = await openWorkflows(config)
  try {
    const firstAt = firstInstant(instants.length, 0)
    const due = instants.map((offset, index) => ({
      id: `${config.TEMPORAL_NAMESPACE}-${index}`,
      dueAt: firstAt + offset,
    }))
    await closedLoop(due.length, CREATE_IN_FLIGHT, async (index) => {
      const input = due[index]
      await workflows.start('timer', { workflowId: `timer-${index}`, taskQueue: 'publishing', args: [input] })
    })
    return await latenessOf(due, receiver)
  } finally {
    await close()
    await worker.stop()
  }
}

async function onInstantPlatform(world: World, receiver: Receiver, instants: number[]): Promise<number[]> {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createIndexes()
  const users = await createUsers(context, 20)
  const worker = await startChild('worker', config, { env: { BENCH_RECEIVER: receiver.url } })
  try {
    const firstAt = firstInstant(instants.length, LONGEST_LEAD_MS)
    const due: Due[] = []
    await closedLoop(instants.length, CREATE_IN_FLIGHT, async (index) => {
      const dueAt = firstAt + (instants[index] ?? 0)
      const userId = users[index % users.length]?._id ?? ''
      due.push({ id: await schedule(context, userId, 'mastodon', dueAt), dueAt })
    })
    return await latenessOf(due, receiver)
  } finally {
    await worker.stop()
    await context.close()
  }
}

/** The whole way, to the real server: arrival is what its fault proxy notes for the one writing call. */
async function onBluesky(world: World, offsets: number[]): Promise<number[]> {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createIndexes()
  const [user] = await createUsers(context, 1)
  if (!user) throw new Error('No user')
  await connectToBluesky(context, world.bluesky, user)
  const worker = await startChild('worker', config)
  try {
    const before = (await writesOnBluesky(world)).length
    const firstAt = firstInstant(offsets.length, LONGEST_LEAD_MS)
    const instants = offsets.map((offset) => firstAt + offset)
    for (const dueAt of instants) await schedule(context, user._id, 'bluesky', dueAt)
    await delay(Math.max(0, (instants.at(-1) ?? 0) - Date.now()))
    const end = Date.now() + GIVE_UP_AFTER_MS
    let arrivals: number[] = []
    while (arrivals.length < instants.length && Date.now() < end) {
      await delay(200)
      arrivals = (await writesOnBluesky(world)).slice(before)
    }
    if (arrivals.length !== instants.length) {
      throw new Error(`${arrivals.length} calls reached Bluesky for ${instants.length} posts`)
    }
    const late = arrivals.toSorted((a, b) => a - b).map((at, index) => at - (instants[index] ?? 0))
    refuseEarly(late)
    return late
  } finally {
    await worker.stop()
    await context.close()
  }
}

async function writesOnBluesky(world: World): Promise<number[]> {
  const response = await fetch(`${world.bluesky.control}/requests`)
  const requests = (await response.json()) as { path: string; receivedAt: string }[]
  return requests
    .filter(({ path }) => path.startsWith('/xrpc/com.atproto.repo.putRecord'))
    .map(({ receivedAt }) => Date.parse(receivedAt))
}

/** Soon, but not before everything is created and has waited for its timer. */
function firstInstant(count: number, leadMs: number): number {
  return Date.now() + leadMs + 2 * SECOND + count * CREATE_MS_PER_POST
}

async function schedule(
  context: Context,
  userId: string,
  platform: 'bluesky' | 'mastodon',
  dueAt: number,
): Promise<string> {
  const { data } = await createPost(context, {
    userId,
    input: {
      content: { text: 'On time' },
      selectedPlatforms: [platform],
      scheduledAt: new Date(dueAt).toISOString(),
    },
    source: 'api',
    idempotency: null,
  })
  if (Date.now() > dueAt - LONGEST_LEAD_MS) throw new Error('Creating the posts took too long for this measurement')
  return data.postId
}

/** Waits until every call has arrived. A run in which one is lost, doubled or early is void. */
async function latenessOf(due: Due[], receiver: Receiver): Promise<number[]> {
  const lastAt = Math.max(...due.map(({ dueAt }) => dueAt))
  const isOpen = () => due.some(({ id }) => receiver.arrivalsOf(id).length === 0)
  await delay(Math.max(0, lastAt - Date.now()))
  while (isOpen() && Date.now() < lastAt + GIVE_UP_AFTER_MS) await delay(100)
  const late = due.map(({ id, dueAt }) => {
    const [arrivedAt, ...more] = receiver.arrivalsOf(id)
    if (arrivedAt === undefined) throw new Error('A post was never sent')
    if (more.length > 0) throw new Error('A post was sent twice')
    return arrivedAt - dueAt
  })
  refuseEarly(late)
  return late
}

function refuseEarly(late: number[]): void {
  const earliest = Math.min(...late)
  if (earliest < 0) throw new Error(`A post was sent ${-earliest} ms early`)
}

function spreadOf(side: string, late: number[]): Record<string, number> {
  return {
    [`${side} p50 ms`]: rounded(median(late)),
    [`${side} p99 ms`]: rounded(percentile(late, 0.99)),
    [`${side} max ms`]: Math.max(...late),
  }
}
