import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  deriveMetrics,
  NO_COUNTS,
  toPrecedingWindow,
  type PostCounts,
} from '../../../../src/domain/analytics/analytics.ts'
import { createHourOfWeek, findEndOfDay, listDays, toPeriodWindow } from '../../../../src/domain/analytics/calendar.ts'
import {
  computeGains,
  NOTHING_KNOWN,
  buildEngagementTimeline,
  sumGains,
  type LastKnown,
} from '../../../../src/domain/analytics/engagement.ts'
import { countFollowers, buildGrowth } from '../../../../src/domain/analytics/growth.ts'
import {
  buildHeatmap,
  buildOverview,
  rankPlatforms,
  type PairMetrics,
} from '../../../../src/domain/analytics/performance.ts'
import { DAY, HOUR, MINUTE } from '../../../../src/domain/shared/times.ts'
import { after } from '../../../support/posts.ts'

const count = fc.option(fc.nat(10_000), { nil: null })
const counts: fc.Arbitrary<PostCounts> = fc.record({
  likes: count,
  shares: count,
  comments: count,
  impressions: count,
  reach: count,
  saved: count,
})
const known: fc.Arbitrary<LastKnown> = fc.record({ likes: count, comments: count, shares: count })

describe('derived metrics', () => {
  it.each<[Partial<PostCounts>, number | null, object]>([
    [{ likes: 6, shares: 3, comments: 1 }, 200, { totalEngagement: 10, engagementRate: 0.05, virality: 0.3 }],
    [{ likes: 6 }, 200, { totalEngagement: 6, engagementRate: 0.03, virality: null }],
    [{ likes: 6, shares: 0 }, 200, { totalEngagement: 6, engagementRate: 0.03, virality: null }],
    [{ likes: 0, shares: 0, comments: 0 }, 200, { totalEngagement: 0, engagementRate: 0, virality: null }],
    [{ likes: 6, shares: 2 }, 0, { totalEngagement: 8, engagementRate: null, virality: 0.25 }],
    [{ likes: 6, shares: 2 }, null, { totalEngagement: 8, engagementRate: null, virality: 0.25 }],
    [{ impressions: 500, reach: 40, saved: 3 }, 200, { totalEngagement: null, engagementRate: null, virality: null }],
  ])('%j with %j followers derives the expected metrics', (some, followers, expected) => {
    expect(deriveMetrics({ ...NO_COUNTS, ...some }, followers)).toEqual(expected)
  })

  it('derived metrics are null exactly when their inputs are unknown', () => {
    fc.assert(
      fc.property(counts, count, (reported, followers) => {
        const { totalEngagement, engagementRate, virality } = deriveMetrics(reported, followers)
        const isKnown = [reported.likes, reported.shares, reported.comments].some((value) => value !== null)
        expect(totalEngagement !== null).toBe(isKnown)
        expect(engagementRate !== null).toBe(isKnown && followers !== null && followers > 0)
        expect(virality !== null).toBe(reported.shares !== null && reported.shares > 0)
        for (const value of [totalEngagement, engagementRate, virality]) expect(value).not.toBeNaN()
        if (virality !== null) expect(virality).toBeLessThanOrEqual(1)
      }),
    )
  })
})

