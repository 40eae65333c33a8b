import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { extractRelease, findLastRelease } from '../support/last-release.ts'
import { startFaultCluster, unique, type FaultCluster } from './cluster.ts'
import { marked, type PostInput } from './judge/evidence.ts'
import { findUnsentPosts, retryFailed } from './run.ts'
import { openSession, type Session, type SessionUser } from './session.ts'
import { waitFor } from './wait-for.ts'

/**
 * Upgrades the last release to the working tree while its posts are in every state and under load. While nothing is released, the working
 * tree takes the place of the release: its changes need no compatibility yet, but a rolling restart has to lose nothing.
 */

const SECOND = 1_000
const LOAD_EVERY_MS = 400

let cluster: FaultCluster
let session: Session

/** Starts the last release. Each try of the test has a cluster of its own, because an upgrade cannot be taken back. */
async function startLastRelease(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-upgrade-'))
  const release = await findLastRelease()
  const root = release === null ? PROJECT_ROOT : await extractRelease(release, join(dir, 'release'))
  cluster = await startFaultCluster({ dir, root })
  onTestFinished(async ({ task }) => {
    await cluster.stop()
    if (task.result?.state === 'fail') console.error(`Logs and journal: ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  })
  session = await openSession(cluster, { users: 2 })
}

it('posts in every state are published once while rolling restarts upgrade the last release', async () => {
  await startLastRelease()
  const [user] = session.users as [SessionUser]
  const { draft, refused, cancelled, moved } = await createInEveryState(user)
  const load = startLoad()

  cluster.useSource(PROJECT_ROOT)
  await cluster.setUp()
  // A new process beside old ones of each kind.
  for (const name of ['worker-1', 'api-1', 'api-2', 'worker-2']) {
    const process = cluster.process(name)
    await process.stop()
    await process.start()
    // Both releases run. What one of them stores is read by the other.
    if (name === 'api-1') await create(await session.addUser(), { scheduledAt: Date.now() + 10 * SECOND })
  }

  await user.clientFor(0).edit(draft, { status: 'SCHEDULED', scheduledAt: Date.now() + SECOND })
  await user.clientFor(0).cancel(cancelled)
  await user.clientFor(0).edit(moved, { scheduledAt: Date.now() + 2 * SECOND })
  await load.stop()
  await cluster.heal()
  await session.waitUntilIdle()
  const failed = (await session.readPosts()).filter(({ status }) => ['FAILED', 'PARTIAL_SUCCESS'].includes(status))
  expect(failed.map(({ _id }) => _id)).toEqual([refused])
  await retryFailed(session)
  await session.waitUntilIdle()

  expect([...(await session.verdict()), ...(await findUnsentPosts(session))]).toEqual([])
  const posts = await session.readPosts()
  const statusOf = (id: string) => posts.find(({ _id }) => _id === id)?.status
  expect([draft, moved, cancelled].map(statusOf)).toEqual(['COMPLETED', 'COMPLETED', 'CANCELLED'])
})

/** Creates posts for all platforms, and waits until each is in the state that it is meant for. */
async function createInEveryState(
  user: SessionUser,
): Promise<Record<'draft' | 'refused' | 'cancelled' | 'moved', string>> {
  const on = (name: string) => cluster.platforms.find(({ platform }) => platform === name)!
  const soon = (seconds: number) => Date.now() + seconds * SECOND
  const [bluesky, mastodon] = [on('bluesky'), on('mastodon')]
  const isIn = (postId: string, state: string) =>
    waitFor(
      `a post that is ${state}`,
      async () => (await session.readPosts()).find(({ _id }) => _id === postId)!.status,
      (status) => status === state,
    )

  await isIn(await create(user), 'COMPLETED')
  await bluesky.control.fault({ ...bluesky.calls.publish, times: 1, action: bluesky.refusals.definite })
  const refused = await create(user, { platforms: ['bluesky'] })
  await isIn(refused, 'FAILED')
  const draft = await create(user, { status: 'DRAFT' })
  await user.clientFor(0).cancel(await create(user, { scheduledAt: soon(600) }))
  const [cancelled, moved] = [
    await create(user, { scheduledAt: soon(600) }),
    await create(user, { scheduledAt: soon(600) }),
  ]
  // The next try waits, and the outcome is unknown.
  await mastodon.control.fault({ ...mastodon.calls.publish, times: 6, action: mastodon.refusals.limited })
  await isIn(await create(user, { platforms: ['mastodon'] }), 'PROCESSING')
  await bluesky.control.fault({ ...bluesky.calls.publish, times: 1, action: { dropAfterAccept: true } })
  await bluesky.control.fault({ ...bluesky.calls.reconcile, times: 3, action: { status: 502 } })
  await isIn(await create(user, { platforms: ['bluesky'] }), 'PROCESSING')
  // Armed, prepared and only timed when their workers stop.
  for (const seconds of [6, 12, 20, 45]) await create(user, { scheduledAt: soon(seconds) })
  return { draft, refused, cancelled, moved }
}

/** By default, a post for all platforms that is due now. */
async function create(user: SessionUser, input: Partial<PostInput> = {}): Promise<string> {
  const platforms = cluster.platforms.map(({ platform }) => platform)
  const text = marked(unique('post'), 'written once')
  const answer = await user.clientFor(0).create({ text, platforms, withImage: true, ...input })
  expect(answer).toMatchObject({ status: 201 })
  return (answer!.body as { data: { postId: string } }).data.postId
}

/** Creates posts of the other user at a fixed rate, at both API processes in turn, until `stop`. */
function startLoad() {
  const user = session.users[1]!
  let isStopped = false
  const creating = (async () => {
    for (let count = 0; !isStopped; count++) {
      const scheduledAt = count % 2 === 0 ? null : Date.now() + 5 * SECOND
      const text = marked(unique('load'), 'written once')
      await Promise.all([
        user.clientFor(count).create({ text, platforms: ['bluesky', 'mastodon'], scheduledAt }),
        delay(LOAD_EVERY_MS),
      ])
    }
  })()
  return {
    async stop(): Promise<void> {
      isStopped = true
      await creating
    },
  }
}
