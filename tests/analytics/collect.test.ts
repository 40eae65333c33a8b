import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAnalyticsActivities } from '../../src/activities/analytics.ts'
import { deletePost } from '../../src/commands/delete-post.ts'
import type { Context } from '../../src/context.ts'
import { slotAt } from '../../src/domain/collection.ts'
import type { Platform } from '../../src/domain/platforms.ts'
import type { Post } from '../../src/domain/post.ts'
import { DAY, HOUR, MINUTE } from '../../src/domain/times.ts'
import { PlatformError } from '../../src/platforms/errors.ts'
import type { DueBatch, DuePage, DuePlace, FollowersPage } from '../../src/workflows/messages.ts'
import { newId } from '../../src/store/schema-options.ts'
import { connectedUser, publishedPost, storePosts } from '../support/published.ts'
import { testContext } from '../support/servers.ts'
import { toldPlatforms, type ToldPlatforms } from '../support/told-platforms.ts'

const ON: Platform[] = ['bluesky', 'mastodon', 'threads']
/** The clocks of the tests stand in the beginning of a slot, however late in one they run. */
const AHEAD_MS = slotAt(new Date(), 15 * MINUTE).getTime() + 16 * MINUTE - Date.now()
const later = (ms: number) => () => new Date(Date.now() + AHEAD_MS + ms)

let platforms: ToldPlatforms
let context: Context
beforeAll(async () => {
  platforms = toldPlatforms(
    { bluesky: 25, mastodon: 20, threads: 1, tumblr: 0 },
    {
      mastodon: async (account) => ({ ...account, accessToken: 'renewed token' }),
    },
  )
  context = await testContext({ ANALYTICS_AGES: '1:15,7:60,30:360' }, { platforms: platforms.registry })
})
afterEach(async () => {
  await context.database.connection.collection('posts').deleteMany({})
  platforms.calls.length = 0
  platforms.followerCalls.length = 0
  for (const platform of ON) {
    Object.assign(platforms.tell(platform), { counts: new Map(), default: { likes: 1 }, followers: 100, troubles: [] })
    delete platforms.tell(platform).meanwhile
  }
})
afterAll(() => context?.close())

type Line = { level: string; message: string; attributes: unknown }
const lines: Line[] = []
const activities = (now = later(0)) => createAnalyticsActivities({ ...context, clock: { ...context.clock, now } })
const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
  new MockActivityEnvironment(undefined, { logger: LOGGER }).run(activity, ...args)
const note = (level: string) => (message: string, attributes?: unknown) =>
  void lines.push({ level, message, attributes })
const LOGGER = {
  log: (level: string, message: string) => note(level)(message),
  ...({
    trace: note('trace'),
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
  } as const),
}

/** All pages of a run, and the batches that its workflow would send out. */
async function listRun(now?: () => Date): Promise<{ pages: DuePage[]; batches: DueBatch[] }> {
  const { listDueMetrics } = activities(now)
  const pages: DuePage[] = []
  for (let place: DuePlace | null = null; ;) {
    const page: DuePage = await run(listDueMetrics, place)
    pages.push(page)
    if (!page.next) break
    place = page.next
  }
  const batches = pages.flatMap(({ accounts, slot }) =>
    accounts.flatMap(({ userId, platform, batches: some }) =>
      some.map((postIds) => ({ userId, platform, postIds, slot })),
    ),
  )
  return { pages, batches }
}

/** As the workflow goes about it, one call after the other. */
async function collectRun(now?: () => Date) {
  const { batches } = await listRun(now)
  const results = []
  for (const batch of batches) results.push({ ...batch, ...(await run(activities(now).collectBatch, batch)) })
  return results
}

const snapshotsOf = (postId: string) =>
  context.database.connection.collection('postSnapshots').find({ postId }).sort({ slot: 1 }).toArray()
const lettersOf = (userId: string) => Array.fromAsync(context.deadLetters.allOf(userId))
const stored = async ({ _id }: Post) => (await context.posts.find(_id))!
const entry = async (post: Post, platform: Platform) =>
  (await stored(post)).platformStatuses.find((one) => one.platform === platform)!
