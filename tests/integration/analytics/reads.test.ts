/*
 * Compares every analytics read of a downsampled sample history with a plain recomputation from all fetches. With `HISTORY=full` the history has 1,000 users, 50,000
 * posts and 500,000 snapshots, which takes some minutes.
 */
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inventHistory, storeHistory, type UserHistory } from '../../../sandbox/analytics-history.ts'
import { createDownsampleActivities } from '../../../src/activities/analytics/downsample-snapshots.ts'
import { systemClock } from '../../../src/clock.ts'
import type { Context } from '../../../src/context.ts'
import { deriveMetrics, NO_COUNTS, RANKINGS, toPrecedingWindow } from '../../../src/domain/analytics/analytics.ts'
import { listDays, toPeriodWindow } from '../../../src/domain/analytics/calendar.ts'
import { findDownsampledUntil, LONGEST_SNAPSHOT_MS } from '../../../src/domain/analytics/snapshots.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/shared/times.ts'
import {
  comparedPairs,
  followerCounts,
  latestOfPosts,
  latestPairs,
  timelinePairs,
  topPairs,
  type Aggregation,
} from '../../../src/store/analytics/analytics-pipelines.ts'
import type { DownsampledPage } from '../../../src/workflows/contract/analytics.ts'
import { POST_SNAPSHOTS } from '../../../src/store/analytics/collections.ts'
import {
  expectedGrowth,
  expectedHeatmap,
  expectedLatest,
  expectedOverview,
  expectedPlatforms,
  expectedTimeline,
  expectedTop,
} from '../../support/analytics-recomputed.ts'
import { apiWorld, signIn, type ApiWorld } from '../../support/api.ts'
import { publishedPost, storePosts } from '../../support/published.ts'
import { explain, isScan } from '../../support/query-plans.ts'
import { partial } from '../../support/partial.ts'

const IS_FULL = process.env['HISTORY'] === 'full'
const SIZE = IS_FULL ? { users: 1_000, posts: 50, snapshots: 12 } : { users: 20, posts: 10, snapshots: 12 }
const WITHIN_MS = IS_FULL ? 30 * MINUTE : 5 * MINUTE
/** Posts per user that are compared individually. */
const POSTS = 3
const BEST = 12
const EXPLAINED = 10

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago']
/** Ends of the history. For each zone, the clocks go forward in the month before one of them, and back before another. */
const ENDS = [
  { end: new Date('2026-04-06T15:20:00Z'), share: 1 / 2 },
  { end: new Date('2025-10-06T15:20:00Z'), share: 1 / 4 },
  { end: new Date('2025-11-05T15:20:00Z'), share: 1 / 4 },
]
type End = (typeof ENDS)[number]

/** Generates the users again, one at a time, because all together would not fit in memory. */
const usersUntil = ({ end, share }: End) =>
  inventHistory({ ...SIZE, users: SIZE.users * share }, { seed: end.getMonth(), end })

/** Relative tolerance: the database adds fractions in another order than the recomputation. */
const SAME_WITHIN = 1e-12
expect.addEqualityTesters([
  (one, other) =>
    typeof one === 'number' && typeof other === 'number' && !Number.isInteger(one)
      ? Math.abs(one - other) <= SAME_WITHIN * Math.abs(one)
      : undefined,
])

let now = ENDS[0]!.end
let world: ApiWorld
const explainedUsers: { history: UserHistory; end: Date }[] = []
const found = {
  users: 0,
  posts: 0,
  snapshots: 0,
  downsampled: 0,
  statuses: new Set<string>(),
  oddities: new Set<string>(),
}

beforeAll(async () => {
  world = await apiWorld({}, { clock: { now: () => now, sleepUntil: async () => {} } })
  for (const until of ENDS) {
    for (const history of usersUntil(until)) {
      await storeHistory(world.context.database.connection, history)
      if (found.users % (SIZE.users / EXPLAINED) === 0) explainedUsers.push({ history, end: until.end })
      recordContents(history)
      await downsample(history, until)
    }
  }
}, WITHIN_MS)
afterAll(() => world.close())

