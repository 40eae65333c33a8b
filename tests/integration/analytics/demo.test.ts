import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { audienceOn } from '../../../sandbox/demo/audience.ts'
import { seedDemo } from '../../../sandbox/demo/seed.ts'
import { createAnalyticsActivities } from '../../../src/activities/analytics/analytics-activities.ts'
import { collectionSettings } from '../../../src/config/analytics.ts'
import { PLATFORMS } from '../../../src/domain/shared/platforms.ts'
import { toPublishedKey, rollUp } from '../../../src/domain/posts/post-entries.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import type { StoredPost } from '../../../src/store/posts/post-schema.ts'
import type { PostSnapshot } from '../../../src/store/analytics/snapshots.ts'
import { ALL_QUEUES } from '../../support/delivery-world.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

// Tests the two weeks of sample data of `npm run dev`, with every platform of the sandbox.

let world: PlatformsWorld
let user: Awaited<ReturnType<PlatformsWorld['user']>>
const now = new Date()
const TIMEZONE = 'Pacific/Auckland'

beforeAll(async () => {
  world = await startPlatformsWorld(ALL_QUEUES, { crowdOn: audienceOn })
  user = await world.user()
  await user.call('PUT', '/api/profile/change-timezone', { timezone: TIMEZONE })
  await seed()
})
afterAll(() => world?.stop())

function seed(): Promise<void> {
  const { config } = world.context
  const place = { mongoUrl: config.MONGODB_URL, fronts: world.fronts }
  const collecting = { now, ...collectionSettings(config) }
  const picture = { storageKey: 'hello.jpg', storageUrl: 'https://files.example/hello.jpg', mimeType: 'image/jpeg' }
  return seedDemo(place, user.secrets.email, picture, collecting)
}

async function stored<T>(name: string): Promise<T[]> {
  const records = world.context.database.connection.collection(name).find({ userId: user.userId }).sort({ slot: 1 })
  return (await records.toArray()) as T[]
}
const posts = () => stored<StoredPost>('posts')
/** Returns the latest snapshot by `<post id> <platform>`. */
async function latestSnapshots(): Promise<Map<string, PostSnapshot>> {
  const snapshots = await stored<PostSnapshot>('postSnapshots')
  return new Map(snapshots.map((snapshot) => [`${snapshot.postId} ${snapshot.platform}`, snapshot]))
}

async function read<T>(path: string): Promise<T> {
  const { status, body } = await user.call('GET', path)
  expect(status, path).toBe(200)
  return body.data as T
}

it('every analytics read returns data for both periods', async () => {
  for (const period of ['7d', '30d']) {
    const readPeriod = <T>(path: string) => read<T>(`/api/analytics/${path}?period=${period}`)
    const { stats, followers } = await readPeriod<{
      stats: Record<string, number>
      followers: { total: number; breakdown: Record<string, number> }
    }>('overview')
    for (const name of ['totalPosts', 'totalEngagement', 'totalImpressions', 'totalReach', 'avgEngagementRate']) {
      expect(stats[name], name).toBeGreaterThan(0)
    }
    expect(Object.values(followers.breakdown).every((count) => count > 100)).toBe(true)
    const engaged = (await readPeriod<{ totalEngagement: number }[]>('timeline')).filter(
      (day) => day.totalEngagement > 0,
    )
    // A day that has just begun has no engagement yet.
    expect(engaged.length).toBeGreaterThanOrEqual(6)
    expect((await readPeriod<object[]>('growth')).length).toBeGreaterThanOrEqual(7)
    expect(await readPeriod<object[]>('posts/top')).toHaveLength(5)
    expect((await readPeriod<{ _id: string }[]>('platforms')).map(({ _id }) => _id).toSorted()).toEqual(
      PLATFORMS.toSorted(),
    )
    const cells = await readPeriod<{ postCount: number; value: number }[]>('heatmap')
    expect(cells.filter(({ postCount, value }) => postCount > 0 && value > 0).length).toBeGreaterThanOrEqual(8)
  }
  const first = (await posts()).find(({ selectedPlatforms }) => selectedPlatforms.includes('bluesky'))
  expect(await read(`/api/posts/${first!._id}`)).toMatchObject({
    analytics: { bluesky: { likes: expect.any(Number) } },
  })
  const { status, body } = await user.call('POST', `/api/analytics/posts/${first!._id}/refresh?platform=bluesky`)
  expect([status, body.data.fresh]).toEqual([200, true])
})

