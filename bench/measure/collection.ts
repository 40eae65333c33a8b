import { splitIntoChunks } from '../../src/domain/shared/lists.ts'
import { platformLabel } from '../../src/domain/shared/platforms.ts'
import { SECOND } from '../../src/domain/shared/times.ts'
import { openCollection, type Author, type Collection, type CountedPlatform } from '../collecting.ts'
import { figure, figureOfRounds, type Aim, type Figure } from '../figure.ts'
import { closedLoop, inTurns } from '../loops.ts'
import { residentBytes } from '../processes.ts'
import { median } from '../stats.ts'
import type { World } from '../world.ts'

export interface CollectionSize {
  /** The users with posts on each platform, and the posts of each user. */
  authors: Record<CountedPlatform, { users: number; posts: number }>
  /** Rounds per platform. The worker's memory grows to its working size in the first rounds and is sampled in the last. */
  rounds: number
}

/** The platform with the longest run is last: it shows whether memory stays constant. */
const ORDER: CountedPlatform[] = ['bluesky', 'threads', 'mastodon']
const MIB = 2 ** 20
const SAMPLE_MS = 200
const LONGEST_CALL_MS = 30 * SECOND

/** Measures how fast a worker collects due metrics and whether its memory grows. */
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

/** Runs a collection and returns the number of saved posts. */
export async function collectAll({ collect, worker }: Collection, due: number): Promise<number> {
  const result = await Promise.race([collect(), worker.failed])
  // Young posts are due again when their interval ends during the run, so `saved` may exceed `due`.
  if (result.saved < due || result.skipped + result.failed > 0) {
    throw new Error(`This run is void: ${JSON.stringify(result)} of ${due} posts`)
  }
  return result.saved
}

async function measurePlatform(
  world: World,
  collection: Collection,
  platform: CountedPlatform,
  { authors: sizes, rounds }: CollectionSize,
): Promise<Figure[]> {
  const { context, worker } = collection
  const { users, posts } = sizes[platform]
  const authors = await collection.makeAuthors(platform, users, posts)
  const due = users * posts
  const collect = () => collectAll(collection, due)
  const rates: Record<'ours' | 'bare', number[]> = { ours: [], bare: [] }
  let samples: number[] = []
  const heaps: number[] = []
  await inTurns(['bare', 'ours'] as const, rounds, async (side) => {
    if (side === 'ours') await collection.makeDue(platform, authors)
    const memory = watchMemory(worker.pid)
    const startedAt = performance.now()
    let done = due
    if (side === 'bare') await readBarely(collection, platform, authors)
    else {
      const label = `collection, worker, ${platform}`
      done = await (world.profiling?.measure(label, worker, () => due, collect) ?? collect())
      samples = memory.samples
    }
    rates[side].push((done * SECOND) / (performance.now() - startedAt))
    memory.stop()
    if (side === 'ours') heaps.push((await worker.liveHeap()) / MIB)
  })
  const { perCall } = context.platforms.find(platform)!.metrics!
  const speed = figureOfRounds({
    group: 'collection',
    name: `metrics of ${due} posts on ${platformLabel(platform)}, ${perCall} a call, against bare calls`,
    unit: 'posts/s',
    ours: rates.ours,
    baseline: rates.bare,
    details: { users: authors.length, 'calls at a time': context.collection.callsInFlight },
  })
  if (platform !== ORDER.at(-1)) return [speed]
  return [speed, ...heapFigure(due, heaps), ...residentFigure(due, samples)]
}

/** The lower bound of each call: the same adapter calls with the same concurrency, without reading or storing anything. */
async function readBarely(
  { context: { collection, credentials, platforms } }: Collection,
  platform: CountedPlatform,
  authors: Author[],
): Promise<void> {
  const metrics = platforms.find(platform)!.metrics!
  const calls = authors.flatMap(({ userId, postIds }) =>
    splitIntoChunks(postIds, metrics.perCall).map((ids) => ({ userId, ids })),
  )
  await closedLoop(calls.length, collection.callsInFlight, async (index) => {
    const { userId, ids } = calls[index]!
    const options = { signal: AbortSignal.timeout(LONGEST_CALL_MS) }
    const account = (await credentials.get(userId, platform, options))!
    const { size } = await metrics.read(ids, account, options)
    if (size !== ids.length) throw new Error(`${size} of ${ids.length} posts were reported`)
  })
}

function watchMemory(pid: number) {
  const samples: number[] = []
  const timer = setInterval(() => samples.push((residentBytes(pid) ?? 0) / MIB), SAMPLE_MS)
  return { samples, stop: () => clearInterval(timer) }
}

const MEMORY = { group: 'collection', unit: 'MiB' }
const isFlat: Aim = { text: 'at most 1.15', met: ({ ratio }) => ratio <= 1.15 }

/** Compares the heap after the first and the last round; both include code and caches. Returns no figure after a single round. */
function heapFigure(posts: number, heaps: number[]): Figure[] {
  const [first, last] = [heaps[0]!, heaps.at(-1)!]
  if (heaps.length === 1) return []
  const name = `what the worker's main thread keeps of ${posts * heaps.length} due posts against ${posts}`
  return [figure({ ...MEMORY, name, ours: last, baseline: first, aim: isFlat })]
}

/** Compares the worker's resident memory at the start and the end of a run. Returns no figure where the system does not report it. */
function residentFigure(posts: number, samples: number[]): Figure[] {
  const size = Math.ceil(samples.length / 10)
  const tenths = Array.from({ length: 10 }, (_, index) => samples.slice(index * size, (index + 1) * size))
    .filter((some) => some.length > 0)
    .map(median)
  const [first, last] = [tenths[0], tenths.at(-1)]
  if (!first || !last) return []
  return [
    figure({
      ...MEMORY,
      name: `memory of the worker over ${posts} due posts, last tenth of the time against the first`,
      ours: last,
      baseline: first,
      aim: isFlat,
      details: { 'by tenths, MiB': tenths.map(Math.round).join(' '), 'most, MiB': Math.round(Math.max(...samples)) },
    }),
  ]
}