describe('windows and days', () => {
  it('a window ends now, and the window before it has the same length', () => {
    const now = new Date('2026-04-06T15:20:00Z')
    const window = toPeriodWindow('7d', now, 'UTC')
    expect(window).toEqual({ start: new Date('2026-03-31T00:00:00Z'), end: now })
    const before = toPrecedingWindow(window)
    expect(after(before.end, 1)).toEqual(window.start)
    expect(+before.end - +before.start).toBe(+window.end - +window.start)
    // The clocks changed on 29 March.
    expect(toPeriodWindow('30d', now, 'Europe/Berlin').start).toEqual(new Date('2026-03-07T23:00:00Z'))
  })

  it.each([
    ['7d', 7],
    ['30d', 30],
  ] as const)("a period of %s has exactly %i days, ending on the user's today", (period, length) => {
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia', 'America/Santiago', 'Africa/Cairo')
    const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) })
    fc.assert(
      fc.property(zones, instants, (timezone, end) => {
        const now = new Date(end)
        const window = toPeriodWindow(period, now, timezone)
        const formatter = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' })
        expect(listDays(window, timezone)).toHaveLength(length)
        expect(listDays(window, timezone).at(-1)!.date).toBe(formatter.format(now))
        // The first day is whole: the millisecond before it belongs to another day.
        expect(formatter.format(window.start.getTime() - 1)).not.toBe(formatter.format(window.start))
      }),
      { numRuns: 40 },
    )
  })

  // The clocks change by an hour, by half an hour, or at midnight. The last day is unchanged.
  it.each([
    ['Europe/Berlin', '2026-03-29', 23 * HOUR],
    ['Europe/Berlin', '2026-10-25', 25 * HOUR],
    ['America/New_York', '2026-03-08', 23 * HOUR],
    ['America/New_York', '2026-11-01', 25 * HOUR],
    ['Australia/Lord_Howe', '2026-10-04', 23.5 * HOUR],
    ['Australia/Lord_Howe', '2026-04-05', 24.5 * HOUR],
    ['America/Santiago', '2026-09-06', 23 * HOUR],
    ['America/Santiago', '2026-04-04', 25 * HOUR],
    ['Asia/Kolkata', '2026-03-29', 24 * HOUR],
  ])('a day in %s on %s has its real length', (timezone, date, length) => {
    const noon = new Date(`${date}T12:00:00Z`)
    const days = listDays(
      { start: new Date(noon.getTime() - 3 * DAY), end: new Date(noon.getTime() + 3 * DAY) },
      timezone,
    )
    const index = days.findIndex((day) => day.date === date)
    expect(days[index + 1]!.start.getTime() - days[index]!.start.getTime()).toBe(length)
  })

  it('listDays returns every day of a window once and in order', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Africa/Cairo',
      'Pacific/Apia',
      'Asia/Tehran',
    )
    const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) })
    fc.assert(
      fc.property(zones, instants, fc.integer({ min: 1, max: 31 }), (timezone, end, length) => {
        const window = { start: new Date(end - length * DAY), end: new Date(end) }
        const days = listDays(window, timezone)
        expect(days[0]!.start).toEqual(window.start)
        expect([length, length + 1, length + 2]).toContain(days.length)
        const formatter = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' })
        days.forEach(({ date, start }, index) => {
          expect(formatter.format(start)).toBe(date)
          if (index > 0) {
            expect(start.getTime()).toBeGreaterThan(days[index - 1]!.start.getTime())
            expect(formatter.format(start.getTime() - MINUTE)).toBe(days[index - 1]!.date)
          }
        })
        expect(formatter.format(window.end)).toBe(days.at(-1)!.date)
      }),
      { numRuns: 40 },
    )
  })

  it('the hour of the week uses the timezone of the user', () => {
    const instant = new Date('2026-03-29T00:30:00Z')
    expect(createHourOfWeek('UTC')(instant)).toEqual({ day: 0, hour: 0 })
    expect(createHourOfWeek('America/New_York')(instant)).toEqual({ day: 6, hour: 20 })
    const findHour = createHourOfWeek('Europe/Berlin')
    expect(findHour(new Date('2026-03-29T00:59:59Z'))).toEqual({ day: 0, hour: 1 })
    expect(findHour(new Date('2026-03-29T01:00:00Z'))).toEqual({ day: 0, hour: 3 })
    expect(findHour(new Date('2026-03-29T01:14:59Z'))).toEqual({ day: 0, hour: 3 })
    const inNepal = createHourOfWeek('Asia/Kathmandu')
    expect(inNepal(new Date('2026-03-29T01:14:59Z'))).toEqual({ day: 0, hour: 6 })
    expect(inNepal(new Date('2026-03-29T01:15:00Z'))).toEqual({ day: 0, hour: 7 })
  })

  it('a day ends where the next begins, also when the clocks change', () => {
    const findEnd = (instant: string, timezone: string) => findEndOfDay(new Date(instant), timezone).toISOString()
    expect(findEnd('2026-03-28T23:00:00Z', 'Europe/Berlin')).toBe('2026-03-29T22:00:00.000Z')
    expect(findEnd('2026-03-29T21:59:59.999Z', 'Europe/Berlin')).toBe('2026-03-29T22:00:00.000Z')
    expect(findEnd('2026-10-25T10:00:00Z', 'Europe/Berlin')).toBe('2026-10-25T23:00:00.000Z')
    expect(findEnd('2026-03-29T00:00:00Z', 'UTC')).toBe('2026-03-30T00:00:00.000Z')
  })
})