it('sample posts have the shape of published posts, name their accounts and are marked as samples', async () => {
  const all = await posts()
  expect(all.length).toBeGreaterThanOrEqual(20)
  for (const post of all) {
    expect(post.content.text).toContain('sandbox data')
    expect(post).toMatchObject({ status: rollUp(post.platformStatuses), startPending: false, timezone: TIMEZONE })
    const published = post.platformStatuses.filter(({ platformPostId }) => platformPostId !== null)
    const keys = published.map(({ platform, platformPostId }) => toPublishedKey(platform, platformPostId!))
    expect((post.publishedKeys ?? []).toSorted()).toEqual(keys.toSorted())
    const times = post.timeline.map(({ at }) => at.getTime())
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(post.timeline.at(-1)?.at).toEqual(post.updatedAt)
    for (const { delivery, completedAt, accountName } of published) {
      expect(accountName).toEqual(expect.any(String))
      expect(delivery).toMatchObject({ outcome: 'accepted', leaseUntil: null, nextAttemptAt: null })
      const lateMs = completedAt!.getTime() - (post.dueAt?.getTime() ?? 0)
      expect(lateMs).toBeGreaterThan(0)
      expect(lateMs).toBeLessThan(2_000)
      expect(now.getTime() - completedAt!.getTime()).toBeLessThan(16 * DAY)
    }
  }
  const statuses = new Set(all.map(({ status }) => status))
  expect([...statuses].toSorted()).toEqual(['COMPLETED', 'FAILED', 'PARTIAL_SUCCESS'])
  const later = new Date(Date.now() + DAY)
  expect(
    await world.context.posts.listStranded({ overdueBefore: later, stalledBefore: later, now: later, limit: 10 }),
  ).toEqual([])
})

it('some sample posts have far more likes than the median', async () => {
  const likes = [...(await latestSnapshots()).values()]
    .filter((one) => one.platform === 'bluesky')
    .map((one) => one.likes!)
  const sorted = likes.toSorted((one, other) => one - other)
  expect(sorted.at(-1)).toBeGreaterThan(4 * sorted[Math.floor(sorted.length / 2)]!)
})

it('creating the sample history again changes nothing', async () => {
  const count = async () =>
    Promise.all([
      ...['posts', 'postSnapshots', 'accountSnapshots'].map(async (name) => (await stored(name)).length),
      ...PLATFORMS.map(async (platform) => (await user.published(platform)).length),
    ])
  const before = await count()
  expect(before.every((number) => number > 0)).toBe(true)
  await seed()
  expect(await count()).toEqual(before)
})

it('the collector reads the counts of the sample history, or slightly higher ones, from the platforms', async () => {
  const seeded = await latestSnapshots()
  await world.context.database.connection
    .collection('posts')
    .updateMany({ userId: user.userId }, { $set: { 'platformStatuses.$[].metricsDueAt': new Date(0) } })
  const draining = new AbortController().signal
  const { collectDuePosts, collectDueFollowers } = createAnalyticsActivities({ ...world.context, draining })
  const environment = new MockActivityEnvironment()
  // The deleted sample post is not requested.
  expect(await environment.run(collectDuePosts, Date.now())).toEqual({
    ...{ saved: seeded.size - 1, deleted: 0, failed: 0, skipped: 0 },
    resumeAt: null,
  })
  expect(await environment.run(collectDueFollowers, Date.now())).toMatchObject({ failed: 0 })
  expect(await Array.fromAsync(world.context.deadLetters.allOf(user.userId))).toEqual([])
  for (const [name, found] of await latestSnapshots()) {
    const before = seeded.get(name)!
    for (const metric of ['likes', 'shares', 'comments', 'impressions', 'reach', 'saved'] as const) {
      const label = `${name} ${metric}`
      expect(found[metric] === null, label).toBe(before[metric] === null)
      expect(found[metric] ?? 0, label).toBeGreaterThanOrEqual(before[metric] ?? 0)
    }
  }
})

it('links to posts lead to the servers of the sandbox, which show them', async () => {
  const other = await world.user()
  const { platformStatuses } = await other.until(await other.post(PLATFORMS, 'A post with links'))
  const sample = (await posts()).flatMap((post) => post.platformStatuses).filter(({ status }) => status === 'completed')
  for (const { platform, platformPostUrl } of [...platformStatuses, ...sample]) {
    const front = world.fronts.find(([name]) => name === platform)![1]
    expect(new URL(platformPostUrl!).origin, platform).toBe(new URL(front.url).origin)
  }
  for (const { platform, platformPostUrl } of platformStatuses) {
    expect(await (await fetch(platformPostUrl!)).text(), platform).toContain('A post with links')
  }
})