const versionOf = async (userId: string) => (await context.users.findById(userId))?.analyticsVersion ?? 0
const idOn = (post: Post, platform: Platform) =>
  post.platformStatuses.find((one) => one.platform === platform)!.platformPostId!
const trouble = (name: PlatformError['class'], retryAfterMs?: number) =>
  new PlatformError(name, `It was ${name}`, { certain: true, ...(retryAfterMs && { retryAfterMs }) })

async function published(on: Platform[], count = 1, completedAt = new Date()) {
  const { _id: userId } = await connectedUser(context, on)
  const posts = Array.from({ length: count }, () => publishedPost({ userId, on, completedAt }))
  await storePosts(context, posts)
  return { userId, posts, post: posts[0]! }
}

describe('a snapshot', () => {
  it('has the counts, what follows from them, and the followers of the time; unknown counts are null', async () => {
    const { userId, post } = await published(['bluesky', 'threads'])
    platforms.tell('bluesky').counts.set(idOn(post, 'bluesky'), { likes: 6, shares: 2, comments: 0, saved: 3 })
    platforms.tell('bluesky').followers = 200
    platforms.tell('threads').counts.set(idOn(post, 'threads'), { impressions: 40 })
    platforms.tell('threads').followers = null
    const before = await stored(post)
    await collectRun()
    const [bluesky, threads] = (await snapshotsOf(post._id)).toSorted((a, b) =>
      a['platform'] < b['platform'] ? -1 : 1,
    )
    expect(bluesky).toMatchObject({
      userId,
      likes: 6,
      shares: 2,
      comments: 0,
      impressions: null,
      reach: null,
      saved: 3,
    })
    expect(bluesky).toMatchObject({
      totalEngagement: 8,
      engagementRate: 0.04,
      virality: 0.25,
      followerCountAtSnapshot: 200,
    })
    expect(threads).toMatchObject({ likes: null, shares: null, impressions: 40, totalEngagement: null })
    expect(threads).toMatchObject({ engagementRate: null, virality: null, followerCountAtSnapshot: null })
    expect(bluesky!['slot']).toEqual(slotAt(bluesky!['takenAt'], 15 * MINUTE))
    expect(bluesky!['removeAt'].getTime() - bluesky!['takenAt'].getTime()).toBe(400 * DAY)
    expect((await entry(post, 'bluesky')).lastAnalyticsFetch).toEqual(bluesky!['takenAt'])
    const { revision, updatedAt } = await stored(post)
    expect({ revision, updatedAt }).toEqual({ revision: before.revision, updatedAt: before.updatedAt })
    expect(await versionOf(userId)).toBeGreaterThan(0)
    expect(JSON.stringify((await context.snapshots.latest(post._id, 'bluesky'))?.likes)).toBe('6')
  })

  it('is taken again in the next slot, which gets longer with age, and not after the last age', async () => {
    const start = slotAt(new Date(), 6 * HOUR).getTime() + 2 * 6 * HOUR
    const { post } = await published(['bluesky'], 1, new Date(start - HOUR))
    const at = (ms: number) => () => new Date(start + ms)
    for (const ms of [0, MINUTE, 14 * MINUTE, 15 * MINUTE, 16 * MINUTE]) await collectRun(at(ms))
    expect(await snapshotsOf(post._id)).toHaveLength(2)
    for (const ms of [0, 20 * MINUTE, 45 * MINUTE, HOUR]) await collectRun(at(2 * DAY + ms))
    expect(await snapshotsOf(post._id)).toHaveLength(4)
    for (const ms of [0, HOUR, 5 * HOUR, 6 * HOUR]) await collectRun(at(10 * DAY + ms))
    expect(await snapshotsOf(post._id)).toHaveLength(6)
    await collectRun(at(31 * DAY))
    expect(await snapshotsOf(post._id)).toHaveLength(6)
  })

  it('is one for its slot, however many collectors there are', async () => {
    const { userId, posts } = await published(['bluesky'], 30)
    platforms.tell('bluesky').meanwhile = () => new Promise((resolve) => setTimeout(resolve, 50))
    const { batches } = await listRun()
    expect(batches.map(({ postIds }) => postIds.length)).toEqual([25, 5])
    const twice = [...batches, ...batches, ...batches]
    const results = await Promise.all(twice.map((batch) => run(activities().collectBatch, batch)))
    expect(results.map(({ failed }) => failed)).toEqual(twice.map(() => 0))
    const counts = await Promise.all(posts.map(async ({ _id }) => (await snapshotsOf(_id)).length))
    expect(counts).toEqual(posts.map(() => 1))
    expect((await listRun()).batches).toEqual([])
    expect(await versionOf(userId)).toBeGreaterThanOrEqual(2)
  })

  it('has the followers of the day, for which the platform is asked once', async () => {
    const { userId } = await published(['threads'], 3)
    await collectRun()
    expect(platforms.followerCalls).toEqual(['threads'])
    expect(await context.snapshots.latestFollowers(userId, 'threads')).toMatchObject({ followers: 100 })
  })
})

