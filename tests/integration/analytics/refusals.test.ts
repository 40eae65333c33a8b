import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/shared/times.ts'
import { NOTHING_COLLECTED } from '../../../src/workflows/contract/analytics.ts'
import { publishedPost, storePosts } from '../../support/published.ts'
import { later, startScriptedCollection, failure } from './scripted-collection.ts'

const { context, platforms, lines, activities, run, collectRun, published, ...collection } =
  await startScriptedCollection()
const { snapshotsOf, lettersOf, clear } = collection
afterEach(clear)
afterAll(() => context.close())

describe('a refusal by a platform', () => {
  const health = async (userId: string, platform: Platform) =>
    (await context.accounts.findDefault(userId, platform))!.health.status
  const warnings = async (userId: string) =>
    (await context.notifications.listOf(userId, 10)).map(({ message }) => message)

  it('an expired token is renewed, and the counts are read with the new one', async () => {
    const { userId, post } = await published(['mastodon'])
    platforms.scriptFor('mastodon').failures.push(failure('unauthorized'))
    expect(await collectRun()).toMatchObject({ saved: 1 })
    expect(platforms.calls.map(({ token }) => token)).toEqual(['token', 'renewed token'])
    expect(await health(userId, 'mastodon')).toBe('active')
    expect(await snapshotsOf(post._id)).toHaveLength(1)
  })

  it.each(['bluesky', 'mastodon'] as const)('a permanently revoked login (%s) expires with one warning', async (on) => {
    const { userId, posts } = await published([on], 60)
    const more = publishedPost({ userId, on: [on], completedAt: new Date(Date.now() - 3 * DAY) })
    await storePosts(context, [more])
    platforms.scriptFor(on).failures.push(...Array.from({ length: 20 }, () => failure('unauthorized')))
    expect(await collectRun()).toMatchObject({ saved: 0, failed: 0 })
    expect(await health(userId, on)).toBe('expired')
    expect(await warnings(userId)).toEqual([expect.stringContaining('has expired. Reconnect')])
    expect(platforms.calls.length).toBeLessThanOrEqual(2)
    expect(await lettersOf(userId)).toEqual([])
    expect(await snapshotsOf(posts[0]!._id)).toEqual([])
    expect(await collectRun()).toEqual({ ...NOTHING_COLLECTED, resumeAt: null })
  })

  it('a revoked login that concurrent calls detect expires with one warning', async () => {
    const { userId } = await published(['mastodon'], 60)
    const script = platforms.scriptFor('mastodon')
    script.meanwhile = () => new Promise((resolve) => setTimeout(resolve, 20))
    script.failures.push(...Array.from({ length: 20 }, () => failure('unauthorized')))
    script.followerFailures.push(...Array.from({ length: 20 }, () => failure('unauthorized')))
    // Two processes, each with its own queue of calls.
    const startedAt = later(0)().getTime()
    await Promise.all(
      [activities(), activities()].flatMap(({ collectDuePosts, collectDueFollowers }) => [
        run(collectDuePosts, startedAt),
        run(collectDuePosts, startedAt),
        run(collectDueFollowers, startedAt),
      ]),
    )
    expect(await health(userId, 'mastodon')).toBe('expired')
    expect(await warnings(userId)).toEqual([expect.stringContaining('has expired. Reconnect')])
    expect(await lettersOf(userId)).toEqual([])
    expect(await collectRun()).toEqual({ ...NOTHING_COLLECTED, resumeAt: null })
  })

  it('a missing permission is logged once per account and run, and has no other effect', async () => {
    const { userId } = await published(['threads'], 5)
    await storePosts(context, [publishedPost({ userId, on: ['threads'], completedAt: new Date(Date.now() - 3 * DAY) })])
    platforms.scriptFor('threads').failures.push(...Array.from({ length: 20 }, () => failure('permission')))
    lines.length = 0
    expect(await collectRun()).toEqual({ ...NOTHING_COLLECTED, skipped: 1, resumeAt: null })
    expect(lines.filter(({ message }) => message.includes('permission missing'))).toHaveLength(1)
    expect([await health(userId, 'threads'), await lettersOf(userId), await warnings(userId)]).toEqual([
      'active',
      [],
      [],
    ])
    expect(platforms.calls).toHaveLength(1)
  })

  it('a rate limit pauses the server for the stated time, and the posts are collected afterwards', async () => {
    const { userId, post } = await published(['bluesky'], 60)
    platforms.scriptFor('bluesky').failures.push(failure('rate_limited', 90_000))
    const startedAt = later(0)().getTime()
    let passedMs = 0
    const { collectDuePosts } = activities(() => later(passedMs)())
    const { resumeAt, ...collected } = await run(collectDuePosts, startedAt)
    expect(collected).toEqual({ ...NOTHING_COLLECTED, skipped: 25 })
    expect(resumeAt! - startedAt).toBeGreaterThanOrEqual(90_000)
    expect(resumeAt! - startedAt).toBeLessThan(100_000)
    passedMs = MINUTE
    expect(await run(collectDuePosts, startedAt)).toEqual({ ...NOTHING_COLLECTED, resumeAt: expect.any(Number) })
    expect(platforms.calls).toHaveLength(1)
    expect(await lettersOf(userId)).toEqual([])
    passedMs = 2 * MINUTE
    expect(await run(collectDuePosts, startedAt)).toEqual({ ...NOTHING_COLLECTED, saved: 60, resumeAt: null })
    expect(await snapshotsOf(post._id)).toHaveLength(1)
  })

  it('a run that waits for servers makes its turns less often with its age', async () => {
    await published(['bluesky'], 1)
    platforms.scriptFor('bluesky').failures.push(failure('rate_limited', 30_000))
    const now = later(0)().getTime()
    const { resumeAt } = await run(activities().collectDuePosts, now - 10 * MINUTE)
    expect(resumeAt! - now).toBeGreaterThanOrEqual(MINUTE)
  })

  it('posts that are left by a pause which ends within the turn are collected in a later turn of the run', async () => {
    await published(['bluesky'], 1)
    platforms.scriptFor('bluesky').failures.push(failure('rate_limited', 1))
    let ticks = 0
    const ticking = () => later((ticks += 10))()
    const { skipped, resumeAt } = await collectRun(ticking)
    expect([skipped, typeof resumeAt]).toEqual([1, 'number'])
    expect(await collectRun(() => new Date(resumeAt!))).toMatchObject({ saved: 1, resumeAt: null })
  })

  it('a pause that outlasts the run leaves the posts to the next one', async () => {
    await published(['bluesky'], 1)
    platforms.scriptFor('bluesky').failures.push(failure('rate_limited', HOUR))
    expect(await collectRun()).toMatchObject({ skipped: 1, resumeAt: null })
  })

  it('a server that keeps failing ends the claim, and the rest is collected after its lease', async () => {
    await published(['threads'], 11)
    platforms.scriptFor('threads').failures.push(...Array.from({ length: 10 }, () => failure('transient')))
    const first = await collectRun()
    expect(first).toMatchObject({ saved: 0, deleted: 0, skipped: 1, failed: 10, resumeAt: expect.any(Number) })
    expect(await collectRun(() => new Date(first.resumeAt!))).toMatchObject({ saved: 1, resumeAt: null })
  })

  it('a failed call makes dead letters of its own posts, and the rest of the claim is collected', async () => {
    const { userId } = await published(['threads'], 4)
    platforms.scriptFor('threads').failures.push(null, failure('validation'), null, failure('rate_limited', 60_000))
    expect(await collectRun()).toMatchObject({ saved: 2, failed: 1, skipped: 1 })
    expect(platforms.calls.map(({ ids }) => ids.length)).toEqual([1, 1, 1, 1])
    const failed = await Promise.all((await lettersOf(userId)).map(({ postId }) => snapshotsOf(postId!)))
    expect(failed).toEqual([[]])
    expect(await collectRun(later(MINUTE))).toMatchObject({ saved: 1 })
  })

  it('other failures make one dead letter per post and platform, with a count', async () => {
    const { userId, posts } = await published(['bluesky', 'mastodon'], 2)
    platforms.scriptFor('bluesky').failures.push(failure('transient'), failure('validation'))
    await collectRun()
    expect(await collectRun()).toMatchObject(NOTHING_COLLECTED)
    const letters = await lettersOf(userId)
    expect(letters.map(({ postId }) => postId)).toEqual(posts.map(({ _id }) => _id).toSorted())
    expect(letters).toMatchObject([
      { type: 'post', platform: 'bluesky', count: 1, reason: 'transient: It was transient' },
      { count: 1 },
    ])
    await collectRun(later(15 * MINUTE))
    expect(await lettersOf(userId)).toMatchObject([
      { count: 2, reason: 'validation: Bluesky rejected the request for metrics' },
      { count: 2 },
    ])
  })

  it('an unexpected error becomes a dead letter, and its message is only in the log', async () => {
    const { userId } = await published(['bluesky'])
    platforms.scriptFor('bluesky').failures.push(new Error('with a secret in it'))
    await collectRun()
    expect(await lettersOf(userId)).toMatchObject([{ reason: 'INTERNAL: Something went wrong inside the service' }])
  })
})

describe('a replayed dead letter', () => {
  it('a replayed dead letter is deleted when it succeeds and counted when it fails', async () => {
    const { userId, post } = await published(['bluesky'])
    platforms.scriptFor('bluesky').failures.push(failure('transient'), failure('transient'))
    await collectRun()
    const [letter] = await lettersOf(userId)
    expect(await run(activities().replayDeadLetter, letter!._id)).toBe('failed')
    expect(await lettersOf(userId)).toMatchObject([{ _id: letter!._id, count: 2 }])
    expect(await run(activities().replayDeadLetter, letter!._id)).toBe('done')
    expect(await lettersOf(userId)).toEqual([])
    expect(await snapshotsOf(post._id)).toHaveLength(1)
    expect(await run(activities().replayDeadLetter, letter!._id)).toBe('gone')
  })
})
