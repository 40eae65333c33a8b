import { afterAll, beforeAll, expect, it } from 'vitest'
import { markRestoredPosts } from '../../../src/commands/posts/restored-posts.ts'
import { HOUR, SECOND } from '../../../src/domain/shared/times.ts'
import { getNativeDatabase } from '../../../src/store/shared/native-collection.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

/** The short form of tests/faults/restore.test.ts: only posts are restored, in one process. */

let world: PlatformsWorld
beforeAll(async () => void (world = await startPlatformsWorld({ UNANSWERED_CALL_SETTLE_MS: 1_000 })))
afterAll(() => world?.stop())

type User = Awaited<ReturnType<PlatformsWorld['user']>>
interface StoredPost {
  _id: string
  userId: string
  scheduledAt: Date
  dueAt: Date
}

const collection = (name: string) => getNativeDatabase(world.context.database.connection).collection<StoredPost>(name)

/** Replaces the user's posts by those of a backup, between two runs of the workers. */
async function restore(userId: string, dump: StoredPost[], beforeStart: () => Promise<unknown>): Promise<void> {
  await world.stopWorkers()
  for (const name of ['posts', 'platformPosts']) await collection(name).deleteMany({ userId })
  await collection('posts').insertMany(dump)
  await beforeStart()
  await world.startWorkers()
  for (const { _id } of dump) await world.context.orchestrator.signal((await world.context.posts.find(_id))!, 'changed')
}

const countByText = async (user: User, text: string) =>
  Object.fromEntries(
    await Promise.all(
      world.platforms.map(async ({ platform }) => {
        const published = await user.published(platform)
        return [platform, published.filter((entry) => entry.text === text).length] as const
      }),
    ),
  )

it('after a restore that is marked, no post is public twice on any platform, and none is missing', async () => {
  const user = await world.user()
  const all = world.platforms.map(({ platform }) => platform)
  const dumpedAt = new Date()
  const soon = new Date(Date.now() + 8 * SECOND).toISOString()
  const later = new Date(Date.now() + HOUR).toISOString()
  const published = await user.post(all, 'Published after the dump', { scheduledAt: soon })
  const missed = await user.post(all, 'Due while the service was away', { scheduledAt: later })
  const dump = await collection('posts').find({ userId: user.userId }).toArray()
  expect(await user.until(published)).toMatchObject({ status: 'COMPLETED' })
  const missedDump = dump.find(({ _id }) => _id === missed)!
  missedDump.scheduledAt = missedDump.dueAt = new Date()

  await restore(user.userId, dump, async () => {
    expect(await markRestoredPosts(world.context, dumpedAt)).toMatchObject({ posts: 2 })
  })
  for (const postId of [published, missed]) {
    const { status, platformStatuses } = await user.until(postId)
    expect([status, ...platformStatuses.map(({ status: one }) => one)]).toEqual([
      'COMPLETED',
      ...all.map(() => 'completed'),
    ])
  }
  const once = Object.fromEntries(all.map((platform) => [platform, 1]))
  expect(await countByText(user, 'Published after the dump')).toEqual(once)
  expect(await countByText(user, 'Due while the service was away')).toEqual(once)
})

it('platforms with keys refuse a repeat after a restore that was not marked', async () => {
  const user = await world.user()
  const soon = new Date(Date.now() + 5 * SECOND).toISOString()
  const postId = await user.post(['bluesky', 'mastodon'], 'Repeated', { scheduledAt: soon })
  const dump = await collection('posts').find({ userId: user.userId }).toArray()
  const before = await user.until(postId)
  await restore(user.userId, dump, async () => {})
  const after = await user.until(postId)
  const idsOf = ({ platformStatuses }: typeof after) => platformStatuses.map(({ platformPostId }) => platformPostId)
  expect(idsOf(after)).toEqual(idsOf(before))
  expect(await countByText(user, 'Repeated')).toMatchObject({ bluesky: 1, mastodon: 1 })
})
