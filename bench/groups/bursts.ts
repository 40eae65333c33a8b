import { cpuFigures, measureCosts } from '../costs.ts'
import { compare, measureRounds, type Bound, type Figure, type Sample, type Scale } from '../figure.ts'
import { LANES, measureLateness, planBurst, startReceiver, type PlannedPost, type Receiver } from '../lateness.ts'
import { openBare, openOurs, publishAll, type Side } from '../sides.ts'
import { percentile } from '../stats.ts'
import type { World } from '../world.ts'

const WARM_UP_POSTS = 60
const SPACING_MS = 500
/** Single posts of other users, in the middle of a burst. */
const SINGLE_POSTS = 5
const LATE = { unit: 'ms', value: 'late' }
const SINGLE = { unit: 'ms', value: 'single', bound: { of: 'difference', atMost: 100 } as const }
const ONE_BY_ONE = {
  ...LATE,
  name: 'lateness of posts due one by one, p95; workflow timers',
  bound: { of: 'ours', atMost: 50 } as const,
}

interface Size {
  /** Posts that are due one by one. */
  oneByOne: number
  bursts: { posts: number; bound?: Bound }[]
}

const SIZES: Record<Scale, Size> = {
  full: {
    oneByOne: 25,
    bursts: [
      { posts: 1_000, bound: { of: 'ratio', atMost: 0.15 } },
      { posts: 2_000, bound: { of: 'ratio', atMost: 0.33 } },
    ],
  },
  quick: { oneByOne: 3, bursts: [{ posts: 50 }] },
}

/** Measures the time from the due time of posts to the arrival of their visible calls, compared with workflow timers. */
export async function measureBursts(world: World, scale: Scale): Promise<Figure[]> {
  const { oneByOne, bursts } = SIZES[scale]
  const receiver = await startReceiver()
  const ours = await openOurs(world, { users: LANES + SINGLE_POSTS, receiver: receiver.url })
  const bare = await openBare(world, { receiver: receiver.url })
  try {
    for (const side of [ours, bare]) await publishAll(side, WARM_UP_POSTS, LANES)
    const alone = (side: Side) => () => measureOneByOne(side, receiver, oneByOne)
    const figures = await measureRounds({ bare: alone(bare), ours: alone(ours) }, scale, (samples) => [
      compare(ONE_BY_ONE, samples.ours, samples.bare),
    ])
    for (const { posts, bound } of bursts) {
      const burst = (side: Side) => () => measureBurst(world, side, receiver, posts)
      const sides = { alone: alone(ours), bare: burst(bare), ours: burst(ours) }
      const what = `${posts} posts at one instant`
      const single = `lateness of single posts of others among ${what}`
      const found = await measureRounds(sides, scale, (samples) => [
        compare({ name: `lateness of ${what}, p95; workflow timers`, ...LATE, bound }, samples.ours, samples.bare),
        compare({ name: `${single}, p95; without them`, ...SINGLE }, samples.ours, samples.alone),
        ...cpuFigures(`${what}; workflow timers`, samples.ours, samples.bare),
      ])
      figures.push(...found)
    }
    await ours.verify()
    return figures
  } finally {
    await bare.stop()
    await ours.stop()
    await receiver.stop()
  }
}

async function measureOneByOne(side: Side, receiver: Receiver, count: number): Promise<Sample> {
  const posts = Array.from({ length: count }, (_, index) => ({ user: index % LANES, afterMs: index * SPACING_MS }))
  const late = percentile(await measureLateness(side, receiver, posts), 0.95)
  return { late, single: late }
}

async function measureBurst(world: World, side: Side, receiver: Receiver, count: number): Promise<Sample> {
  const single = Array.from({ length: SINGLE_POSTS }, (_, index): PlannedPost => ({ user: LANES + index, afterMs: 0 }))
  const middle = Math.floor(count / 2)
  const posts = planBurst(count).toSpliced(middle, 0, ...single)
  let late: number[] = []
  const costs = await measureCosts(world, side, posts.length, async () => {
    late = await measureLateness(side, receiver, posts)
  })
  const singles = late.splice(middle, SINGLE_POSTS)
  return { ...costs, late: percentile(late, 0.95), single: percentile(singles, 0.95) }
}
