import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { edit } from '../../../src/domain/posts/post-moves.ts'
import { DAY, HOUR } from '../../../src/domain/shared/times.ts'
import { createPostStore, type PostStore } from '../../../src/store/posts/posts.ts'
import { openDatabase, type Database } from '../../../src/store/shared/database.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { after, buildPost, T0 } from '../../support/posts.ts'
import { countExamined } from '../../support/query-plans.ts'
import { testConfig } from '../../support/servers.ts'
import { describePostStore } from './post-store-suite.ts'

const { MONGODB_URL } = testConfig()
const open = () => openDatabase(MONGODB_URL)

describePostStore(open)

let database: Database
let store: PostStore
beforeAll(async () => {
  database = await open()
  store = createPostStore(database.connection, () => T0)
  await database.createSchema()
})
afterAll(() => database.close())

it('the timeline and the pending events are not part of listed posts', async () => {
  const post = buildPost({ draft: true })
  await database.transaction((session) => store.insert([post], session))
  await store.transition(post, edit({ timezone: 'Asia/Tokyo' }))
  const query = { page: 1, limit: 5, sortBy: 'createdAt', sortOrder: 'desc' } as const
  const { posts } = await store.list(post.userId, query)
  expect(posts[0]).toMatchObject({ _id: post._id })
  expect(posts[0]).not.toHaveProperty('timeline')
  expect(posts[0]).not.toHaveProperty('pendingEvents')
})

describe('posts of a range among many others', () => {
  const from = new Date('2027-05-01T00:00:00Z')
  const to = new Date('2027-05-31T23:59:59Z')
  const userId = newId()

  beforeAll(async () => {
    const inRange = Array.from({ length: 60 }, (_, index) => after(from, index * 7 * HOUR))
    const posts = [
      ...inRange.map((scheduledAt) => buildPost({ userId, scheduledAt })),
      ...inRange.map((createdAt) => buildPost({ userId }, createdAt)),
      // Created in the range for later, and created before it.
      ...inRange.map((createdAt) => buildPost({ userId, scheduledAt: after(to, 90 * DAY) }, createdAt)),
      ...Array.from({ length: 300 }, () => buildPost({ userId })),
    ]
    await database.transaction((session) => store.insert(posts, session))
  })

  it('counting them reads only their keys', async () => {
    const examined = await countExamined(database.connection, 'posts', async () => {
      const counts = await store.countPerSlot(userId, { from, to })
      expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(120)
    })
    expect(examined.docs).toBe(0)
    expect(examined.keys).toBeLessThan(400)
  })

  it.each([
    ['the calendar', () => store.calendarOf(userId, { from, to }, 500)],
    [
      'a page',
      async () =>
        (await store.list(userId, { from, to, ...{ page: 1, limit: 200, sortBy: 'date', sortOrder: 'asc' } })).posts,
    ],
    ['a filter by account', () => store.calendarOf(userId, { from, to, accountIds: ['none'] }, 500)],
  ] as const)('%s reads only their records', async (name, read) => {
    const examined = await countExamined(database.connection, 'posts', async () => {
      expect(await read()).toHaveLength(name === 'a filter by account' ? 0 : 120)
    })
    // MongoDB counts those without a time twice, and a page also counts all.
    expect(examined.docs).toBeLessThanOrEqual(name === 'a page' ? 360 : 180)
    expect(examined.keys).toBeLessThan(800)
  })
})

it("counting a user's posts of one second reads only the keys of that second", async () => {
  const at = after(T0, 700_000)
  const userId = newId()
  const times = Array.from({ length: 300 }, (_, index) => (index < 150 ? at : after(at, -60_000)))
  const posts = times.map((scheduledAt) => buildPost({ scheduledAt, userId }))
  await database.transaction((session) => store.insert(posts, session))
  const { connection } = database
  const examined = await countExamined(connection, 'posts', async () => {
    expect(await store.countScheduledOf(userId, at)).toBe(150)
  })
  // The key after the last one ends the search.
  expect(examined).toEqual({ keys: 151, docs: 0 })
})
