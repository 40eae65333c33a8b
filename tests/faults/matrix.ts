import { setTimeout as delay } from 'node:timers/promises'
import { toTarget, type Target } from '../../src/domain/posts/targets.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { FaultAction } from '../../sandbox/platforms/faults.ts'
import {
  afterAccept,
  FOREIGN_RESPONSES,
  insteadOf,
  type ForeignResponseName,
} from '../../sandbox/platforms/foreign-responses.ts'
import type { SandboxAccount } from '../../sandbox/platforms/sandbox-platform.ts'
import { isAccepted } from './faults.ts'
import { marked, type PostInput, type StoredPost } from './judge/evidence.ts'
import { matchesCall, type FaultPlatform } from './platforms.ts'
import { createRandom } from './random.ts'
import { openSession, type Session, type SessionUser } from './session.ts'
import { waitFor } from './wait-for.ts'
import { SETTLE_MS, unique, type FaultCluster } from './cluster.ts'

const FOREIGN_RESPONSE_NAMES = Object.keys(FOREIGN_RESPONSES) as ForeignResponseName[]

const TOO_LARGE = { headers: { 'content-type': 'text/html' }, body: '<h1>Request Entity Too Large</h1>' }

/** The faults of a visible call and its response. `hang` and every fault with `instead` leave the post unpublished. */
const RESPONSE_FAULTS: Record<string, FaultAction | ((platform: FaultPlatform) => FaultAction)> = {
  'drop after accept': { dropAfterAccept: true },
  'truncated response': { truncate: true },
  '500 after accept': { statusAfterAccept: 500, body: { error: 'InternalServerError' } },
  hang: { hang: true },
  'hold after accept': { holdAfterAccept: true },
  // By then the client has disconnected, and two reconciliations have found nothing.
  'accept late': { delayMs: SETTLE_MS * (2 / 3) },
  // What is too large for a proxy is no text.
  'a page with 413 instead': { status: 413, ...TOO_LARGE },
  'a page with 413 after accept': { statusAfterAccept: 413, ...TOO_LARGE },
  "the platform's own 404 after accept": ({ notFound: body }) => ({ statusAfterAccept: 404, body }),
  ...Object.fromEntries(FOREIGN_RESPONSE_NAMES.map((name) => [`${name} instead`, insteadOf(name)])),
  ...Object.fromEntries(FOREIGN_RESPONSE_NAMES.map((name) => [`${name} after accept`, afterAccept(name)])),
}

const KILLED = 'worker killed after accept'
/** On a busy machine the call can time out before its worker is killed. */
export const KILLED_LATE = 'worker killed too late'

/** The result of one fault on one platform. */
export interface Cell {
  fault: string
  platform: Platform
  /** The id of the account; absent for the default account. */
  target?: string
  /** The number of posts that the public sees on the account. */
  records: number
  status: string
  /** The post names a record that exists. */
  namesRecord: boolean
}

export interface MatrixReport {
  cells: Cell[]
  violations: string[]
}

/**
 * Tests each fault on each platform once, all concurrently. Each fault has a user with one post per platform, with the same text for both
 * accounts. The fault affects one of them, in turn the default account and the other one. Every second pair has an image.
 */
export async function loseResponses(cluster: FaultCluster): Promise<MatrixReport> {
  const faults = Object.entries(RESPONSE_FAULTS)
  const session = await openSession(cluster, { users: faults.length, withFurtherAccounts: true })
  for (const [index, [, action]] of faults.entries()) {
    const affected = index % 2 === 0 ? 'accounts' : 'further'
    await forEachPlatform(cluster, session.users[index]![affected], async (platform, account) => {
      const met = typeof action === 'function' ? action(platform) : action
      await platform.control.fault({ ...platform.calls.publish, account, times: 1, action: met })
    })
  }
  const faultByUser = new Map<string, string>()
  for (const [index, [fault]] of faults.entries()) {
    const user = session.users[index]!
    faultByUser.set(user.userId, fault)
    for (const [number, platform] of cluster.platforms.entries()) {
      await create(user, number, buildInput(user, [platform], index % 4 >= 2))
    }
  }
  await session.waitUntilIdle()
  const { cells, violations } = await buildReport(session, ({ userId }) => faultByUser.get(userId)!)
  return { cells, violations: [...violations, ...(await listUnusedFaults(cluster))] }
}

/** Returns a message for each fault that affected no call and so tested nothing. */
export async function listUnusedFaults({ platforms }: FaultCluster): Promise<string[]> {
  const unused = await Promise.all(
    platforms.map(async ({ platform, control }) =>
      (await control.faults()).map(({ action }) => `no call to ${platform} was affected by ${JSON.stringify(action)}`),
    ),
  )
  return unused.flat()
}