/** Since when snapshots are stored: earlier than every post of the examples. */
const STORED_SINCE = new Date('2025-03-01T00:00:00Z')
const completedAt = new Date('2026-03-01T00:00:00Z')

const likes = (value: number | null): LastKnown => ({ ...NOTHING_KNOWN, likes: value })

describe('gains', () => {
  it.each<[string, number | null, (number | null)[], number[]]>([
    ['the very first value counts from 0', null, [7, 9], [7, 2]],
    ['a value counts from the last one before the window', 5, [7, 9], [2, 2]],
    ['unreported values are skipped', 5, [null, 9, null, 10], [0, 4, 0, 1]],
    ['gains are never negative', 10, [8, 12], [0, 4]],
  ])('%s', (_, before, values, expected) => {
    expect(computeGains(likes(before), values.map(likes)).map((gains) => gains.likes)).toEqual(expected)
  })

  it('gains of growing counts add up to the current counts', () => {
    fc.assert(
      fc.property(
        known,
        fc.array(fc.record({ likes: fc.nat(9), comments: fc.nat(9), shares: fc.nat(9) })),
        (first, steps) => {
          let now = { likes: first.likes ?? 0, comments: first.comments ?? 0, shares: first.shares ?? 0 }
          const values = steps.map((step) => {
            now = {
              likes: now.likes + step.likes,
              comments: now.comments + step.comments,
              shares: now.shares + step.shares,
            }
            return now
          })
          const before = (first.likes ?? 0) + (first.comments ?? 0) + (first.shares ?? 0)
          const gained = computeGains(first, values).reduce((sum, gains) => sum + sumGains(gains), 0)
          expect(before + gained).toBe(sumGains(now))
        },
      ),
    )
  })

  it('gains are 0 without new values, whatever was known before', () => {
    fc.assert(
      fc.property(known, fc.nat(5), (before, length) => {
        const nothing = Array.from({ length }, () => NOTHING_KNOWN)
        expect(computeGains(before, nothing).every((gains) => sumGains(gains) === 0)).toBe(true)
      }),
    )
  })
})

const lastKnown = (values: LastKnown[]): LastKnown => {
  const last = (name: keyof LastKnown) => values.findLast((value) => value[name] !== null)?.[name] ?? null
  return { likes: last('likes'), comments: last('comments'), shares: last('shares') }
}

const days = listDays({ start: new Date('2026-03-01T12:00:00Z'), end: new Date('2026-03-04T12:00:00Z') }, 'UTC')

