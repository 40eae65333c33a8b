import { afterAll, afterEach, expect, it } from 'vitest'
import { CapacityExceeded } from '../../../src/activities/shared/call-limiter.ts'
import { toSlot } from '../../../src/domain/analytics/collection.ts'
import { divideOwners } from '../../../src/domain/analytics/shards.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { addAccount, connectedUser } from '../../support/published.ts'
import { later as laterToday, startScriptedCollection, failure, type FollowersRound } from './scripted-collection.ts'

const scripted = await startScriptedCollection()
const { context, platforms, activities, run, collectRun, published, versionOf, lettersOf, clear } = scripted
afterEach(async () => {
  await clear()
  await context.database.connection.collection('accounts').deleteMany({})
})
afterAll(() => context.close())

const untilMidnightMs = toSlot(laterToday(DAY)(), DAY).getTime() - laterToday(0)().getTime()
/** Counts are collected once a day, so no test runs over midnight. */
const later = (ms: number) => laterToday(ms + (untilMidnightMs < HOUR ? untilMidnightMs : 0))
const collectFollowers = (round: FollowersRound = {}) => scripted.collectFollowers({ now: later(0), ...round })

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
  const { _id: accountId } = (await context.accounts.findDefault(userId, 'bluesky'))!
  expect(await context.snapshots.latestFollowers(userId, 'bluesky', accountId)).toMatchObject({ followers: 7 })
})

it('followers are not requested while the platform is rate limited, and once per account afterwards', async () => {
  for (let user = 0; user < 12; user++) await connectedUser(context, ['bluesky', 'threads'])
  platforms.scriptFor('bluesky').followerFailures.push(failure('rate_limited', 10 * MINUTE))
  const first = await collectFollowers()
  expect(first).toMatchObject({ taken: 12 + 12 - first.paused, skipped: 0, failed: 0 })
  expect(first.paused).toBeGreaterThan(6)
  expect(Object.keys(first.pauses)).toEqual(['bluesky'])
  platforms.followerCalls.length = 0
  const { paused } = first
  const round = { servers: ['bluesky'], pauses: first.pauses }
  expect(await collectFollowers(round)).toMatchObject({ taken: 0, paused: 12 })
  expect(await collectFollowers({ ...round, now: later(11 * MINUTE) })).toMatchObject({
    taken: paused,
    paused: 0,
  })
  expect(platforms.followerCalls).toEqual(Array.from({ length: paused }, () => 'bluesky'))
})

it('an account whose server has no capacity is read in the next round, and the others immediately', async () => {
  for (let user = 0; user < 12; user++) await connectedUser(context, ['mastodon'])
  platforms.scriptFor('mastodon').followerFailures.push(new CapacityExceeded('full'))
  expect(await collectFollowers()).toMatchObject({ taken: 11, paused: 1, pauses: { mastodon: expect.any(Number) } })
  expect(await collectFollowers({ servers: ['mastodon'] })).toMatchObject({ taken: 1, skipped: 11, paused: 0 })
})

/** Connects as many accounts on each of these servers. */
async function connectOn(servers: string[], count: number): Promise<void> {
  const collection = context.database.connection.collection('accounts')
  for (const server of servers) {
    for (let user = 0; user < count; user++) {
      const { _id: userId } = await connectedUser(context, ['mastodon'])
      await collection.updateOne({ userId }, { $set: { server } })
    }
  }
}

it('no server waits for a slow one, whose other accounts are left to the next round after 30 seconds', async () => {
  await connectOn(['https://slow.test', 'https://other.test'], 12)
  const script = platforms.scriptFor('mastodon')
  const othersEnded = Promise.withResolvers<void>()
  let passedMs = 0
  let othersLeft = 12
  script.followersMeanwhile = async ({ serviceUrl }) => {
    if (serviceUrl === 'https://slow.test') {
      await othersEnded.promise
      passedMs = 31 * SECOND
    } else if (--othersLeft === 0) othersEnded.resolve()
  }
  const now = () => new Date(later(0)().getTime() + passedMs)
  const first = await collectFollowers({ now })
  expect(first).toMatchObject({ taken: 12 + 5, paused: 7, skipped: 0, failed: 0 })
  expect(Object.keys(first.pauses)).toEqual(['mastodon https://slow.test'])
  platforms.followerCalls.length = 0
  const second = { now: later(20 * MINUTE), pauses: {}, servers: ['mastodon https://slow.test'] }
  expect(await collectFollowers(second)).toMatchObject({ taken: 7, skipped: 5, paused: 0 })
  expect(platforms.followerCalls).toHaveLength(7)
})

it('a platform with one server has no turns', async () => {
  await connectOn(['https://slow.test'], 12)
  let passedMs = 0
  platforms.scriptFor('mastodon').followersMeanwhile = async () => void (passedMs += 31 * SECOND)
  const now = () => new Date(later(0)().getTime() + passedMs)
  expect(await collectFollowers({ now })).toMatchObject({ taken: 12, paused: 0 })
})

it('the pages of all ranges have each connected account of the platform once', async () => {
  const owners: string[] = []
  for (let user = 0; user < 9; user++) {
    const { _id: userId } = await connectedUser(context, ['bluesky', 'mastodon'])
    owners.push(userId)
  }
  const [several] = owners
  for (const platformId of ['second', 'third', 'fourth']) {
    await addAccount(context, several!, { platform: 'bluesky', platformId: `${platformId} of ${several}` })
  }
  const listed: string[] = []
  for (const range of divideOwners(owners, 3)) {
    for (let after: string | null = null; ;) {
      const page = await context.accounts.listOfOwners({ platform: 'bluesky', range }, after, 2)
      listed.push(...page.accounts.map(({ userId }) => userId))
      if (!page.next) break
      after = page.next
    }
  }
  expect(listed.toSorted()).toEqual([...owners, several!, several!, several!].toSorted())
})

it('followers of an expired login are not requested again, and other failures make one dead letter with a count', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky', 'threads'])
  platforms.scriptFor('bluesky').followerFailures.push(failure('unauthorized'))
  platforms.scriptFor('threads').followerFailures.push(failure('transient'), failure('transient'))
  expect(await collectFollowers()).toMatchObject({ taken: 0, skipped: 1, failed: 1 })
  expect(await collectFollowers()).toMatchObject({ taken: 0, skipped: 0, failed: 1 })
  expect(await lettersOf(userId)).toMatchObject([{ type: 'account', postId: null, platform: 'threads', count: 2 }])
  const warnings = await context.notifications.listOf(userId, 10)
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('has expired. Reconnect')])
  const [letter] = await lettersOf(userId)
  expect(await run(activities().replayDeadLetter, letter!._id)).toBe('done')
  expect(await lettersOf(userId)).toEqual([])
})
