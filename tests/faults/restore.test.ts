import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { startFaultCluster, unique, type FaultCluster } from './cluster.ts'
import { readDump, restoreDump } from './dump.ts'
import { openSession, type Session, type SessionUser } from './session.ts'
import { waitFor } from './wait-for.ts'

/**
 * The drill of docs/operations/backups-and-keys.md: MongoDB is dumped under load, everything but the platforms is destroyed a while later, and
 * the dump is restored. The Mastodon server ignores idempotency keys.
 */

const SECOND = 1_000
const PLANNED = 14
const PLANNED_EVERY_MS = 4 * SECOND
const FIRST_DUE_MS = 12 * SECOND
/** The least number of planned posts that are published between dump and destruction, and of those published after the restore. */
const LEAST_OF_A_KIND = 4
const LOST_EVERY_MS = 2 * SECOND

it('after dump, destruction and restore, every post of the dump is public once on every platform', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-restore-'))
  const cluster = await startFaultCluster({ dir, apis: 1, workers: 1, env: { UNANSWERED_CALL_SETTLE_MS: '5000' } })
  onTestFinished(async ({ task }) => {
    await cluster.stop()
    if (task.result?.state === 'fail') console.error(`Logs and journal: ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  })
  const session = await openSession(cluster, { users: 1 })
  const [user] = session.users as [SessionUser]
  const start = Date.now()

  const retried = await createRefused(cluster, session, user)
  const planned: string[] = []
  for (let index = 0; index < PLANNED; index++) {
    planned.push(await create(cluster, user, start + FIRST_DUE_MS + index * PLANNED_EVERY_MS))
  }
  const load = publishInALoop(cluster, user)
  await isIn(session, planned[0]!, 'COMPLETED')
  const dumpedAt = new Date()
  const dump = await readDump(cluster.database)
  // The backup has this post as failed. Its user retries it before the disaster, and again after the restore.
  await user.clientFor(0).retry(retried)
  await isIn(session, retried, 'COMPLETED')
  const inDump = dump
    .get('posts')!
    .filter(({ status }) => String(status) !== 'COMPLETED')
    .map(({ _id }) => String(_id))
  const publishedBefore = await waitFor(
    'published posts that the dump has as waiting',
    async () => (await session.readPosts()).filter(({ status }) => status === 'COMPLETED').map(({ _id }) => _id),
    (ids) => inDump.filter((id) => ids.includes(id)).length >= LEAST_OF_A_KIND,
  )
  await load.stop()

  await destroy(cluster)
  await cluster.process('mongod').start()
  await cluster.process('temporal').start()
  await restoreDump(cluster.database, dump)
  await cluster.admin('restored', '--dumped-at', dumpedAt.toISOString())
  await cluster.setUp()
  await cluster.heal()

  await session.waitUntilIdle()
  expect(await cluster.admin('held')).toMatch(/^EMAIL.*\n$/)
  await user.clientFor(0).retry(retried)
  await session.waitUntilIdle()

  const posts = await session.readPosts()
  const published = await readPublished(cluster, user)
  const table = posts.flatMap(({ _id, content, platformStatuses }) =>
    platformStatuses.map(({ platform, status, platformPostId }) => ({
      ...{ post: content.text, platform, status },
      isNamed: published(platform, content.text).includes(platformPostId!),
      times: published(platform, content.text).length,
      wasPublished: publishedBefore.includes(_id),
    })),
  )
  const wrong = table.filter(({ status, isNamed, times }) => status !== 'completed' || !isNamed || times !== 1)
  expect(wrong).toEqual([])
  // The drill had posts of every kind: published before the dump, between dump and destruction, and not yet.
  expect(inDump.filter((id) => !publishedBefore.includes(id)).length).toBeGreaterThanOrEqual(LEAST_OF_A_KIND)
  expect(inDump.length).toBeLessThan(posts.length)
})

const platformsOf = ({ platforms }: FaultCluster) => platforms.map(({ platform }) => platform)

/** Creates a post with an image for every platform. */
async function create(cluster: FaultCluster, user: SessionUser, scheduledAt: number | null): Promise<string> {
  const text = `Written once ${unique('post')}`
  const answer = await user.clientFor(0).create({ text, platforms: platformsOf(cluster), withImage: true, scheduledAt })
  expect(answer).toMatchObject({ status: 201 })
  return (answer!.body as { data: { postId: string } }).data.postId
}

/** Creates a post that every platform refuses. */
async function createRefused(cluster: FaultCluster, session: Session, user: SessionUser): Promise<string> {
  for (const { control, calls, refusals } of cluster.platforms) {
    await control.fault({ ...calls.publish, times: 1, action: refusals.definite })
  }
  const postId = await create(cluster, user, null)
  await isIn(session, postId, 'FAILED')
  return postId
}

const isIn = (session: Session, postId: string, state: string) =>
  waitFor(
    `a post that is ${state}`,
    async () => (await session.readPosts()).find(({ _id }) => _id === postId)!.status,
    (status) => status === state,
  )

/** Publishes posts until `stop`. Those after the dump are lost. */
function publishInALoop(cluster: FaultCluster, user: SessionUser) {
  const stopping = new AbortController()
  const publishing = (async () => {
    while (!stopping.signal.aborted) {
      await create(cluster, user, null)
      await delay(LOST_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()
  return {
    async stop(): Promise<void> {
      stopping.abort()
      await publishing
    },
  }
}

/** Kills every process, and removes the data of MongoDB and Temporal. */
async function destroy(cluster: FaultCluster): Promise<void> {
  const services = [...cluster.processes('api'), ...cluster.processes('worker')]
  const servers = [cluster.process('temporal'), cluster.process('mongod')]
  for (const process of [...services, ...servers]) await process.kill()
  for (const folder of ['mongodb', 'temporal']) rmSync(join(cluster.dir, folder), { recursive: true })
}

/** Returns the ids of the user's public posts with a text. */
async function readPublished(cluster: FaultCluster, user: SessionUser) {
  const ledgers = new Map(
    await Promise.all(
      cluster.platforms.map(async ({ platform, control }) => {
        const own = user.accounts.get(platform)!.account
        return [platform, (await control.ledger()).filter(({ account }) => account === own)] as const
      }),
    ),
  )
  return (platform: (typeof cluster.platforms)[number]['platform'], text: string): string[] =>
    ledgers
      .get(platform)!
      .filter((entry) => entry.text === text)
      .map(({ id }) => id)
}