describe('followers that cannot be had', () => {
  it('keep nobody from the counts, and are not asked for with every call', async () => {
    const { posts } = await published(['threads'], 4)
    platforms.tell('threads').followers = null
    const { batches } = await listRun()
    const { collectBatch } = activities()
    for (const batch of batches) expect(await run(collectBatch, batch)).toMatchObject({ saved: 1 })
    expect(platforms.followerCalls).toEqual(['threads'])
    expect(await context.snapshots.latest(posts[0]!._id, 'threads')).toMatchObject({ followerCountAtSnapshot: null })
  })
})

describe('what is listed', () => {
  it('comes in pages that leave nothing out, also where one owner fills several', async () => {
    const owner = (count: number) => {
      const userId = newId()
      return Array.from({ length: count }, () => publishedPost({ userId, on: ['bluesky', 'mastodon'] }))
    }
    const few = () => Array.from({ length: 200 }, () => owner(4)).flat()
    // Ids grow, so the one with many stands between the others.
    const all = [...few(), ...owner(1_230), ...few()]
    await storePosts(context, all)
    const { pages, batches } = await listRun()
    expect(pages.length).toBeGreaterThan(5)
    const listed = batches.filter(({ platform }) => platform === 'bluesky').flatMap(({ postIds }) => postIds)
    expect(listed.toSorted()).toEqual(all.map(({ _id }) => _id).toSorted())
    expect(Math.max(...batches.map(({ postIds }) => postIds.length))).toBe(25)
    for (const { accounts } of pages) {
      expect(accounts.reduce((sum, one) => sum + one.batches.flat().length, 0)).toBeLessThanOrEqual(1_000)
    }
  })

  it('leaves platforms without metrics out, with one line a run', async () => {
    const { posts } = await published(['tumblr', 'bluesky'], 2)
    lines.length = 0
    expect((await collectRun()).map(({ platform }) => platform)).toEqual(['bluesky'])
    expect(lines.filter(({ message }) => message.includes('without metrics'))).toHaveLength(1)
    expect((await entry(posts[0]!, 'tumblr')).lastAnalyticsFetch).toBeNull()
  })
})

