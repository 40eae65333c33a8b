import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { END_OF_HISTORY, inventHistory, storeHistory, type UserHistory } from '../../sandbox/analytics-history.ts'
import { PERIODS, RANKINGS } from '../../src/domain/analytics.ts'
import {
  expectedGrowth,
  expectedHeatmap,
  expectedOverview,
  expectedPlatforms,
  expectedTimeline,
  expectedTop,
  type Asked,
} from '../support/analytics-recomputed.ts'
import { openSession } from '../../src/commands/open-session.ts'
import { DAY } from '../../src/domain/times.ts'
import { connectedUser } from '../support/published.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../support/api.ts'

const SIZE = { users: 10, posts: 20, snapshots: 12 }
const clock = { now: () => END_OF_HISTORY, sleepUntil: async () => {} }

let world: ApiWorld
const histories: { history: UserHistory; who: SignedIn }[] = []

beforeAll(async () => {
  world = await apiWorld({}, { clock })
  for (const history of inventHistory(SIZE)) {
    const { userId: _id, timezone } = history
    histories.push({ history, who: await signIn(world.context, { _id, timezone }) })
    await storeHistory(world.context.database.connection, history)
  }
})
afterAll(() => world.close())

async function read(who: SignedIn, path: string): Promise<unknown> {
  const response = await world.app.inject({ url: `/api/analytics/${path}`, headers: who.headers })
  expect(response.statusCode, response.body).toBe(200)
  return response.json().data
}

/** Fractions are added up in another order here and there. */
function rounded<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_, part) => (typeof part === 'number' ? Number(part.toPrecision(12)) : part)),
  ) as T
}

const asked = ({ timezone }: UserHistory, period: string, platform?: string): Asked => ({
  now: END_OF_HISTORY,
  days: period === '7d' ? 7 : 30,
  timezone,
  ...(platform && { platform }),
})

describe('a history that was made up equals its plain recomputation', () => {
  it('has everything in it that could go wrong', () => {
    const all = histories.map(({ history }) => history)
    const snapshots = all.flatMap(({ postSnapshots }) => postSnapshots)
    const entries = all.flatMap(({ posts }) => posts.flatMap(({ platformStatuses }) => platformStatuses))
    expect(new Set(all.map(({ timezone }) => timezone)).size).toBe(5)
    expect(new Set(entries.map(({ status }) => status))).toEqual(new Set(['completed', 'failed', 'deleted', 'pending']))
    expect(snapshots.some(({ totalEngagement }) => totalEngagement === null)).toBe(true)
    expect(snapshots.some(({ engagementRate, likes }) => engagementRate === null && likes !== null)).toBe(true)
    expect(all.some(({ endings, connected }) => connected.some((platform) => endings[platform]))).toBe(true)
  })

  it.each(PERIODS)('overview over %s', async (period) => {
    for (const { history, who } of histories) {
      const overview = await read(who, `overview?period=${period}`)
      expect(rounded(overview)).toEqual(rounded(expectedOverview(history, asked(history, period))))
    }
  })

  it.each(PERIODS)('platforms over %s', async (period) => {
    for (const { history, who } of histories) {
      const platforms = await read(who, `platforms?period=${period}`)
      expect(rounded(platforms)).toEqual(rounded(expectedPlatforms(history, asked(history, period))))
    }
  })

  it.each(PERIODS)('heatmap over %s', async (period) => {
    for (const { history, who } of histories) {
      const cells = await read(who, `heatmap?period=${period}`)
      expect(cells).toHaveLength(168)
      expect(rounded(cells)).toEqual(rounded(expectedHeatmap(history, asked(history, period))))
    }
  })

  it.each(PERIODS)('timeline and growth over %s, of all platforms and of one', async (period) => {
    for (const { history, who } of histories) {
      for (const platform of [undefined, 'bluesky', 'mastodon']) {
        const query = `period=${period}${platform ? `&platform=${platform}` : ''}`
        const what = asked(history, period, platform)
        expect(await read(who, `timeline?${query}`), query).toEqual(expectedTimeline(history, what))
        expect(await read(who, `growth?${query}`), query).toEqual(expectedGrowth(history, what))
      }
    }
  })

  it.each(RANKINGS)('the best posts by %s', async (sortBy) => {
    for (const { history, who } of histories) {
      for (const platform of [undefined, 'mastodon'] as const) {
        const query = `sortBy=${sortBy}&limit=12${platform ? `&platform=${platform}` : ''}`
        const top = (await read(who, `posts/top?${query}`)) as TopPost[]
        const flat = top.map(({ postDetails, ...rest }) => ({
          ...rest,
          text: postDetails.content.text,
          statuses: postDetails.platformStatuses.map(({ status }) => status),
          createdAt: postDetails.createdAt,
        }))
        expect(rounded(flat)).toEqual(rounded(expectedTop(history, asked(history, '30d', platform), sortBy, 12)))
      }
    }
  })
})

