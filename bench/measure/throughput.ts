import { setTimeout as delay } from 'node:timers/promises'
import { figureOfRounds, type Figure } from '../figure.ts'
import { inTurns } from '../loops.ts'
import { cpuMs } from '../processes.ts'
import { openBare, openOurs, publishAll, type Side } from '../sides.ts'
import { median, rounded } from '../stats.ts'
import type { World } from '../world.ts'

/** Pause between rounds for work that continues after the last response; it counts for neither side. */
const SETTLE_MS = 500

export interface ThroughputSize {
  posts: number
  warmUp: number
  inFlight: number
  rounds: number
}

type Part = 'temporal' | 'worker' | 'mongod' | 'starter'

interface Round {
  perSecond: number
  cpu: Record<Part, number | null>
}

/** Measures immediate posts from the create command to the closed workflow, compared with workflows of three empty activities. */
export async function measureThroughput(world: World, size: ThroughputSize): Promise<Figure[]> {
  const options = { lanes: size.inFlight }
  const sides = { ours: await openOurs(world, options), bare: await openBare(world, options) }
  let warnings = 0
  const measured: Record<keyof typeof sides, Round[]> = { ours: [], bare: [] }
  try {
    for (const side of Object.values(sides)) await publishAll(side, size.warmUp, size.inFlight)
    await inTurns(['bare', 'ours'], size.rounds, async (name) => {
      await delay(SETTLE_MS)
      measured[name].push(await measureRound(world, sides[name], size))
    })
    await sides.ours.verify()
    warnings = sides.ours.warnings()
  } finally {
    await sides.bare.stop()
    await sides.ours.stop()
  }
  const rates = (side: keyof typeof sides) => measured[side].map(({ perSecond }) => perSecond)
  return [
    figureOfRounds({
      group: 'throughput',
      name: 'immediate posts, three instant platforms',
      unit: 'posts/s',
      ours: rates('ours'),
      baseline: rates('bare'),
      aim: { text: 'at least 0.85 of bare workflows', met: ({ ratio }) => ratio >= 0.85 },
      details: {
        'in flight': size.inFlight,
        'posts a round': size.posts,
        'warnings of ours': warnings,
        ...cpuOf('ours', measured.ours),
        ...cpuOf('bare', measured.bare),
      },
    }),
  ]
}

async function measureRound(world: World, side: Side, { posts, inFlight }: ThroughputSize): Promise<Round> {
  const work = () => publishAll(side, posts, inFlight)
  const before = cpuNow(world, side)
  const startedAt = performance.now()
  await (world.profiling?.measure(`throughput, worker, ${side.name}`, side.worker, () => posts, work) ?? work())
  const seconds = (performance.now() - startedAt) / 1_000
  const after = cpuNow(world, side)
  const perPost = (part: Part) => {
    const [then, now] = [before[part], after[part]]
    return then === null || now === null ? null : (now - then) / posts
  }
  return {
    perSecond: posts / seconds,
    cpu: {
      temporal: perPost('temporal'),
      worker: perPost('worker'),
      mongod: perPost('mongod'),
      starter: perPost('starter'),
    },
  }
}

function cpuNow({ pids }: World, { worker }: Side): Record<Part, number | null> {
  const { user, system } = process.cpuUsage()
  return {
    temporal: cpuMs(pids.temporal),
    worker: cpuMs(worker.pid),
    mongod: cpuMs(pids.mongod),
    // This process creates the posts, like an API process.
    starter: (user + system) / 1_000,
  }
}

function cpuOf(side: string, rounds: Round[]): Record<string, number | null> {
  const parts: Part[] = ['temporal', 'worker', 'mongod', 'starter']
  return Object.fromEntries(
    parts.map((part) => {
      const known = rounds.map(({ cpu }) => cpu[part]).filter((ms) => ms !== null)
      return [`${side} CPU ms a post, ${part}`, known.length === 0 ? null : rounded(median(known))]
    }),
  )
}
