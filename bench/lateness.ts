import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { longestArmLeadMs } from '../src/domain/posts/publish-plan.ts'
import { SECOND } from '../src/domain/shared/times.ts'
import { closedLoop } from './loops.ts'
import type { Side } from './sides.ts'

/** Users whose posts are due together. */
export const LANES = 20
const GIVE_UP_AFTER_MS = 180 * SECOND
/** A post costs some 75 ms of processor time, and a busy machine has little of it. */
const PATIENCE_MS_PER_POST = 150
/** A second send of the same post follows the first within this time. */
const WAIT_FOR_DUPLICATES_MS = SECOND
const TRIES = 3

/** Starts a platform that only records the arrival times of visible calls. Its responses take `latencyMs`. */
export async function startReceiver({ latencyMs = 0 } = {}) {
  const arrivals = new Map<string, number[]>()
  const server = createServer((request, response) => {
    const id = request.url?.slice(1) ?? ''
    arrivals.set(id, [...(arrivals.get(id) ?? []), Date.now()])
    request.resume()
    if (latencyMs === 0) response.end()
    else setTimeout(() => response.end(), latencyMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns the arrival times of calls with this id, milliseconds since the epoch. */
    arrivalsOf: (id: string): number[] => arrivals.get(id) ?? [],
    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** A post whose visible call should arrive with this id at this time, milliseconds since the epoch. */
interface Due {
  id: string
  dueAt: number
}

/**
 * Returns how late the call of each post arrived, milliseconds.
 * @throws when a call was early, duplicated or lost, since the lateness of the others is meaningless then
 */
export function judgeLateness(due: Due[], arrivalsOf: Receiver['arrivalsOf']): number[] {
  const calls = due.map(({ id, dueAt }) => arrivalsOf(id).map((at) => at - dueAt))
  const count = (isWrong: (late: number[]) => boolean) => calls.filter(isWrong).length
  const [early, twice, lost] = [
    count((late) => late.some((ms) => ms < 0)),
    count(({ length }) => length > 1),
    count(({ length }) => length === 0),
  ]
  if (early + twice + lost > 0) {
    throw new Error(`This run is void: ${early} calls were early, ${twice} were sent twice and ${lost} were never sent`)
  }
  return calls.flat()
}

/** Waits until every call has arrived, and a little longer to detect duplicates. Returns how late each post was. */
export async function awaitArrivals(receiver: Receiver, due: Due[]): Promise<number[]> {
  const lastAt = Math.max(...due.map(({ dueAt }) => dueAt))
  await delay(Math.max(0, lastAt - Date.now()))
  const giveUpAt = lastAt + GIVE_UP_AFTER_MS + due.length * PATIENCE_MS_PER_POST
  let missing = due.map(({ id }) => id)
  while (missing.length > 0 && Date.now() < giveUpAt) {
    await delay(100)
    missing = missing.filter((id) => receiver.arrivalsOf(id).length === 0)
  }
  await delay(WAIT_FOR_DUPLICATES_MS)
  return judgeLateness(due, receiver.arrivalsOf)
}

/** A scheduled post of a user, due some time after the first one, milliseconds. */
export interface PlannedPost {
  user: number
  afterMs: number
}

/** Returns posts of one instant that belong to the users of all lanes. */
export const planBurst = (size: number): PlannedPost[] =>
  Array.from({ length: size }, (_, index) => ({ user: index % LANES, afterMs: 0 }))

/** Milliseconds that scheduling a post takes: an estimate that each measurement updates, with a margin. */
const scheduleMs = { ours: 30, bare: 20 }

/**
 * Schedules posts and returns how late each was. All of them are created before the first is armed; if that takes too long, it retries
 * with more time. Bare timers get the same time, so that the first workflow task of each ends before its timer fires.
 * @param during runs until the posts have arrived, and gets the first instant
 */
export async function measureLateness(
  side: Side,
  receiver: Receiver,
  posts: PlannedPost[],
  during: (firstAt: number) => Promise<void> = async () => {},
): Promise<number[]> {
  const leadMs = longestArmLeadMs(posts.length)
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const startedAt = Date.now()
    const firstAt = startedAt + leadMs + SECOND + posts.length * scheduleMs[side.name] * attempt
    const due: Due[] = posts.map(({ afterMs }) => ({ id: '', dueAt: Math.round(firstAt + afterMs) }))
    await closedLoop(posts.length, LANES, async (index) => {
      due[index]!.id = await side.schedule(posts[index]!.user, due[index]!.dueAt)
    })
    scheduleMs[side.name] = (1.5 * (Date.now() - startedAt)) / posts.length
    const isInTime = Date.now() < firstAt - leadMs
    const [late] = await Promise.all([Promise.race([awaitArrivals(receiver, due), side.failed]), during(firstAt)])
    if (isInTime) return late
  }
  throw new Error(`Scheduling ${posts.length} posts took too long for this measurement, ${TRIES} times`)
}