describe('the timeline', () => {
  it('the timeline includes days without data and processes days in order', () => {
    const pairs = [
      {
        completedAt,
        before: likes(2),
        days: [
          { day: 3, ...likes(9) },
          { day: 1, ...likes(5), comments: 4 },
        ],
      },
      { completedAt, before: NOTHING_KNOWN, days: [{ day: 1, ...NOTHING_KNOWN, shares: 3 }] },
    ]
    const day = { totalEngagement: 0, likes: 0, comments: 0, shares: 0, postCount: 0 }
    expect(buildEngagementTimeline(days, pairs, new Map([[2, 5]]), STORED_SINCE)).toEqual([
      { ...day, _id: '2026-03-01' },
      { _id: '2026-03-02', totalEngagement: 10, likes: 3, comments: 4, shares: 3, postCount: 0 },
      { ...day, _id: '2026-03-03', postCount: 5 },
      { ...day, _id: '2026-03-04', totalEngagement: 4, likes: 4 },
    ])
  })

  it('the first known count of a post gains nothing when the snapshots before it have expired', () => {
    const history = [
      { day: 1, ...likes(500) },
      { day: 2, ...likes(503) },
    ]
    const gained = (before: LastKnown, storedSince: Date) =>
      buildEngagementTimeline(days, [{ completedAt, before, days: history }], new Map(), storedSince).map(
        (day) => day.likes,
      )
    expect(gained(NOTHING_KNOWN, STORED_SINCE)).toEqual([0, 500, 3, 0])
    expect(gained(NOTHING_KNOWN, after(completedAt, 1))).toEqual([0, 0, 3, 0])
    expect(gained(likes(499), after(completedAt, 1))).toEqual([0, 1, 3, 0])
  })

  it('the gains of a period are the sum of the gains of its parts', () => {
    const histories = fc.array(fc.record({ before: known, values: fc.array(known, { minLength: 4, maxLength: 4 }) }))
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 3 }), (pairs, cut) => {
        const timeline = (from: number, until: number) =>
          buildEngagementTimeline(
            days.slice(from, until),
            pairs.map(({ before, values }) => ({
              completedAt,
              before: lastKnown([before, ...values.slice(0, from)]),
              days: values.slice(from, until).map((value, day) => ({ day, ...value })),
            })),
            new Map(),
            STORED_SINCE,
          )
        expect([...timeline(0, cut), ...timeline(cut, 4)]).toEqual(timeline(0, 4))
      }),
    )
  })
})

describe('growth', () => {
  const buildCount = (day: number, platform: 'bluesky' | 'mastodon', followers: number, at: string) => ({
    day,
    platform,
    accountId: `${platform}-account`,
    followers,
    takenAt: new Date(at),
  })

  it('growth carries the last count forward, even from before the window, and omits days without any count', () => {
    const late = [
      buildCount(1, 'bluesky', 10, '2026-03-02T06:00:00Z'),
      buildCount(3, 'bluesky', 12, '2026-03-04T06:00:00Z'),
    ]
    expect(buildGrowth(days, late, {})).toEqual([
      { _id: '2026-03-02', totalFollowers: 10, breakdown: { bluesky: 10 } },
      { _id: '2026-03-03', totalFollowers: 10, breakdown: { bluesky: 10 } },
      { _id: '2026-03-04', totalFollowers: 12, breakdown: { bluesky: 12 } },
    ])
    const early = [...late, buildCount(-1, 'mastodon', 5, '2026-01-02T06:00:00Z')]
    expect(buildGrowth(days, early, {}).map(({ totalFollowers }) => totalFollowers)).toEqual([5, 15, 15, 17])
  })

  it('growth ends on the day of a disconnect and restarts with the next count', () => {
    const counts = [
      buildCount(-1, 'bluesky', 10, '2026-02-02T06:00:00Z'),
      buildCount(3, 'bluesky', 12, '2026-03-04T06:00:00Z'),
      buildCount(0, 'mastodon', 1, '2026-03-01T13:00:00Z'),
    ]
    const endings = { 'bluesky-account': [new Date('2026-03-02T09:00:00Z')] }
    expect(buildGrowth(days, counts, endings).map(({ breakdown }) => breakdown.bluesky)).toEqual([
      10,
      10,
      undefined,
      12,
    ])
  })

  it('a count at the moment of a disconnect has ended, and a disconnect at midnight ends on that day', () => {
    const counts = [buildCount(0, 'bluesky', 10, '2026-03-01T13:00:00Z')]
    const endAt = (at: string) => ({ 'bluesky-account': [new Date(at)] })
    const listFollowers = (at: string) => buildGrowth(days, counts, endAt(at)).map(({ _id }) => _id)
    expect(listFollowers('2026-03-01T13:00:00Z')).toEqual([days[0]!.date])
    expect(listFollowers('2026-03-01T12:59:59Z')).toEqual(days.map(({ date }) => date))
    const second = days[1]!.start
    expect(listFollowers(second.toISOString())).toEqual([days[0]!.date, days[1]!.date])
    expect(listFollowers(after(second, -1).toISOString())).toEqual([days[0]!.date])
  })

  it('followers cover connected accounts and are unknown for a replaced account without a count', () => {
    const latest = [
      buildCount(0, 'bluesky', 10, '2026-03-02T06:00:00Z'),
      buildCount(0, 'mastodon', 5, '2026-03-02T06:00:00Z'),
    ]
    const connected = new Set(['bluesky', 'tumblr'] as const)
    const now = new Date('2026-03-04T06:00:00Z')
    const isGone = { 'mastodon-account': [now] }
    expect(countFollowers(connected, latest, isGone, now)).toEqual({
      total: 10,
      breakdown: { bluesky: 10, tumblr: null },
    })
    const endings = { ...isGone, 'bluesky-account': [new Date('2026-03-03T00:00:00Z')] }
    expect(countFollowers(connected, latest, endings, now)).toEqual({
      total: null,
      breakdown: { bluesky: null, tumblr: null },
    })
    expect(countFollowers(new Set(), latest, endings, now)).toEqual({ total: 0, breakdown: {} })
  })

  it('followers of a past day include an account that was disconnected later', () => {
    const latest = [buildCount(0, 'mastodon', 5, '2026-03-02T06:00:00Z')]
    const endings = { 'mastodon-account': [new Date('2026-03-04T00:00:00Z')] }
    const followersAt = (at: string) => countFollowers(new Set(), latest, endings, new Date(at)).total
    expect([followersAt('2026-03-03T23:59:59.999Z'), followersAt('2026-03-04T00:00:00Z')]).toEqual([5, 0])
  })
})

