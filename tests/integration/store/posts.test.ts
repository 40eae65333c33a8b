import { afterAll, beforeAll, expect, it } from 'vitest'
import { edit } from '../../../src/domain/posts/post-moves.ts'
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

it("counting a user's posts of one second reads only the keys of that second", async () => {
  const at = after(T0, 700_000)
  const userId = newId()
  const times = Array.from({ length: 300 }, (_, index) => (index < 150 ? at : after(at, 60_000)))
  const posts = times.map((scheduledAt) => buildPost({ scheduledAt, userId }))
  await database.transaction((session) => store.insert(posts, session))
  const { connection } = database
  const examined = await countExamined(connection, 'posts', async () => {
    expect(await store.countScheduledOf(userId, at)).toBe(150)
  })
  // The key after the last one ends the search.
  expect(examined).toEqual({ keys: 151, docs: 0 })
})
