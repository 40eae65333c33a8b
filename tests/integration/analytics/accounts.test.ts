import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createAnalyticsReader } from '../../../src/api/analytics/analytics-reader.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { alsoPublishedOn } from '../../support/published-post.ts'
import { accountIdOf, addAccount, connectedUser, publishedPost, storePosts } from '../../support/published.ts'
import { later, startScriptedCollection, failure } from './scripted-collection.ts'

/** A user with two accounts on a platform, and a post that was published on both. */

const { context, platforms, activities, run, collectRun, collectFollowers, lettersOf, clear } =
  await startScriptedCollection()
afterEach(clear)
afterAll(() => context.close())

const bluesky = platforms.scriptFor('bluesky')

async function publishedOnBoth() {
  const { _id: userId } = await connectedUser(context, ['bluesky', 'mastodon'])
  const first = (await context.accounts.findDefault(userId, 'bluesky'))!
  const second = await addAccount(context, userId, { platform: 'bluesky', platformId: `second-of-${userId}` })
  const post = alsoPublishedOn(publishedPost({ userId, on: ['bluesky', 'mastodon'] }), second)
  await storePosts(context, [post])
  const [onFirst, , onSecond] = post.platformStatuses.map(({ platformPostId }) => platformPostId!) as [
    string,
    ...string[],
  ]
  bluesky.counts.set(onFirst, { likes: 3 }).set(onSecond!, { likes: 10 })
  bluesky.followersOf.set(first.platformId, 100).set(second.platformId, 1_000)

  /** Makes the next call for the post on the second account fail. */
  const failOnSecond = (error: Error) => {
    bluesky.meanwhile = async (ids) => {
      if (!ids.includes(onSecond!)) return
      delete bluesky.meanwhile
      throw error
    }
  }
  return { userId, post, first, second, failOnSecond, ...(await readerOf(userId)) }
}

/** Reads the analytics of a user. Each read has a cache of its own. */
async function readerOf(userId: string) {
  const { timezone } = (await context.users.findById(userId))!
  const clock = { ...context.clock, now: later(MINUTE) }

  async function ofAccount(...accounts: string[]) {
    const { analyticsVersion = 0 } = (await context.users.findById(userId))!
    const user = { userId, timezone, analyticsVersion }
    const reader = createAnalyticsReader({ ...context, clock })
    const query = { period: '30d' as const, ...(accounts.length > 0 && { accounts }) }
    const [overview, rows, top, growth, timeline, heatmap] = await Promise.all([
      reader.overview(user, query),
      reader.platforms(user, query),
      reader.top(user, { ...query, sortBy: 'likes', limit: 10 }),
      reader.growth(user, query),
      reader.timeline(user, query),
      reader.heatmap(user, query),
    ])
    return { overview, rows, top, growth, timeline, heatmap }
  }
  return { ofAccount }
}

describe('metrics of a post that was published on two accounts of a platform', () => {
  it('each account reads its own counts, and its own followers are the base of the rate', async () => {
    const { post, first, second } = await publishedOnBoth()
    expect(await collectRun()).toMatchObject({ saved: 3 })
    const calls = platforms.calls.filter(({ platform }) => platform === 'bluesky')
    expect(calls.map(({ accountId }) => accountId).toSorted()).toEqual([first.platformId, second.platformId].toSorted())
    for (const { ids } of calls) expect(ids).toHaveLength(1)
    const ofDefault = await context.snapshots.latest({ ...post, postId: post._id }, 'bluesky')
    expect(ofDefault).toMatchObject({ likes: 3, engagementRate: 0.03, accountId: first._id })
    const ofChosen = await context.snapshots.latest({ ...post, postId: post._id }, 'bluesky', second._id)
    expect(ofChosen).toMatchObject({ likes: 10, engagementRate: 0.01, accountId: second._id, target: second._id })
  })

  it('a second collection in the same slot reads nothing', async () => {
    await publishedOnBoth()
    await collectRun()
    platforms.calls.length = 0
    await collectRun()
    expect(platforms.calls).toEqual([])
  })

  it('an account whose login ended leaves the other one', async () => {
    const { post, userId, second, failOnSecond } = await publishedOnBoth()
    bluesky.followersOf.clear()
    failOnSecond(failure('unauthorized'))
    expect(await collectRun()).toMatchObject({ saved: 2, skipped: 1 })
    expect(await context.snapshots.latest({ ...post, postId: post._id }, 'bluesky')).toMatchObject({ likes: 3 })
    expect(await context.snapshots.latest({ ...post, postId: post._id }, 'bluesky', second._id)).toBeNull()
    const health = (await context.accounts.listConnected(userId)).map(({ _id, health: { status } }) => [_id, status])
    expect(Object.fromEntries(health)).toMatchObject({ [second._id]: 'expired' })
    expect(health.filter(([, status]) => status === 'expired')).toHaveLength(1)
  })

  it('a failed collection makes a dead letter that names the account, and its replay reads that account', async () => {
    const { post, userId, second, failOnSecond } = await publishedOnBoth()
    failOnSecond(failure('transient'))
    await collectRun()
    expect(await lettersOf(userId)).toMatchObject([{ postId: post._id, platform: 'bluesky', accountId: second._id }])
    platforms.calls.length = 0
    const [letter] = await lettersOf(userId)
    expect(await run(activities().replayDeadLetter, letter!._id)).toBe('done')
    expect(platforms.calls).toMatchObject([{ accountId: second.platformId }])
    expect(await lettersOf(userId)).toEqual([])
  })

  it('a requested refresh reads the account that the post names', async () => {
    const { userId, post, second } = await publishedOnBoth()
    const wanted = { userId, postId: post._id, platform: 'bluesky' as const, target: second._id }
    expect(await run(activities().refreshPostMetrics, wanted)).toBe(true)
    expect(platforms.calls).toMatchObject([{ accountId: second.platformId }])
    expect(await context.snapshots.latest({ ...post, postId: post._id }, 'bluesky')).toBeNull()
    expect(await context.snapshots.latest({ ...post, postId: post._id }, 'bluesky', second._id)).toMatchObject({
      likes: 10,
    })
  })
})

