import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accept, defer, EffectTaken, refuse } from '../../../src/domain/posts/delivery-moves.ts'
import { findEntry, toPublishedKey } from '../../../src/domain/posts/post-entries.ts'
import { cancel, edit } from '../../../src/domain/posts/post-moves.ts'
import { failure } from '../../../src/domain/posts/failure.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import type { TimelineEvent } from '../../../src/domain/posts/timeline.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import type { Database } from '../../../src/store/shared/database.ts'
import { createPostStore, type PostStore } from '../../../src/store/posts/posts.ts'
import { createPlatformPosts } from '../../../src/store/posts/platform-posts.ts'
import { after, buildPost, buildClaim, T0 } from '../../support/posts.ts'

/**
 * What the store of posts promises to deliveries, on any database.
 * @param open opens a further connection to the same database; connections act as processes
 */
export function describePostStore(open: () => Promise<Database>): void {
  const databases: Database[] = []
  const stores: PostStore[] = []
  let now = T0

  beforeAll(async () => {
    for (let index = 0; index < 2; index++) {
      const database = await open()
      databases.push(database)
      stores.push(createPostStore(database.connection, () => now))
    }
    await databases[0]!.createSchema()
  })
  afterAll(() => Promise.all(databases.map((database) => database.close())))

  const [first, second] = [() => stores[0]!, () => stores[1]!]

  async function stored(post: Post): Promise<Post> {
    await databases[0]!.transaction((session) => first().insert([post], session))
    return post
  }

  describe('transition', () => {
    it('either the cancel or the claim wins across processes, never both', async () => {
      for (let round = 0; round < 25; round++) {
        const post = await stored(buildPost())
        const results = await Promise.allSettled([
          first().transition(post, cancel()),
          second().transition(post, buildClaim(post, 'bluesky', T0)),
        ])
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        const left = await first().find(post._id)
        expect(left!.status).toBe(results[0].status === 'fulfilled' ? 'CANCELLED' : 'PROCESSING')
      }
    })

    it('a single claim of fifty parallel ones wins', async () => {
      const post = await stored(buildPost())
      const claims = Array.from({ length: 50 }, (_, index) =>
        stores[index % 2]!.transition(post, buildClaim(post, 'bluesky', T0)),
      )
      const given = (await Promise.allSettled(claims)).filter(({ status }) => status === 'fulfilled')
      expect(given).toHaveLength(1)
      expect(findEntry((await first().find(post._id))!, 'bluesky')).toMatchObject({ attemptCount: 1 })
    })

    it('concurrent moves of one post in one process share one write', async () => {
      const post = await stored(buildPost({ selectedPlatforms: ['bluesky', 'mastodon', 'tumblr'] }))
      await Promise.all(
        post.selectedPlatforms.map((platform) => first().transition(post, buildClaim(post, platform, T0))),
      )
      const left = await first().find(post._id)
      expect(left!.revision).toBe(post.revision + 1)
      expect(left!.platformStatuses.map(({ status }) => status)).toEqual(['processing', 'processing', 'processing'])
    })

    it('a refused move does not affect the moves it shares a write with', async () => {
      const post = await stored(buildPost({ selectedPlatforms: ['bluesky', 'mastodon'] }))
      const [claimed, cancelled] = await Promise.allSettled([
        first().transition(post, buildClaim(post, 'bluesky', T0)),
        first().transition(post, cancel()),
      ])
      expect([claimed.status, cancelled.status]).toEqual(['fulfilled', 'rejected'])
    })

    it('a move without a change writes nothing', async () => {
      const post = await stored(buildPost())
      await first().transition(post, refuse('bluesky', failure('validation', 'x'), { round: 7, attempt: 7 }))
      expect((await first().find(post._id))!.revision).toBe(post.revision)
    })

    it('a transition leaves the fields of the metrics collector unchanged', async () => {
      const post = await stored(buildPost())
      const seenAt = after(T0, 5)
      const racing = first().transition(post, (current) => edit({ timezone: 'Europe/Vienna' })(current, T0))
      await databases[1]!.connection
        .collection('posts')
        .updateOne({ _id: post._id as never }, { $set: { 'platformStatuses.0.lastAnalyticsFetch': seenAt } })
      await racing
      const left = await first().find(post._id)
      expect(left).toMatchObject({ timezone: 'Europe/Vienna' })
      expect(left!.platformStatuses[0]!.lastAnalyticsFetch).toEqual(seenAt)
    })

    it('an edit stays unacknowledged when the start before it is acknowledged meanwhile', async () => {
      for (let round = 0; round < 25; round++) {
        const post = await stored(buildPost({ scheduledAt: after(T0, 400_000) }))
        let acknowledged: Promise<boolean> | undefined
        await first().transition(post, (current) => {
          acknowledged ??= second().acknowledgeStart(post)
          return edit({ scheduledAt: after(T0, 450_000) })(current, T0)
        })
        await acknowledged
        expect(await first().find(post._id)).toMatchObject({ revision: 1, startPending: true })
      }
    })

    it('a transition of a deleted post fails with NOT_FOUND', async () => {
      await expect(first().transition({ _id: newId(), userId: newId() }, cancel())).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
    })
  })

  describe('a published platform post', () => {
    const published = () => ({ platformPostId: newId(), platformPostUrl: 'https://mastodon.example/1' })

    it('a platform post belongs to one post, the first to record it in any process', async () => {
      const posts = [await stored(buildPost()), await stored(buildPost())]
      const effect = published()
      const results = await Promise.allSettled(
        posts.map((post, index) => stores[index]!.transition(post, accept('bluesky', effect))),
      )
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(EffectTaken) })
      const [winner, loser] = results[0]!.status === 'fulfilled' ? posts : posts.toReversed()
      expect((await first().find(loser!._id))!.platformStatuses[0]!.status).toBe('pending')
      expect(await first().findOtherHolder(loser!._id, 'bluesky', effect.platformPostId)).toBe(winner!._id)
      expect(await first().findOtherHolder(winner!._id, 'bluesky', effect.platformPostId)).toBe(null)
      expect(await first().findOtherHolder(loser!._id, 'mastodon', effect.platformPostId)).toBe(null)
      expect(await first().findOtherHolder(loser!._id, 'bluesky', newId())).toBe(null)
    })

    it('a taken platform post does not affect the moves it shares a write with', async () => {
      const effect = published()
      await first().transition(await stored(buildPost()), accept('bluesky', effect))
      const post = await stored(buildPost({ selectedPlatforms: ['bluesky', 'mastodon', 'tumblr'] }))
      const results = await Promise.allSettled([
        first().transition(post, accept('mastodon', published())),
        first().transition(post, accept('bluesky', effect)),
        first().transition(post, accept('tumblr', published())),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      const left = (await first().find(post._id))!
      expect(left.platformStatuses.map(({ status }) => status)).toEqual(['pending', 'completed', 'completed'])
      expect(left.publishedKeys).toHaveLength(2)
    })

    it('a post can record the platform post that it claimed before its worker was killed', async () => {
      const post = await stored(buildPost())
      const effect = published()
      const key = toPublishedKey('bluesky', effect.platformPostId)
      expect(await createPlatformPosts(databases[0]!.connection).claim(post, [key])).toBe(true)
      await second().transition(post, accept('bluesky', effect))
      expect(await second().find(post._id)).toMatchObject({ publishedKeys: [key] })
    })

    it('a deleted post releases its platform posts', async () => {
      const [post, other] = [await stored(buildPost()), await stored(buildPost())]
      const effect = published()
      await first().transition(post, accept('bluesky', effect))
      await databases[0]!.transaction((session) => first().remove(post.userId, post._id, { session }))
      await second().transition(other, accept('bluesky', effect))
      expect(await first().findOtherHolder(other._id, 'bluesky', effect.platformPostId)).toBe(null)
    })
  })

  describe('the timeline', () => {
    const asRun = (runId: string) => ({ runId, isKnown: true })

    it('the timeline is written with its moves and names their workflow run', async () => {
      const post = await stored(buildPost())
      const wait: TimelineEvent = { at: T0, type: 'wait', platform: 'bluesky', until: after(T0, 500) }
      await first().transition(post, buildClaim(post, 'bluesky', T0), { ...asRun('run-1'), notes: [wait] })
      await second().transition(post, accept('bluesky', { platformPostId: 'id', platformPostUrl: 'url' }))
      const about = { at: T0, platform: 'bluesky', round: 0, attempt: 1 }
      expect(await first().readTimeline(post.userId, post._id)).toEqual([
        { at: T0, type: 'transition', status: 'PENDING' },
        { ...wait, runId: 'run-1' },
        { ...about, type: 'attempt', runId: 'run-1' },
        { at: T0, type: 'transition', status: 'PROCESSING', runId: 'run-1' },
        { ...about, type: 'outcome', result: 'accepted' },
        { at: T0, type: 'transition', status: 'COMPLETED' },
      ])
    })

    it('the timeline has no event for a refused move or a move without a change', async () => {
      const post = await stored(buildPost())
      await first().transition(post, cancel())
      const note: TimelineEvent = { at: T0, type: 'wait', platform: 'bluesky' }
      await expect(
        first().transition(post, buildClaim(post, 'bluesky', T0), { ...asRun('run-1'), notes: [note] }),
      ).rejects.toThrow('not-deliverable')
      expect(await first().readTimeline(post.userId, post._id)).toHaveLength(2)
    })

    it('the timeline keeps the newest 200 events and is not part of read posts', async () => {
      const post = await stored(buildPost({ draft: true }))
      for (let index = 0; index < 205; index++) {
        await first().transition(post, edit({ timezone: index % 2 ? 'UTC' : 'Asia/Tokyo' }))
      }
      const events = (await first().readTimeline(post.userId, post._id))!
      expect(events).toHaveLength(200)
      expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['edit']))
      for (const read of [await first().find(post._id), await first().findOwned(post.userId, post._id)]) {
        expect(read).toMatchObject({ _id: post._id })
        expect(read).not.toHaveProperty('timeline')
      }
    })

    it('the timeline of another user’s post cannot be read', async () => {
      const post = await stored(buildPost())
      expect(await first().readTimeline(newId(), post._id)).toBeNull()
    })
  })

  describe('a move on the cached post', () => {
    it('a move on an outdated cached post is detected by the revision', async () => {
      const post = await stored(buildPost())
      await first().find(post._id)
      await second().transition(post, cancel())
      await expect(
        first().transition(post, buildClaim(post, 'bluesky', T0), { runId: 'r', isKnown: true }),
      ).rejects.toThrow('not-deliverable')
    })

    it('a move is refused only on the basis of the stored post', async () => {
      const post = await stored(buildPost({ scheduledAt: after(T0, 60_000) }))
      await first().find(post._id)
      await second().transition(post, (current) => edit({ scheduledAt: null })(current, T0))
      const claimed = await first().transition(post, buildClaim(post, 'bluesky', T0), { runId: 'r', isKnown: true })
      expect(claimed.status).toBe('PROCESSING')
    })
  })

  describe('stranded posts', () => {
    async function stranded(): Promise<string[]> {
      const found = await first().listStranded({
        overdueBefore: after(now, -30_000),
        stalledBefore: after(now, -300_000),
        now,
        limit: 1_000,
      })
      return found.map(({ _id }) => _id)
    }

    it('a scheduled post whose start was never acknowledged is stranded', async () => {
      const post = await stored(buildPost({ scheduledAt: after(T0, 86_400_000) }))
      now = after(T0, 29_000)
      expect(await stranded()).not.toContain(post._id)
      now = after(T0, 31_000)
      expect(await stranded()).toContain(post._id)
      await first().acknowledgeStart(post)
      expect(await stranded()).not.toContain(post._id)
      now = T0
    })

    it('an overdue post that has not started is stranded, unless it waits for a stated time', async () => {
      const post = await stored(buildPost())
      const reason = failure('rate_limited', 'wait')
      now = after(T0, 31_000)
      expect(await stranded()).toContain(post._id)
      const wait = { at: after(T0, 3_600_000), countsAsTry: false }
      await first().transition(post, defer('bluesky', reason, { round: 0, attempt: 0 }, wait))
      expect(await stranded()).not.toContain(post._id)
      now = after(T0, 3_600_001)
      expect(await stranded()).toContain(post._id)
      now = T0
    })

    it('a post in delivery without progress for five minutes is stranded', async () => {
      const post = await stored(buildPost())
      await first().transition(post, buildClaim(post, 'bluesky', T0))
      now = after(T0, 299_000)
      expect(await stranded()).not.toContain(post._id)
      now = after(T0, 301_000)
      expect(await stranded()).toContain(post._id)
      now = T0
    })

    it('unacknowledged changes come before overdue posts in the sweeper’s list', async () => {
      await stored(buildPost())
      const pending = await stored(buildPost({ scheduledAt: after(T0, 86_400_000) }))
      now = after(T0, 31_000)
      const bounds = { overdueBefore: after(now, -30_000), stalledBefore: after(now, -300_000), now }
      const found = await first().listStranded({ ...bounds, limit: 1_000 })
      const pendingAt = found.findIndex(({ _id }) => _id === pending._id)
      expect(found.slice(0, pendingAt).every(({ startPending }) => startPending)).toBe(true)
      now = T0
    })

    it('a draft, a cancelled post and an ended post are never stranded', async () => {
      const draft = await stored(buildPost({ draft: true }))
      const cancelled = await stored(buildPost())
      await first().transition(cancelled, cancel())
      const ended = await stored(buildPost())
      await first().transition(ended, refuse('bluesky', failure('validation', 'x'), { round: 0, attempt: 0 }))
      now = after(T0, 86_400_000)
      const found = await stranded()
      for (const post of [draft, cancelled, ended]) expect(found).not.toContain(post._id)
      now = T0
    })
  })

  describe('scheduled posts', () => {
    it('posts that wait for the same second are counted', async () => {
      const dueAt = after(T0, 500_000)
      for (const ms of [-1_001, -1_000, -999, 0, 0, 1]) await stored(buildPost({ scheduledAt: after(dueAt, ms) }))
      const cancelled = await stored(buildPost({ scheduledAt: dueAt }))
      await first().transition(cancelled, cancel())
      expect(await Promise.all([first().countScheduled(dueAt), second().countScheduled(dueAt)])).toEqual([3, 3])
      expect(await Promise.all([dueAt, after(dueAt, -1_000), after(T0, 9e9)].map(first().countScheduled))).toEqual([
        3, 2, 0,
      ])
    })

    it('posts of one user that wait for the same second are counted', async () => {
      const at = after(T0, 600_000)
      const own = await stored(buildPost({ scheduledAt: at }))
      await stored(buildPost({ scheduledAt: after(at, -999), userId: own.userId }))
      await stored(buildPost({ scheduledAt: after(at, -1_000), userId: own.userId }))
      await stored(buildPost({ scheduledAt: at, userId: newId() }))
      const cancelled = await stored(buildPost({ scheduledAt: at, userId: own.userId }))
      await first().transition(cancelled, cancel())
      expect(await first().countScheduledOf(own.userId, at)).toBe(2)
    })

    it('an acknowledgement of a start states which posts have changed since', async () => {
      const posts = await Promise.all([1, 2, 3].map(() => stored(buildPost({ scheduledAt: after(T0, 400_000) }))))
      const [unchanged, cancelled, deleted] = posts
      await second().transition(cancelled!, cancel())
      await databases[1]!.transaction((session) => second().remove(deleted!.userId, deleted!._id, { session }))
      expect(await Promise.all(posts.map(first().acknowledgeStart))).toEqual([true, false, false])
      expect(await Promise.all([unchanged!, unchanged!].map(first().acknowledgeStart))).toEqual([true, true])
    })

    it('the fields of armed posts are read in pages, without the deleted ones', async () => {
      const dueAt = after(T0, 400_000)
      const post = await stored(buildPost({ scheduledAt: dueAt }))
      const missing = Array.from({ length: 1_500 }, () => ({ _id: newId(), userId: newId() }))
      const found = await first().findArmedFields([...missing, post])
      expect([...found]).toEqual([
        [
          post._id,
          {
            _id: post._id,
            userId: post.userId,
            status: 'SCHEDULED',
            dueAt,
            contentVersion: 0,
            selectedPlatforms: ['bluesky'],
          },
        ],
      ])
    })
  })
}
