import type { FaultAction } from '../../sandbox/platforms/faults.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { unique, type FaultCluster } from './cluster.ts'
import { isAccepted } from './faults.ts'
import { marked, type PostInput, type StoredPost } from './judge/evidence.ts'
import { listUnusedFaults } from './matrix.ts'
import { matchesCall, type FaultPlatform } from './platforms.ts'
import { openSession, type Session, type SessionUser } from './session.ts'
import { waitFor } from './wait-for.ts'

/** The posts of a thread, and the comment below it. */
export const PARTS = 4

const WITH_THREADS: readonly Platform[] = ['bluesky', 'mastodon', 'threads']
const WITH_COMMENTS: readonly Platform[] = ['facebook', 'instagram']
const ACCEPTED_WITHIN_MS = 60_000

/** Faults of the answer to a part that its platform has published. */
const LOST_ANSWERS: FaultAction[] = [
  { dropAfterAccept: true },
  { truncate: true },
  { statusAfterAccept: 500, body: { error: 'InternalServerError' } },
]

interface PartsReport {
  /** The states of the parts of every entry. */
  entries: { platform: Platform; parts: number; comment: string | undefined; status: string }[]
  violations: string[]
}

/** Loses the answer to every part of a thread once in every way, on every platform with threads; and that to comments on the others. */
export async function loseAnswersOfParts(cluster: FaultCluster): Promise<PartsReport> {
  const losses = LOST_ANSWERS.flatMap((action) => Array.from({ length: PARTS }, (_, part) => ({ action, part })))
  const session = await openSession(cluster, { users: losses.length })
  for (const [index, { action, part }] of losses.entries()) {
    const user = session.users[index]!
    await addFaults(cluster, user, part, action)
    await createPosts(cluster, user, index)
  }
  await session.waitUntilIdle()
  const { entries, violations } = await buildReport(session)
  return { entries, violations: [...violations, ...(await listUnusedFaults(cluster))] }
}

/** Kills every worker while the platforms have accepted another part of each user's thread and no answer has arrived. */
export async function killBetweenParts(cluster: FaultCluster): Promise<PartsReport> {
  const session = await openSession(cluster, { users: PARTS })
  for (const [part, user] of session.users.entries()) {
    await addFaults(cluster, user, part, { holdAfterAccept: true })
    await createPosts(cluster, user, part)
  }
  for (const [part, user] of session.users.entries()) {
    for (const { platform, control, calls } of listThreaded(cluster)) {
      const { accountId } = user.accounts.get(platform)!
      await waitFor(
        `part ${part} that ${platform} accepts`,
        async () =>
          (await control.requests()).filter(
            (request) => request.account === accountId && matchesCall(calls.publish, request) && isAccepted(request),
          ),
        (accepted) => accepted.length > part,
        ACCEPTED_WITHIN_MS,
      )
    }
  }
  await Promise.all(cluster.processes('worker').map((worker) => worker.kill()))
  await cluster.heal()
  await session.waitUntilIdle()
  return buildReport(session)
}

const listThreaded = ({ platforms }: FaultCluster): FaultPlatform[] =>
  platforms.filter(({ platform }) => WITH_THREADS.includes(platform))

/** Makes the call for one part fail; on platforms without threads, the comment. */
async function addFaults(
  { platforms }: FaultCluster,
  user: SessionUser,
  part: number,
  action: FaultAction,
): Promise<void> {
  for (const { platform, control, calls } of platforms) {
    const { accountId: account } = user.accounts.get(platform)!
    if (WITH_THREADS.includes(platform))
      await control.fault({ ...calls.publish, account, skip: part, times: 1, action })
    else if (WITH_COMMENTS.includes(platform) && part === PARTS - 1) {
      await control.fault({ method: 'POST', path: '/comments', account, times: 1, action })
    }
  }
}

async function createPosts({ platforms }: FaultCluster, user: SessionUser, api: number): Promise<void> {
  const marker = unique('thread')
  const text = (part: string) => marked(`${marker}-${part}`, 'written once')
  const available = (names: readonly Platform[]) =>
    platforms.map(({ platform }) => platform).filter((platform) => names.includes(platform))
  const comment = { firstComment: text('comment') }
  const segments = ['second', 'third'].map(text)
  const inputs: PostInput[] = [
    { text: text('first'), segments, ...comment, platforms: available(WITH_THREADS) },
    { text: text('single'), firstComment: text('below'), withImage: true, platforms: available(WITH_COMMENTS) },
  ]
  for (const input of inputs) {
    const answer = await user.clientFor(api).create(input)
    if (answer?.status !== 201) throw new Error(`The create returned ${JSON.stringify(answer)}`)
  }
}

async function buildReport(session: Session): Promise<PartsReport> {
  const posts: StoredPost[] = await session.readPosts()
  const entries = posts.flatMap(({ platformStatuses }) =>
    platformStatuses.map(({ platform, status, parts = [], comment }) => ({
      ...{ platform, status, parts: parts.length, comment: comment?.status },
    })),
  )
  return { entries, violations: await session.verdict() }
}

/** The number of posts that a thread has on a platform. */
export const countPosts = (platform: Platform): number => (WITH_THREADS.includes(platform) ? PARTS - 1 : 1)
