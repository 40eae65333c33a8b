import { SECOND } from '../../src/domain/shared/times.ts'
import { openCollection } from '../collecting.ts'
import { compare, measureRounds, type Bound, type Figure, type Sample, type Scale } from '../figure.ts'
import { residentMib } from '../processes.ts'
import type { World } from '../world.ts'

interface Size {
  users: number
  /** Posts per user. */
  posts: number
}

// Not more than 300 users of one Mastodon server can connect within five minutes, because its calls are limited.
const SPEED: Record<Scale, Size> = { full: { users: 250, posts: 200 }, quick: { users: 10, posts: 50 } }
const GROWTH: Record<Scale, Size> = { full: { users: 400, posts: 10 }, quick: { users: 20, posts: 10 } }
const LATENCY_MS = 100
/** Few enough that waiting for the platform limits the rate of two workers, and not the processor. */
const CALLS_IN_FLIGHT = 4
const RATE = { unit: 'posts/s', value: 'rate' }
const IS_FLAT: Bound = { of: 'ratio', atMost: 1.15 }

/** Measures how fast workers collect due metrics and whether their memory grows. */
export async function measureCollection(world: World, scale: Scale): Promise<Figure[]> {
  return [...(await measureSpeed(world, scale)), ...(await measureGrowth(world, scale))]
}

/** Measures one worker, and compares its memory with that before each run. */
async function measureSpeed(world: World, scale: Scale): Promise<Figure[]> {
  const { users, posts } = SPEED[scale]
  const due = users * posts
  const collection = await openCollection(world)
  const { pid, ask } = collection.worker
  const readMemory = async () => ({ heap: await ask<number>('heap'), resident: residentMib(pid) })
  try {
    const authors = await collection.makeAuthors('mastodon', users, posts)
    const collect = async (): Promise<Sample> => {
      await collection.makeDue('mastodon', authors)
      const before = await readMemory()
      const rate = await measureRate(() => collection.collect(due))
      return { rate, ...(await readMemory()), 'heap before': before.heap, 'resident before': before.resident }
    }
    // The first run fills caches.
    await collect()
    return await measureRounds({ ours: collect }, scale, ({ ours }) => {
      const before = ours.map((round) => ({ heap: round['heap before']!, resident: round['resident before']! }))
      const memory = { unit: 'MiB', bound: IS_FLAT }
      const when = `after collecting ${due} posts; before`
      return [
        compare({ ...RATE, name: `metrics of ${due} posts on Mastodon` }, ours),
        compare({ ...memory, name: `heap of the worker's main thread ${when}`, value: 'heap' }, ours, before),
        compare({ ...memory, name: `memory of the worker ${when}`, value: 'resident' }, ours, before),
      ]
    })
  } finally {
    await collection.stop()
  }
}

/** Compares two workers with one, when the limit is the number of calls in flight per worker. */
async function measureGrowth(world: World, scale: Scale): Promise<Figure[]> {
  const { users, posts } = GROWTH[scale]
  const due = users * posts
  const collection = await openCollection(world, { ANALYTICS_CALLS_IN_FLIGHT: String(CALLS_IN_FLIGHT) })
  try {
    const name = `metrics of ${due} posts, platform latency ${LATENCY_MS} ms, two workers; one`
    const authors = await collection.makeAuthors('threads', users, posts)
    await collection.delayThreads(LATENCY_MS)
    const collectWith = (others: number) => async () => {
      await collection.makeDue('threads', authors)
      const more = await Promise.all(Array.from({ length: others }, collection.startWorker))
      const failed = more.map((worker) => worker.failed)
      const rate = await measureRate(() => Promise.race([collection.collect(due), ...failed]))
      for (const worker of more) await worker.stop()
      return { rate }
    }
    return await measureRounds({ one: collectWith(0), two: collectWith(1) }, scale, ({ one, two }) => [
      compare({ ...RATE, name, bound: { of: 'ratio', atLeast: 1.8 } }, two, one),
    ])
  } finally {
    await collection.stop()
  }
}

/** Returns how many posts per second this work has done. */
async function measureRate(work: () => Promise<number>): Promise<number> {
  const startedAt = performance.now()
  const done = await work()
  return (done * SECOND) / (performance.now() - startedAt)
}
