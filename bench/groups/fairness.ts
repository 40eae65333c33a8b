import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '../../src/domain/shared/times.ts'
import { compare, measureRounds, type Bound, type Figure, type Sample, type Scale } from '../figure.ts'
import { awaitArrivals, LANES, measureLateness, startReceiver, type Receiver } from '../lateness.ts'
import { openOurs, publishAll, type Ours } from '../sides.ts'
import { percentile } from '../stats.ts'
import type { World } from '../world.ts'

const WARM_UP_POSTS = 60
const LATENCY_MS = 50
/** While the burst is sent, a single post is due and another one is created in each of these steps. */
const STEP_MS = SECOND
const BOUND: Bound = { of: 'difference', atMost: SECOND }
const KINDS = ['scheduled', 'immediate'] as const

interface Size {
  /** Posts of one user at one instant. */
  burst: number
  /** Users with a single post each: so many at the instant, so many scheduled after it, and so many immediate ones. */
  singles: number
}

const SIZES: Record<Scale, Size> = { full: { burst: 2_000, singles: 20 }, quick: { burst: 60, singles: 3 } }

/** Measures how much later single posts of free users arrive while one paying user has thousands of posts due. */
export async function measureFairness(world: World, scale: Scale): Promise<Figure[]> {
  const { burst, singles } = SIZES[scale]
  const receiver = await startReceiver({ latencyMs: LATENCY_MS })
  const ours = await openOurs(world, {
    users: LANES + 3 * singles,
    receiver: receiver.url,
    // The first user has the burst.
    toPlan: (user) => (user === 0 ? 'pro' : 'free'),
  })
  try {
    await publishAll(ours, WARM_UP_POSTS, LANES)
    const sides = {
      alone: () => measureSingles(ours, receiver, { burst: 0, singles }),
      beside: () => measureSingles(ours, receiver, { burst, singles }),
    }
    const where = `beside ${burst} of one user, p95; without them`
    const figures = await measureRounds(sides, scale, ({ alone, beside }) =>
      KINDS.map((kind) =>
        compare(
          { name: `lateness of single ${kind} posts ${where}`, unit: 'ms', value: kind, bound: BOUND },
          beside,
          alone,
        ),
      ),
    )
    await ours.verify()
    return figures
  } finally {
    await ours.stop()
    await receiver.stop()
  }
}

async function measureSingles(ours: Ours, receiver: Receiver, { burst, singles }: Size): Promise<Sample> {
  const steps = Array.from({ length: singles }, (_, index) => index * STEP_MS)
  const single = [...steps.map(() => 0), ...steps].map((afterMs, index) => ({ user: LANES + index, afterMs }))
  const posts = Array.from({ length: burst }, () => ({ user: 0, afterMs: 0 }))
  const middle = burst / 2
  let immediate: number[] = []
  const late = await measureLateness(ours, receiver, posts.toSpliced(middle, 0, ...single), async (firstAt) => {
    const due = steps.map(async (afterMs, index) => {
      await delay(Math.max(0, firstAt + afterMs - Date.now()))
      const dueAt = Date.now()
      return { id: await ours.schedule(LANES + single.length + index), dueAt }
    })
    immediate = await awaitArrivals(receiver, await Promise.all(due))
  })
  const scheduled = late.slice(middle, middle + single.length)
  return { scheduled: percentile(scheduled, 0.95), immediate: percentile(immediate, 0.95) }
}
