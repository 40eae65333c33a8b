import { once } from 'node:events'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createAnalyticsActivities } from '../../../src/activities/analytics/analytics-activities.ts'
import { deletePost } from '../../../src/commands/posts/delete-post.ts'
import { toSlot } from '../../../src/domain/analytics/collection.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { NOTHING_COLLECTED, type CollectorTurn } from '../../../src/workflows/contract/analytics.ts'
import { connectedUser, disconnectDefault, publishedPost, storePosts } from '../../support/published.ts'
import { idOn, later, startScriptedCollection, failure } from './scripted-collection.ts'

const { context, platforms, activities, run, collectRun, published, ...collection } = await startScriptedCollection()
const { environment, snapshotsOf, lettersOf, stored, entry, versionOf, clear } = collection
const NOTHING_DUE = { ...NOTHING_COLLECTED, resumeAt: null }
const never = new AbortController().signal
const refresh = ({ _id: postId, userId }: Post, platform: Platform, now?: () => Date) =>
  run(activities(now).refreshPostMetrics, { userId, postId, platform })
afterEach(clear)
afterAll(() => context.close())

describe('a snapshot', () => {
  it('a snapshot has counts, derived rates and the follower count; unknown counts are null', async () => {
    const { userId, post } = await published(['bluesky', 'threads'])
    platforms.scriptFor('bluesky').counts.set(idOn(post, 'bluesky'), { likes: 6, shares: 2, comments: 0, saved: 3 })
    platforms.scriptFor('bluesky').followers = 200
    platforms.scriptFor('threads').counts.set(idOn(post, 'threads'), { impressions: 40 })
    platforms.scriptFor('threads').followers = null
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
    expect(bluesky!['slot']).toEqual(toSlot(bluesky!['takenAt'], 15 * MINUTE))
    expect(bluesky!['removeAt'].getTime() - bluesky!['takenAt'].getTime()).toBe(400 * DAY)
    expect((await entry(post, 'bluesky')).lastAnalyticsFetch).toEqual(bluesky!['takenAt'])
    const { revision, updatedAt } = await stored(post)
    expect({ revision, updatedAt }).toEqual({ revision: before.revision, updatedAt: before.updatedAt })
    expect(await versionOf(userId)).toBeGreaterThan(0)
    expect(JSON.stringify((await context.snapshots.latest({ userId, postId: post._id }, 'bluesky'))?.likes)).toBe('6')
  })

  it('a thread has the counts of each of its posts and their sums beside those of the first', async () => {
    const on: Platform[] = ['bluesky', 'threads']
    const { _id: userId } = await connectedUser(context, on)
    const plain = publishedPost({ userId, on })
    const further = (platform: Platform) => [2, 3].map((part) => `${platform}-part-${part}-of-${plain._id}`)
    const platformStatuses = plain.platformStatuses.map((entry) => ({
      ...entry,
      parts: [entry.platformPostId!, ...further(entry.platform)].map((platformPostId) => ({
        ...{ platformPostId, platformPostUrl: 'https://example.test/post', completedAt: entry.completedAt! },
      })),
    }))
    const post = { ...plain, platformStatuses }
    await storePosts(context, [post])
    const { counts } = platforms.scriptFor('bluesky')
    counts.set(idOn(post, 'bluesky'), { likes: 5, shares: 1 })
    counts.set(further('bluesky')[0]!, { likes: 2 })
    counts.set(further('bluesky')[1]!, 'deleted')
    await collectRun()
    const callsTo = (platform: Platform) => platforms.calls.filter((call) => call.platform === platform)
    expect(callsTo('bluesky').map(({ ids }) => ids)).toEqual([[idOn(post, 'bluesky'), ...further('bluesky')]])
    expect(callsTo('threads').map(({ ids }) => ids)).toEqual(
      [idOn(post, 'threads'), ...further('threads')].map((id) => [id]),
    )
    const read = async () => (await context.snapshots.latest({ userId, postId: post._id }, 'bluesky'))!
    expect(await read()).toMatchObject({
      ...{ likes: 5, shares: 1, totalEngagement: 6 },
      thread: { parts: [{ likes: 5, shares: 1 }, { likes: 2, shares: null }, null], sum: { likes: 7, shares: 1 } },
    })
    counts.set(further('bluesky')[0]!, { likes: 3 })
    await collectRun(later(HOUR))
    const { unchangedSince, thread } = await read()
    expect([unchangedSince, thread!.sum.likes, await snapshotsOf(post._id)]).toMatchObject([
      undefined,
      8,
      Array.from({ length: 3 }, () => expect.anything()),
    ])
  })

  it('a post is collected less often with age, and not after the last age class', async () => {
    const start = toSlot(new Date(), 6 * HOUR).getTime() + 2 * 6 * HOUR
    const { post } = await published(['bluesky'], 1, new Date(start - HOUR))
    let likes = 0
    const collectAt = async (...times: number[]) => {
      for (const ms of times) {
        platforms.scriptFor('bluesky').default = { likes: (likes += 1) }
        await collectRun(() => new Date(start + ms))
      }
      return (await snapshotsOf(post._id)).length
    }
    expect(await collectAt(0, MINUTE, 14 * MINUTE, 15 * MINUTE, 16 * MINUTE)).toBe(2)
    expect(await collectAt(...[0, 20 * MINUTE, 45 * MINUTE, HOUR].map((ms) => 2 * DAY + ms))).toBe(4)
    expect(await collectAt(...[0, HOUR, 5 * HOUR, 6 * HOUR].map((ms) => 10 * DAY + ms))).toBe(6)
    expect(await collectAt(29.9 * DAY)).toBe(7)
    expect(await entry(post, 'bluesky')).toMatchObject({ metricsDueAt: null })
    expect(await collectAt(31 * DAY)).toBe(7)
  })

  it('a story that has ended is not read any more, and does not count as deleted', async () => {
    const { post } = await published(['threads'], 1, new Date(Date.now() - 2 * DAY))
    const endsAt = new Date(Date.now() - DAY)
    const posts = context.database.connection.collection<{ _id: string }>('posts')
    await posts.updateOne({ _id: post._id }, { $set: { 'platformStatuses.0.endsAt': endsAt } })
    platforms.scriptFor('threads').counts.set(idOn(post, 'threads'), 'deleted')
    await collectRun()
    expect(await entry(post, 'threads')).toMatchObject({ status: 'completed', metricsDueAt: null })
    expect(await snapshotsOf(post._id)).toEqual([])
    expect(platforms.calls).toEqual([])
  })

  it('a collection that finds nothing new extends the last snapshot, and stores one on the next day', async () => {
    const { post } = await published(['bluesky'], 1, new Date())
    const noon = toSlot(new Date(), DAY).getTime() + DAY + 12 * HOUR
    const at = (ms: number) => () => new Date(noon + ms)
    const [first, second] = [at(0)(), at(HOUR)()]
    await collectRun(at(0))
    platforms.scriptFor('bluesky').followers = 50
    await collectRun(at(HOUR))
    const [only, ...others] = await snapshotsOf(post._id)
    expect(others).toEqual([])
    expect(only).toMatchObject({ takenAt: first, lastSeenAt: second, likes: 1 })
    expect((await entry(post, 'bluesky')).lastAnalyticsFetch).toEqual(second)
    await collectRun(at(DAY))
    await collectRun(at(2 * DAY))
    expect(await snapshotsOf(post._id)).toMatchObject([
      { _id: `${post._id}/bluesky/${first.toISOString().slice(0, 16)}Z` },
      { takenAt: at(DAY)(), unchangedSince: first },
      { takenAt: at(2 * DAY)(), unchangedSince: first },
    ])
    platforms.scriptFor('bluesky').default = { likes: 2 }
    await collectRun(at(2 * DAY + 6 * HOUR))
    const latest = (await snapshotsOf(post._id)).at(-1)!
    expect(latest).toMatchObject({ likes: 2 })
    expect(latest).not.toHaveProperty('unchangedSince')
  })

  it('a requested refresh stores a snapshot although nothing changed', async () => {
    const { post } = await published(['bluesky'])
    await collectRun()
    expect(await refresh(post, 'bluesky', later(20 * MINUTE))).toBe(true)
    const [first, second] = await snapshotsOf(post._id)
    expect(second).toMatchObject({ likes: 1, unchangedSince: first!['takenAt'] })
    expect(first).not.toHaveProperty('lastSeenAt')
  })

  it('indexes delete snapshots and dead letters after their retention time', async () => {
    const expiryIndexes = async (name: string) => {
      const indexes = await context.database.connection.collection(name).indexes()
      return indexes.flatMap(({ key, expireAfterSeconds: after }) => (after === undefined ? [] : { key, after }))
    }
    expect(await expiryIndexes('postSnapshots')).toEqual([{ key: { removeAt: 1 }, after: 0 }])
    expect(await expiryIndexes('accountSnapshots')).toEqual([{ key: { removeAt: 1 }, after: 0 }])
    expect(await expiryIndexes('deadLetters')).toEqual([{ key: { lastAt: 1 }, after: (30 * DAY) / SECOND }])
  })

  it('concurrent collectors read each post once', async () => {
    const { userId, posts } = await published(['bluesky'], 30)
    platforms.scriptFor('bluesky').meanwhile = () => new Promise((resolve) => setTimeout(resolve, 50))
    const workers = [activities(), activities()]
    const startedAt = later(0)().getTime()
    const turns = await Promise.all(
      [...workers, ...workers, ...workers].map(({ collectDuePosts }) => run(collectDuePosts, startedAt)),
    )
    expect(turns.reduce((sum, { saved }) => sum + saved, 0)).toBe(30)
    expect(platforms.calls.flatMap(({ ids }) => ids).toSorted()).toEqual(
      posts.map((post) => idOn(post, 'bluesky')).toSorted(),
    )
    const counts = await Promise.all(posts.map(async ({ _id }) => (await snapshotsOf(_id)).length))
    expect(counts).toEqual(posts.map(() => 1))
    expect(await collectRun()).toEqual(NOTHING_DUE)
    expect(await versionOf(userId)).toBeGreaterThanOrEqual(2)
  })

  it('the follower count of a day is requested once for all posts of an account', async () => {
    const { userId } = await published(['threads'], 3)
    await collectRun()
    expect(platforms.followerCalls).toEqual(['threads'])
    const { _id: accountId } = (await context.accounts.findDefault(userId, 'threads'))!
    expect(await context.snapshots.latestFollowers(userId, 'threads', accountId)).toMatchObject({ followers: 100 })
  })
})