describe('a post', () => {
  it('that is deleted on the platform is marked so, and asked about no more', async () => {
    const { userId, post } = await published(['bluesky', 'mastodon'])
    platforms.tell('bluesky').counts.set(idOn(post, 'bluesky'), 'deleted')
    const results = await collectRun()
    expect(results.find(({ platform }) => platform === 'bluesky')).toMatchObject({ deleted: 1, saved: 0 })
    expect((await entry(post, 'bluesky')).status).toBe('deleted')
    expect((await stored(post)).status).toBe('COMPLETED')
    expect((await entry(post, 'mastodon')).status).toBe('completed')
    const again = await collectRun(later(HOUR))
    expect(again.map(({ platform }) => platform)).toEqual(['mastodon'])
    expect(await lettersOf(userId)).toEqual([])
    expect((await snapshotsOf(post._id)).every((one) => one['platform'] === 'mastodon')).toBe(true)
  })

  it('of which the platform says nothing gets no snapshot, and is left alone until the next slot', async () => {
    const { userId, post } = await published(['bluesky'])
    platforms.tell('bluesky').default = null
    expect(await collectRun()).toMatchObject([{ saved: 0, skipped: 1 }])
    expect(await collectRun()).toEqual([])
    expect((await entry(post, 'bluesky')).lastAnalyticsFetch).toBeNull()
    expect(await lettersOf(userId)).toEqual([])
    expect(await collectRun(later(15 * MINUTE))).toHaveLength(1)
  })

  it('that went out on another account is not asked about with this one', async () => {
    const { _id: userId } = await connectedUser(context, ['threads'])
    await storePosts(context, [publishedPost({ userId, on: ['threads'], accountId: 'the account of before' })])
    expect(await collectRun()).toMatchObject([{ saved: 0, deleted: 0, skipped: 1 }])
    expect(platforms.calls).toEqual([])
  })

  it('that its owner deletes while it is asked about leaves no snapshot', async () => {
    const { userId, post } = await published(['bluesky'])
    await collectRun()
    expect(await snapshotsOf(post._id)).toHaveLength(1)
    platforms.tell('bluesky').meanwhile = () => deletePost(context, userId, post._id)
    await collectRun(later(15 * MINUTE))
    expect(platforms.calls).toHaveLength(2)
    expect(await snapshotsOf(post._id)).toEqual([])
  })

  it('of an account that is disabled, or not connected, is asked about by nobody', async () => {
    const { userId } = await published(['bluesky'])
    await context.database.connection
      .collection<{ _id: string }>('users')
      .updateOne({ _id: userId }, { $set: { isDisabled: true } })
    const cut = await published(['bluesky'])
    await context.accounts.disconnect(cut.userId, 'bluesky')
    expect(await collectRun()).toMatchObject([{ skipped: 1 }, { skipped: 1 }])
    expect(platforms.calls).toEqual([])
    expect(await collectRun()).toEqual([])
  })
})

