import { LANES, measureRow, type Burst } from '../bursts.ts'
import type { Chart } from '../chart.ts'
import { describeCommands, describeCpu, measureCosts, type Costs } from '../costs.ts'
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
const LONE: Aim = { text: 'at most 50 ms', met: ({ ours }) => ours <= 50 }
const AIMS = new Map([
  [300, THIRD],
  [1_000, THIRD],
])

export interface LatenessSize {
  lone: number
  /** Bursts of posts with the same due time. The bursts of a row are scheduled together. */
  rows: Burst[][]
}

interface CompareOptions {
  aim?: Aim | undefined
  costs?: Costs | undefined
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
  const costs = new Map<number, Costs>()
  try {
    for (const side of Object.values(sides)) await publishAll(side, WARM_UP_POSTS, LANES)
    await inTurns<keyof Sides>(['bare', 'ours'], size.rows.length, async (name, round) => {
      const row = size.rows[round]!
      const measured = {
        worker: sides[name].worker,
        context: ours.context,
        posts: sum(row.map((b) => b.size * b.times)),
      }
      const rowCosts = await measureCosts(world, measured, async () => {
        for (const { burst, punctuality } of await measureRow(sides[name], receiver, row)) {
          const known = found.get(burst) ?? { ours: [], bare: [] }
          known[name].push(punctuality)
          found.set(burst, known)
        }
      })
      if (name === 'ours' && row.length === 1) costs.set(row[0]!.size, rowCosts)
    })
    await ours.verify()
    if (ours.warnings() > 0) console.log(`Lateness was measured with ${ours.warnings()} warnings`)
    const lone = await publishLonePosts(world, ours.context, size.lone)
    const bursts = [...found]
      .toSorted(([a], [b]) => a - b)
      .map(([burst, both]) => ({ burst, ours: combine(both.ours), bare: combine(both.bare) }))
    return {
      figures: [
        compare(`${size.lone} lone posts to Bluesky, p95`, { ours: lone, bare: bursts[0]!.bare }, { aim: LONE }),
        ...bursts
          .filter(({ burst }) => burst >= SMALLEST_BURST)
          .map(({ burst, ...both }) =>
            compare(`${burst} posts at one instant, p95`, both, { aim: AIMS.get(burst), costs: costs.get(burst) }),
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

function compare(name: string, { ours, bare }: Record<keyof Sides, Punctuality>, options: CompareOptions = {}): Figure {
  const { aim, costs } = options
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
      ...(costs && { ...describeCpu('ours', [costs]), ...describeCommands([costs]) }),
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

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0)

function combine(all: Punctuality[]): Punctuality {
  const count = (problem: 'early' | 'twice' | 'lost') => sum(all.map((one) => one[problem]))
  return { late: all.flatMap(({ late }) => late), early: count('early'), twice: count('twice'), lost: count('lost') }
}
