import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { FAILURE_CODES, type FailureCode } from '../../../../src/domain/posts/failure.ts'
import { rollUp } from '../../../../src/domain/posts/post-entries.ts'
import { DELIVERY_STATUSES, type PlatformStatus, type Post } from '../../../../src/domain/posts/post.ts'
import { HOUR, MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { summarizeSlo } from '../../../../src/domain/posts/slo.ts'
import { sloPipeline } from '../../../../src/store/posts/slo.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { after, buildPost } from '../../../support/posts.ts'

/** The end of the measured window. Tests set the clock of the service, which only moves forward. */
const NOW = new Date()
const MISS_AFTER_MS = 60 * SECOND
const CACHE_LIFE_MS = 5 * SECOND
const ENDED = ['completed', 'failed', 'deleted'] as const
let now = after(NOW, -MINUTE)
let world: ApiWorld
let admin: SignedIn

beforeAll(async () => {
  const clock = { now: () => now, sleepUntil: async () => {} }
  world = await apiWorld({ SLO_MISS_AFTER_MS: MISS_AFTER_MS }, { clock })
  admin = await signIn(world.context, { role: 'admin' })
})
afterAll(() => world.close())

const collection = () => world.context.database.connection.collection<Post>('posts')

async function figures() {
  const response = await world.app.inject({ url: '/api/status/slo', headers: admin.headers })
  expect(response.statusCode, response.body).toBe(200)
  return response.json().data
}

/** A deterministic random generator. */
function dice(seed: number) {
  let state = seed
  const roll = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  return {
    below: (bound: number) => Math.floor(roll() * bound),
    of: <T>(values: readonly T[]): T => values[Math.floor(roll() * values.length)]!,
  }
}

function randomPost({ below, of }: ReturnType<typeof dice>): Post {
  const ago = of([below(28 * HOUR), below(28 * HOUR), below(2 * MINUTE), -below(HOUR)])
  const scheduledAt = below(8) === 0 ? null : after(NOW, -ago)
  const instant = scheduledAt ?? after(NOW, -below(HOUR))
  const draft = below(12) === 0
  const post = buildPost(
    {
      scheduledAt,
      draft,
      selectedPlatforms: of([['bluesky'], ['bluesky', 'mastodon'], ['tumblr', 'bluesky', 'threads']]),
    },
    after(instant, -HOUR),
  )
  if (draft) return post
  if (below(10) === 0) return { ...post, status: 'CANCELLED' }
  if (instant > NOW) return post
  const isRetried = below(5) === 0
  const platformStatuses = post.platformStatuses.map((entry): PlatformStatus => {
    const round = isRetried ? below(2) : 0
    // Only a completed post can be retried.
    const status = isRetried && round === 0 ? of(ENDED) : of(DELIVERY_STATUSES)
    const isPublished = status === 'completed' || status === 'deleted'
    return {
      ...entry,
      status,
      errorCode: status === 'failed' ? of(FAILURE_CODES) : null,
      // Most deliveries are on time, some are very late.
      completedAt: isPublished ? after(instant, below(5) === 0 ? below(3 * MINUTE) : below(200)) : null,
      delivery: { ...entry.delivery, round },
    }
  })
  const dueAt = isRetried ? after(NOW, -below(Math.min(5 * MINUTE, NOW.getTime() - instant.getTime()))) : instant
  return { ...post, dueAt, platformStatuses, status: rollUp(platformStatuses) }
}

const NO_MISS = new Set<FailureCode | null>([
  ...(['unauthorized', 'permission', 'not_found', 'validation', 'duplicate', 'blocked_by_platform'] as const),
  ...([
    'PLATFORM_NOT_CONNECTED',
    'PLATFORM_NOT_SUPPORTED',
    'ACCOUNT_DISABLED',
    'MEDIA_UNAVAILABLE',
    'CANCELLED',
  ] as const),
])

/** Computes the same service levels in memory, entry by entry. */
function recompute(posts: Post[]) {
  const since = after(NOW, -24 * HOUR)
  const inWindow = posts.filter(
    ({ scheduledAt, status }) => scheduledAt && scheduledAt > since && scheduledAt <= NOW && status !== 'DRAFT',
  )
  const pastBound = (instant: Date) => NOW.getTime() - instant.getTime() > MISS_AFTER_MS
  const postsWith = (...statuses: string[]) => inWindow.filter(({ status }) => statuses.includes(status))
  const open = postsWith('SCHEDULED', 'PENDING', 'PROCESSING')
  const entries = inWindow
    .filter(({ status }) => status !== 'CANCELLED')
    .flatMap((post) => post.platformStatuses.map((entry) => ({ ...entry, instant: post.scheduledAt! })))

  function judge(some: typeof entries) {
    const first = some.filter(({ delivery }) => delivery.round === 0)
    const published = first.filter(({ completedAt }) => completedAt !== null)
    const latenesses = published.map(({ completedAt, instant }) => completedAt!.getTime() - instant.getTime())
    latenesses.sort((a, b) => a - b)
    const percentile = (p: number) => latenesses[Math.ceil((latenesses.length * p) / 100) - 1] ?? null
    const failed = first.filter(({ status }) => status === 'failed')
    const waiting = first.filter(({ status }) => status === 'pending' || status === 'processing')
    const late = latenesses.filter((lateness) => lateness > MISS_AFTER_MS).length
    const refused = failed.filter(({ errorCode }) => NO_MISS.has(errorCode)).length
    const overdue = waiting.filter(({ instant }) => pastBound(instant)).length
    const codes = [...new Set(failed.map(({ errorCode }) => errorCode!))]
    return {
      total: some.length,
      onTime: latenesses.length - late,
      late,
      failed: failed.length - refused,
      overdue,
      open: waiting.length - overdue,
      refused,
      retried: some.length - first.length,
      misses: late + failed.length - refused + overdue,
      failures: Object.fromEntries(
        codes.map((code) => [code, failed.filter(({ errorCode }) => errorCode === code).length]),
      ),
      lateness: {
        count: latenesses.length,
        p50: percentile(50),
        p95: percentile(95),
        p99: percentile(99),
        max: percentile(100),
      },
    }
  }

  return {
    since: since.toISOString(),
    until: NOW.toISOString(),
    isComplete: true,
    missAfterMs: MISS_AFTER_MS,
    posts: {
      scheduled: inWindow.length,
      delivered: postsWith('COMPLETED').length,
      partiallyDelivered: postsWith('PARTIAL_SUCCESS').length,
      failed: postsWith('FAILED').length,
      overdue: open.filter(({ dueAt }) => pastBound(dueAt!)).length,
      open: open.filter(({ dueAt }) => !pastBound(dueAt!)).length,
      cancelled: postsWith('CANCELLED').length,
    },
    deliveries: judge(entries),
    platforms: Object.fromEntries(
      [...new Set(entries.map(({ platform }) => platform))].map((name) => [
        name,
        judge(entries.filter(({ platform }) => platform === name)),
      ]),
    ),
  }
}

describe('GET /api/status/slo', () => {
  it('the service levels are empty while no post was scheduled', async () => {
    const { lateness, ...counts } = (await figures()).deliveries
    expect(lateness).toEqual({ count: 0, p50: null, p95: null, p99: null, max: null })
    expect(counts).toMatchObject({ total: 0, misses: 0, failures: {} })
    expect(await figures()).toMatchObject({ isComplete: true, platforms: {}, posts: { scheduled: 0 } })
  })

  it('the service levels equal a count entry by entry', async () => {
    const chance = dice(20_260_504)
    const posts = Array.from({ length: 600 }, () => randomPost(chance))
    await collection().insertMany(posts)
    now = NOW
    const expected = recompute(posts)
    // Each kind of event must have occurred, or the test would prove nothing about it.
    for (const count of Object.values(expected.posts)) expect(count).toBeGreaterThan(0)
    for (const [name, count] of Object.entries(expected.deliveries)) {
      if (typeof count === 'number') expect(count, name).toBeGreaterThan(0)
    }
    expect(Object.keys(expected.deliveries.failures)).toHaveLength(FAILURE_CODES.length)
    expect(await figures()).toEqual(expected)
  })

  it('an entry at the bound is on time, and a millisecond later it is late', async () => {
    const scheduledAt = after(NOW, -HOUR)
    for (const latenessMs of [MISS_AFTER_MS, MISS_AFTER_MS + 1]) {
      const post = buildPost({ scheduledAt, selectedPlatforms: ['facebook'] }, after(scheduledAt, -HOUR))
      const [entry] = post.platformStatuses
      const completed = { ...entry!, status: 'completed' as const, completedAt: after(scheduledAt, latenessMs) }
      await collection().insertOne({ ...post, status: 'COMPLETED', platformStatuses: [completed] })
    }
    now = after(now, CACHE_LIFE_MS)
    expect((await figures()).platforms.facebook).toMatchObject({ total: 2, onTime: 1, late: 1, misses: 1 })
  })

  it('requests within seconds share a single database read', async () => {
    const read = vi.spyOn(world.context.slo, 'read')
    now = after(now, CACHE_LIFE_MS)
    const answers = await Promise.all(Array.from({ length: 20 }, () => figures()))
    expect(read).toHaveBeenCalledTimes(1)
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    now = after(now, CACHE_LIFE_MS)
    await figures()
    expect(read).toHaveBeenCalledTimes(2)
    read.mockRestore()
  })

  it('a failed read is not cached', async () => {
    const read = vi.spyOn(world.context.slo, 'read').mockRejectedValueOnce(new Error('no'))
    now = after(now, CACHE_LIFE_MS)
    const failed = await world.app.inject({ url: '/api/status/slo', headers: admin.headers })
    expect(failed.statusCode).toBe(500)
    await figures()
    read.mockRestore()
  })

  it('the response gives the start of the counted window when there are too many posts', async () => {
    const window = { since: after(NOW, -24 * HOUR), until: NOW, missAfterMs: MISS_AFTER_MS, maxPosts: 10 }
    const { groups, since } = await world.context.slo.read(window)
    expect(groups.reduce((total, { posts }) => total + posts, 0)).toBe(10)
    const newest = await collection()
      .find({ scheduledAt: { $lte: NOW }, status: { $ne: 'DRAFT' } })
      .sort({ scheduledAt: -1 })
      .limit(10)
      .toArray()
    expect(since).toEqual(newest.at(-1)!.scheduledAt)
  })

  it('the punctuality of each hour adds up to that of its posts', async () => {
    const response = await world.app.inject({ url: '/api/status/punctuality', headers: admin.headers })
    expect(response.statusCode, response.body).toBe(200)
    const { hours, isComplete, missAfterMs } = response.json().data
    expect({ count: hours.length, isComplete, missAfterMs }).toEqual({
      ...{ count: 24, isComplete: true, missAfterMs: MISS_AFTER_MS },
    })
    const until = world.context.clock.now()
    const lastHour = Math.floor(until.getTime() / HOUR) * HOUR
    expect(hours.at(-1).hour).toBe(new Date(lastHour).toISOString())
    let deliveries = 0
    for (const { hour, onTime, misses, share } of hours) {
      const since = new Date(Date.parse(hour) - 1)
      const end = new Date(Math.min(Date.parse(hour) + HOUR - 1, until.getTime()))
      const { groups } = await world.context.slo.read({ since, until: end, missAfterMs, maxPosts: 100_000 })
      // Whether a delivery is overdue depends on the time of the request, not on the end of its hour.
      const finished = groups.filter(({ status }) => status !== 'pending' && status !== 'processing')
      const expected = summarizeSlo(finished, missAfterMs).deliveries
      expect(onTime).toBe(expected.onTime)
      expect(misses).toBeGreaterThanOrEqual(expected.misses)
      expect(share).toBe(onTime + misses === 0 ? null : onTime / (onTime + misses))
      deliveries += onTime + misses
    }
    expect(deliveries).toBeGreaterThan(0)
  })

  it('the read uses the index and only posts in the window', async () => {
    const window = { since: after(NOW, -24 * HOUR), until: NOW, missAfterMs: MISS_AFTER_MS, maxPosts: 1_000 }
    const plan = JSON.stringify(await collection().aggregate(sloPipeline(window)).explain('executionStats'))
    expect(plan).toContain('"stage":"IXSCAN"')
    expect(plan).toContain('"keyPattern":{"scheduledAt":-1}')
    expect(plan).not.toContain('COLLSCAN')
    const inWindow = await collection().countDocuments({ scheduledAt: { $gt: window.since, $lte: window.until } })
    expect(Number(/"totalDocsExamined":(\d+)/.exec(plan)![1])).toBe(inWindow)
  })
})
