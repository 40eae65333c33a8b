import { LANES, measureRow, type Burst } from '../bursts.ts'
import type { Chart } from '../chart.ts'
import { figure, type Aim, type Figure } from '../figure.ts'
import { publishLonePosts } from '../lone-posts.ts'
import { inTurns } from '../loops.ts'
import type { Punctuality } from '../punctuality.ts'
import { startReceiver } from '../receiver.ts'
import { openBare, openOurs, publishAll, type Side } from '../sides.ts'
import { describeLateness, percentile } from '../stats.ts'
import type { World } from '../world.ts'

const WARM_UP_POSTS = 60

/** Smaller bursts are only points of the chart, not figures. */
const SMALLEST_BURST = 100
const THIRD: Aim = { text: 'at most a third of bare timers', met: ({ ratio }) => ratio <= 1 / 3 }
const AIMS = new Map([
  [300, THIRD],
  [1_000, THIRD],
])

export interface LatenessSize {
  lone: number
  /** Bursts of posts with the same due time. The bursts of a row are scheduled together. */
  rows: Burst[][]
}

type Sides = Record<'ours' | 'bare', Side>

/** Measures the time from the due time of a post to the arrival of its visible call, compared with workflow timers. */
export async function measureLateness(
  world: World,
  size: LatenessSize,
): Promise<{ figures: Figure[]; charts: Chart[] }> {
  const receiver = await startReceiver()
  const options = { lanes: LANES, receiver: receiver.url }
  const ours = await openOurs(world, options)
  const sides: Sides = { ours, bare: await openBare(world, options) }
  const found = new Map<number, Record<keyof Sides, Punctuality[]>>()
  try {
    for (const side of Object.values(sides)) await publishAll(side, WARM_UP_POSTS, LANES)
    await inTurns<keyof Sides>(['bare', 'ours'], size.rows.length, async (name, round) => {
      for (const { burst, punctuality } of await measureRow(sides[name], receiver, size.rows[round]!)) {
        const known = found.get(burst) ?? { ours: [], bare: [] }
        known[name].push(punctuality)
        found.set(burst, known)
      }
    })
    await ours.verify()
    if (ours.warnings() > 0) console.log(`Lateness was measured with ${ours.warnings()} warnings`)
    const lone = await publishLonePosts(world, ours.context, size.lone)
    const bursts = [...found]
      .toSorted(([a], [b]) => a - b)
      .map(([burst, both]) => ({ burst, ours: combine(both.ours), bare: combine(both.bare) }))
    return {
      figures: [
        compare(`${size.lone} lone posts to Bluesky, p95`, lone, bursts[0]!.bare, {
          text: 'at most 50 ms',
          met: ({ ours: late }) => late <= 50,
        }),
        ...bursts
          .filter(({ burst }) => burst >= SMALLEST_BURST)
          .map(({ burst, ...both }) =>
            compare(`${burst} posts at one instant, p95`, both.ours, both.bare, AIMS.get(burst)),
          ),
      ],
      charts: [chartOf(bursts)],
    }
  } finally {
    await sides.bare.stop()
    await ours.stop()
    await receiver.stop()
  }
}

function compare(name: string, ours: Punctuality, bare: Punctuality, aim?: Aim): Figure {
  return figure({
    group: 'lateness',
    name,
    unit: 'ms late',
    ours: percentile(ours.late, 0.95),
    baseline: percentile(bare.late, 0.95),
    ...(aim ? { aim } : {}),
    details: {
      early: ours.early,
      twice: ours.twice,
      lost: ours.lost,
      ...describeLateness('ours', ours.late),
      ...describeLateness('bare', bare.late),
    },
  })
}

function chartOf(bursts: { burst: number; ours: Punctuality; bare: Punctuality }[]): Chart {
  const line = (side: 'ours' | 'bare') =>
    bursts.map(({ burst, ...both }): [number, number] => [burst, Math.max(1, percentile(both[side].late, 0.95))])
  return {
    id: 'lateness',
    title: 'Lateness of posts that are due at the same instant',
    x: { label: 'posts due at the same instant', log: true },
    y: { label: 'p95 of the visible call’s arrival after the instant, ms', log: true },
    lines: [
      { name: 'postonce', points: line('ours') },
      { name: 'bare timers', points: line('bare') },
    ],
  }
}

function combine(all: Punctuality[]): Punctuality {
  const sum = (problem: 'early' | 'twice' | 'lost') => all.reduce((total, one) => total + one[problem], 0)
  return { late: all.flatMap(({ late }) => late), early: sum('early'), twice: sum('twice'), lost: sum('lost') }
}
