import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../src/context.ts'
import { describeCommands, describeCpu, measureCosts, type Costs } from '../costs.ts'
import { figureOfRounds, type Aim, type Figure } from '../figure.ts'
import { inTurns } from '../loops.ts'
import { openBare, openOurs, publishAll, type Side } from '../sides.ts'
import type { World } from '../world.ts'

/** Pause between rounds for work that continues after the last response; it counts for neither side. */
const SETTLE_MS = 500

export interface ThroughputSize {
  posts: number
  warmUp: number
  inFlight: number
  rounds: number
}

interface Round {
  perSecond: number
  costs: Costs
}

/**
 * Measures immediate posts from the create command to the closed workflow, compared with workflows of three empty activities, remote and
 * local ones.
 */
export async function measureThroughput(world: World, size: ThroughputSize): Promise<Figure[]> {
  const options = { lanes: size.inFlight }
  const ours = await openOurs(world, options)
  const sides = {
    ours,
    remote: await openBare(world, options),
    local: await openBare(world, { ...options, immediate: 'threeLocalActivities' }),
  }
  let warnings = 0
  const measured: Record<keyof typeof sides, Round[]> = { ours: [], remote: [], local: [] }
  try {
    for (const side of Object.values(sides)) await publishAll(side, size.warmUp, size.inFlight)
    await inTurns(['remote', 'ours', 'local'], size.rounds, async (name) => {
      await delay(SETTLE_MS)
      measured[name].push(await measureRound(world, sides[name], ours.context, size))
    })
    await ours.verify()
    warnings = ours.warnings()
  } finally {
    for (const side of Object.values(sides)) await side.stop()
  }
  const rates = (side: keyof typeof sides) => measured[side].map(({ perSecond }) => perSecond)
  const costs = (side: keyof typeof sides) => measured[side].map((round) => round.costs)
  const compare = (baseline: 'remote' | 'local', aim?: Aim) =>
    figureOfRounds({
      group: 'throughput',
      name: `immediate posts, three instant platforms, against ${baseline} activities`,
      unit: 'posts/s',
      ours: rates('ours'),
      baseline: rates(baseline),
      ...(aim && { aim }),
      details: {
        'in flight': size.inFlight,
        'posts a round': size.posts,
        'warnings of ours': warnings,
        ...describeCpu('ours', costs('ours')),
        ...describeCpu(baseline, costs(baseline)),
        ...describeCommands(costs('ours')),
      },
    })
  return [
    compare('remote', { text: 'at least 1.0 of bare workflows', met: ({ ratio }) => ratio >= 1 }),
    compare('local'),
  ]
}

async function measureRound(
  world: World,
  side: Side,
  context: Context,
  { posts, inFlight }: ThroughputSize,
): Promise<Round> {
  let perSecond = 0
  const costs = await measureCosts(world, { worker: side.worker, context, posts }, async () => {
    const work = () => publishAll(side, posts, inFlight)
    const startedAt = performance.now()
    await (world.profiling?.measure(`throughput, worker, ${side.name}`, side.worker, () => posts, work) ?? work())
    perSecond = (posts * 1_000) / (performance.now() - startedAt)
  })
  return { perSecond, costs }
}
