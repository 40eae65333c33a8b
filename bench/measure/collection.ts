import { platformLabel } from '../../src/domain/platforms.ts'
import { SECOND } from '../../src/domain/times.ts'
import { openCollection, type Author, type Collection, type CountedPlatform } from '../collecting.ts'
import { figure, type Figure } from '../figure.ts'
import { closedLoop } from '../loops.ts'
import { residentBytes } from '../processes.ts'
import { median, rounded } from '../stats.ts'
import type { World } from '../world.ts'

export interface CollectionSize {
  /** How many users have posts on each platform; the last one is long enough to watch the worker's memory. */
  users: Record<CountedPlatform, number>
  /** Of each user. */
  posts: number
}

const ORDER: CountedPlatform[] = ['bluesky', 'threads', 'mastodon']
const MIB = 2 ** 20
const SAMPLE_MS = 200
const LONGEST_CALL_MS = 30 * SECOND

/** How fast the worker collects what is due, and whether it grows meanwhile. */
export async function measureCollection(world: World, size: CollectionSize): Promise<Figure[]> {
  const collection = await openCollection(world)
  try {
    const figures: Figure[] = []
    for (const platform of ORDER) figures.push(...(await measurePlatform(world, collection, platform, size)))
    return figures
  } finally {
    await collection.stop()
  }
}

async function measurePlatform(
  world: World,
  collection: Collection,
  platform: CountedPlatform,
  { users, posts }: CollectionSize,
): Promise<Figure[]> {
  const { context, worker } = collection
  const authors = await collection.makeAuthors(platform, users[platform], posts)
  const due = authors.reduce((sum, { postIds }) => sum + postIds.length, 0)
  const bare = await timed(() => readBarely(collection, platform, authors))
  await collection.makeDue(platform, authors)
  const memory = watchMemory(worker.pid)
  const collect = () => Promise.race([collection.collect(), worker.failed])
  const ours = await timed(
    () => world.profiling?.measure(`collection, worker, ${platform}`, worker, () => due, collect) ?? collect(),
  )
  const samples = memory.stop()
  const { saved } = ours.result
  if (saved !== due) throw new Error(`This run is void: ${JSON.stringify(ours.result)} of ${due} posts`)
  const { perCall } = context.platforms.find(platform)!.metrics!
  const label = platformLabel(platform)
  const speed = figure({
    group: 'collection',
    name: `metrics of ${due} posts on ${label}, ${perCall} a call, against bare calls`,
    unit: 'posts/s',
    ours: (due * SECOND) / ours.ms,
    baseline: (due * SECOND) / bare.ms,
    details: { users: authors.length, 'calls at a time': context.collection.callsInFlight },
  })
  return platform === ORDER.at(-1) ? [speed, ...memoryFigure(due, samples)] : [speed]
}

/** What each call takes at least: the same ones of the same adapters, as many at a time, with nothing looked up before or kept of them. */
async function readBarely(
  { context: { collection, credentials, platforms } }: Collection,
  platform: CountedPlatform,
  authors: Author[],
): Promise<void> {
  const metrics = platforms.find(platform)!.metrics!
  const calls = authors.flatMap(({ userId, postIds }) =>
    Array.from({ length: Math.ceil(postIds.length / metrics.perCall) }, (_, index) => ({
      userId,
      ids: postIds.slice(index * metrics.perCall, (index + 1) * metrics.perCall),
    })),
  )
  await closedLoop(calls.length, collection.callsInFlight, async (index) => {
    const { userId, ids } = calls[index]!
    const options = { signal: AbortSignal.timeout(LONGEST_CALL_MS) }
    const account = (await credentials.get(userId, platform, options))!
    const { size } = await metrics.read(ids, account, options)
    if (size !== ids.length) throw new Error(`${size} of ${ids.length} posts were told of`)
  })
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const startedAt = performance.now()
  const result = await work()
  return { ms: performance.now() - startedAt, result }
}

function watchMemory(pid: number) {
  const samples: number[] = []
  const timer = setInterval(() => samples.push((residentBytes(pid) ?? 0) / MIB), SAMPLE_MS)
  return {
    stop(): number[] {
      clearInterval(timer)
      return samples
    },
  }
}

/** Nothing where the system does not tell. */
function memoryFigure(posts: number, samples: number[]): Figure[] {
  const tenth = Math.ceil(samples.length / 10)
  const [first, last] = [samples.slice(0, tenth), samples.slice(-tenth)].map(median)
  if (!first || !last) return []
  return [
    figure({
      group: 'collection',
      name: `memory of the worker over ${posts} due posts, last tenth of the time against the first`,
      unit: 'MiB',
      ours: last,
      baseline: first,
      aim: { text: 'at most 1.25', met: ({ ratio }) => ratio <= 1.25 },
      details: { 'most, MiB': rounded(Math.max(...samples)) },
    }),
  ]
}
