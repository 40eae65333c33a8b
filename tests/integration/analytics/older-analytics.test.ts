import { afterAll, beforeAll, expect, it } from 'vitest'
import { inventHistory, storeHistory, type UserHistory } from '../../../sandbox/analytics-history.ts'
import type { Context } from '../../../src/context.ts'
import { HOUR, MINUTE, DAY } from '../../../src/domain/shared/times.ts'
import { POST_SNAPSHOTS } from '../../../src/store/analytics/collections.ts'
import type { PostSnapshot } from '../../../src/store/analytics/snapshots.ts'
import { nativeCollection } from '../../../src/store/shared/native-collection.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { createAccount } from '../../support/api.ts'
import { publishedPost, storePosts } from '../../support/published.ts'
import { testContext } from '../../support/servers.ts'

let context: Context
beforeAll(async () => {
  context = await testContext()
})
afterAll(() => context?.close())

const snapshots = () => nativeCollection<PostSnapshot>(context.database.connection, POST_SNAPSHOTS)()
const listStored = () => snapshots().find().sort({ _id: 1 }).toArray()

/** Stores every fetch as older releases did: with a random id. */
async function storeOlder({ postSnapshots }: UserHistory): Promise<void> {
  await snapshots().insertMany(postSnapshots.map((snapshot) => ({ ...snapshot, _id: newId() })))
}

it('an interrupted move of older snapshots continues and leaves what this release would have stored', async () => {
  const [history] = inventHistory({ users: 1, posts: 80, snapshots: 12 }) as unknown as Iterable<UserHistory>
  const { userId, timezone } = history!
  await createAccount(context, { _id: userId, timezone })
  await storeHistory(context.database.connection, history!)
  const expected = await listStored()
  await snapshots().deleteMany({})
  await storeOlder(history!)

  const interrupted = context.olderAnalytics.moveSnapshots('start', () => {
    throw new Error('interrupted')
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  const isOlder = ({ _id }: PostSnapshot) => !_id.includes('/')
  const left = (await listStored()).filter(isOlder)
  expect(left.length).toBeGreaterThan(0)
  expect(left.length).toBeLessThan(history!.postSnapshots.length)

  const progress: number[] = []
  await context.olderAnalytics.moveSnapshots('start', (moved) => progress.push(moved))
  expect(progress.at(-1)).toBe(history!.postSnapshots.length)
  expect(await listStored()).toEqual(expected)

  // A process of the older release stores more until it ends.
  const [last] = history!.postSnapshots
  const slot = new Date(history!.postSnapshots.at(-1)!.slot.getTime() + DAY)
  await snapshots().insertOne({ ...last!, _id: newId(), slot, takenAt: slot })
  await context.olderAnalytics.moveSnapshots('start', () => {})
  expect((await listStored()).filter(isOlder)).toHaveLength(1)
  await context.olderAnalytics.moveSnapshots('finish', () => {})
  expect((await listStored()).filter(isOlder)).toEqual([])
  expect(await listStored()).toHaveLength(expected.length + 1)
})

it('posts that an older release published are collected within the interval of their age', async () => {
  const userId = newId()
  const ages = [HOUR, 20 * DAY, 500 * DAY]
  const posts = ages.map((ms) => {
    const post = publishedPost({ userId, on: ['bluesky', 'threads'], completedAt: new Date(Date.now() - ms) })
    const older = post.platformStatuses.map(({ metricsDueAt: _, ...entry }) => ({ ...entry, metricsSlot: new Date(0) }))
    return { ...post, platformStatuses: older }
  })
  await storePosts(context, posts)
  await context.olderAnalytics.planCollections(() => {})
  const planned = await Promise.all(posts.map(async ({ _id }) => (await context.posts.find(_id))!.platformStatuses))
  const waits = planned.map((entries) =>
    entries.map(({ metricsDueAt }) => metricsDueAt && metricsDueAt.getTime() - Date.now()),
  )
  for (const waitMs of waits[0]!) expect(waitMs).toBeLessThanOrEqual(HOUR)
  for (const waitMs of waits[1]!) expect(waitMs).toBeLessThanOrEqual(2 * DAY)
  for (const waitMs of waits.slice(0, 2).flat()) expect(waitMs).toBeGreaterThan(-MINUTE)
  expect(waits[2]).toEqual([null, null])
  expect(JSON.stringify(planned)).not.toContain('metricsSlot')

  const stored = context.database.connection.collection('posts')
  const older = { userId: 1, 'platformStatuses.completedAt': 1, 'platformStatuses.metricsSlot': 1 } as const
  await stored.createIndex(older)
  await context.olderAnalytics.dropOlderIndexes()
  expect((await stored.indexes()).map(({ key }) => key)).not.toContainEqual(older)
})
