import type { UserHistory } from '../../sandbox/analytics-history.ts'

/*
 * Computes the expected analytics from all snapshots of a user, in the simplest way and without regard to speed.
 * The service shares no code with this file: days and hours come from the runtime's own formatter.
 */

export interface AnalyticsQuery {
  now: Date
  /** So many days until today, or the first and the last date; without the last one, until now. */
  days: number | [from: string, to?: string]
  timezone: string
  platform?: string
}

type Metric = 'likes' | 'comments' | 'shares'
const METRICS: Metric[] = ['likes', 'comments', 'shares']
const QUARTER_MS = 900_000
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

interface LocalTime {
  date: string
  hour: number
  weekday: number
}

const zones = new Map<string, { formatter: Intl.DateTimeFormat; known: Map<number, LocalTime> }>()

/** Returns the local time at the start of an instant's quarter hour. Clocks change only between quarters. */
function toLocalTime(instant: number, timeZone: string): LocalTime {
  const quarter = Math.floor(instant / QUARTER_MS)
  const zone = zones.get(timeZone) ?? { formatter: formatterFor(timeZone), known: new Map<number, LocalTime>() }
  zones.set(timeZone, zone)
  const known = zone.known.get(quarter)
  if (known) return known
  const formatted = zone.formatter.formatToParts(quarter * QUARTER_MS)
  const parts = Object.fromEntries(formatted.map(({ type, value }) => [type, value]))
  const date = `${parts['year']}-${parts['month']}-${parts['day']}`
  const time = { date, hour: Number(parts['hour']), weekday: WEEKDAYS.indexOf(parts['weekday']!) }
  zone.known.set(quarter, time)
  return time
}

function formatterFor(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    weekday: 'short',
    hourCycle: 'h23',
  })
}

/** Returns the first and the last millisecond of the window. Every local day starts at a quarter hour. */
function findWindow(query: AnalyticsQuery): { start: number; end: number } {
  const { now, days, timezone } = query
  if (typeof days === 'number') return { start: findStart(now, days, timezone), end: now.getTime() }
  const [from, to] = days
  const findFirst = (isFound: (date: string) => boolean) => {
    let quarter = Math.floor(new Date(from).getTime() / QUARTER_MS) - 100
    while (!isFound(toLocalTime(quarter * QUARTER_MS, timezone).date)) quarter++
    return quarter * QUARTER_MS
  }
  const end = to === undefined ? now.getTime() : findFirst((date) => date > to) - 1
  return { start: findFirst((date) => date >= from), end }
}

/** Returns the start of the first of so many dates, which end today. */
function findStart(now: Date, days: number, timezone: string): number {
  const dates = new Set<string>()
  for (let quarter = Math.floor(now.getTime() / QUARTER_MS); ; quarter--) {
    dates.add(toLocalTime(quarter * QUARTER_MS, timezone).date)
    if (dates.size > days) return (quarter + 1) * QUARTER_MS
  }
}

/** Lists the dates from the start of the window to its end in the user's timezone. */
function listDates(query: AnalyticsQuery): string[] {
  const dates: string[] = []
  const add = (instant: number) => {
    const { date } = toLocalTime(instant, query.timezone)
    if (dates.at(-1) !== date) dates.push(date)
  }
  const { start, end } = findWindow(query)
  for (let instant = start; instant < end; instant += QUARTER_MS) add(instant)
  add(end)
  return dates
}

/** Groups the snapshots by pair of post and platform, oldest first. */
function groupByPair({ postSnapshots }: Pick<UserHistory, 'postSnapshots'>, platform?: string) {
  const found = new Map<string, UserHistory['postSnapshots']>()
  for (const snapshot of postSnapshots) {
    if (platform !== undefined && snapshot.platform !== platform) continue
    const name = `${snapshot.postId} ${snapshot.platform}`
    found.set(name, [...(found.get(name) ?? []), snapshot])
  }
  const pairs = [...found.values()]
  for (const pair of pairs) pair.sort((one, other) => one.takenAt.getTime() - other.takenAt.getTime())
  return pairs
}

/** Returns the latest snapshot of each pair inside the window. */
function findLatestInside(history: UserHistory, query: AnalyticsQuery) {
  const latest: UserHistory['postSnapshots'] = []
  const { start, end } = findWindow(query)
  for (const pair of groupByPair(history, query.platform)) {
    const inside = pair.filter(({ takenAt }) => takenAt.getTime() >= start && takenAt.getTime() <= end)
    if (inside.length > 0) latest.push(inside[inside.length - 1]!)
  }
  return latest
}

function lastValue(snapshots: UserHistory['postSnapshots'], metric: Metric): number | null {
  let last: number | null = null
  for (const snapshot of snapshots) if (snapshot[metric] !== null) last = snapshot[metric]
  return last
}

