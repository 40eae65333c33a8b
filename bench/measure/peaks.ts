import { LANES, measureRow, type Burst, type MeasuredBurst } from '../bursts.ts'
import { describeCommands, describeCpu, measureCosts } from '../costs.ts'
import type { Chart } from '../chart.ts'
import { figure, type Aim, type Figure } from '../figure.ts'
import { startReceiver } from '../receiver.ts'
import { openBare, openOurs, publishAll, type Side } from '../sides.ts'
import { describeLateness, percentile } from '../stats.ts'
import type { World } from '../world.ts'

const WARM_UP_POSTS = 60
/** A few other users have a single post each at the instant of a burst. */
const LONE_POSTS = [0, 0, 0, 0, 0]
/** How much later a lone post may arrive within a burst than on its own. */
const LONE_LATER_MS = 100

export type PeaksSize = Peak[]

interface Peak {
  /** How long the platform takes to respond to each visible call. */
  latencyMs: number
  bursts: Pick<Burst, 'size' | 'owners'>[]
  /** Worker processes of each side, 1 by default. */
  workers?: number
}

/**
 * Measures bursts of posts with the same due time on platforms with different latencies, compared with workflow timers. A few other users
 * have a single post each in the middle of every burst.
 */
export async function measurePeaks(world: World, peaks: PeaksSize): Promise<{ figures: Figure[]; charts: Chart[] }> {
  const measured: MeasuredPeak[] = []
  for (const peak of peaks) measured.push(...(await measurePeak(world, peak)))
  return {
    figures: measured.flatMap(({ burst, lone }) => [burst, lone]),
    charts: drawn(measured.filter(({ isPlain }) => isPlain)),
  }
}

interface MeasuredPeak {
  size: number
  /** True for posts of many users on an instant platform with one worker. */
  isPlain: boolean
  burst: Figure
  lone: Figure
}

async function measurePeak(world: World, { latencyMs, bursts, workers = 1 }: Peak): Promise<MeasuredPeak[]> {
  const receiver = await startReceiver({ latencyMs })
  const options = { lanes: LANES + LONE_POSTS.length, receiver: receiver.url, workers }
  const ours = await openOurs(world, options)
  const bare = await openBare(world, options)
  const where = `platform latency ${latencyMs} ms${workers === 1 ? '' : `, ${workers} workers`}`
  const measure = async (side: Side, burst: Pick<Burst, 'size' | 'owners'>) => {
    let measured: MeasuredBurst | undefined
    const posts = burst.size + LONE_POSTS.length
    const costs = await measureCosts(world, { worker: side.worker, context: ours.context, posts }, async () => {
      measured = (await measureRow(side, receiver, [{ ...burst, times: 1, lonePosts: LONE_POSTS }]))[0]
    })
    return { ...measured!, costs }
  }
  try {
    for (const side of [ours, bare]) await publishAll(side, WARM_UP_POSTS, LANES)
    const alone = percentile((await measure(ours, { size: 0 })).lone.late, 0.95)
    const peaks: MeasuredPeak[] = []
    for (const burst of bursts) {
      const baseline = await measure(bare, burst)
      const measured = await measure(ours, burst)
      const name = `${burst.size} posts of ${burst.owners === 'one' ? 'one user' : `${LANES} users`} at one instant, ${where}`
      const aim = aimFor(burst.size)
      peaks.push({
        size: burst.size,
        isPlain: latencyMs === 0 && workers === 1 && burst.owners !== 'one',
        burst: figure({
          group: 'peaks',
          name: `${name}, p95`,
          unit: 'ms late',
          ours: percentile(measured.punctuality.late, 0.95),
          baseline: percentile(baseline.punctuality.late, 0.95),
          ...(aim && { aim }),
          details: {
            ...describeLateness('ours', measured.punctuality.late),
            ...describeLateness('bare', baseline.punctuality.late),
            // Of the first worker process.
            ...describeCpu('ours', [measured.costs]),
            ...describeCpu('bare', [baseline.costs]),
            ...describeCommands([measured.costs]),
          },
        }),
        lone: figure({
          group: 'peaks',
          name: `lone posts among ${name}, p95 (baseline: without the others)`,
          unit: 'ms late',
          ours: percentile(measured.lone.late, 0.95),
          baseline: alone,
          aim: {
            text: `at most ${LONE_LATER_MS} ms later`,
            met: ({ ours: late }) => late <= alone + LONE_LATER_MS,
          },
        }),
      })
    }
    await ours.verify()
    if (ours.warnings() > 0) console.log(`Peaks were measured with ${ours.warnings()} warnings, ${where}`)
    return peaks
  } finally {
    await bare.stop()
    await ours.stop()
    await receiver.stop()
  }
}

function drawn(peaks: MeasuredPeak[]): Chart[] {
  if (peaks.length === 0) return []
  const line = (name: string, toY: (peak: MeasuredPeak) => number) => ({
    name,
    points: peaks.map((peak): [number, number] => [peak.size, Math.max(1, toY(peak))]),
  })
  return [
    {
      id: 'peaks',
      title: 'Posts due at one instant, and a single post of another user among them',
      x: { label: 'posts due at the same instant', log: true },
      y: { label: 'p95 of the visible call’s arrival after the instant, ms', log: true },
      lines: [
        line('postonce', ({ burst }) => burst.ours),
        line('bare timers', ({ burst }) => burst.baseline!),
        line('single posts', ({ lone }) => lone.ours),
      ],
    },
  ]
}

function aimFor(size: number): Aim | null {
  if (size >= 2_000) return { text: 'at most a third of bare timers', met: ({ ratio }) => ratio <= 1 / 3 }
  if (size === 1_000) return { text: 'at most 0.15 of bare timers', met: ({ ratio }) => ratio <= 0.15 }
  return null
}
