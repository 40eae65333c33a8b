import { SECOND } from '../../src/domain/shared/times.ts'
import { openCollection } from '../collecting.ts'
import { figureOfRounds, type Figure } from '../figure.ts'
import { inTurns } from '../loops.ts'
import type { World } from '../world.ts'
import { collectAll } from './collection.ts'

export interface WorkersSize {
  /** Number of users with posts. */
  users: number
  /** Posts per user. */
  posts: number
  rounds: number
}

const LATENCY_MS = 100
/** Few enough that waiting for the platform limits the rate of two workers, and not the processor. */
const CALLS_IN_FLIGHT = 4

/** Measures how much faster two workers collect than one, when the limit is the number of calls in flight per worker. */
export async function measureWorkers(world: World, { users, posts, rounds }: WorkersSize): Promise<Figure[]> {
  const collection = await openCollection(world, { ANALYTICS_CALLS_IN_FLIGHT: String(CALLS_IN_FLIGHT) })
  const rates: Record<'one' | 'two', number[]> = { one: [], two: [] }
  const due = users * posts
  try {
    const authors = await collection.makeAuthors('threads', users, posts)
    await collection.delayThreads(LATENCY_MS)
    await inTurns(['one', 'two'] as const, rounds, async (side) => {
      await collection.makeDue('threads', authors)
      const second = side === 'two' ? await collection.startWorker() : null
      const startedAt = performance.now()
      const collecting = collectAll(collection, due)
      const saved = await (second ? Promise.race([collecting, second.failed]) : collecting)
      rates[side].push((saved * SECOND) / (performance.now() - startedAt))
      await second?.stop()
    })
  } finally {
    await collection.stop()
  }
  return [
    figureOfRounds({
      group: 'workers',
      name: `metrics of ${due} posts, platform latency ${LATENCY_MS} ms, two workers against one`,
      unit: 'posts/s',
      ours: rates.two,
      baseline: rates.one,
      aim: { text: 'at least 1.8', met: ({ ratio }) => ratio >= 1.8 },
      details: { users, 'calls at a time, per worker': CALLS_IN_FLIGHT },
    }),
  ]
}