const ARMED_IN_MS = 5_000
const ACCEPTED_WITHIN_MS = 30_000

/**
 * Kills every worker after all accounts of one user have accepted a post and before any response. The seed decides whether it is
 * one post for all platforms or one for each.
 * @returns a function that waits until everything is idle and returns the report
 */
export async function killAfterAllAccepted(cluster: FaultCluster, seed: number): Promise<() => Promise<MatrixReport>> {
  const random = createRandom(seed)
  const [killInMs, restartInMs] = [random.between(0, 500), random.between(0, 2_000)]
  const session = await openSession(cluster, { users: 1, withFurtherAccounts: true })
  const [user] = session.users as [SessionUser]
  const inputs = random.chance(0.5)
    ? [buildInput(user, cluster.platforms, random.chance(0.5))]
    : cluster.platforms.map((platform) => buildInput(user, [platform], random.chance(0.5)))
  const bothAccounts = [user.accounts, user.further]
  for (const accounts of bothAccounts) {
    await forEachPlatform(cluster, accounts, ({ control, calls }, account) =>
      control.fault({ ...calls.publish, account, times: 1, action: { holdAfterAccept: true } }),
    )
  }
  // Ahead of time, so that media is prepared and all calls start together.
  const scheduledAt = Date.now() + ARMED_IN_MS
  for (const [number, input] of inputs.entries()) await create(user, number, { ...input, scheduledAt })
  await Promise.all(
    bothAccounts.map((accounts) =>
      forEachPlatform(cluster, accounts, ({ platform, control, calls }, accountId) =>
        waitFor(
          `a call that ${platform} accepts`,
          async () => (await control.requests()).filter(({ account }) => account === accountId),
          (requests) => requests.some((request) => matchesCall(calls.publish, request) && isAccepted(request)),
          ACCEPTED_WITHIN_MS,
        ),
      ),
    ),
  )
  await delay(killInMs)
  await Promise.all(cluster.processes('worker').map((worker) => worker.kill()))
  const entries = (await session.readPosts()).flatMap(({ platformStatuses }) => platformStatuses)
  const recorded = entries.filter(({ status, delivery }) => status !== 'processing' || delivery.outcome !== 'none')
  const late = new Set(recorded.map(toTarget))
  await delay(restartInMs)
  await cluster.heal()
  return async () => {
    await session.waitUntilIdle()
    return buildReport(session, (_post, target) => (late.has(target) ? KILLED_LATE : KILLED))
  }
}

async function buildReport(
  session: Session,
  findFault: (post: StoredPost, target: Target) => string,
): Promise<MatrixReport> {
  const posts = await session.readPosts()
  const { platforms } = await session.gatherEvidence()
  const cells = posts.flatMap((post) =>
    post.platformStatuses.map((entry): Cell => {
      const { platform, target, status, platformPostId } = entry
      const place = toTarget(entry)
      const { ledger } = platforms.find((one) => toTarget(one) === place)!
      const records = ledger.filter(({ text }) => text === post.content.text)
      const namesRecord = records.some(({ id }) => id === platformPostId)
      const about = { fault: findFault(post, place), platform, ...(target !== undefined && { target }) }
      return { ...about, records: records.length, status, namesRecord }
    }),
  )
  return { cells, violations: await session.verdict() }
}

/** Returns whether the platform has exactly one record, which the completed post names. */
export const isPublishedOnce = ({ records, status, namesRecord }: Cell): boolean =>
  records === 1 && status === 'completed' && namesRecord

/** The same text for both accounts of each platform. */
function buildInput({ further }: SessionUser, platforms: FaultPlatform[], withImage = false): PostInput {
  return {
    text: marked(unique('post'), 'written once'),
    platforms: platforms.map(({ platform }) => platform),
    accounts: platforms.map(({ platform }) => further.get(platform)!.id),
    withImage: withImage || platforms.some(({ needsMedia }) => needsMedia),
  }
}

async function create(user: SessionUser, api: number, input: PostInput): Promise<void> {
  const answer = await user.clientFor(api).create(input)
  if (answer?.status !== 201) throw new Error(`The create returned ${JSON.stringify(answer)}`)
}

/** Runs work for the account of each platform, by the platform's id. */
async function forEachPlatform(
  { platforms }: FaultCluster,
  accounts: ReadonlyMap<Platform, SandboxAccount>,
  work: (platform: FaultPlatform, account: string) => Promise<unknown>,
): Promise<void> {
  await Promise.all(platforms.map((platform) => work(platform, accounts.get(platform.platform)!.accountId)))
}