describe('the routes', () => {
  it('answer somebody who has nothing with nothing, and with a cell for every hour', async () => {
    const who = await signIn(world.context, { timezone: 'Asia/Tokyo' })
    const start = new Date(END_OF_HISTORY.getTime() - 30 * DAY).toISOString()
    expect(await read(who, 'overview')).toEqual({
      stats: {
        bestPlatform: null,
        totalPosts: 0,
        totalEngagement: 0,
        totalImpressions: 0,
        totalReach: 0,
        avgEngagementRate: null,
        engagementChangePercent: null,
      },
      followers: { total: 0, breakdown: {} },
      platformPerformance: [],
      period: { start, end: END_OF_HISTORY.toISOString() },
    })
    const timeline = (await read(who, 'timeline')) as { _id: string }[]
    expect(timeline).toHaveLength(31)
    expect([timeline[0], timeline.at(-1)]).toEqual(
      ['2026-03-08', '2026-04-07'].map((_id) => ({
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

  it('rank five posts by engagement of 30 days unless they are told otherwise', async () => {
    const { who } = histories[0]!
    expect(await read(who, 'posts/top')).toEqual(await read(who, 'posts/top?limit=5&sortBy=totalEngagement&period=30d'))
    expect(await read(who, 'posts/top')).toHaveLength(5)
    expect(((await read(who, 'posts/top?limit=1000')) as object[]).length).toBeGreaterThan(5)
    expect(await read(who, 'platforms')).toEqual(await read(who, 'platforms?period=30d'))
  })

  it.each([
    'overview?period=1y',
    'timeline?platform=myspace',
    'growth?platform=',
    'posts/top?sortBy=_id',
    'posts/top?limit=0',
    'posts/top?limit=many',
    'heatmap?period=30',
  ])('refuse %s', async (path) => {
    const { who } = histories[0]!
    const response = await world.app.inject({ url: `/api/analytics/${path}`, headers: who.headers })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ success: false, code: 'VALIDATION_FAILED' })
  })

  it('show a post with the latest snapshot of each platform', async () => {
    const { history, who } = histories[1]!
    const post = history.posts.find(({ selectedPlatforms }) => selectedPlatforms.length > 1)!
    const response = await world.app.inject({ url: `/api/posts/${post._id}`, headers: who.headers })
    const expected = post.selectedPlatforms.flatMap((platform) => {
      const its = history.postSnapshots.filter((one) => one.postId === post._id && one.platform === platform)
      const last = its.toSorted((one, other) => other.takenAt.getTime() - one.takenAt.getTime())[0]
      if (!last) return []
      const { _id: _1, userId: _2, postId: _3, slot: _4, completedAt: _5, takenAt, ...figures } = last
      return [[platform, { ...figures, snapshotAt: takenAt.toISOString() }]]
    })
    expect(expected.length).toBeGreaterThan(1)
    expect(rounded(response.json().data.analytics)).toEqual(rounded(Object.fromEntries(expected)))
  })

  it('show at once which platforms are connected', async () => {
    const { context, app } = world
    const user = await connectedUser(context, ['mastodon', 'tumblr'])
    const { accessToken } = await openSession(context, user, { ipAddress: '127.0.0.1', userAgent: 'test' })
    const who = { headers: { authorization: `Bearer ${accessToken}` } } as SignedIn
    const breakdown = async () =>
      ((await read(who, 'overview')) as { followers: { breakdown: object } }).followers.breakdown
    expect(await breakdown()).toEqual({ mastodon: null, tumblr: null })
    await app.inject({ method: 'DELETE', url: '/api/platform/mastodon/disconnect', headers: who.headers })
    expect(await breakdown()).toEqual({ tumblr: null })
  })
})

interface TopPost {
  postDetails: { content: { text: string }; platformStatuses: { status: string }[]; createdAt: string }
}
