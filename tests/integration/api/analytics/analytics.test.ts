import { parse } from 'csv-parse/sync'
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
    'overview?to=2026-03-01',
    'timeline?period=7d&from=2026-03-01',
    'growth?from=2026-03-05&to=2026-03-01',
    'platforms?from=2026-02-30',
    'heatmap?from=yesterday',
    'overview?from=2026-04-08',
    'timeline?from=2025-01-01',
    'posts/top?from=1999-01-01&to=1999-01-02',
    'growth?accounts=',
    'growth?accounts=a,a',
    'platforms?format=xlsx',
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
      expect(await read(who, `${path}?accounts=${_id}`)).toEqual(await read(who, path))
      const response = await app.inject({ url: `/api/analytics/${path}?accounts=${_id}`, headers: reader.headers })
      expect([response.statusCode, response.json().code]).toEqual([404, 'NOT_FOUND'])
    },
  )

  it('a period of any days is read in the timezone of the user, and ends now at the latest', async () => {
    const who = await enter({ timezone: 'Asia/Tokyo' })
    const periodOf = async (query: string) => ((await read(who, `overview?${query}`)) as { period: object }).period
    const start = '2026-02-28T15:00:00.000Z'
    expect(await periodOf('from=2026-03-01&to=2026-03-31')).toEqual({ start, end: '2026-03-31T14:59:59.999Z' })
    expect(await periodOf('from=2026-03-01&to=2026-12-31')).toEqual({ start, end: END_OF_HISTORY.toISOString() })
    const exact = { start: '2026-03-01T10:00:00.000Z', end: '2026-03-02T10:00:00.000Z' }
    expect(await periodOf(`from=${exact.start}&to=${exact.end}`)).toEqual(exact)
    const timeline = (await read(who, 'timeline?from=2026-03-01&to=2026-03-31')) as { _id: string }[]
    expect([timeline.length, timeline[0]!._id, timeline.at(-1)!._id]).toEqual([31, '2026-03-01', '2026-03-31'])
    expect((await read(who, 'timeline?from=2025-03-04')) as object[]).toHaveLength(400)
  })

  it('the days of a past period are the same days in a longer one', async () => {
    const days = async (path: string) => (await read(reader, path)) as { _id: string }[]
    const [from, to] = ['2026-03-10', '2026-03-20']
    for (const path of ['timeline', 'growth']) {
      const longer = await days(`${path}?from=2026-02-01`)
      const within = longer.filter(({ _id }) => _id >= from && _id <= to)
      expect(await days(`${path}?from=${from}&to=${to}`)).toEqual(within)
      expect(within.length).toBeGreaterThan(0)
    }
  })

  it('a platform filters every read', async () => {
    const all = (await read(reader, 'platforms')) as { _id: string }[]
    const { _id } = all.at(-1)!
    expect(await read(reader, `platforms?platform=${_id}`)).toEqual(all.slice(-1))
    const overview = (await read(reader, `overview?platform=${_id}`)) as {
      platformPerformance: object
      followers: { breakdown: object }
    }
    expect(overview.platformPerformance).toEqual(all.slice(-1))
    expect(Object.keys(overview.followers.breakdown)).toEqual(expect.not.arrayContaining([all[0]!._id]))
  })

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

describe('analytics as CSV', () => {
  async function download(who: SignedIn, path: string) {
    const url = `/api/analytics/${path}${path.includes('?') ? '&' : '?'}format=csv`
    const { statusCode, headers, body } = await world.app.inject({ url, headers: who.headers })
    expect(statusCode, body).toBe(200)
    const [columns, ...records] = parse(body, { bom: true })
    return { headers, columns: columns!, rows: records.map((cells) => toRow(columns!, cells)) }
  }
  const toRow = (columns: string[], cells: string[]) =>
    Object.fromEntries(columns.map((column, index) => [column, cells[index]]))
  const shown = (value: unknown) => (typeof value === 'number' || typeof value === 'string' ? String(value) : '')

  it('every read is a file with its name', async () => {
    for (const path of ['overview', 'timeline', 'growth', 'posts/top', 'platforms', 'heatmap']) {
      const { headers } = await download(reader, path)
      expect(headers).toMatchObject({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="postonce-analytics-${path.replace('/', '-')}.csv"`,
      })
    }
  })

  it('the files have the figures of the JSON responses, and empty cells for unknown ones', async () => {
    const json = {
      overview: (await read(reader, 'overview')) as { stats: Record<string, unknown>; followers: { total: number } },
      timeline: (await read(reader, 'timeline')) as ({ _id: string } & Record<string, unknown>)[],
      growth: (await read(reader, 'growth')) as { _id: string; breakdown: Record<string, number> }[],
      top: (await read(reader, 'posts/top')) as { metrics: Record<string, unknown>; derived: object }[],
      platforms: (await read(reader, 'platforms')) as ({ _id: string } & Record<string, unknown>)[],
      heatmap: (await read(reader, 'heatmap')) as Record<string, unknown>[],
    }
    const { rows: overview } = await download(reader, 'overview')
    expect(overview).toMatchObject([mapValues(json.overview.stats)])
    expect(overview[0]).toMatchObject({ followers: shown(json.overview.followers.total) })
    const named = json.timeline.map(({ _id: day, ...figures }) => mapValues({ day, ...figures }))
    expect((await download(reader, 'timeline')).rows).toEqual(named)
    const { rows: growth } = await download(reader, 'growth')
    expect(growth).toMatchObject(json.growth.map(({ _id: day, breakdown }) => mapValues({ day, ...breakdown })))
    const { rows: top } = await download(reader, 'posts/top')
    expect(top).toMatchObject(json.top.map(({ metrics, derived }) => mapValues({ ...metrics, ...derived })))
    expect(top.flatMap((row) => Object.values(row))).toContain('')
    const { rows: platforms } = await download(reader, 'platforms')
    expect(platforms).toMatchObject(json.platforms.map(({ _id: platform, ...row }) => mapValues({ platform, ...row })))
    expect((await download(reader, 'heatmap')).rows).toMatchObject(json.heatmap.map(mapValues))
  })

  it('a file without rows has its header', async () => {
    const who = await enter({})
    const { columns, rows } = await download(who, 'posts/top')
    expect(rows).toEqual([])
    expect(columns).toContain('text')
    expect((await download(who, 'growth')).columns.slice(0, 2)).toEqual(['day', 'totalFollowers'])
  })

  it('the text of a post is no formula', async () => {
    const who = await enter({})
    const [history] = [...inventHistory({ users: 1, posts: 1, snapshots: 6 }, { seed: 7 })]
    const owned = { ...history!, ...{ userId: who.user._id, accountSnapshots: [], connected: [], endings: {} } }
    const text = '=HYPERLINK("https://example.test")'
    owned.posts = owned.posts.map((post) => ({ ...post, userId: who.user._id, content: { ...post.content, text } }))
    owned.postSnapshots = owned.postSnapshots.map((snapshot) => ({ ...snapshot, userId: who.user._id }))
    await storeHistory(world.context.database.connection, owned)
    const { rows } = await download(who, 'posts/top?from=2025-12-01')
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row).toMatchObject({ text: `'${text}` })
  })

  function mapValues(figures: Record<string, unknown>): Record<string, string> {
    return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, shown(value)]))
  }
})
