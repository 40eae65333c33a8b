import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { END_OF_HISTORY, inventHistory, storeHistory } from '../../../../sandbox/analytics-history.ts'
import { systemClock } from '../../../../src/clock.ts'
import type { User } from '../../../../src/domain/users/user.ts'
import { connectAccounts, connectedUser, publishedPost, storePosts } from '../../../support/published.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { openTestSession } from '../../../support/sessions.ts'

const clock = { now: () => END_OF_HISTORY, sleepUntil: async () => {} }

let world: ApiWorld
let reader: SignedIn

beforeAll(async () => {
  world = await apiWorld({}, { clock })
  const [history] = inventHistory({ users: 1, posts: 20, snapshots: 12 })
  const { userId: _id, timezone } = history!
  reader = await enter({ _id, timezone })
  await storeHistory(world.context.database.connection, history!)
})
afterAll(() => world.close())

/** Relative to the system time, because the database removes expired sessions. */
const enter = (changes: Partial<User>) => signIn({ ...world.context, clock: systemClock }, changes)

async function read(who: SignedIn, path: string): Promise<unknown> {
  const response = await world.app.inject({ url: `/api/analytics/${path}`, headers: who.headers })
  expect(response.statusCode, response.body).toBe(200)
  return response.json().data
}

describe('the analytics routes', () => {
  it('a user without data gets empty responses and a heatmap cell for every hour', async () => {
    const who = await enter({ timezone: 'Asia/Tokyo' })
    expect(await read(who, 'overview')).toEqual({
      stats: {
        bestPlatform: null,
        totalPosts: 0,
        totalEngagement: 0,
        totalImpressions: null,
        totalReach: null,
        avgEngagementRate: null,
        engagementChangePercent: null,
      },
      followers: { total: 0, breakdown: {} },
      platformPerformance: [],
      // The start of 9 March in Tokyo.
      period: { start: '2026-03-08T15:00:00.000Z', end: END_OF_HISTORY.toISOString() },
    })
    const timeline = (await read(who, 'timeline')) as { _id: string }[]
    expect(timeline).toHaveLength(30)
    expect([timeline[0], timeline.at(-1)]).toEqual(
      ['2026-03-09', '2026-04-07'].map((_id) => ({
        _id,
        totalEngagement: 0,
        likes: 0,
        comments: 0,
        shares: 0,
        postCount: 0,
      })),
    )
    expect(await read(who, 'growth')).toEqual([])
    expect(await read(who, 'posts/top')).toEqual([])
    expect(await read(who, 'platforms')).toEqual([])
    expect((await read(who, 'heatmap')) as object[]).toHaveLength(168)
  })

  it('the top posts are five posts by engagement of 30 days by default', async () => {
    const who = reader
    expect(await read(who, 'posts/top')).toEqual(await read(who, 'posts/top?limit=5&sortBy=totalEngagement&period=30d'))
    expect(await read(who, 'posts/top')).toHaveLength(5)
    expect(((await read(who, 'posts/top?limit=1000')) as object[]).length).toBeGreaterThan(5)
    expect(await read(who, 'platforms')).toEqual(await read(who, 'platforms?period=30d'))
  })

  it('a top post has an id per platform and names its post', async () => {
    const rows = (await read(reader, 'posts/top?limit=100')) as { _id: string; postId: string; platform: string }[]
    expect(new Set(rows.map(({ _id }) => _id)).size).toBe(rows.length)
    expect(new Set(rows.map(({ postId }) => postId)).size).toBeLessThan(rows.length)
    for (const { _id, postId, platform } of rows) expect(_id).toBe(`${postId}:${platform}`)
  })

  it('the overview counts a published post before its first metrics are collected', async () => {
    const who = await enter({})
    const post = publishedPost({ userId: who.user._id, on: ['mastodon', 'bluesky'], completedAt: END_OF_HISTORY })
    await storePosts(world.context, [post])
    expect(await read(who, 'overview')).toMatchObject({
      stats: { totalPosts: 1, totalImpressions: null, totalReach: null },
      platformPerformance: [],
    })
  })

  it.each([
    'overview?period=1y',
    'timeline?platform=myspace',
    'growth?platform=',
    'posts/top?sortBy=_id',
    'posts/top?limit=0',
    'posts/top?limit=many',
    'heatmap?period=30',
  ])('the analytics request %s is rejected', async (path) => {
    const response = await world.app.inject({ url: `/api/analytics/${path}`, headers: reader.headers })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ success: false, code: 'VALIDATION_FAILED' })
  })

  it.each(['overview', 'timeline', 'growth', 'posts/top', 'platforms', 'heatmap'])(
    'analytics of %s are limited to an account of the user',
    async (path) => {
      const { context, app } = world
      const who = await enter({})
      await connectAccounts(context, who.user._id, ['bluesky'])
      const { _id } = (await context.accounts.findDefault(who.user._id, 'bluesky'))!
      expect(await read(who, `${path}?account=${_id}`)).toEqual(await read(who, path))
      const response = await app.inject({ url: `/api/analytics/${path}?account=${_id}`, headers: reader.headers })
      expect([response.statusCode, response.json().code]).toEqual([404, 'NOT_FOUND'])
    },
  )

  it('a change of connected platforms shows immediately', async () => {
    const { context, app } = world
    const user = await connectedUser(context, ['mastodon', 'tumblr'])
    const { accessToken } = await openTestSession({ ...context, clock: systemClock }, user, {
      ipAddress: '127.0.0.1',
      userAgent: 'test',
    })
    const who = { headers: { authorization: `Bearer ${accessToken}` } } as SignedIn
    const breakdown = async () =>
      ((await read(who, 'overview')) as { followers: { breakdown: object } }).followers.breakdown
    expect(await breakdown()).toEqual({ mastodon: null, tumblr: null })
    await app.inject({ method: 'DELETE', url: '/api/platform/mastodon/disconnect', headers: who.headers })
    expect(await breakdown()).toEqual({ tumblr: null })
  })
})
