import { afterAll, afterEach, expect, it } from 'vitest'
import { CapacityExceeded } from '../../../src/activities/shared/call-limiter.ts'
import { toSlot } from '../../../src/domain/analytics/collection.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { DAY, MINUTE } from '../../../src/domain/shared/times.ts'
import type { FollowersPage, Pauses } from '../../../src/workflows/messages/analytics.ts'
import { connectedUser } from '../../support/published.ts'
import { later, startScriptedCollection, trouble } from './scripted-collection.ts'

const { context, platforms, activities, run, collectRun, published, versionOf, lettersOf, clear } =
  await startScriptedCollection()
afterEach(async () => {
  await clear()
  await context.database.connection.collection('accounts').deleteMany({})
})
afterAll(() => context.close())

/** Runs all pages of a collection and returns their totals. */
async function collectFollowers({ on, now, pauses = {} }: { on?: Platform[]; now?: () => Date; pauses?: Pauses } = {}) {
  const { collectFollowersPage } = activities(now)
  const totals = { taken: 0, skipped: 0, failed: 0, paused: 0 }
  for (let after: string | null = null; ;) {
    const page: FollowersPage = await run(collectFollowersPage, after, pauses, on)
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += page[name]
    pauses = page.pauses
    if (!page.next) return { ...totals, pauses }
    after = page.next
  }
}

it('followers are collected once a day on every connected platform that reports them', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky', 'threads', 'tumblr'])
  platforms.scriptFor('threads').followers = null
  expect(await collectFollowers()).toMatchObject({ taken: 2, skipped: 1 })
  const version = await versionOf(userId)
  expect(await collectFollowers()).toMatchObject({ taken: 0, skipped: 3 })
  expect(await versionOf(userId)).toBe(version)
  const all = await Array.fromAsync(context.snapshots.allFollowersOf(userId))
  expect(all).toMatchObject([
    { platform: 'bluesky', followers: 100, slot: toSlot(later(0)(), DAY) },
    { platform: 'tumblr', followers: 100 },
  ])
})

it('unavailable followers do not block other counts and are not requested with every call', async () => {
  const { posts } = await published(['threads'], 4)
  platforms.scriptFor('threads').followers = null
  expect(await collectRun()).toMatchObject([{ saved: 4 }])
  expect(platforms.followerCalls).toEqual(['threads'])
  expect(await context.snapshots.latest({ ...posts[0]!, postId: posts[0]!._id }, 'threads')).toMatchObject({
    followerCountAtSnapshot: null,
  })
})

it('an account that was connected after the daily run gets its own follower count', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky'])
  expect(await collectFollowers()).toMatchObject({ taken: 1 })
  await context.database.connection
    .collection('accounts')
    .updateOne({ userId, platform: 'bluesky' }, { $set: { connectedAt: later(MINUTE)() } })
  platforms.scriptFor('bluesky').followers = 7
  expect(await collectFollowers({ now: later(2 * MINUTE) })).toMatchObject({ taken: 1 })
  expect(await collectFollowers({ now: later(3 * MINUTE) })).toMatchObject({ taken: 0 })
  expect(await context.snapshots.latestFollowers(userId, 'bluesky')).toMatchObject({ followers: 7 })
})

it('followers are not requested while the platform is rate limited, and once per account afterwards', async () => {
  for (let user = 0; user < 12; user++) await connectedUser(context, ['bluesky', 'threads'])
  platforms.scriptFor('bluesky').followerTroubles.push(trouble('rate_limited', 10 * MINUTE))
  const first = await collectFollowers()
  expect(first).toMatchObject({ taken: 12 + 12 - first.paused, skipped: 0, failed: 0 })
  expect(first.paused).toBeGreaterThan(6)
  expect(Object.keys(first.pauses)).toEqual(['bluesky'])
  platforms.followerCalls.length = 0
  const { paused } = first
  expect(await collectFollowers({ on: ['bluesky'], pauses: first.pauses })).toMatchObject({ taken: 0, paused: 12 })
  expect(await collectFollowers({ on: ['bluesky'], pauses: first.pauses, now: later(11 * MINUTE) })).toMatchObject({
    taken: paused,
    paused: 0,
  })
  expect(platforms.followerCalls).toEqual(Array.from({ length: paused }, () => 'bluesky'))
})

it('followers of other servers are collected while a server of the platform is down', async () => {
  for (let user = 0; user < 12; user++) await connectedUser(context, ['mastodon'])
  platforms.scriptFor('mastodon').followerTroubles.push(new CapacityExceeded('full'))
  expect(await collectFollowers()).toMatchObject({ taken: 11, paused: 1, pauses: { mastodon: expect.any(Number) } })
  expect(await collectFollowers({ on: ['mastodon'] })).toMatchObject({ taken: 1, skipped: 11, paused: 0 })
})

it('followers of an expired login are not requested again, and other failures make one dead letter with a count', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky', 'threads'])
  platforms.scriptFor('bluesky').followerTroubles.push(trouble('unauthorized'))
  platforms.scriptFor('threads').followerTroubles.push(trouble('transient'), trouble('transient'))
  expect(await collectFollowers()).toMatchObject({ taken: 0, skipped: 1, failed: 1 })
  expect(await collectFollowers()).toMatchObject({ taken: 0, skipped: 0, failed: 1 })
  expect(await lettersOf(userId)).toMatchObject([{ type: 'account', postId: null, platform: 'threads', count: 2 }])
  const warnings = await context.notifications.listOf(userId, 10)
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('has expired. Reconnect')])
  const [letter] = await lettersOf(userId)
  expect(await run(activities().replayDeadLetter, letter!._id)).toBe('done')
  expect(await lettersOf(userId)).toEqual([])
})
