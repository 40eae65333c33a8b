import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copySource, type Replacement } from '../../tests/support/copied-source.ts'
import { cpuFigures, measureCosts } from '../costs.ts'
import { compare, measureRounds, type Bound, type Figure, type Sample, type Scale } from '../figure.ts'
import { LANES, measureLateness, planBurst, startReceiver } from '../lateness.ts'
import { INSTANT_PLATFORMS } from '../platforms.ts'
import { cellsOf, TABLE_HEAD, toTable } from '../report.ts'
import { openOurs, publishAll } from '../sides.ts'
import { percentile } from '../stats.ts'
import type { World } from '../world.ts'

/** A part of the service that only makes it faster, and the replacement that switches it off. */
interface Mechanism {
  off: Replacement
  /** The figure that it improves: the lateness of a burst, or the processor time of a worker or of Temporal. */
  gains: 'late' | 'worker' | 'Temporal'
  latencyMs?: number
  /** With it, a post is for three platforms that respond at different times. */
  spreadMs?: number
}

export const MECHANISMS: Mechanism[] = [
  {
    gains: 'late',
    off: { anchor: 'arming by rank', change: (code) => code.replace(', post.dueRank', '') },
  },
  {
    gains: 'Temporal',
    spreadMs: 100,
    off: { anchor: 'deliveries of a post end together', change: () => '' },
  },
  // Without the query, a cancelled post frees its slot with the next heartbeat.
  { gains: 'worker', off: { anchor: 'query of armed posts', change: () => '' } },
  {
    gains: 'late',
    latencyMs: 50,
    off: { anchor: 'adaptive call limit', change: (code) => code.replace(' * MOST_GROWTH', '') },
  },
]

const POSTS: Record<Scale, number> = { full: 2_000, quick: 40 }
const WARM_UP_POSTS = 100
/** The folders that a copy needs for its processes. */
const FOLDERS = ['bench', 'sandbox', 'tests/support']
const GAINS: Bound = { of: 'ratio', atMost: 0.95 }

/** Measures bursts of the complete service, compared with a copy in which one mechanism is switched off. */
export async function measureMechanisms(world: World, scale: Scale): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const mechanism of MECHANISMS) {
    const root = mkdtempSync(join(tmpdir(), 'postonce-bench-without-'))
    try {
      copySource(root, [mechanism.off], FOLDERS)
      const found = await measureWithout(world, scale, mechanism, root)
      // A mechanism takes up to an hour, so each is shown as soon as it is known.
      console.log(toTable(TABLE_HEAD, found.map(cellsOf)))
      figures.push(...found)
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  }
  return figures
}

async function measureWithout(world: World, scale: Scale, mechanism: Mechanism, root: string): Promise<Figure[]> {
  const { off, gains, latencyMs = 0, spreadMs = 0 } = mechanism
  const versions = { without: await open(root), complete: await open() }

  async function open(copy?: string) {
    const receiver = await startReceiver({ latencyMs })
    const scheduledOn = spreadMs > 0 ? INSTANT_PLATFORMS : (['mastodon'] as const)
    const options = { users: LANES, receiver: receiver.url, root: copy, scheduledOn, spreadMs }
    const ours = await openOurs(world, options)
    await publishAll(ours, WARM_UP_POSTS, LANES)
    return {
      async measure(): Promise<Sample> {
        let late: number[] = []
        const costs = await measureCosts(world, ours, POSTS[scale], async () => {
          late = await measureLateness(ours, receiver, planBurst(POSTS[scale]))
          await ours.verify()
        })
        return { ...costs, late: percentile(late, 0.95) }
      },
      async stop(): Promise<void> {
        await ours.stop()
        await receiver.stop()
      },
    }
  }

  try {
    const { without, complete } = versions
    return await measureRounds({ without: without.measure, complete: complete.measure }, scale, (samples) => {
      const late = { unit: 'ms', value: 'late', bound: gains === 'late' ? GAINS : undefined }
      const what = `${POSTS[scale]} posts at one instant; without ${off.anchor}`
      return [
        compare({ ...late, name: `lateness of ${what}, p95` }, samples.complete, samples.without),
        ...cpuFigures(what, samples.complete, samples.without, gains === 'late' ? {} : { [gains]: GAINS }),
      ]
    })
  } finally {
    await versions.complete.stop()
    await versions.without.stop()
  }
}