describe('a collector', () => {
  const ownedBy = (userId: string, count: number) =>
    Array.from({ length: count }, () => publishedPost({ userId, on: ['bluesky'] }))

  it('a collector reads all due posts, 25 of an account at most before the other accounts have had their turn', async () => {
    const [many, ...others] = await Promise.all(
      Array.from({ length: 12 }, async () => (await connectedUser(context, ['bluesky']))._id),
    )
    await storePosts(context, [...ownedBy(many!, 130), ...others.flatMap((userId) => ownedBy(userId, 3))])
    expect(await collectRun()).toEqual({ ...NOTHING_DUE, saved: 130 + 11 * 3 })
    const callers = platforms.calls.map(({ accountId }) => accountId)
    expect(new Set(callers.slice(0, 12)).size).toBe(12)
    for (const { ids } of platforms.calls) expect(ids.length).toBeLessThanOrEqual(25)
  })

  it('a server gets eight calls at a time, and no server waits for another', async () => {
    const slow = new Set<string>()
    for (let index = 0; index < 40; index++) {
      const server = index % 2 === 0 ? 'https://slow.test' : 'https://other.test'
      const { post } = await published(['mastodon'])
      if (index % 2 === 0) slow.add(idOn(post, 'mastodon'))
      const { connection } = context.database
      await connection.collection('accounts').updateOne({ userId: post.userId }, { $set: { server } })
      await connection
        .collection('posts')
        .updateOne({ userId: post.userId }, { $set: { 'platformStatuses.0.server': server } })
    }
    const othersEnded = Promise.withResolvers<void>()
    let [running, mostRunning, othersLeft] = [0, 0, 20]
    platforms.scriptFor('mastodon').meanwhile = async ([id]) => {
      if (!slow.has(id!)) {
        if (--othersLeft === 0) othersEnded.resolve()
        return
      }
      mostRunning = Math.max(mostRunning, (running += 1))
      // The calls to the slow server hang until all calls to the other have ended.
      await othersEnded.promise
      running -= 1
    }
    expect(await collectRun()).toMatchObject({ saved: 40 })
    expect(mostRunning).toBe(8)
  })

  it('a collector whose worker stops claims nothing more, and resumes immediately', async () => {
    const { posts } = await published(['threads'], 30)
    const draining = new AbortController()
    platforms.scriptFor('threads').meanwhile = async () => draining.abort()
    const startedAt = later(0)().getTime()
    const turn = await run(activities(later(0), draining.signal).collectDuePosts, startedAt)
    expect(turn).toMatchObject({ saved: 1 })
    expect(turn.resumeAt! - startedAt).toBeLessThan(10 * SECOND)
    expect(await collectRun(later(MINUTE))).toMatchObject({ saved: posts.length - 1 })
  })

  it('a turn ends after five minutes, and a run before the next one', async () => {
    await published(['threads'], 30)
    let passedMs = 0
    platforms.scriptFor('threads').meanwhile = async () => void (passedMs += 5 * MINUTE)
    const now = () => later(passedMs)()
    const { collectDuePosts } = activities(now)
    const startedAt = now().getTime()
    const first = await run(collectDuePosts, startedAt)
    expect(first).toMatchObject({ saved: 1 })
    expect(first.resumeAt! - startedAt).toBeGreaterThanOrEqual(5 * MINUTE)
    expect((await run(collectDuePosts, startedAt)).resumeAt).not.toBeNull()
    expect(await run(collectDuePosts, startedAt)).toMatchObject({ saved: 1, resumeAt: null })
    expect(await run(collectDuePosts, startedAt)).toEqual(NOTHING_DUE)
  })

  it('a slow claim ends before its lease, and its other posts are due again then', async () => {
    await published(['threads'], 10)
    let passedMs = 0
    platforms.scriptFor('threads').meanwhile = async () => void (passedMs += 16 * SECOND)
    const now = () => later(passedMs)()
    const startedAt = now().getTime()
    const { saved, resumeAt } = await run(activities(now).collectDuePosts, startedAt)
    expect(saved).toBe(2)
    expect(resumeAt! - startedAt).toBeGreaterThan(32 * SECOND + 40 * SECOND)
    delete platforms.scriptFor('threads').meanwhile
    expect(await collectRun(later(MINUTE + 20 * SECOND))).toMatchObject({ saved: 8, resumeAt: null })
  })

  it('a repeated collector resumes when the lease of the killed one has ended', async () => {
    const startedAt = later(0)().getTime()
    const { collectDuePosts } = activities()
    const { resumeAt }: CollectorTurn = await environment({ attempt: 2 }).run(collectDuePosts, startedAt)
    expect(resumeAt! - startedAt).toBeGreaterThanOrEqual(40 * SECOND)
    expect(resumeAt! - startedAt).toBeLessThan(MINUTE)
  })

  it('a long search for due posts sends heartbeats', async () => {
    const findDueServer = () => new Promise<undefined>((resolve) => setTimeout(resolve, 1_200, undefined))
    const published = { ...context.published, findDueServer }
    const { collectDuePosts } = createAnalyticsActivities({ ...context, draining: never, published })
    const worker = environment()
    const beats = once(worker, 'heartbeat')
    await worker.run(collectDuePosts, Date.now())
    await beats
  })

  it('platforms without metrics are not collected', async () => {
    const { posts } = await published(['tumblr', 'bluesky'], 2)
    expect(await collectRun()).toEqual({ ...NOTHING_DUE, saved: 2 })
    expect((await entry(posts[0]!, 'tumblr')).lastAnalyticsFetch).toBeNull()
  })
})

