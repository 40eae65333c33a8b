import { once } from 'node:events'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { deletePost } from '../../../src/commands/posts/delete-post.ts'
import { toSlot } from '../../../src/domain/analytics/collection.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { startAgeClass } from '../../../src/workflows/contract/analytics.ts'
import { connectedUser, disconnectDefault, publishedPost, storePosts } from '../../support/published.ts'
import { idOn, later, startScriptedCollection, failure } from './scripted-collection.ts'

const { context, platforms, lines, activities, run, listRun, collectRun, published, ...collection } =
  await startScriptedCollection()
const { environment, snapshotsOf, lettersOf, stored, entry, versionOf, clear } = collection
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

  it('concurrent collectors store one snapshot per slot', async () => {
    const { userId, posts } = await published(['bluesky'], 30)
    platforms.scriptFor('bluesky').meanwhile = () => new Promise((resolve) => setTimeout(resolve, 50))
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

  it('the follower count of a day is requested once for all posts of an account', async () => {
    const { userId } = await published(['threads'], 3)
    await collectRun()
    expect(platforms.followerCalls).toEqual(['threads'])
    const { _id: accountId } = (await context.accounts.findDefault(userId, 'threads'))!
    expect(await context.snapshots.latestFollowers(userId, 'threads', accountId)).toMatchObject({ followers: 100 })
  })
})

describe('the list of due posts', () => {
  const ownedBy = (userId: string, count: number) =>
    Array.from({ length: count }, () => publishedPost({ userId, on: ['bluesky', 'mastodon'] }))
  const manyOwners = (count: number) => Array.from({ length: count }, () => ownedBy(newId(), 4)).flat()

  it('the shards of a run divide the owners and list each due post once', async () => {
    const all = manyOwners(1_100)
    await storePosts(context, all)
    const { shards } = await run(activities().planCollection)
    expect(shards.filter(({ platform }) => platform === 'bluesky')).toHaveLength(5)
    expect(shards.map(({ name }) => name)).toContain('Mastodon, shard 5 of 5')
    const { pages, batches } = await listRun()
    for (const platform of ['bluesky', 'mastodon']) {
      const listed = batches.filter((batch) => batch.platform === platform).flatMap(({ postIds }) => postIds)
      expect(listed.toSorted()).toEqual(all.map(({ _id }) => _id).toSorted())
    }
    expect(Math.max(...batches.map(({ postIds }) => postIds.length))).toBeLessThanOrEqual(25)
    for (const { accounts } of pages) {
      expect(accounts.reduce((sum, one) => sum + one.batches.flat().length, 0)).toBeLessThanOrEqual(500)
    }
  })

  it('a listing has one page of an owner with many posts, and all posts of the others', async () => {
    const userId = newId()
    // Ids increase, so the user with many posts is between the others.
    const [before, after] = [manyOwners(60), ownedBy(userId, 1_230)]
    const all = [...before, ...after, ...manyOwners(60)]
    await storePosts(context, all)
    const { pages, batches } = await listRun()
    // On both platforms.
    expect(pages.filter(({ isCut }) => isCut)).toHaveLength(2)
    const listed = batches.filter(({ platform }) => platform === 'bluesky')
    const [own, others] = [true, false].map((isOwn) =>
      listed.filter((batch) => (batch.userId === userId) === isOwn).flatMap(({ postIds }) => postIds),
    )
    expect(own).toHaveLength(500)
    expect(others).toHaveLength(480)
  })

  it('the list of due posts starts at a random owner and wraps around to it', async () => {
    const owners = Array.from({ length: 5 }, newId)
    const posts = owners.flatMap((userId) =>
      [1, 2].map((days) => publishedPost({ userId, completedAt: new Date(Date.now() - (days - 0.5) * DAY) })),
    )
    await storePosts(context, posts)
    const range = { afterUserId: null, untilUserId: null }
    const listedFrom = async (startUserId: string | null) => {
      const pages = await collection.listShard(startAgeClass(0, { platform: 'bluesky', range, startUserId }))
      return pages.flatMap(({ accounts }) => accounts.map(({ userId }) => userId))
    }
    const [a, b, c, d, e] = owners.toSorted()
    expect(await listedFrom(c!)).toEqual([d, e, a, b, c, d, e, a, b, c])
    expect(await listedFrom(e!)).toEqual([a, b, c, d, e, a, b, c, d, e])
    expect(await listedFrom(null)).toEqual([a, b, c, d, e, a, b, c, d, e])
    const { shards } = await run(activities().planCollection)
    expect(owners).toContain(shards[0]!.startUserId)
  })

  it('accounts have the server that published their posts', async () => {
    const userId = newId()
    const onServer = (accountId: string, server?: string) => {
      const post = publishedPost({ userId, on: ['mastodon'], accountId })
      return {
        ...post,
        platformStatuses: post.platformStatuses.map((entry) => ({ ...entry, ...(server && { server }) })),
      }
    }
    await storePosts(context, [onServer('1'), onServer('2', 'https://a.test'), onServer('3@b.test', 'https://b.test')])
    const { pages } = await listRun()
    const servers = pages.flatMap(({ accounts }) => accounts.map(({ publishedBy, server }) => [publishedBy, server]))
    expect(Object.fromEntries(servers)).toEqual({ '1': undefined, '2': 'https://a.test', '3@b.test': 'b.test' })
  })

  it('a long search for due posts sends heartbeats', async () => {
    const listDue = () => new Promise<[]>((resolve) => setTimeout(resolve, 1_200, []))
    const worker = environment()
    const beats = once(worker, 'heartbeat')
    const range = { afterUserId: null, untilUserId: null }
    const place = startAgeClass(0, { platform: 'bluesky', range, startUserId: null })
    await worker.run(activities(undefined, { listDue }).listDueMetrics, place)
    await beats
  })

  it('platforms without metrics are skipped with one log line per run', async () => {
    const { posts } = await published(['tumblr', 'bluesky'], 2)
    lines.length = 0
    expect((await collectRun()).map(({ platform }) => platform)).toEqual(['bluesky'])
    expect(lines.filter(({ message }) => message.includes('without metrics'))).toHaveLength(1)
    expect((await entry(posts[0]!, 'tumblr')).lastAnalyticsFetch).toBeNull()
  })
})

