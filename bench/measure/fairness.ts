import { setTimeout as delay } from 'node:timers/promises'
import type { SubscriptionPlan } from '../../src/domain/billing/subscription.ts'
import { SECOND } from '../../src/domain/shared/times.ts'
import { LANES, measureRow, toPatienceMs } from '../bursts.ts'
import { describeCpu, measureCosts } from '../costs.ts'
import { figure, type Figure } from '../figure.ts'
import { assertFlawless, judgePunctuality, type Due } from '../punctuality.ts'
import { startReceiver, type Receiver } from '../receiver.ts'
import { openOurs, publishAll, type Ours } from '../sides.ts'
import { describeLateness, percentile } from '../stats.ts'
import type { World } from '../world.ts'

const WARM_UP_POSTS = 60
const LATENCY_MS = 50
/** While the burst is sent, a single post is due and another one is created in each of these steps. */
const STEP_MS = SECOND
/** How much later a single post may arrive beside the burst than without it. */
const MAX_DELAY_MS = 1_000

export interface FairnessSize {
  /** Posts of one user at one instant. */
  burst: number
  /** Users with a single post each: so many at the instant, so many scheduled after it, and so many immediate ones. */
  singles: number
}

/** Milliseconds of lateness of the single posts. */
interface Singles {
  scheduled: number[]
  immediate: number[]
}

/** Measures how much later single posts arrive while one user has thousands of posts due, with both weights of plans. */
export async function measureFairness(world: World, size: FairnessSize): Promise<Figure[]> {
  return [
    ...(await measurePlans(world, size, { heavy: 'free', others: 'pro' })),
    ...(await measurePlans(world, size, { heavy: 'pro', others: 'free' })),
  ]
}

async function measurePlans(
  world: World,
  { burst, singles: count }: FairnessSize,
  { heavy, others }: Record<'heavy' | 'others', SubscriptionPlan>,
): Promise<Figure[]> {
  const receiver = await startReceiver({ latencyMs: LATENCY_MS })
  const ours = await openOurs(world, {
    lanes: LANES + 3 * count,
    receiver: receiver.url,
    // The user of the first lane has the burst.
    toPlan: (lane) => (lane === 0 ? heavy : others),
  })
  try {
    await publishAll(ours, WARM_UP_POSTS, LANES)
    const before = await measureSingles(ours, receiver, 0, count)
    let beside: Awaited<ReturnType<typeof measureSingles>> | undefined
    const costs = await measureCosts(
      world,
      { worker: ours.worker, context: ours.context, posts: burst + 3 * count },
      async () => void (beside = await measureSingles(ours, receiver, burst, count)),
    )
    // The load of the machine may have changed meanwhile, so the baseline is measured around the burst.
    const after = await measureSingles(ours, receiver, 0, count)
    await ours.verify()
    const where = `beside ${burst} posts of one user on ${heavy}, platform latency ${LATENCY_MS} ms`
    return (['scheduled', 'immediate'] as const).map((kind) =>
      toFigure(
        `single ${kind} posts of users on ${others} ${where}`,
        [...before.singles[kind], ...after.singles[kind]],
        beside!.singles[kind],
        {
          ...describeLateness('burst', beside!.burst),
          ...describeCpu('ours', [costs]),
        },
      ),
    )
  } finally {
    await ours.stop()
    await receiver.stop()
  }
}

function toFigure(
  name: string,
  alone: number[],
  beside: number[],
  details: Record<string, number | string | null>,
): Figure {
  const baseline = percentile(alone, 0.95)
  return figure({
    group: 'fairness',
    name: `${name}, p95 (baseline: without them)`,
    unit: 'ms late',
    ours: percentile(beside, 0.95),
    baseline,
    aim: { text: `at most ${MAX_DELAY_MS} ms later`, met: ({ ours: late }) => late <= baseline + MAX_DELAY_MS },
    details: { ...describeLateness('alone', alone), ...describeLateness('beside', beside), ...details },
  })
}

async function measureSingles(
  ours: Ours,
  receiver: Receiver,
  size: number,
  count: number,
): Promise<{ singles: Singles; burst: number[] }> {
  const steps = Array.from({ length: count }, (_, index) => index * STEP_MS)
  const lonePosts = [...steps.map(() => 0), ...steps]
  let immediate: number[] = []
  const row = [{ size, owners: 'one' as const, times: 1, lonePosts }]
  const [measured] = await measureRow(ours, receiver, row, async (firstAt) => {
    const lanes = steps.map((_, index) => LANES + lonePosts.length + index)
    immediate = await publishOneByOne(ours, receiver, { firstAt, lanes, patienceMs: toPatienceMs(size) })
  })
  return { singles: { scheduled: measured!.lone.late, immediate }, burst: measured!.punctuality.late }
}

/** Creates an immediate post of another user in each step from `firstAt` on. Returns how long each took to arrive. */
async function publishOneByOne(
  ours: Ours,
  receiver: Receiver,
  { firstAt, lanes, patienceMs }: { firstAt: number; lanes: number[]; patienceMs: number },
): Promise<number[]> {
  const posts = await Promise.all(
    lanes.map(async (lane, index): Promise<Due> => {
      await delay(Math.max(0, firstAt + index * STEP_MS - Date.now()))
      const dueAt = Date.now()
      return { id: await ours.publishOne(lane), dueAt }
    }),
  )
  const giveUpAt = Date.now() + patienceMs
  while (posts.some(({ id }) => receiver.arrivalsOf(id).length === 0) && Date.now() < giveUpAt) await delay(100)
  const punctuality = judgePunctuality(posts, receiver.arrivalsOf)
  assertFlawless('single immediate posts', punctuality)
  return punctuality.late
}