describe('analytics of a user with two accounts on a platform', () => {
  it('without an account, a platform has the sum and a row for each account', async () => {
    const { first, second, ofAccount } = await publishedOnBoth()
    await collectRun()
    await collectFollowers()
    const { overview, rows, top, growth, timeline } = await ofAccount()
    expect(rows).toMatchObject([
      {
        ...{ _id: 'bluesky', totalEngagement: 13, totalPosts: 2 },
        accounts: [
          { accountId: second._id, totalEngagement: 10, totalPosts: 1, avgEngagementRate: 0.01 },
          { accountId: first._id, totalEngagement: 3, totalPosts: 1, avgEngagementRate: 0.03 },
        ],
      },
      { _id: 'mastodon', totalPosts: 1 },
    ])
    expect(rows[1]).not.toHaveProperty('accounts')
    expect(overview.stats).toMatchObject({ totalPosts: 1, bestPlatform: 'bluesky' })
    const followers = { bluesky: 1_100, mastodon: 100 }
    const byAccount = { [first._id]: 100, [second._id]: 1_000 }
    expect(overview.followers).toMatchObject({ total: 1_200, breakdown: followers, accounts: byAccount })
    expect(growth.at(-1)).toMatchObject({ totalFollowers: 1_200, breakdown: followers, accounts: byAccount })
    expect(top.map(({ platform, accountId }) => [platform, accountId])).toEqual([
      ['bluesky', second._id],
      ['bluesky', undefined],
      ['mastodon', undefined],
    ])
    expect(new Set(top.map(({ _id }) => _id)).size).toBe(3)
    expect(timeline.at(-1)).toMatchObject({ likes: 14, postCount: 3 })
  })

  it('with an account, every read is of that account alone', async () => {
    const { first, second, ofAccount } = await publishedOnBoth()
    await collectRun()
    await collectFollowers()
    for (const [account, likes, followers] of [
      [first, 3, 100],
      [second, 10, 1_000],
    ] as const) {
      const { overview, rows, top, growth, timeline, heatmap } = await ofAccount(account._id)
      expect(rows).toMatchObject([{ _id: 'bluesky', totalEngagement: likes, totalPosts: 1 }])
      expect(overview.stats).toMatchObject({ totalPosts: 1, totalEngagement: likes })
      expect(overview.followers).toEqual({ total: followers, breakdown: { bluesky: followers } })
      expect(growth.at(-1)).toMatchObject({ totalFollowers: followers, breakdown: { bluesky: followers } })
      expect(top).toMatchObject([{ metrics: { likes } }])
      expect(timeline.at(-1)).toMatchObject({ likes, postCount: 1 })
      expect(heatmap.reduce((sum, { postCount }) => sum + postCount, 0)).toBe(1)
    }
  })

  it('the reads of all accounts of a user together are those without a filter', async () => {
    const { userId, first, second, ofAccount } = await publishedOnBoth()
    await collectRun()
    await collectFollowers()
    const mastodon = (await context.accounts.findDefault(userId, 'mastodon'))!
    const [every, filtered] = [await ofAccount(), await ofAccount(first._id, second._id, mastodon._id)]
    const { period } = every.overview
    expect({ ...filtered, overview: { ...filtered.overview, period } }).toEqual(every)
    const { overview, timeline } = await ofAccount(first._id, second._id)
    expect(overview.followers).toMatchObject({ total: 1_100, breakdown: { bluesky: 1_100 } })
    expect(timeline.at(-1)).toMatchObject({ likes: 13, postCount: 2 })
  })

  it('accounts of other users, and unknown ones, are not found', async () => {
    const { ofAccount } = await publishedOnBoth()
    const other = await publishedOnBoth()
    await expect(ofAccount(other.first._id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(ofAccount(accountIdOf('bluesky', 'unknown'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