function recordContents({ posts, postSnapshots, connected, endings }: UserHistory): void {
  found.users += 1
  found.posts += posts.length
  found.snapshots += postSnapshots.length
  for (const { platformStatuses } of posts) for (const { status } of platformStatuses) found.statuses.add(status)
  for (const { totalEngagement, engagementRate, likes } of postSnapshots) {
    if (totalEngagement === null) found.oddities.add('no metrics were reported')
    if (engagementRate === null && likes !== null) found.oddities.add('no followers were known')
  }
  if (connected.some((platform) => endings[platform])) found.oddities.add('an account came back')
}

/** Downsamples the snapshots of one user as the Schedule does at the end of the history. */
async function downsample({ userId, timezone }: UserHistory, { end }: End): Promise<void> {
  const cursor = { from: null, until: findDownsampledUntil(end).getTime(), afterUserId: null }
  const users = partial<Context['users']>({ listTimezones: async () => [{ _id: userId, timezone }] })
  const one = createDownsampleActivities({ ...world.context, users })
  const { removed }: DownsampledPage = await new MockActivityEnvironment().run(one.downsampleSnapshotsPage, cursor)
  found.downsampled += removed
}

describe('a sample history', () => {
  it('the sample history contains every status and every irregularity', () => {
    expect(found.statuses).toEqual(new Set(['completed', 'failed', 'deleted', 'pending']))
    expect(found.oddities.size).toBe(3)
    expect(found.posts).toBe(SIZE.users * SIZE.posts)
    expect(found.snapshots).toBeGreaterThanOrEqual(found.posts * 10)
    expect(found.downsampled).toBeGreaterThan(found.posts / 20)
  })

  it('the sample history covers both clock changes of four timezones', () => {
    const changes = new Set(ZONES.flatMap((zone) => ENDS.flatMap(({ end }) => changesOf(zone, end))))
    expect([...changes].toSorted()).toEqual(ZONES.flatMap((zone) => [`${zone} back`, `${zone} forward`]).toSorted())
  })

  it.each(ENDS)(
    'every read of the sample history until $end equals a plain recomputation',
    { timeout: WITHIN_MS },
    async (until) => {
      now = until.end
      for (const history of usersUntil(until)) await compareReads(history)
    },
  )
})

function changesOf(zone: string, end: Date): string[] {
  const starts = listDays(toPeriodWindow('30d', end, zone), zone).map(({ start }) => start.getTime())
  return starts.slice(1).flatMap((start, index) => {
    const longer = start - starts[index]! - DAY
    return longer === 0 ? [] : [`${zone} ${longer > 0 ? 'back' : 'forward'}`]
  })
}

async function compareReads(history: UserHistory): Promise<void> {
  const { userId, timezone, posts } = history
  // The database removes expired sessions by its own clock, so the session uses the system time.
  const { headers } = await signIn({ ...world.context, clock: systemClock }, { _id: userId, timezone })
  const get = async (url: string): Promise<unknown> => {
    const response = await world.app.inject({ url: `/api/${url}`, headers })
    expect(response.statusCode, response.body).toBe(200)
    return response.json().data
  }
  const expectSame = (actual: unknown, expected: unknown, path: string) =>
    expect(actual, `${path} of ${userId} in ${timezone}`).toEqual(expected)
  /** Each comparison computes its expected value before its request: the API runs in this process, and has a deadline for each request. */
  const compare = (path: string, expected: () => unknown) => async () => {
    const wanted = expected()
    expectSame(await get(`analytics/${path}`), wanted, path)
  }
  const compareTop = (path: string, expected: () => unknown) => async () => {
    const wanted = expected()
    expectSame(((await get(`analytics/${path}`)) as TopPost[]).map(flat), wanted, path)
  }
  const comparePost = (path: string, expected: () => unknown) => async () => {
    const wanted = expected()
    expectSame(((await get(path)) as { analytics: unknown }).analytics, wanted, path)
  }

  const comparisons = [
    ...periodsOf(history, now).flatMap(({ query: period, days }) => {
      const options = { now, days, timezone } as const
      return [
        compare(`overview?${period}`, () => expectedOverview(history, options)),
        compare(`platforms?${period}`, () => expectedPlatforms(history, options)),
        compare(`heatmap?${period}`, () => expectedHeatmap(history, options)),
        ...[undefined, 'bluesky', 'mastodon'].flatMap((platform) => {
          const query = `${period}${platform ? `&platform=${platform}` : ''}`
          const scope = { ...options, ...(platform && { platform }) }
          return [
            compare(`timeline?${query}`, () => expectedTimeline(history, scope)),
            compare(`growth?${query}`, () => expectedGrowth(history, scope)),
            ...RANKINGS.map((sortBy) => {
              const path = `posts/top?${query}&sortBy=${sortBy}&limit=${BEST}`
              return compareTop(path, () => expectedTop(history, scope, sortBy, BEST))
            }),
          ]
        }),
      ]
    }),
    ...posts.slice(0, POSTS).map(({ _id }) => comparePost(`posts/${_id}`, () => expectedLatest(history, _id))),
  ]
  for (const comparison of comparisons) await comparison()
}