describe('what a platform refuses', () => {
  const health = async (userId: string, platform: Platform) =>
    (await context.accounts.findConnected(userId, platform))!.health.status
  const warnings = async (userId: string) =>
    (await context.notifications.listOf(userId, 10)).map(({ message }) => message)

  it('a dead login is renewed first, and the counts come with the new token', async () => {
    const { userId, post } = await published(['mastodon'])
    platforms.tell('mastodon').troubles.push(trouble('unauthorized'))
    expect(await collectRun()).toMatchObject([{ saved: 1 }])
    expect(platforms.calls.map(({ token }) => token)).toEqual(['token', 'renewed token'])
    expect(await health(userId, 'mastodon')).toBe('active')
    expect(await snapshotsOf(post._id)).toHaveLength(1)
  })

  it.each(['bluesky', 'mastodon'] as const)(
    'a login that is dead for good (%s) expires with one warning',
    async (on) => {
      const { userId, posts } = await published([on], 60)
      const more = publishedPost({ userId, on: [on], completedAt: new Date(Date.now() - 3 * DAY) })
      await storePosts(context, [more])
      platforms.tell(on).troubles.push(...Array.from({ length: 20 }, () => trouble('unauthorized')))
      const { batches } = await listRun()
      expect(batches.length).toBeGreaterThan(2)
      for (const batch of batches) await run(activities().collectBatch, batch)
      expect(await health(userId, on)).toBe('expired')
      expect(await warnings(userId)).toEqual([expect.stringContaining('has expired. Reconnect')])
      expect(platforms.calls.length).toBeLessThanOrEqual(2)
      expect(await lettersOf(userId)).toEqual([])
      expect(await snapshotsOf(posts[0]!._id)).toEqual([])
      expect((await listRun()).batches).toEqual([])
    },
  )

  it('a missing permission costs one line an account and run, and nothing else', async () => {
    const { userId } = await published(['threads'], 5)
    await storePosts(context, [publishedPost({ userId, on: ['threads'], completedAt: new Date(Date.now() - 3 * DAY) })])
    platforms.tell('threads').troubles.push(...Array.from({ length: 20 }, () => trouble('permission')))
    lines.length = 0
    expect(await collectRun()).toMatchObject([
      { end: 'account', skipped: 1 },
      ...Array.from({ length: 5 }, () => ({ skipped: 0 })),
    ])
    expect(lines.filter(({ message }) => message.includes('lacks a permission'))).toHaveLength(1)
    expect([await health(userId, 'threads'), await lettersOf(userId), await warnings(userId)]).toEqual([
      'active',
      [],
      [],
    ])
    expect(platforms.calls).toHaveLength(1)
  })

  it('a rate limit pauses the platform for as long as it says, and loses nothing', async () => {
    const { userId, post } = await published(['bluesky'])
    platforms.tell('bluesky').troubles.push(trouble('rate_limited', 90_000))
    expect(await collectRun()).toMatchObject([{ end: 'platform', pauseMs: 90_000, saved: 0, failed: 0 }])
    expect(await lettersOf(userId)).toEqual([])
    expect(await collectRun()).toMatchObject([{ saved: 1 }])
    expect(await snapshotsOf(post._id)).toHaveLength(1)
  })

  it('anything else is one dead letter a post and platform, counted', async () => {
    const { userId, posts } = await published(['bluesky', 'mastodon'], 2)
    platforms.tell('bluesky').troubles.push(trouble('transient'), trouble('validation'))
    await collectRun()
    expect(await collectRun()).toEqual([])
    const letters = await lettersOf(userId)
    expect(letters.map(({ postId }) => postId)).toEqual(posts.map(({ _id }) => _id).toSorted())
    expect(letters).toMatchObject([
      { type: 'post', platform: 'bluesky', count: 1, reason: 'transient: It was transient' },
      { count: 1 },
    ])
    await collectRun(later(15 * MINUTE))
    expect(await lettersOf(userId)).toMatchObject([{ count: 2, reason: 'validation: It was validation' }, { count: 2 }])
  })

  it('what nobody expected is a dead letter too, and what it said stays in the log', async () => {
    const { userId } = await published(['bluesky'])
    platforms.tell('bluesky').troubles.push(new Error('with a secret in it'))
    await collectRun()
    expect(await lettersOf(userId)).toMatchObject([{ reason: 'INTERNAL: Something went wrong inside the service' }])
  })
})

describe('a dead letter that is replayed', () => {
  it('goes when it succeeds, and is counted on when it does not', async () => {
    const { userId, post } = await published(['bluesky'])
    platforms.tell('bluesky').troubles.push(trouble('transient'), trouble('transient'))
    await collectRun()
    const [letter] = await lettersOf(userId)
    expect(await run(activities().replayDeadLetter, letter!._id)).toBe('failed')
    expect(await lettersOf(userId)).toMatchObject([{ _id: letter!._id, count: 2 }])
    expect(await run(activities().replayDeadLetter, letter!._id)).toBe('done')
    expect(await lettersOf(userId)).toEqual([])
    expect(await snapshotsOf(post._id)).toHaveLength(1)
    expect(await run(activities().replayDeadLetter, letter!._id)).toBe('gone')
  })
})

describe('followers', () => {
  it('are asked for once a day on every connected platform that tells them', async () => {
    const { _id: userId } = await connectedUser(context, ['bluesky', 'threads', 'tumblr'])
    platforms.tell('threads').followers = null
    const everyone = async () => {
      for (let after: string | null = null; ;) {
        const page: FollowersPage = await run(activities().collectFollowersPage, after, {})
        if (!page.next) return
        after = page.next
      }
    }
    await everyone()
    const version = await versionOf(userId)
    await everyone()
    expect(await versionOf(userId)).toBe(version)
    const all = await Array.fromAsync(context.snapshots.allFollowersOf(userId))
    expect(all).toMatchObject([
      { platform: 'bluesky', followers: 100, slot: slotAt(later(0)(), DAY) },
      { platform: 'tumblr', followers: 100 },
    ])
  })
})
