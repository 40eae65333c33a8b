import { setTimeout as delay } from 'node:timers/promises'
import { beginFault, planFaults, type FaultEvent } from './faults.ts'
import type { Client } from './client.ts'
import type { Wish } from './judge/evidence.ts'
import type { Answer } from './operations.ts'
import { createRandom } from './random.ts'
import { openSession, type Session } from './session.ts'
import { planWorkload, type Step } from './workload.ts'
import type { FaultWorld } from './world.ts'

export interface RunSize {
  users: number
  posts: number
  faults: number
  lengthMs: number
}

export const USUAL_SIZE: RunSize = { users: 4, posts: 40, faults: 8, lengthMs: 15_000 }

const REPEAT_AFTER_MS = 500
const MOST_REPEATS = 60

export interface RunReport {
  seed: number
  violations: string[]
  posts: number
  requests: number
  faults: string[]
  seconds: number
}

/** Runs one seed: the same work and the same faults each time, judged once everything is idle. */
export async function runSeed(world: FaultWorld, seed: number, size: RunSize = USUAL_SIZE): Promise<RunReport> {
  const begunAt = Date.now()
  const { journal } = world
  const random = createRandom(seed)
  const steps = planWorkload(random, { ...size, apis: world.addresses.length, platforms: world.platforms })
  const faults = planFaults(random, {
    count: size.faults,
    lengthMs: size.lengthMs,
    platforms: world.platforms.length,
  })
  const session = await openSession(world, { users: size.users })
  journal.write({ seed, size, plan: faults })

  const clock = createClock()
  const work = carryOut(steps, session, clock)
  const going = faults.map((event) => cause(event, world, session, clock))
  await clock.at(size.lengthMs)
  await Promise.all(going)
  await world.heal()
  journal.write({ healed: true })
  await work
  await session.rest()
  await retryFailed(session)
  await session.rest()
  journal.write({ atRest: true })
  const violations = [...(await session.verdict()), ...(await unsent(session))]
  journal.write({ seed, violations })
  return {
    seed,
    violations,
    posts: size.posts,
    requests: session.log.operations.length,
    faults: faults.map(({ name }) => name),
    seconds: Math.round((Date.now() - begunAt) / 1_000),
  }
}

type Clock = ReturnType<typeof createClock>

function createClock() {
  const startedAt = Date.now()
  return { at: (ms: number): Promise<void> => delay(Math.max(0, startedAt + ms - Date.now())) }
}

async function cause(event: FaultEvent, world: FaultWorld, session: Session, clock: Clock): Promise<void> {
  await clock.at(event.atMs)
  world.journal.write({ event })
  try {
    const takeBack = await beginFault(event, world, session)
    await clock.at(event.atMs + event.lastsMs)
    await takeBack?.()
  } catch (error) {
    // Another fault may interfere, such as missing MongoDB while a worker starts. Healing repairs that.
    world.journal.write({ event: event.name, failed: String(error) })
  }
}

/** Every step at its time; those of one post wait for its create, whose response has the id. */
async function carryOut(steps: Step[], session: Session, clock: Clock): Promise<void> {
  const created = new Map<number, Promise<string | null>>()
  await Promise.all(
    steps.map(async (step) => {
      const { act, post, atMs } = step
      const clients = (attempt: number) => session.users[step.user]!.via(step.api + attempt)
      if (act.kind === 'create') {
        const creating = clock.at(atMs).then(() => create(clients, withInstant(act.wish, act.inMs)))
        created.set(post, creating)
        await creating
        return
      }
      await clock.at(atMs)
      const postId = await created.get(post)
      if (!postId) return
      const client = clients(0)
      if (act.kind === 'edit') await client.edit(postId, withInstant(act.wish, act.inMs))
      else await client[act.kind](postId)
    }),
  )
}

/** Their owners do not give up: whatever failed is sent round again, with nothing in its way. */
async function retryFailed({ users, posts }: Session): Promise<void> {
  for (const { _id, userId, status } of await posts()) {
    if (status !== 'FAILED' && status !== 'PARTIAL_SUCCESS') continue
    const client = users.find((user) => user.userId === userId)!.via(0)
    await client.read(_id)
    await client.retry(_id)
  }
}

/** With nothing in the way a retry sends whatever had failed. */
async function unsent({ posts }: Session): Promise<string[]> {
  return (await posts()).flatMap(({ _id, platformStatuses }) =>
    platformStatuses
      .filter(({ status }) => status === 'failed')
      .map(({ platform, errorCode }) => `post ${_id} was not sent to ${platform} by its retry: ${errorCode}`),
  )
}

/** A client with an idempotency key repeats a request until it gets a response. One without a key never knows. */
async function create(clients: (attempt: number) => Client, wish: Wish): Promise<string | null> {
  for (let attempt = 0; ; attempt++) {
    const answer = await clients(attempt).create(wish)
    if (isTold(answer) || wish.idempotencyKey === undefined || attempt === MOST_REPEATS) {
      return (answer?.body as { data?: { postId: string } } | undefined)?.data?.postId ?? null
    }
    await delay(REPEAT_AFTER_MS)
  }
}

const isTold = (answer: Answer | null): boolean => answer !== null && answer.status < 500

function withInstant(wish: Wish, inMs: number | null | undefined): Wish {
  if (inMs === undefined) return wish
  return { ...wish, scheduledAt: inMs === null ? null : Date.now() + inMs }
}