describe('a post', () => {
  it('a post that was deleted on the platform is marked deleted and not collected again', async () => {
    const { userId, post } = await published(['bluesky', 'mastodon'], 1, new Date(Date.now() - HOUR))
    platforms.scriptFor('bluesky').counts.set(idOn(post, 'bluesky'), 'deleted')
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

  it('a post that the platform does not show right after publication does not count as deleted', async () => {
    const { post } = await published(['threads'], 1, later(-MINUTE)())
    platforms.scriptFor('threads').counts.set(idOn(post, 'threads'), 'deleted')
    expect(await collectRun()).toMatchObject([{ deleted: 0, saved: 0, skipped: 1, failed: 0 }])
    expect(await collectRun()).toEqual([])
    expect(await refresh(post, 'threads', later(8 * MINUTE))).toBe(false)
    expect(await entry(post, 'threads')).toMatchObject({ status: 'completed', lastAnalyticsFetch: null })
    platforms.scriptFor('threads').counts.set(idOn(post, 'threads'), { likes: 2 })
    expect(await collectRun(later(23 * MINUTE))).toMatchObject([{ saved: 1 }])
    const { post: gone } = await published(['threads'], 1, later(-MINUTE)())
    platforms.scriptFor('threads').counts.set(idOn(gone, 'threads'), 'deleted')
    await refresh(gone, 'threads', later(9 * MINUTE))
    expect((await entry(gone, 'threads')).status).toBe('deleted')
  })

  it('a post without reported metrics gets no snapshot and is skipped until the next slot', async () => {
    const { userId, post } = await published(['bluesky'])
    platforms.scriptFor('bluesky').default = null
    expect(await collectRun()).toMatchObject([{ saved: 0, skipped: 1 }])
    expect(await collectRun()).toEqual([])
    expect((await entry(post, 'bluesky')).lastAnalyticsFetch).toBeNull()
    expect(await lettersOf(userId)).toEqual([])
    expect(await collectRun(later(15 * MINUTE))).toHaveLength(1)
  })

  it('a post that was published on another account is not read with the current one', async () => {
    const { _id: userId } = await connectedUser(context, ['threads'])
    await storePosts(context, [publishedPost({ userId, on: ['threads'], accountId: 'the previous account' })])
    expect(await collectRun()).toMatchObject([{ saved: 0, deleted: 0, skipped: 1 }])
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
    expect(await collectRun()).toMatchObject([{ saved: 0, skipped: 1 }])
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
    expect(await collectRun()).toMatchObject([{ skipped: 1 }, { skipped: 1 }])
    expect(platforms.calls).toEqual([])
    expect(await collectRun()).toEqual([])
  })
})