describe('a post', () => {
  it('a post that was deleted on the platform is marked deleted and not collected again', async () => {
    const { userId, post } = await published(['bluesky', 'mastodon'], 1, new Date(Date.now() - HOUR))
    platforms.scriptFor('bluesky').counts.set(idOn(post, 'bluesky'), 'deleted')
    expect(await collectRun()).toMatchObject({ deleted: 1, saved: 1 })
    expect((await entry(post, 'bluesky')).status).toBe('deleted')
    expect((await stored(post)).status).toBe('COMPLETED')
    expect((await entry(post, 'mastodon')).status).toBe('completed')
    expect(await collectRun(later(HOUR))).toEqual({ ...NOTHING_DUE, saved: 1 })
    expect(await lettersOf(userId)).toEqual([])
    expect((await snapshotsOf(post._id)).every((one) => one['platform'] === 'mastodon')).toBe(true)
  })

  it('a post that the platform does not show right after publication does not count as deleted', async () => {
    const { post } = await published(['threads'], 1, later(-MINUTE)())
    platforms.scriptFor('threads').counts.set(idOn(post, 'threads'), 'deleted')
    expect(await collectRun()).toEqual({ ...NOTHING_DUE, skipped: 1 })
    expect(await collectRun()).toEqual(NOTHING_DUE)
    expect(await refresh(post, 'threads', later(8 * MINUTE))).toBe(false)
    expect(await entry(post, 'threads')).toMatchObject({ status: 'completed', lastAnalyticsFetch: null })
    platforms.scriptFor('threads').counts.set(idOn(post, 'threads'), { likes: 2 })
    expect(await collectRun(later(23 * MINUTE))).toMatchObject({ saved: 1 })
    const { post: gone } = await published(['threads'], 1, later(-MINUTE)())
    platforms.scriptFor('threads').counts.set(idOn(gone, 'threads'), 'deleted')
    await refresh(gone, 'threads', later(9 * MINUTE))
    expect((await entry(gone, 'threads')).status).toBe('deleted')
  })

  it('a post without reported metrics gets no snapshot and is skipped until the next slot', async () => {
    const { userId, post } = await published(['bluesky'])
    platforms.scriptFor('bluesky').default = null
    expect(await collectRun()).toEqual({ ...NOTHING_DUE, skipped: 1 })
    expect(await collectRun()).toEqual(NOTHING_DUE)
    expect((await entry(post, 'bluesky')).lastAnalyticsFetch).toBeNull()
    expect(await lettersOf(userId)).toEqual([])
    expect(await collectRun(later(15 * MINUTE))).toMatchObject({ skipped: 1 })
  })

  it('a post that was published on another account is not read with the current one', async () => {
    const { _id: userId } = await connectedUser(context, ['threads'])
    await storePosts(context, [publishedPost({ userId, on: ['threads'], accountId: 'the previous account' })])
    expect(await collectRun()).toEqual({ ...NOTHING_DUE, skipped: 1 })
    expect(platforms.calls).toEqual([])
  })

  it('a post that its owner deletes during the platform call leaves no snapshot', async () => {
    const { userId, post } = await published(['bluesky'])
    await collectRun()
    expect(await snapshotsOf(post._id)).toHaveLength(1)
    platforms.scriptFor('bluesky').meanwhile = () => deletePost(context, userId, post._id)
    await collectRun(later(15 * MINUTE))
    expect(platforms.calls).toHaveLength(2)
    expect(await snapshotsOf(post._id)).toEqual([])
  })

  it('a post that its owner deletes during a failing platform call leaves no dead letter', async () => {
    const { userId, post, posts } = await published(['bluesky'], 2)
    const script = platforms.scriptFor('bluesky')
    script.failures.push(failure('transient'))
    script.meanwhile = () => deletePost(context, userId, post._id)
    await collectRun()
    expect(await lettersOf(userId)).toMatchObject([{ postId: posts[1]!._id }])
  })

  it('a post whose owner is erased during the platform call leaves nothing', async () => {
    const { userId, post } = await published(['bluesky'])
    const users = context.database.connection.collection<{ _id: string }>('users')
    platforms.scriptFor('bluesky').meanwhile = async () => void (await users.deleteOne({ _id: userId }))
    expect(await collectRun()).toMatchObject({ saved: 0, skipped: 1 })
    expect(await snapshotsOf(post._id)).toEqual([])
    expect((await entry(post, 'bluesky')).lastAnalyticsFetch).toBeNull()
  })

  it('an older collection that ends later does not replace a newer snapshot', async () => {
    const { post } = await published(['bluesky'])
    const script = platforms.scriptFor('bluesky')
    script.default = { likes: 1 }
    script.meanwhile = async () => {
      delete script.meanwhile
      script.default = { likes: 2 }
      expect(await refresh(post, 'bluesky', later(MINUTE))).toBe(true)
      script.default = { likes: 1 }
    }
    await collectRun()
    expect(await snapshotsOf(post._id)).toMatchObject([{ likes: 2 }])
  })

  it('posts of disabled or disconnected accounts are not collected', async () => {
    const { userId } = await published(['bluesky'])
    await context.database.connection
      .collection<{ _id: string }>('users')
      .updateOne({ _id: userId }, { $set: { isDisabled: true } })
    const cut = await published(['bluesky'])
    await disconnectDefault(context.accounts, cut.userId, 'bluesky')
    expect(await collectRun()).toEqual({ ...NOTHING_DUE, skipped: 2 })
    expect(platforms.calls).toEqual([])
    expect(await collectRun()).toEqual(NOTHING_DUE)
  })
})
