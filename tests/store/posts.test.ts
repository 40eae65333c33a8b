import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cancel, defer, edit, entryOf, refuse } from '../../src/domain/post-moves.ts'
import { failure } from '../../src/domain/failure.ts'
import type { Post } from '../../src/domain/post.ts'
import { newId } from '../../src/store/schema-options.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { createPostStore, type PostStore } from '../../src/store/posts.ts'
import { testConfig } from '../support/servers.ts'
import { after, buildPost, claimOf, T0 } from '../support/posts.ts'

/** Two connections stand for two processes. */
const databases: Database[] = []
const stores: PostStore[] = []
let now = T0

beforeAll(async () => {
  const { MONGODB_URL } = testConfig()
  for (let index = 0; index < 2; index++) {
    const database = await openDatabase(MONGODB_URL)
    databases.push(database)
    stores.push(createPostStore(database.connection, () => now))
  }
  await databases[0]!.createIndexes()
})
afterAll(() => Promise.all(databases.map((database) => database.close())))

const [first, second] = [() => stores[0]!, () => stores[1]!]

async function stored(post: Post): Promise<Post> {
  await databases[0]!.transaction((session) => first().insert(post, session))
  return post
}

describe('transition', () => {
  it('lets exactly one of cancel and claim win, whichever process asks', async () => {
    for (let round = 0; round < 25; round++) {
      const post = await stored(buildPost())
      const results = await Promise.allSettled([
        first().transition(post._id, cancel()),
        second().transition(post._id, claimOf(post, 'bluesky', T0)),
      ])
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const left = await first().find(post._id)
      expect(left!.status).toBe(results[0].status === 'fulfilled' ? 'CANCELLED' : 'PROCESSING')
    }
  })

  it('gives one of fifty parallel claims', async () => {
    const post = await stored(buildPost())
    const claims = Array.from({ length: 50 }, (_, index) =>
      stores[index % 2]!.transition(post._id, claimOf(post, 'bluesky', T0)),
    )
    const given = (await Promise.allSettled(claims)).filter(({ status }) => status === 'fulfilled')
    expect(given).toHaveLength(1)
    expect(entryOf((await first().find(post._id))!, 'bluesky')).toMatchObject({ attemptCount: 1 })
  })

  it('takes moves of one post that meet in one process together, in one write', async () => {
    const post = await stored(buildPost({ selectedPlatforms: ['bluesky', 'mastodon', 'tumblr'] }))
    await Promise.all(
      post.selectedPlatforms.map((platform) => first().transition(post._id, claimOf(post, platform, T0))),
    )
    const left = await first().find(post._id)
    expect(left!.revision).toBe(post.revision + 1)
    expect(left!.platformStatuses.map(({ status }) => status)).toEqual(['processing', 'processing', 'processing'])
  })

  it('refuses one move without harm to those it met', async () => {
    const post = await stored(buildPost({ selectedPlatforms: ['bluesky', 'mastodon'] }))
    const [claimed, cancelled] = await Promise.allSettled([
      first().transition(post._id, claimOf(post, 'bluesky', T0)),
      first().transition(post._id, cancel()),
    ])
    expect([claimed.status, cancelled.status]).toEqual(['fulfilled', 'rejected'])
  })

  it('writes nothing for a move that changes nothing', async () => {
    const post = await stored(buildPost())
    await first().transition(post._id, refuse('bluesky', failure('validation', 'x'), { round: 7, attempt: 7 }))
    expect((await first().find(post._id))!.revision).toBe(post.revision)
  })

  it('leaves what the metrics collector writes alone', async () => {
    const post = await stored(buildPost())
    const seenAt = after(T0, 5)
    const racing = first().transition(post._id, (current) => edit({ timezone: 'Europe/Vienna' })(current, T0))
    await databases[1]!.connection
      .collection('posts')
      .updateOne({ _id: post._id as never }, { $set: { 'platformStatuses.0.lastAnalyticsFetch': seenAt } })
    await racing
    const left = await first().find(post._id)
    expect(left).toMatchObject({ timezone: 'Europe/Vienna' })
    expect(left!.platformStatuses[0]!.lastAnalyticsFetch).toEqual(seenAt)
  })

  it('says not found when the post is gone', async () => {
    await expect(first().transition(newId(), cancel())).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('what the sweeper takes up', () => {
  async function stranded(): Promise<string[]> {
    const found = await first().listStranded({
      overdueBefore: after(now, -30_000),
      stalledBefore: after(now, -300_000),
      now,
      limit: 1_000,
    })
    return found.map(({ _id }) => _id)
  }

  it('is a scheduled post whose start was never acknowledged', async () => {
    const post = await stored(buildPost({ scheduledAt: after(T0, 86_400_000) }))
    now = after(T0, 29_000)
    expect(await stranded()).not.toContain(post._id)
    now = after(T0, 31_000)
    expect(await stranded()).toContain(post._id)
    await first().acknowledgeStart(post)
    expect(await stranded()).not.toContain(post._id)
    now = T0
  })

  it('is a post that is past due and not begun, unless it waits for a stated time', async () => {
    const post = await stored(buildPost())
    const reason = failure('rate_limited', 'wait')
    now = after(T0, 31_000)
    expect(await stranded()).toContain(post._id)
    const wait = { at: after(T0, 3_600_000), countsAsTry: false }
    await first().transition(post._id, defer('bluesky', reason, { round: 0, attempt: 0 }, wait))
    expect(await stranded()).not.toContain(post._id)
    now = after(T0, 3_600_001)
    expect(await stranded()).toContain(post._id)
    now = T0
  })

  it('is a post in delivery that has not moved for five minutes', async () => {
    const post = await stored(buildPost())
    await first().transition(post._id, claimOf(post, 'bluesky', T0))
    now = after(T0, 299_000)
    expect(await stranded()).not.toContain(post._id)
    now = after(T0, 301_000)
    expect(await stranded()).toContain(post._id)
    now = T0
  })

  it('is first of all what a workflow has not been told, however many are overdue', async () => {
    await stored(buildPost())
    const untold = await stored(buildPost({ scheduledAt: after(T0, 86_400_000) }))
    now = after(T0, 31_000)
    const bounds = { overdueBefore: after(now, -30_000), stalledBefore: after(now, -300_000), now }
    const found = await first().listStranded({ ...bounds, limit: 1_000 })
    const untoldAt = found.findIndex(({ _id }) => _id === untold._id)
    expect(found.slice(0, untoldAt).every(({ startPending }) => startPending)).toBe(true)
    now = T0
  })

  it('is never a draft, a cancelled or an ended post', async () => {
    const draft = await stored(buildPost({ draft: true }))
    const cancelled = await stored(buildPost())
    await first().transition(cancelled._id, cancel())
    const ended = await stored(buildPost())
    await first().transition(ended._id, refuse('bluesky', failure('validation', 'x'), { round: 0, attempt: 0 }))
    now = after(T0, 86_400_000)
    const found = await stranded()
    for (const post of [draft, cancelled, ended]) expect(found).not.toContain(post._id)
    now = T0
  })
})