/**
 * The named periods, and any days: not downsampled, downsampled and all. Of a user who has moved, a snapshot can extend beyond the end of a
 * past day, so the fetches within the day are not known.
 */
function periodsOf({ timezone, earlierTimezone }: UserHistory, end: Date) {
  const dayBefore = (days: number) => new Date(end.getTime() - days * DAY).toISOString().slice(0, 10)
  const past = [
    [dayBefore(50), dayBefore(20)],
    [dayBefore(90), dayBefore(70)],
  ] as const
  return [
    { query: 'period=7d', days: 7 },
    { query: 'period=30d', days: 30 },
    { query: `from=${dayBefore(99)}`, days: [dayBefore(99)] as [string] },
    ...(timezone === earlierTimezone
      ? past.map(([from, to]) => ({ query: `from=${from}&to=${to}`, days: [from, to] as [string, string] }))
      : []),
  ]
}

interface TopPost {
  postDetails: { content: { text: string }; platformStatuses: { status: string }[]; createdAt: string }
}

function flat({ postDetails, ...rest }: TopPost) {
  const { content, platformStatuses, createdAt } = postDetails
  return { ...rest, text: content.text, statuses: platformStatuses.map(({ status }) => status), createdAt }
}

it('a snapshot counts from its last fetch, also when its owner has moved to a timezone whose days begin during it', async () => {
  now = ENDS[0]!.end
  const timezone = 'America/New_York'
  const { headers, user } = await signIn({ ...world.context, clock: systemClock }, { timezone })
  const { start } = toPeriodWindow('7d', now, timezone)
  const [takenAt, lastSeenAt] = [new Date(start.getTime() - 5 * HOUR), new Date(start.getTime() + 3 * HOUR)]
  const post = publishedPost({ userId: user._id, on: ['bluesky'], completedAt: new Date(start.getTime() - DAY) })
  await storePosts(world.context, [post])
  const counts = { ...NO_COUNTS, likes: 4 }
  const pair = { postId: post._id, platform: 'bluesky' as const, target: null }
  const snapshot = { userId: user._id, ...pair, accountId: 'a', slot: takenAt, takenAt }
  const values = { ...counts, ...deriveMetrics(counts, 8), followerCountAtSnapshot: 8, completedAt: takenAt }
  await world.context.database.transaction((session) =>
    world.context.snapshots.save([{ ...snapshot, ...values, lastSeenAt }], session),
  )
  const get = async (path: string): Promise<unknown> =>
    (await world.app.inject({ url: `/api/analytics/${path}?period=7d`, headers })).json().data
  expect(await get('overview')).toMatchObject({ stats: { totalEngagement: 4, avgEngagementRate: 0.5 } })
  expect(await get('posts/top')).toMatchObject([{ postId: post._id, snapshotAt: lastSeenAt.toISOString() }])
  expect(await get('platforms')).toMatchObject([{ _id: 'bluesky', totalEngagement: 4 }])
})

