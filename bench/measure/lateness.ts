import { setTimeout as delay } from 'node:timers/promises'
import { createPost } from '../../src/commands/create-post.ts'
import { SECOND } from '../../src/domain/times.ts'
import type { Chart } from '../chart.ts'
import { figure, type Aim, type Figure } from '../figure.ts'
import { closedLoop, inTurns } from '../loops.ts'
import { assertFlawless, judgePunctuality, type Due, type Punctuality } from '../punctuality.ts'
import { startReceiver, type Receiver } from '../receiver.ts'
import { openBare, openOurs, publishAll, type Side } from '../sides.ts'
import { median, percentile, rounded } from '../stats.ts'
import { connectToBluesky, createUsers } from '../users.ts'
import type { World } from '../world.ts'

/** Posts are armed at most this long before their instant; what is measured is created before that. */
const LONGEST_LEAD_MS = 10 * SECOND
const LANES = 20
const WARM_UP_POSTS = 60
/** Time for a burst to be over before the next one of its row is due. */
const BETWEEN_BURSTS_MS = 500
const GIVE_UP_AFTER_MS = 60 * SECOND
/** What is sent twice is sent again soon. */
const LOOK_FOR_DOUBLES_MS = SECOND
const TRIES = 3

export interface LatenessSize {
  lone: number
  /** Posts due at one instant, and how often; what stands in one row is scheduled together. */
  rows: Burst[][]
}

interface Burst {
  size: number
  times: number
}

type Sides = Record<'ours' | 'bare', Side>

