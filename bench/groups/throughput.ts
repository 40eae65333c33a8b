import { setTimeout as delay } from 'node:timers/promises'
import { commandFigures, cpuFigures, measureCosts } from '../costs.ts'
import { compare, measureRounds, type Bound, type Figure, type Sample, type Scale } from '../figure.ts'
import { openBare, openOurs, publishAll, type Side } from '../sides.ts'
import type { World } from '../world.ts'

/** Pause between rounds for work that continues after the last response; it counts for neither side. */
const SETTLE_MS = 500
const RATE = { unit: 'posts/s', value: 'rate' }

interface Load {
  inFlight: number
  posts: number
  rate?: Bound
  /** Commands of the deliveries of a post. */
  commands?: Bound
}

const SIZES: Record<Scale, { warmUp: number; loads: Load[] }> = {
  full: {
    warmUp: 200,
    loads: [
      { inFlight: 1, posts: 100, commands: { of: 'ours', atMost: 9 } },
      {
        inFlight: 50,
        posts: 300,
        rate: { of: 'ratio', atLeast: 0.9 },
        commands: { of: 'ours', atMost: 6 },
      },
    ],
  },
  quick: {
    warmUp: 20,
    loads: [
      { inFlight: 1, posts: 10 },
      { inFlight: 50, posts: 100 },
    ],
  },
}

const MOST_CPU: Bound = { of: 'ratio', atMost: 1.35 }

/**
 * Measures immediate posts from the create command to the closed workflow, compared with workflows of three empty activities, remote and
 * local ones.
 */
export async function measureThroughput(world: World, scale: Scale): Promise<Figure[]> {
  const { warmUp, loads } = SIZES[scale]
  const mostInFlight = Math.max(...loads.map(({ inFlight }) => inFlight))
  const ours = await openOurs(world, { users: mostInFlight })
  const remote = await openBare(world)
  const local = await openBare(world, { immediate: 'threeLocalActivities' })
  try {
    for (const side of [ours, remote, local]) await publishAll(side, warmUp, mostInFlight)
    const figures: Figure[] = []
    for (const load of loads) {
      const measure = (side: Side) => () => measureLoad(world, side, load)
      const sides = { remote: measure(remote), ours: measure(ours), local: measure(local) }
      figures.push(...(await measureRounds(sides, scale, (samples) => toFigures(load, samples))))
    }
    await ours.verify()
    return figures
  } finally {
    for (const side of [local, remote, ours]) await side.stop()
  }
}

async function measureLoad(world: World, side: Side, { posts, inFlight }: Load): Promise<Sample> {
  await delay(SETTLE_MS)
  let seconds = 0
  const costs = await measureCosts(world, side, posts, async () => {
    const startedAt = performance.now()
    await publishAll(side, posts, inFlight)
    seconds = (performance.now() - startedAt) / 1_000
  })
  return { ...costs, rate: posts / seconds }
}

function toFigures(
  { inFlight, rate, commands }: Load,
  { ours, remote, local }: Record<'ours' | 'remote' | 'local', Sample[]>,
) {
  const what = `immediate posts to three platforms, ${inFlight} in flight`
  return [
    compare({ ...RATE, name: `${what}; remote activities`, bound: rate }, ours, remote),
    compare({ ...RATE, name: `${what}; local activities` }, ours, local),
    ...cpuFigures(`${inFlight} in flight; remote activities`, ours, remote, { worker: MOST_CPU }),
    ...commandFigures(`${inFlight} in flight`, ours, commands),
  ]
}
