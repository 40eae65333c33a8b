import { setTimeout as delay } from 'node:timers/promises'
import { longestArmLeadMs } from '../src/domain/posts/publish-plan.ts'
import { SECOND } from '../src/domain/shared/times.ts'
import { closedLoop } from './loops.ts'
import { assertFlawless, judgePunctuality, type Due, type Punctuality } from './punctuality.ts'
import type { Receiver } from './receiver.ts'
import type { Side } from './sides.ts'

export const LANES = 20
/** Time between the bursts of a row, so that each burst ends before most of the next is armed. */
const PAUSE_MS = 500
const PAUSE_MS_PER_POST = 5
export const GIVE_UP_AFTER_MS = 180 * SECOND
/** A post costs some 75 ms of processor time, and a busy machine has little of it. */
const PATIENCE_MS_PER_POST = 150

/** Returns how long to wait for the calls of so many posts. */
export const toPatienceMs = (posts: number): number => GIVE_UP_AFTER_MS + posts * PATIENCE_MS_PER_POST
/** Wait for duplicates: a second send of the same post follows the first within this time. */
export const LOOK_FOR_DOUBLES_MS = SECOND
const TRIES = 3

/** A group of `size` posts that are due at the same instant, measured `times` times. */
export interface Burst {
  size: number
  times: number
  /** Whose posts they are; by default, every lane's. */
  owners?: 'one' | 'many'
  /**
   * Single posts of other users, each of the next user after the lanes: how long after the instant it is due, milliseconds. They are
   * created in the middle of the burst.
   */
  lonePosts?: number[]
}

interface BurstPost extends Due {
  isLone: boolean
}

/** Milliseconds per scheduled post: an estimate that each row updates, with a margin. */
const createMs = { ours: 30, bare: 20 }

export interface MeasuredBurst {
  burst: number
  punctuality: Punctuality
  /** The single posts of other users. */
  lone: Punctuality
}

/**
 * Measures bursts in sequence. All posts are created before the first is armed; if that takes too long, retries with more time.
 * @param during runs until the posts have arrived, and gets the first instant
 */
export async function measureRow(
  side: Side,
  receiver: Receiver,
  row: Burst[],
  during: (firstAt: number) => Promise<void> = async () => {},
): Promise<MeasuredBurst[]> {
  const bursts = row.flatMap((burst) => Array<Burst>(burst.times).fill(burst))
  const count = bursts.reduce((sum, burst) => sum + listPosts(burst).length, 0)
  // All posts are created before the first is armed. Bare timers get the same time, so that the first workflow task of each ends before
  // its timer fires.
  const leadMs = longestArmLeadMs(bursts[0]!.size)
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const firstAt = Date.now() + leadMs + SECOND + count * createMs[side.name] * attempt
    const startedAt = performance.now()
    const due = await scheduleRow(side, bursts, firstAt)
    const took = performance.now() - startedAt
    createMs[side.name] = (1.5 * took) / count
    const isInTime = Date.now() < firstAt - leadMs
    const [measured] = await Promise.all([awaitArrivals(side, receiver, due), during(firstAt)])
    if (isInTime) return measured
  }
  throw new Error(`Scheduling ${count} posts took too long for this measurement, ${TRIES} times`)
}

async function scheduleRow(side: Side, bursts: Burst[], firstAt: number): Promise<BurstPost[][]> {
  let at = firstAt
  const planned = bursts.flatMap((burst, index) => {
    const dueAt = Math.round(at)
    const earlierMs = longestArmLeadMs(bursts[index + 1]?.size ?? 0) - longestArmLeadMs(0)
    at += PAUSE_MS + burst.size * PAUSE_MS_PER_POST + earlierMs
    return listPosts(burst).map(({ owner, afterMs }) => ({ burst: index, dueAt: dueAt + afterMs, owner }))
  })
  const due: BurstPost[][] = bursts.map(() => [])
  await closedLoop(planned.length, LANES, async (index, lane) => {
    const { burst, dueAt, owner } = planned[index]!
    const id = await side.schedule(owner ?? lane, dueAt)
    due[burst]!.push({ id, dueAt, isLone: owner !== null && owner >= LANES })
  })
  return due
}

interface PlannedPost {
  /** A user by number, null for the user of the lane that creates the post. */
  owner: number | null
  /** How long after the instant the post is due, milliseconds. */
  afterMs: number
}

function listPosts({ size, owners = 'many', lonePosts = [] }: Burst): PlannedPost[] {
  const all = Array<PlannedPost>(size).fill({ owner: owners === 'one' ? 0 : null, afterMs: 0 })
  return all.toSpliced(size / 2, 0, ...lonePosts.map((afterMs, index) => ({ owner: LANES + index, afterMs })))
}

/** Waits until every call has arrived, and a little longer to detect duplicates. */
async function awaitArrivals(side: Side, receiver: Receiver, bursts: BurstPost[][]): Promise<MeasuredBurst[]> {
  const all = bursts.flat()
  const lastAt = Math.max(...all.map(({ dueAt }) => dueAt))
  await delay(Math.max(0, lastAt - Date.now()))
  let missing = all
  const giveUpAt = lastAt + toPatienceMs(all.length)
  while (missing.length > 0 && Date.now() < giveUpAt) {
    await delay(100)
    missing = missing.filter(({ id }) => receiver.arrivalsOf(id).length === 0)
  }
  if (missing.length > 0) console.error(await side.explain(missing.slice(0, 3).map(({ id }) => id)))
  await delay(LOOK_FOR_DOUBLES_MS)
  return bursts.map((due) => {
    const { lone = [], burst = [] } = Object.groupBy(due, ({ isLone }) => (isLone ? 'lone' : 'burst'))
    const measured = {
      burst: burst.length,
      punctuality: judgePunctuality(burst, receiver.arrivalsOf),
      lone: judgePunctuality(lone, receiver.arrivalsOf),
    }
    assertFlawless(`${burst.length} posts at one instant, ${side.name}`, measured.punctuality)
    assertFlawless(`lone posts among ${burst.length}, ${side.name}`, measured.lone)
    return measured
  })
}
