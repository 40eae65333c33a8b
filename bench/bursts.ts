import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '../src/domain/shared/times.ts'
import { closedLoop } from './loops.ts'
import { assertFlawless, judgePunctuality, type Due, type Punctuality } from './punctuality.ts'
import type { Receiver } from './receiver.ts'
import type { Side } from './sides.ts'

export const LANES = 20
/**
 * Posts are armed at most this long before they are due, so all measured posts are created before that. Bare timers get the same
 * time, so that the first workflow task of each ends before its timer fires.
 */
export const LONGEST_LEAD_MS = 10 * SECOND
/** Time between the bursts of a row, so that each burst ends before the next is due. */
const PAUSE_MS = 500
const PAUSE_MS_PER_POST = 5
export const GIVE_UP_AFTER_MS = 180 * SECOND
/** Wait for duplicates: a second send of the same post follows the first within this time. */
export const LOOK_FOR_DOUBLES_MS = SECOND
const TRIES = 3

/** A group of `size` posts that are due at the same instant, measured `times` times. */
export interface Burst {
  size: number
  times: number
}

/** Milliseconds per scheduled post: an estimate that each row updates, with a margin. */
const createMs = { ours: 30, bare: 20 }

interface MeasuredBurst {
  burst: number
  punctuality: Punctuality
}

/** Measures bursts in sequence. All posts are created before the first is armed; if that takes too long, retries with more time. */
export async function measureRow(side: Side, receiver: Receiver, row: Burst[]): Promise<MeasuredBurst[]> {
  const bursts = row.flatMap(({ size, times }) => Array<number>(times).fill(size))
  const count = bursts.reduce((sum, size) => sum + size, 0)
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const firstAt = Date.now() + LONGEST_LEAD_MS + SECOND + count * createMs[side.name] * attempt
    const startedAt = performance.now()
    const due = await scheduleRow(side, bursts, firstAt)
    const took = performance.now() - startedAt
    createMs[side.name] = (1.5 * took) / count
    const isInTime = Date.now() < firstAt - LONGEST_LEAD_MS
    const measured = await awaitArrivals(side, receiver, due)
    if (isInTime) return measured
  }
  throw new Error(`Scheduling ${count} posts took too long for this measurement, ${TRIES} times`)
}

async function scheduleRow(side: Side, bursts: number[], firstAt: number): Promise<Due[][]> {
  let at = firstAt
  const planned = bursts.flatMap((size, burst) => {
    const dueAt = Math.round(at)
    at += PAUSE_MS + size * PAUSE_MS_PER_POST
    return Array.from({ length: size }, () => ({ burst, dueAt }))
  })
  const due: Due[][] = bursts.map(() => [])
  await closedLoop(planned.length, LANES, async (index, lane) => {
    const { burst, dueAt } = planned[index]!
    due[burst]!.push({ id: await side.schedule(lane, dueAt), dueAt })
  })
  return due
}

/** Waits until every call has arrived, and a little longer to detect duplicates. */
async function awaitArrivals(side: Side, receiver: Receiver, bursts: Due[][]): Promise<MeasuredBurst[]> {
  const all = bursts.flat()
  const lastAt = Math.max(...all.map(({ dueAt }) => dueAt))
  await delay(Math.max(0, lastAt - Date.now()))
  let missing = all
  while (missing.length > 0 && Date.now() < lastAt + GIVE_UP_AFTER_MS) {
    await delay(100)
    missing = missing.filter(({ id }) => receiver.arrivalsOf(id).length === 0)
  }
  if (missing.length > 0) console.error(await side.explain(missing.slice(0, 3).map(({ id }) => id)))
  await delay(LOOK_FOR_DOUBLES_MS)
  return bursts.map((due) => {
    const punctuality = judgePunctuality(due, receiver.arrivalsOf)
    assertFlawless(`${due.length} posts at one instant, ${side.name}`, punctuality)
    return { burst: due.length, punctuality }
  })
}
