import { setTimeout as delay } from 'node:timers/promises'
import { DAY } from '../../src/domain/shared/times.ts'
import type { Chart } from '../chart.ts'
import { figureOfRounds, type Figure } from '../figure.ts'
import { closedLoop, inTurns } from '../loops.ts'
import { openBare, openOurs, publishAll, type Side } from '../sides.ts'
import { median } from '../stats.ts'
import type { World } from '../world.ts'

const LANES = 50
const WARM_UP_POSTS = 100
const SETTLE_MS = 1_000

export interface BacklogSize {
  /** Increasing numbers of waiting scheduled posts. */
  waiting: number[]
  posts: number
  rounds: number
}

type Name = 'ours' | 'bare'

/** Measures immediate posts per second while scheduled posts wait; in the baseline, workflow timers wait. */
export async function measureBacklog(world: World, size: BacklogSize): Promise<{ figures: Figure[]; charts: Chart[] }> {
  const sides: Record<Name, Side> = {
    ours: await openOurs(world, { lanes: LANES }),
    bare: await openBare(world, { lanes: LANES }),
  }
  const rates: { waiting: number; ours: number[]; bare: number[] }[] = []
  try {
    for (const side of Object.values(sides)) await publishAll(side, WARM_UP_POSTS, LANES)
    let before = 0
    for (const waiting of size.waiting) {
      const measured: Record<Name, number[]> = { ours: [], bare: [] }
      for (const side of Object.values(sides)) await addWaiting(side, waiting - before)
      before = waiting
      // Task queues are ordered: when these posts are published, all waiting workflows have run their first task.
      for (const side of Object.values(sides)) await publishAll(side, LANES, LANES)
      await inTurns<Name>(['bare', 'ours'], size.rounds, async (name) => {
        await delay(SETTLE_MS)
        const startedAt = performance.now()
        await publishAll(sides[name], size.posts, LANES)
        measured[name].push((size.posts * 1_000) / (performance.now() - startedAt))
      })
      rates.push({ waiting, ...measured })
    }
    await sides.ours.verify()
  } finally {
    await sides.bare.stop()
    await sides.ours.stop()
  }
  const line = (name: Name) => rates.map((rate): [number, number] => [rate.waiting, median(rate[name])])
  const [most] = rates.slice(-1)
  return {
    figures: [
      figureOfRounds({
        group: 'backlog',
        name: `immediate posts while ${most!.waiting} scheduled ones wait`,
        unit: 'posts/s',
        ours: most!.ours,
        baseline: most!.bare,
        details: { 'posts a round': size.posts, 'in flight': LANES },
      }),
    ],
    charts: [
      {
        id: 'backlog',
        title: 'Posts per second while others wait',
        x: { label: 'scheduled posts that wait', log: true },
        y: { label: 'immediate posts to three platforms, per second', log: false },
        lines: [
          { name: 'postonce', points: line('ours') },
          { name: 'bare workflows', points: line('bare') },
        ],
      },
    ],
  }
}

async function addWaiting(side: Side, count: number): Promise<void> {
  const dueAt = Date.now() + 30 * DAY
  await closedLoop(count, LANES, async (_index, lane) => {
    await side.schedule(lane, dueAt)
  })
}
