import { createPost } from '../../src/commands/create-post.ts'
import type { Config } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { publishPostWorkflowId } from '../../src/workflows/messages.ts'
import { closedLoop, openWorkflows } from '../clients.ts'
import { figure, type Figure } from '../figure.ts'
import { INSTANT_PLATFORMS } from '../platforms.ts'
import { cpuMs, startChild, type Child } from '../processes.ts'
import { median, rounded } from '../stats.ts'
import { createUsers } from '../users.ts'
import type { World } from '../world.ts'

export interface ThroughputSize {
  posts: number
  warmUp: number
  inFlight: number
  rounds: number
}

interface Rate {
  perSecond: number
  cpu: Record<'temporal' | 'worker' | 'mongod', number | null>
}

/** Immediate posts end to end, create command to closed workflow, against workflows of three activities that do nothing. */
export async function measureThroughput(world: World, size: ThroughputSize): Promise<Figure[]> {
  const bare: Rate[] = []
  const ours: Rate[] = []
  // In turns, so that a machine that grows slower or faster does so for both.
  for (let round = 0; round < size.rounds; round++) {
    bare.push(await bareRound(world, await world.config(), size))
    ours.push(await oursRound(world, await world.config(), size))
  }
  const rates = (measured: Rate[]) => measured.map(({ perSecond }) => perSecond)
  return [
    figure({
      group: 'throughput',
      name: 'immediate posts, three instant platforms',
      unit: 'posts/s',
      ours: median(rates(ours)),
      baseline: median(rates(bare)),
      aim: { text: 'at least 0.85 of bare workflows', met: ({ ratio }) => ratio >= 0.85 },
      details: {
        inFlight: size.inFlight,
        posts: size.posts,
        oursRounds: rates(ours).map(rounded).join(' '),
        bareRounds: rates(bare).map(rounded).join(' '),
        ...cpuOf('ours', ours.at(-1)),
        ...cpuOf('bare', bare.at(-1)),
      },
    }),
  ]
}

async function bareRound(world: World, config: Config, size: ThroughputSize): Promise<Rate> {
  const worker = await startChild('bare-worker', config, world)
  const { workflows, close } = await openWorkflows(config)
  try {
    return await rateOf(world, 'throughput, bare worker', worker, size, async (name) => {
      const handle = await workflows.start('threeActivities', { workflowId: name, taskQueue: 'publishing', args: [] })
      await handle.result()
    })
  } finally {
    await close()
    await worker.stop()
  }
}

async function oursRound(world: World, config: Config, size: ThroughputSize): Promise<Rate> {
  const context = await createContext(config)
  await context.database.createIndexes()
  const users = await createUsers(context, size.inFlight)
  const worker = await startChild('worker', config, world)
  const { workflows, close } = await openWorkflows(config)
  try {
    let next = 0
    const rate = await rateOf(world, 'throughput, worker', worker, size, async (name) => {
      const user = users[next++ % users.length]
      if (!user) throw new Error('No user')
      const { data } = await createPost(context, {
        userId: user._id,
        input: { content: { text: name }, selectedPlatforms: [...INSTANT_PLATFORMS] },
        source: 'api',
        idempotency: null,
      })
      const status = (await workflows.getHandle(publishPostWorkflowId(data.postId)).result()) as string
      if (status !== 'COMPLETED') throw new Error(`A post ended as ${status}`)
    })
    await assertDelivered(context, size)
    return rate
  } finally {
    await close()
    await worker.stop()
    await context.close()
  }
}

/** A fast run that dropped posts is void. */
async function assertDelivered(
  context: Awaited<ReturnType<typeof createContext>>,
  size: ThroughputSize,
): Promise<void> {
  const posts = context.database.connection.collection('posts')
  const expected = size.posts + size.warmUp
  const completed = await posts.countDocuments({
    status: 'COMPLETED',
    platformStatuses: {
      $not: { $elemMatch: { $or: [{ status: { $ne: 'completed' } }, { attemptCount: { $ne: 1 } }] } },
    },
  })
  if (completed !== expected) throw new Error(`${completed} of ${expected} posts were delivered at the first attempt`)
}

async function rateOf(
  world: World,
  label: string,
  worker: Child,
  { posts, warmUp, inFlight }: ThroughputSize,
  work: (name: string) => Promise<void>,
): Promise<Rate> {
  await closedLoop(warmUp, inFlight, (index) => work(`warm-${index}`))
  const pids = { temporal: world.pids.temporal, worker: worker.pid, mongod: world.pids.mongod }
  const before = { temporal: cpuMs(pids.temporal), worker: cpuMs(pids.worker), mongod: cpuMs(pids.mongod) }
  const startedAt = performance.now()
  const measured = () => closedLoop(posts, inFlight, (index) => work(`post-${index}`))
  await (world.profiling?.measure(label, worker, () => posts, measured) ?? measured())
  const seconds = (performance.now() - startedAt) / 1_000
  const perPost = (name: keyof typeof pids) => {
    const now = cpuMs(pids[name])
    const then = before[name]
    return now === null || then === null ? null : (now - then) / posts
  }
  return {
    perSecond: posts / seconds,
    cpu: { temporal: perPost('temporal'), worker: perPost('worker'), mongod: perPost('mongod') },
  }
}

function cpuOf(side: string, rate: Rate | undefined): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(rate?.cpu ?? {}).map(([name, ms]) => [
      `${side} CPU ms a post, ${name}`,
      ms === null ? null : rounded(ms),
    ]),
  )
}
