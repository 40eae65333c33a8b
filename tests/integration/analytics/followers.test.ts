import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { CapacityExceeded } from '../../../src/activities/shared/call-limiter.ts'
import { toSlot } from '../../../src/domain/analytics/collection.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/shared/times.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { NOTHING_COLLECTED } from '../../../src/workflows/contract/analytics.ts'
import { addAccount, connectedUser } from '../../support/published.ts'
import { later as laterToday, startScriptedCollection, failure } from './scripted-collection.ts'

const scripted = await startScriptedCollection()
const { context, platforms, activities, run, collectRun, published, versionOf, lettersOf, clear } = scripted
afterEach(async () => {
  await clear()
  await accounts.deleteMany({})
})
afterAll(() => context.close())

const untilMidnightMs = toSlot(laterToday(DAY)(), DAY).getTime() - laterToday(0)().getTime()
/** Counts are collected once a day, so no test runs over midnight. */
const later = (ms: number) => laterToday(ms + (untilMidnightMs < HOUR ? untilMidnightMs : 0))
const collectFollowers = (now = later(0)) => scripted.collectFollowers(now)
const accounts = context.database.connection.collection('accounts')

it('followers are collected once a day on every connected platform that reports them', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky', 'threads', 'tumblr'])
  platforms.scriptFor('threads').followers = null
  expect(await collectFollowers()).toMatchObject({ saved: 2, skipped: 1 })
  const version = await versionOf(userId)
  expect(await collectFollowers()).toEqual({ ...NOTHING_COLLECTED, resumeAt: null })
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
  expect(await collectRun()).toMatchObject({ saved: 4 })
  expect(platforms.followerCalls).toEqual(['threads'])
  expect(await context.snapshots.latest({ ...posts[0]!, postId: posts[0]!._id }, 'threads')).toMatchObject({
    followerCountAtSnapshot: null,
  })
})

it.each([
  ['first', 0],
  ['second', 1],
])(
  'the count of the only account left replaces those of the day, when the %s of two accounts stays',
  async (_, left) => {
    const userId = newId()
    const accountIds = ['aaa', 'bbb'] as const
    const fields = { userId, platform: 'bluesky' as const, slot: toSlot(later(0)(), DAY), takenAt: later(0)() }
    const save = (accountId: string, followers: number, isOnly: boolean) =>
      context.database.transaction((session) =>
        context.snapshots.saveFollowers({ ...fields, accountId, followers, isOnly }, session),
      )
    for (const accountId of accountIds) await save(accountId, 10, false)
    await save(accountIds[left]!, 11, true)
    const rows = await Array.fromAsync(context.snapshots.allFollowersOf(userId))
    expect(rows).toMatchObject([{ accountId: accountIds[left], followers: 11 }])
  },
)

it('a follower count that cannot be stored stops no metrics of posts', async () => {
  const { posts } = await published(['threads'], 2)
  const spy = vi.spyOn(context.snapshotWriter, 'saveFollowers').mockRejectedValueOnce(new Error('refused'))
  expect(await collectRun()).toMatchObject({ saved: 2, failed: 0 })
  spy.mockRestore()
  expect(await lettersOf(posts[0]!.userId)).toEqual([])
})

it('an account that has a count of today is not requested again, and is due on the next day', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky'])
  expect(await collectFollowers()).toMatchObject({ saved: 1 })
  await accounts.updateOne({ userId }, { $set: { followersDueAt: new Date(0) } })
  expect(await collectFollowers(later(MINUTE))).toMatchObject({ saved: 0, skipped: 1 })
  expect(await accounts.findOne({ userId })).toMatchObject({
    followersDueAt: new Date(toSlot(later(0)(), DAY).getTime() + DAY),
  })
  expect(await collectFollowers(later(DAY))).toMatchObject({ saved: 1 })
})

it('an account that is connected again after the daily run gets its own follower count', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky'])
  expect(await collectFollowers()).toMatchObject({ saved: 1 })
  const connectedAt = later(MINUTE)()
  await accounts.updateOne({ userId }, { $set: { connectedAt, followersDueAt: connectedAt } })
  platforms.scriptFor('bluesky').followers = 7
  expect(await collectFollowers(later(2 * MINUTE))).toMatchObject({ saved: 1 })
  expect(await collectFollowers(later(3 * MINUTE))).toMatchObject({ saved: 0 })
  const { _id: accountId } = (await context.accounts.findDefault(userId, 'bluesky'))!
  expect(await context.snapshots.latestFollowers(userId, 'bluesky', accountId)).toMatchObject({ followers: 7 })
})