const buildMetrics = (changes: Partial<PairMetrics>): PairMetrics => ({
  postId: 'one',
  platform: 'bluesky',
  accountId: 'a',
  completedAt: new Date('2026-03-02T10:30:00Z'),
  totalEngagement: 0,
  engagementRate: null,
  impressions: null,
  reach: null,
  ...changes,
})

describe('the performance of platforms', () => {
  it('platforms are ranked by known engagement, and by name when it is equal', () => {
    const pairs = [
      buildMetrics({ platform: 'tumblr', totalEngagement: 4, engagementRate: 0.5 }),
      buildMetrics({ platform: 'tumblr', postId: 'two', totalEngagement: null }),
      buildMetrics({ platform: 'mastodon', totalEngagement: 4 }),
      buildMetrics({ platform: 'threads', totalEngagement: 9, engagementRate: 0.2 }),
      buildMetrics({ platform: 'threads', postId: 'two', totalEngagement: 1, engagementRate: 0.4 }),
    ]
    expect(rankPlatforms(pairs.toReversed()).map(({ _id }) => _id)).toEqual(['threads', 'mastodon', 'tumblr'])
    expect(rankPlatforms(pairs)).toEqual([
      { _id: 'threads', totalEngagement: 10, totalPosts: 2, avgEngagementRate: expect.closeTo(0.3) as number },
      { _id: 'mastodon', totalEngagement: 4, totalPosts: 1, avgEngagementRate: null },
      { _id: 'tumblr', totalEngagement: 4, totalPosts: 2, avgEngagementRate: 0.5 },
    ])
  })

  it('the average of the same rates is the same in any order', () => {
    const pairs = [0.1, 0.2, 0.3].map((engagementRate) => buildMetrics({ engagementRate }))
    expect(rankPlatforms(pairs.toReversed())).toEqual(rankPlatforms(pairs))
  })

  it('a platform without any known engagement has an engagement of 0', () => {
    expect(rankPlatforms([buildMetrics({ totalEngagement: null })])).toMatchObject([{ totalEngagement: 0 }])
    const nothing = { completedAt, before: NOTHING_KNOWN, previous: NOTHING_KNOWN, current: NOTHING_KNOWN }
    const { stats } = buildOverview([{ latest: buildMetrics({ totalEngagement: null }), ...nothing }], 1, STORED_SINCE)
    expect(stats.totalEngagement).toBe(0)
  })

  it('the overview has null for unreported impressions and compares the gains of two windows', () => {
    const before = likes(10)
    const compared = [
      {
        completedAt,
        latest: buildMetrics({ totalEngagement: 25, reach: 7 }),
        before,
        previous: likes(14),
        current: likes(25),
      },
      {
        completedAt,
        latest: buildMetrics({ platform: 'tumblr' }),
        before: NOTHING_KNOWN,
        previous: NOTHING_KNOWN,
        current: NOTHING_KNOWN,
      },
      // This pair has no snapshot in the current window.
      { completedAt, latest: null, before: NOTHING_KNOWN, previous: likes(4), current: NOTHING_KNOWN },
    ]
    const { stats } = buildOverview(compared, 3, STORED_SINCE)
    expect(stats).toEqual({
      bestPlatform: 'bluesky',
      totalPosts: 3,
      totalEngagement: 25,
      totalImpressions: null,
      totalReach: 7,
      avgEngagementRate: null,
      engagementChangePercent: 37.5,
    })
    expect(buildOverview(compared.slice(1, 2), 1, STORED_SINCE).stats.engagementChangePercent).toBe(null)
    const { stats: none } = buildOverview([], 0, STORED_SINCE)
    expect(none).toMatchObject({ bestPlatform: null, totalImpressions: null, totalReach: null })
  })

  it('the heatmap has a cell for every hour of the week with the mean of the known values', () => {
    const pairs = [
      buildMetrics({ totalEngagement: 4 }),
      buildMetrics({ postId: 'two', totalEngagement: 7 }),
      buildMetrics({ postId: 'three', totalEngagement: null }),
    ]
    const cells = buildHeatmap(pairs, 'Asia/Kolkata')
    expect(cells).toHaveLength(168)
    expect(cells.filter(({ postCount }) => postCount > 0)).toEqual([{ day: 1, hour: 16, value: 5.5, postCount: 3 }])
    expect(cells.filter(({ postCount }) => postCount === 0).every(({ value }) => value === 0)).toBe(true)
    expect(cells.map(({ day, hour }) => day * 24 + hour)).toEqual(cells.map((_, index) => index))
  })

  it('an hour whose posts have no known engagement has no value in the heatmap', () => {
    const cells = buildHeatmap([buildMetrics({ totalEngagement: null })], 'UTC')
    expect(cells.find(({ postCount }) => postCount > 0)).toEqual({ day: 1, hour: 10, value: null, postCount: 1 })
  })
})