describe('the query plan of a read', () => {
  type Read = (history: UserHistory, end: Date) => Aggregation
  const month = ({ timezone }: UserHistory, end: Date) => toPeriodWindow('30d', end, timezone)
  const daysFor = (history: UserHistory, end: Date) => listDays(month(history, end), history.timezone)
  const timeline = (platform: Platform | null): Read => {
    return (history, end) => timelinePairs({ ...history, platform }, month(history, end), daysFor(history, end))
  }
  const growth = (platform: Platform | null): Read => {
    return (history, end) => followerCounts({ ...history, platform }, month(history, end), daysFor(history, end))
  }
  const reads: Record<string, Read> = {
    overview: (history, end) => {
      const window = month(history, end)
      return comparedPairs({ ...history, platform: null }, window, toPrecedingWindow(window).start)
    },
    'platforms and heatmap': (history, end) => latestPairs({ ...history, platform: null }, month(history, end)),
    timeline: timeline(null),
    'timeline of one platform': timeline('mastodon'),
    growth: growth(null),
    'growth of one platform': growth('mastodon'),
    top: (history, end) => topPairs({ ...history, platform: null }, month(history, end), 'likes', 5),
    'top of one platform': (history, end) =>
      topPairs({ ...history, platform: 'mastodon' }, month(history, end), 'likes', 5),
    'one post': ({ userId, postSnapshots: [snapshot] }) => latestOfPosts(userId, [snapshot!.postId]),
  }
  const planOf = (aggregation: Aggregation) => explain(world.context.database.connection, aggregation)

  it.each(Object.keys(reads))('a read scans no collection and no documents of other users (%s)', async (name) => {
    const allExamined = new Set<number>()
    for (const { history, end } of explainedUsers) {
      const facts = await planOf(reads[name]!(history, end))
      expect(facts.filter(isScan)).toEqual([])
      const examined = facts.filter(([fact]) => fact === 'totalDocsExamined').map(([, value]) => Number(value))
      const most = Math.max(history.postSnapshots.length, history.accountSnapshots.length)
      for (const count of examined) expect(count).toBeLessThanOrEqual(most)
      for (const count of examined) allExamined.add(count)
    }
    expect(Math.max(...allExamined)).toBeGreaterThan(0)
  })

  it.each([null, 'mastodon'] as const)(
    'a read of past days examines only the snapshots of those days (platform: %s)',
    async (platform) => {
      const allExamined: number[] = []
      for (const { history, end } of explainedUsers) {
        const window = { start: new Date(end.getTime() - 50 * DAY), end: new Date(end.getTime() - 20 * DAY) }
        const account = { accountId: `mastodon-${history.userId}`, platform: 'mastodon', platformId: '1' } as const
        const scope = { ...history, platform, accounts: platform && [account] }
        const facts = await planOf(latestPairs(scope, window))
        expect(facts.filter(isScan)).toEqual([])
        const since = window.start.getTime() - LONGEST_SNAPSHOT_MS
        const inWindow = history.postSnapshots.filter(
          (snapshot) =>
            (platform === null || snapshot.platform === platform) &&
            snapshot.takenAt.getTime() >= since &&
            snapshot.takenAt <= window.end,
        )
        const examined = facts.filter(([fact]) => fact === 'totalDocsExamined').map(([, value]) => Number(value))
        for (const count of examined) expect(count).toBeLessThanOrEqual(inWindow.length)
        allExamined.push(...examined)
      }
      expect(Math.max(...allExamined)).toBeGreaterThan(0)
    },
  )

  it('the query plan check detects a scan, also in a joined collection', async () => {
    const byLikes = { $match: { likes: { $gt: 3 } } }
    expect((await planOf({ collection: POST_SNAPSHOTS, stages: [byLikes] })).some(isScan)).toBe(true)
    const joined = { $unionWith: { coll: POST_SNAPSHOTS, pipeline: [byLikes] } }
    const { stages } = reads['platforms and heatmap']!(explainedUsers[0]!.history, explainedUsers[0]!.end)
    expect((await planOf({ collection: POST_SNAPSHOTS, stages: [...stages, joined] })).some(isScan)).toBe(true)
  })
})