/** Returns how much the snapshots selected by `within` gained over those before them; never less than 0. */
function computeGain(pair: UserHistory['postSnapshots'], metric: Metric, within: (takenAt: number) => boolean): number {
  const first = pair.findIndex(({ takenAt }) => within(takenAt.getTime()))
  if (first === -1) return 0
  const value = lastValue(
    pair.filter(({ takenAt }) => within(takenAt.getTime())),
    metric,
  )
  const known = lastValue(pair.slice(0, first), metric) ?? 0
  return value === null || value < known ? 0 : value - known
}

function sum(values: (number | null)[]): number {
  let total = 0
  for (const value of values) total += value ?? 0
  return total
}

/** Adds the known values. Returns null when no value is known. */
function sumKnown(values: (number | null)[]): number | null {
  return values.some((value) => value !== null) ? sum(values) : null
}

function mean(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length > 0 ? sum(known) / known.length : null
}

export function expectedPlatforms(history: UserHistory, query: AnalyticsQuery) {
  const latest = findLatestInside(history, query)
  const rows = []
  for (const platform of ['bluesky', 'facebook', 'instagram', 'mastodon', 'threads', 'tumblr']) {
    const own = latest.filter((snapshot) => snapshot.platform === platform)
    if (own.length === 0) continue
    rows.push({
      _id: platform,
      totalEngagement: sum(own.map((snapshot) => snapshot.totalEngagement)),
      totalPosts: own.length,
      avgEngagementRate: mean(own.map((snapshot) => snapshot.engagementRate)),
    })
  }
  // The sort is stable, so platforms with equal engagement stay in the order of their names.
  return rows.sort((one, other) => other.totalEngagement - one.totalEngagement)
}

export function expectedOverview(history: UserHistory, query: AnalyticsQuery) {
  const latest = findLatestInside(history, query)
  const platformPerformance = expectedPlatforms(history, query)
  const { start, end } = findWindow(query)
  const [now, earlier] = [
    (takenAt: number) => takenAt >= start && takenAt <= end,
    (takenAt: number) => takenAt >= start - (end - start) - 1 && takenAt < start,
  ].map((within) =>
    sum(groupByPair(history).flatMap((pair) => METRICS.map((metric) => computeGain(pair, metric, within)))),
  )
  const breakdown: Record<string, number | null> = {}
  for (const platform of ['bluesky', 'threads', 'instagram', 'facebook', 'mastodon', 'tumblr'] as const) {
    const endings = (history.endings[platform] ?? []).map((at) => at.getTime())
    const ended = Math.max(-Infinity, ...endings.filter((at) => at <= end))
    const counts = history.accountSnapshots
      .filter((snapshot) => snapshot.platform === platform && snapshot.takenAt.getTime() > ended)
      .filter(({ takenAt }) => takenAt.getTime() <= end)
      .sort((one, other) => one.takenAt.getTime() - other.takenAt.getTime())
    if (counts.length > 0) breakdown[platform] = counts[counts.length - 1]!.followers
    else if (history.connected.includes(platform)) breakdown[platform] = null
  }
  return {
    stats: {
      bestPlatform: platformPerformance.length > 0 ? platformPerformance[0]!._id : null,
      totalPosts: history.posts.filter(({ platformStatuses }) =>
        platformStatuses.some(
          ({ completedAt }) => completedAt !== null && completedAt.getTime() >= start && completedAt.getTime() <= end,
        ),
      ).length,
      totalEngagement: sum(latest.map(({ totalEngagement }) => totalEngagement)),
      totalImpressions: sumKnown(latest.map(({ impressions }) => impressions)),
      totalReach: sumKnown(latest.map(({ reach }) => reach)),
      avgEngagementRate: mean(latest.map(({ engagementRate }) => engagementRate)),
      engagementChangePercent: earlier === 0 ? null : Number((((now! - earlier!) / earlier!) * 100).toFixed(2)),
    },
    followers: {
      total: Object.keys(breakdown).length === 0 ? 0 : sumKnown(Object.values(breakdown)),
      breakdown,
    },
    platformPerformance,
    period: { start: new Date(start).toISOString(), end: new Date(end).toISOString() },
  }
}

export function expectedTimeline(history: UserHistory, query: AnalyticsQuery) {
  const { start, end } = findWindow(query)
  const pairs = groupByPair(history, query.platform)
  const toDate = (instant: number) => toLocalTime(instant, query.timezone).date
  return listDates(query).map((date) => {
    const isOnDate = (instant: number) => instant >= start && instant <= end && toDate(instant) === date
    const gained = (metric: Metric) => sum(pairs.map((pair) => computeGain(pair, metric, isOnDate)))
    const [likes, comments, shares] = [gained('likes'), gained('comments'), gained('shares')]
    const entries = history.posts.flatMap(({ platformStatuses }) => platformStatuses)
    const completed = entries.filter(
      ({ platform, completedAt }) =>
        (query.platform === undefined || platform === query.platform) &&
        completedAt !== null &&
        isOnDate(completedAt.getTime()),
    )
    return {
      _id: date,
      totalEngagement: likes + comments + shares,
      likes,
      comments,
      shares,
      postCount: completed.length,
    }
  })
}