it('an account that is connected again while it is collected stays due', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky'])
  const followersDueAt = later(MINUTE)()
  platforms.scriptFor('bluesky').followersMeanwhile = async () =>
    void (await accounts.updateOne({ userId }, { $set: { followersDueAt } }))
  expect(await collectFollowers()).toMatchObject({ saved: 1 })
  expect(await accounts.findOne({ userId })).toMatchObject({ followersDueAt })
})

it('followers are not requested while the platform is rate limited, and once per account afterwards', async () => {
  for (let user = 0; user < 30; user++) await connectedUser(context, ['bluesky', 'threads'])
  platforms.scriptFor('bluesky').followerFailures.push(failure('rate_limited', 10 * MINUTE))
  let passedMs = 0
  const { collectDueFollowers } = activities(() => later(passedMs)())
  const startedAt = later(0)().getTime()
  const first = await run(collectDueFollowers, startedAt)
  expect(first).toMatchObject({ skipped: 1, failed: 0 })
  const left = 60 - first.saved
  expect(left).toBeGreaterThan(6)
  expect(first.resumeAt! - startedAt).toBeGreaterThanOrEqual(10 * MINUTE)
  platforms.followerCalls.length = 0
  passedMs = 5 * MINUTE
  expect(await run(collectDueFollowers, startedAt)).toMatchObject({
    ...NOTHING_COLLECTED,
    resumeAt: expect.any(Number),
  })
  passedMs = 11 * MINUTE
  expect(await run(collectDueFollowers, startedAt)).toEqual({ ...NOTHING_COLLECTED, saved: left, resumeAt: null })
  expect(platforms.followerCalls).toEqual(Array.from({ length: left }, () => 'bluesky'))
})

it('an account whose server has no capacity is read after its lease, and the others immediately', async () => {
  for (let user = 0; user < 12; user++) await connectedUser(context, ['mastodon'])
  platforms.scriptFor('mastodon').followerFailures.push(new CapacityExceeded('full'))
  const { resumeAt, ...collected } = await collectFollowers()
  expect(collected).toEqual({ ...NOTHING_COLLECTED, saved: 11, skipped: 1 })
  expect(await collectFollowers(() => new Date(resumeAt!))).toEqual({ ...NOTHING_COLLECTED, saved: 1, resumeAt: null })
})

it('no server waits for a slow one', async () => {
  for (const server of ['https://slow.test', 'https://other.test']) {
    for (let user = 0; user < 20; user++) {
      const { _id: userId } = await connectedUser(context, ['mastodon'])
      await accounts.updateOne({ userId }, { $set: { server } })
    }
  }
  const othersEnded = Promise.withResolvers<void>()
  let othersLeft = 20
  platforms.scriptFor('mastodon').followersMeanwhile = async ({ serviceUrl }) => {
    if (serviceUrl === 'https://slow.test') await othersEnded.promise
    else if (--othersLeft === 0) othersEnded.resolve()
  }
  expect(await collectFollowers()).toEqual({ ...NOTHING_COLLECTED, saved: 40, resumeAt: null })
})

it('concurrent collectors request each account of a user once', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky', 'mastodon'])
  for (const name of ['second', 'third', 'fourth']) {
    await addAccount(context, userId, { platform: 'bluesky', platformId: `${name} of ${userId}` })
  }
  const turns = await Promise.all([collectFollowers(), collectFollowers(), collectFollowers()])
  expect(turns.reduce((sum, { saved }) => sum + saved, 0)).toBe(5)
  expect(platforms.followerCalls.toSorted()).toEqual(['bluesky', 'bluesky', 'bluesky', 'bluesky', 'mastodon'])
})

it('followers of an expired login are not requested again, and other failures make one dead letter with a count', async () => {
  const { _id: userId } = await connectedUser(context, ['bluesky', 'threads'])
  platforms.scriptFor('bluesky').followerFailures.push(failure('unauthorized'))
  platforms.scriptFor('threads').followerFailures.push(failure('transient'), failure('transient'))
  expect(await collectFollowers()).toMatchObject({ saved: 0, skipped: 1, failed: 1 })
  await accounts.updateMany({ userId }, { $set: { followersDueAt: new Date(0) } })
  expect(await collectFollowers()).toMatchObject({ saved: 0, skipped: 1, failed: 1 })
  expect(platforms.followerCalls.toSorted()).toEqual(['bluesky', 'threads', 'threads'])
  expect(await lettersOf(userId)).toMatchObject([{ type: 'account', postId: null, platform: 'threads', count: 2 }])
  const warnings = await context.notifications.listOf(userId, 10)
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('has expired. Reconnect')])
  const [letter] = await lettersOf(userId)
  expect(await run(activities().replayDeadLetter, letter!._id)).toBe('done')
  expect(await lettersOf(userId)).toEqual([])
})