describe('the best hours', () => {
  /** Posts of Monday, at an hour in UTC. */
  const postsAt = (hour: number, engagements: (number | null)[]) =>
    engagements.map((totalEngagement, index) =>
      buildMetrics({
        postId: `${hour} ${index}`,
        totalEngagement,
        completedAt: new Date(Date.UTC(2026, 2, 2, hour, index)),
      }),
    )
  const rankedHours = (pairs: PairMetrics[]) =>
    buildHeatmap(pairs, 'UTC')
      .filter(({ rank }) => rank !== undefined)
      .toSorted((one, other) => one.rank! - other.rank!)
      .map(({ hour, value, postCount }) => [hour, value, postCount])

  it('the three hours with the highest mean are ranked, those with more posts first among equal ones', () => {
    const pairs = [
      ...postsAt(8, [1, 1, 1]),
      ...postsAt(9, [5, 5, 5]),
      ...postsAt(10, [6, 9, 6]),
      ...postsAt(11, [5, 5, 5, 5]),
      ...postsAt(12, [4, 4, 4, 4]),
    ]
    expect(rankedHours(pairs)).toEqual([
      [10, 7, 3],
      [11, 5, 4],
      [9, 5, 3],
    ])
  })

  it('an hour needs three posts with a known engagement, and the accounts of one post count once', () => {
    const others = postsAt(8, [1, 1, 1])
    const [post] = postsAt(9, [50])
    const onThree = (['bluesky', 'mastodon', 'tumblr'] as const).map((platform) => ({ ...post!, platform }))
    expect(rankedHours([...others, ...postsAt(10, [50, 50, null])])).toEqual([])
    expect(rankedHours([...others, ...onThree])).toEqual([])
    expect(rankedHours([...others, ...postsAt(10, [50, 50, 50, null])])).toEqual([[10, 50, 4]])
  })

  it('no hour is a best one where all posts do equally well, or there is only one hour', () => {
    expect(rankedHours([...postsAt(9, [5, 5, 5]), ...postsAt(10, [5, 5, 5])])).toEqual([])
    expect(rankedHours(postsAt(9, [1, 5, 9]))).toEqual([])
  })
})