export function expectedGrowth(history: UserHistory, query: AnalyticsQuery) {
  const { start } = findWindow(query)
  const toDate = (instant: number) => toLocalTime(instant, query.timezone).date
  const rows = []
  for (const date of listDates(query)) {
    const breakdown: Record<string, number> = {}
    for (const platform of ['bluesky', 'threads', 'instagram', 'facebook', 'mastodon', 'tumblr']) {
      if (query.platform !== undefined && platform !== query.platform) continue
      const counts = history.accountSnapshots
        .filter((snapshot) => snapshot.platform === platform && toDate(snapshot.takenAt.getTime()) <= date)
        .sort((one, other) => one.takenAt.getTime() - other.takenAt.getTime())
      const last = counts.at(-1)
      if (!last) continue
      const endings = (history.endings as Record<string, Date[] | undefined>)[platform] ?? []
      const isOver = endings.some((at) => {
        const isEarlier = toDate(at.getTime()) < date || at.getTime() < start
        return at >= last.takenAt && isEarlier
      })
      if (!isOver) breakdown[platform] = last.followers
    }
    if (Object.keys(breakdown).length > 0) {
      rows.push({ _id: date, totalFollowers: sum(Object.values(breakdown)), breakdown })
    }
  }
  return rows
}

export function expectedTop(history: UserHistory, query: AnalyticsQuery, sortBy: string, limit: number) {
  const readSortValue = (snapshot: object) => (snapshot as Record<string, number | null>)[sortBy] ?? -1
  return findLatestInside(history, query)
    .sort(
      (one, other) =>
        readSortValue(other) - readSortValue(one) ||
        other.completedAt.getTime() - one.completedAt.getTime() ||
        (other.postId > one.postId ? 1 : other.postId < one.postId ? -1 : 0) ||
        (other.platform > one.platform ? -1 : 1),
    )
    .slice(0, limit)
    .map((snapshot) => {
      const post = history.posts.find(({ _id }) => _id === snapshot.postId)!
      const { likes, shares, comments, impressions, reach, saved } = snapshot
      const { totalEngagement, engagementRate, virality } = snapshot
      return {
        _id: `${snapshot.postId}:${snapshot.platform}`,
        postId: snapshot.postId,
        platform: snapshot.platform,
        snapshotAt: snapshot.takenAt.toISOString(),
        metrics: { likes, shares, comments, impressions, reach, saved },
        derived: { totalEngagement, engagementRate, virality },
        text: post.content.text,
        statuses: post.platformStatuses.map(({ status }) => status),
        createdAt: post.createdAt.toISOString(),
      }
    })
}

export function expectedHeatmap(history: UserHistory, query: AnalyticsQuery) {
  const latest = findLatestInside(history, query)
  const cells = []
  for (let day = 0; day < 7; day++) {
    for (let hour = 0; hour < 24; hour++) {
      const published = latest.filter(({ completedAt }) => {
        const local = toLocalTime(completedAt.getTime(), query.timezone)
        return local.weekday === day && local.hour === hour
      })
      const value = published.length === 0 ? 0 : mean(published.map(({ totalEngagement }) => totalEngagement))
      const known = published.filter(({ totalEngagement }) => totalEngagement !== null)
      const posts = new Set(known.map(({ postId }) => postId)).size
      cells.push({ day, hour, value, posts, postCount: published.length })
    }
  }
  const average = mean(latest.map(({ totalEngagement }) => totalEngagement)) ?? 0
  // The sort is stable, so equal hours stay in the order of the week.
  const best = cells
    .filter(({ value, posts }) => posts >= 3 && value! > average)
    .sort((one, other) => other.value! - one.value! || other.posts - one.posts)
    .slice(0, 3)
  return cells.map((cell) => {
    const { posts: _, ...shown } = cell
    return best.includes(cell) ? { ...shown, rank: best.indexOf(cell) + 1 } : shown
  })
}

/** Returns the last snapshot of a post by platform, as responses with the post show it. */
export function expectedLatest({ postSnapshots }: UserHistory, postId: string) {
  const latest: Record<string, object> = {}
  for (const pair of groupByPair({ postSnapshots })) {
    const last = pair[pair.length - 1]!
    if (last.postId !== postId) continue
    const { _id: _1, userId: _2, postId: _3, slot: _4, completedAt: _5, target: _6, accountId: _7, ...rest } = last
    const { takenAt, ...metrics } = rest
    latest[last.platform] = { ...metrics, snapshotAt: takenAt.toISOString() }
  }
  return latest
}