/** From the instant a post is due to the arrival of its visible call at the platform, beside workflow timers set to that instant. */
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
    for (const row of size.rows) {
      await inTurns(['bare', 'ours'], 1, async (name) => {
        const measured = await measureRow(sides[name], receiver, row)
        for (const { burst, punctuality } of measured) {
          const known = found.get(burst) ?? { ours: [], bare: [] }
          known[name].push(punctuality)
          found.set(burst, known)
        }
      })
    }
    await ours.verify()
    const lone = await loneOnBluesky(world, ours, size.lone)
    const bursts = [...found].map(([burst, both]) => ({ burst, ours: together(both.ours), bare: together(both.bare) }))
    return {
      figures: [
        compare(`${size.lone} lone posts to Bluesky, p95`, lone, bursts[0]!.bare, {
          text: 'at most 50 ms',
          met: ({ ours: late }) => late <= 50,
        }),
        ...bursts
          .filter(({ burst }) => burst >= 100)
          .map((burst) =>
            compare(`${burst.burst} posts at one instant, p95`, burst.ours, burst.bare, {
              text: 'at most a third of bare timers',
              met: ({ ratio }) => ratio <= 1 / 3,
            }),
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

function compare(name: string, ours: Punctuality, bare: Punctuality, aim: Aim): Figure {
  return figure({
    group: 'lateness',
    name,
    unit: 'ms late',
    ours: percentile(ours.late, 0.95),
    baseline: percentile(bare.late, 0.95),
    aim,
    details: {
      early: ours.early,
      twice: ours.twice,
      lost: ours.lost,
      ...spreadOf('ours', ours),
      ...spreadOf('bare', bare),
    },
  })
}

function spreadOf(side: string, { late }: Punctuality): Record<string, number> {
  return {
    [`${side} calls`]: late.length,
    [`${side} p50 ms`]: rounded(median(late)),
    [`${side} p99 ms`]: rounded(percentile(late, 0.99)),
    [`${side} max ms`]: Math.max(...late),
  }
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

function together(all: Punctuality[]): Punctuality {
  const sum = (of: 'early' | 'twice' | 'lost') => all.reduce((total, one) => total + one[of], 0)
  return { late: all.flatMap(({ late }) => late), early: sum('early'), twice: sum('twice'), lost: sum('lost') }
}

interface MeasuredBurst {
  burst: number
  punctuality: Punctuality
}

/** Bursts one after the other, all created before the first is armed; again with more time where that did not succeed. */
async function measureRow(side: Side, receiver: Receiver, row: Burst[]): Promise<MeasuredBurst[]> {
  const bursts = row.flatMap(({ size, times }) => Array<number>(times).fill(size))
  const count = bursts.reduce((sum, size) => sum + size, 0)
  const leadMs = side.name === 'ours' ? LONGEST_LEAD_MS : 0
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const firstAt = Date.now() + leadMs + SECOND + count * createMs(side) * attempt
    const startedAt = performance.now()
    const due = await scheduleRow(side, bursts, firstAt)
    const took = performance.now() - startedAt
    CREATE_MS[side.name] = (1.5 * took) / count
    const isInTime = Date.now() < firstAt - leadMs
    const measured = await arrived(side, receiver, due)
    if (isInTime) return measured
  }
  throw new Error(`Scheduling ${count} posts took too long for this measurement, ${TRIES} times`)
}

/** What scheduling one took last time, with some reserve. */
const CREATE_MS = { ours: 30, bare: 20 }
const createMs = (side: Side) => CREATE_MS[side.name]

async function scheduleRow(side: Side, bursts: number[], firstAt: number): Promise<Due[][]> {
  let at = firstAt
  const planned = bursts.flatMap((size, burst) => {
    const dueAt = Math.round(at)
    at += BETWEEN_BURSTS_MS + size * 5
    return Array.from({ length: size }, () => ({ burst, dueAt }))
  })
  const due: Due[][] = bursts.map(() => [])
  await closedLoop(planned.length, LANES, async (index, lane) => {
    const { burst, dueAt } = planned[index]!
    due[burst]!.push({ id: await side.schedule(lane, dueAt), dueAt })
  })
  return due
}

/** Waits until every call has arrived, and a little longer for those that come twice. */
async function arrived(side: Side, receiver: Receiver, bursts: Due[][]): Promise<MeasuredBurst[]> {
  const all = bursts.flat()
  const lastAt = Math.max(...all.map(({ dueAt }) => dueAt))
  await delay(Math.max(0, lastAt - Date.now()))
  let missing = all
  while (missing.length > 0 && Date.now() < lastAt + GIVE_UP_AFTER_MS) {
    await delay(100)
    missing = missing.filter(({ id }) => receiver.arrivalsOf(id).length === 0)
  }
  await delay(LOOK_FOR_DOUBLES_MS)
  return bursts.map((due) => {
    const punctuality = judgePunctuality(due, receiver.arrivalsOf)
    assertFlawless(`${due.length} posts at one instant, ${side.name}`, punctuality)
    return { burst: due.length, punctuality }
  })
}

/** The whole way, to the real server: arrival is what its fault proxy notes for the one writing call. */
async function loneOnBluesky(
  world: World,
  { context }: Awaited<ReturnType<typeof openOurs>>,
  count: number,
): Promise<Punctuality> {
  const [user] = await createUsers(context, 1)
  if (!user) throw new Error('No user')
  await connectToBluesky(context, world.bluesky, user)
  const startedAt = Date.now()
  const firstAt = startedAt + LONGEST_LEAD_MS + 2 * SECOND
  const due = Array.from({ length: count }, (_, index) => ({
    id: `Lone ${user._id} ${index}`,
    dueAt: firstAt + index * BETWEEN_BURSTS_MS,
  }))
  for (const { id, dueAt } of due) {
    await createPost(context, {
      userId: user._id,
      input: { content: { text: id }, selectedPlatforms: ['bluesky'], scheduledAt: new Date(dueAt).toISOString() },
      source: 'api',
      idempotency: null,
    })
  }
  if (Date.now() > firstAt - LONGEST_LEAD_MS) throw new Error('Creating the lone posts took too long')
  await delay(due.at(-1)!.dueAt - Date.now())
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS
  const arrivals = async () => (await writesOnBluesky(world)).filter((at) => at >= startedAt)
  while ((await arrivals()).length < count && Date.now() < giveUpAt) await delay(200)
  await delay(LOOK_FOR_DOUBLES_MS)
  const calls = (await arrivals()).toSorted((a, b) => a - b)
  const onServer = await textsOnBluesky(world)
  // The proxy does not say which post a call was for. They come half a second apart, so it is their order.
  const late = due.slice(0, calls.length).map(({ dueAt }, index) => calls[index]! - dueAt)
  const punctuality = {
    late,
    early: late.filter((ms) => ms < 0).length,
    twice:
      Math.max(0, calls.length - count) +
      due.filter(({ id }) => onServer.filter((text) => text === id).length > 1).length,
    lost: due.filter(({ id }) => !onServer.includes(id)).length,
  }
  assertFlawless(`${count} lone posts to Bluesky`, punctuality)
  return punctuality
}

async function writesOnBluesky(world: World): Promise<number[]> {
  const response = await fetch(`${world.bluesky.control}/requests`)
  const requests = (await response.json()) as { path: string; receivedAt: string }[]
  return requests
    .filter(({ path }) => path.startsWith('/xrpc/com.atproto.repo.putRecord'))
    .map(({ receivedAt }) => Date.parse(receivedAt))
}

async function textsOnBluesky(world: World): Promise<string[]> {
  const response = await fetch(`${world.bluesky.control}/ledger`)
  return ((await response.json()) as { text: string }[]).map(({ text }) => text)
}
