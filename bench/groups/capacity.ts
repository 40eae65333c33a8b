import { longestArmLeadMs } from '../../src/domain/posts/publish-plan.ts'
import { compare, measureRounds, type Bound, type Figure, type Sample, type Scale } from '../figure.ts'
import { openOurs, type Ours } from '../sides.ts'
import { median } from '../stats.ts'
import type { World } from '../world.ts'

const POSTS: Record<Scale, number> = { full: 30, quick: 5 }
/** Time between two scheduled posts. */
const SPACING_MS = 500
/** The bounds are those of an immediate post. */
const QUANTITIES: Record<string, { unit: string; bound?: Bound }> = {
  'history events': { unit: '', bound: { of: 'ours', atMost: 21 } },
  'state transitions': { unit: '' },
  'bytes in Temporal': { unit: 'bytes' },
  'bytes in MongoDB, without indexes': { unit: 'bytes' },
}

/** Measures what Temporal and MongoDB store of a post to three platforms. The other costs of a post are those of a load. */
export async function measureCapacity(world: World, scale: Scale): Promise<Figure[]> {
  const count = POSTS[scale]
  const ours = await openOurs(world, { users: 1 })
  try {
    const measure = (dueAt: (index: number) => number | undefined) => () => measurePosts(ours, count, dueAt)
    const sides = {
      immediate: measure(() => undefined),
      scheduled: measure((index) => Date.now() + longestArmLeadMs(0) + index * SPACING_MS),
    }
    return await measureRounds(sides, scale, (samples) =>
      (['immediate', 'scheduled'] as const).flatMap((kind) =>
        Object.entries(QUANTITIES).map(([name, { unit, bound }]) =>
          compare(
            {
              name: `${name}, ${kind} post to three platforms`,
              unit,
              value: name,
              bound: kind === 'immediate' ? bound : undefined,
            },
            samples[kind],
          ),
        ),
      ),
    )
  } finally {
    await ours.stop()
  }
}

async function measurePosts(ours: Ours, count: number, dueAt: (index: number) => number | undefined): Promise<Sample> {
  const storedBefore = await countStoredBytes(ours)
  const all = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const handle = await ours.publishAndDescribe(0, dueAt(index))
      const { historyLength, raw } = await handle.describe()
      const { stateTransitionCount, historySizeBytes } = raw.workflowExecutionInfo ?? {}
      return [historyLength, Number(stateTransitionCount), Number(historySizeBytes)]
    }),
  )
  const medians = [0, 1, 2].map((part) => median(all.map((one) => one[part]!)))
  const values = [...medians, ((await countStoredBytes(ours)) - storedBefore) / count]
  return Object.fromEntries(Object.keys(QUANTITIES).map((name, index) => [name, values[index]!]))
}

/** Returns the size of all records, before compression and without indexes. */
async function countStoredBytes({ context: { database } }: Ours): Promise<number> {
  return Number((await database.connection.db!.stats()).dataSize)
}
