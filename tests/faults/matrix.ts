import { setTimeout as delay } from 'node:timers/promises'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { FaultAction } from '../../sandbox/platforms/faults.ts'
import {
  afterAccept,
  FOREIGN_ANSWERS,
  insteadOf,
  type ForeignAnswerName,
} from '../../sandbox/platforms/foreign-answers.ts'
import { isAccepted } from './faults.ts'
import { marked, type StoredPost, type Wish } from './judge/evidence.ts'
import { isOne, type FaultPlatform } from './platforms.ts'
import { createRandom } from './random.ts'
import { openSession, type Session, type SessionUser } from './session.ts'
import { until } from './waiting.ts'
import { SETTLE_MS, unique, type FaultWorld } from './world.ts'

const FOREIGN = Object.keys(FOREIGN_ANSWERS) as ForeignAnswerName[]

/** What may become of the visible call and its answer; after a hang, and after an answer of another server, the platform has nothing. */
const WAYS: Record<string, FaultAction> = {
  'accept then drop': { dropAfterAccept: true },
  'truncated answer': { truncate: true },
  '500 after accept': { statusAfterAccept: 500, body: { error: 'InternalServerError' } },
  hang: { hang: true },
  'hang after accept': { holdAfterAccept: true },
  // The client disconnected long before, and two reconciliations found nothing.
  'accept late': { delayMs: SETTLE_MS * (2 / 3) },
  ...Object.fromEntries(FOREIGN.map((name) => [`${name} instead`, insteadOf(name)])),
  ...Object.fromEntries(FOREIGN.map((name) => [`${name} after accept`, afterAccept(name)])),
}

const KILL = 'worker killed after accept'
/** On a busy machine the deadline can pass before the response is read. */
export const LATE = 'worker killed too late'

/** One platform and one thing that went wrong, and what it came to. */
export interface Cell {
  way: string
  platform: Platform
  /** How many posts the public sees. */
  records: number
  status: string
  /** That the post names the very record there is. */
  isTrue: boolean
}

export interface MatrixReport {
  cells: Cell[]
  violations: string[]
}

/** Each way on each platform once, side by side: a user for each way, whose post to each platform loses its answer like that. */
export async function loseAnswers(world: FaultWorld): Promise<MatrixReport> {
  const ways = Object.entries(WAYS)
  const session = await openSession(world, { users: ways.length })
  for (const [index, [, action]] of ways.entries()) {
    await eachPlatform(world, session.users[index]!, ({ control, calls }, account) =>
      control.fault({ ...calls.publish, account, times: 1, action }),
    )
  }
  const wayOf = new Map<string, string>()
  for (const [index, [way]] of ways.entries()) {
    const user = session.users[index]!
    wayOf.set(user.userId, way)
    for (const [number, platform] of world.platforms.entries()) {
      await create(user, number, { ...wishFor([platform]) })
    }
  }
  await session.rest()
  const { cells, violations } = await report(session, ({ userId }) => wayOf.get(userId)!)
  return { cells, violations: [...violations, ...(await faultsLeft(world))] }
}

/** A fault that met nothing shows nothing. */
async function faultsLeft({ platforms }: FaultWorld): Promise<string[]> {
  const left = await Promise.all(
    platforms.map(async ({ platform, control }) =>
      (await control.faults()).map(({ action }) => `no call to ${platform} met ${JSON.stringify(action)}`),
    ),
  )
  return left.flat()
}

const ARMED_IN_MS = 5_000
const ACCEPTED_WITHIN_MS = 30_000

/**
 * Every worker is killed when all platforms have accepted and no response was received: posts of one user, one for all platforms or
 * one for each, by the seed.
 * @returns what to ask for the outcome when everything is at rest
 */
export async function killAfterAll(world: FaultWorld, seed: number): Promise<() => Promise<MatrixReport>> {
  const random = createRandom(seed)
  const [killInMs, restartInMs] = [random.between(0, 500), random.between(0, 2_000)]
  const wishes = random.chance(0.5)
    ? [wishFor(world.platforms, random.chance(0.5))]
    : world.platforms.map((platform) => wishFor([platform], random.chance(0.5)))
  const session = await openSession(world, { users: 1 })
  const [user] = session.users as [SessionUser]
  await eachPlatform(world, user, ({ control, calls }, account) =>
    control.fault({ ...calls.publish, account, times: 1, action: { holdAfterAccept: true } }),
  )
  // Ahead, so that what has to be prepared is, and all calls come in the same moment.
  const scheduledAt = Date.now() + ARMED_IN_MS
  for (const [number, wish] of wishes.entries()) await create(user, number, { ...wish, scheduledAt })
  await Promise.all(
    world.platforms.map(({ platform, control, calls }) => {
      const { accountId } = user.accounts.get(platform)!
      return until(
        `a call that ${platform} accepts`,
        async () => (await control.requests()).filter(({ account }) => account === accountId),
        (requests) => requests.some((request) => isOne(calls.publish, request) && isAccepted(request)),
        ACCEPTED_WITHIN_MS,
      )
    }),
  )
  await delay(killInMs)
  await Promise.all(world.parts('worker').map((worker) => worker.kill()))
  const entries = (await session.posts()).flatMap(({ platformStatuses }) => platformStatuses)
  const recorded = entries.filter(({ status, delivery }) => status !== 'processing' || delivery.outcome !== 'none')
  const missed = new Set(recorded.map(({ platform }) => platform))
  await delay(restartInMs)
  await world.heal()
  return async () => {
    await session.rest()
    return report(session, (_post, platform) => (missed.has(platform) ? LATE : KILL))
  }
}

async function report(
  session: Session,
  wayOf: (post: StoredPost, platform: Platform) => string,
): Promise<MatrixReport> {
  const posts = await session.posts()
  const { platforms } = await session.evidence()
  const cells = posts.flatMap((post) =>
    post.platformStatuses.map(({ platform, status, platformPostId }): Cell => {
      const ledger = platforms.find((one) => one.platform === platform)!.ledger
      const records = ledger.filter(({ text }) => text === post.content.text)
      const isTrue = records.some(({ id }) => id === platformPostId)
      return { way: wayOf(post, platform), platform, records: records.length, status, isTrue }
    }),
  )
  return { cells, violations: await session.verdict() }
}

/** Exactly one record, and the post says which. */
export const isGood = ({ records, status, isTrue }: Cell): boolean => records === 1 && status === 'completed' && isTrue

function wishFor(platforms: FaultPlatform[], withImage = false): Wish {
  return {
    text: marked(unique('post'), 'written once'),
    platforms: platforms.map(({ platform }) => platform),
    withImage: withImage || platforms.some(({ needsMedia }) => needsMedia),
  }
}

async function create(user: SessionUser, api: number, wish: Wish): Promise<void> {
  const answer = await user.via(api).create(wish)
  if (answer?.status !== 201) throw new Error(`The create was answered ${JSON.stringify(answer)}`)
}

async function eachPlatform(
  { platforms }: FaultWorld,
  user: SessionUser,
  work: (platform: FaultPlatform, account: string) => Promise<unknown>,
): Promise<void> {
  for (const platform of platforms) await work(platform, user.accounts.get(platform.platform)!.accountId)
}
