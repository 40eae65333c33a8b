import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { refreshMetrics } from '../../../src/commands/analytics/refresh-metrics.ts'
import { HOUR } from '../../../src/domain/shared/times.ts'
import { createOrchestrator, type PublishOrchestrator } from '../../../src/integrations/temporal/orchestrator.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import type { RefreshOutcome } from '../../../src/workflows/contract/analytics.ts'
import { partial } from '../../support/partial.ts'
import { disconnectDefault, publishedPost, storePosts } from '../../support/published.ts'
import { snapshotsIn, startMastodonWorld, type MastodonWorld } from './mastodon-world.ts'

let world: MastodonWorld
let workers: Awaited<ReturnType<typeof startWorkers>> | null
let orchestrator: PublishOrchestrator
/** Failures that the orchestrator attributed to Temporal. */
const unreachable: unknown[] = []
beforeAll(async () => {
  world = await startMastodonWorld()
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  orchestrator = createOrchestrator({ address, namespace, onUnreachable: (error) => unreachable.push(error) })
  workers = await startWorkers(world.context)
})
afterEach(() => world.control.clearFaults())
afterAll(async () => {
  await workers?.stop()
  await orchestrator?.close()
  await world?.close()
})

const refresh = (userId: string, postId: string) =>
  refreshMetrics({ ...world.context, orchestrator }, { userId, postId, platform: 'mastodon' })
const countOf = (postId: string) => snapshotsIn(world.context).countDocuments({ postId })

it('a refresh stores the current counts in place of those of the same slot', async () => {
  const { userId, posts } = await world.author(1, new Date(Date.now() - HOUR))
  const [{ _id, platformStatuses }] = posts as [(typeof posts)[0]]
  const id = platformStatuses[0]!.platformPostId!
  await world.control.setMetrics(id, { likes: 3 })
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true, snapshot: { postId: _id, likes: 3 } })
  await world.control.setMetrics(id, { likes: 9 })
  await world.context.rateLimits.clearAllOf([userId])
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true, snapshot: { likes: 9 } })
  expect(await countOf(_id)).toBe(1)
})

it('a refresh requires the owner and a published post, and only an accepted one uses up the allowance', async () => {
  const { userId, posts } = await world.author(1)
  const [{ _id }] = posts as [(typeof posts)[0]]
  const other = await world.author(0)
  const elsewhere = publishedPost({ userId, on: ['bluesky'] })
  const gone = publishedPost({ userId, on: ['mastodon'] })
  gone.platformStatuses[0]!.status = 'deleted'
  await storePosts(world.context, [elsewhere, gone])
  await expect(refresh(other.userId, _id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(refresh(userId, 'no-such-post')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(refresh(userId, elsewhere._id)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await expect(refresh(userId, gone._id)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true })
  const limited = await refresh(userId, _id).catch((error: unknown) => error)
  expect(limited).toMatchObject({ code: 'RATE_LIMITED', message: 'Too many requests' })
  expect(limited).toMatchObject({ details: { bucket: 'analytics_refresh' }, retryAfterSeconds: expect.any(Number) })
  expect((limited as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(850)
})

it('a refresh by platform finds the account that a post names, also beside a default account that failed', async () => {
  const { userId, posts } = await world.author(1, new Date(Date.now() - HOUR))
  const [{ _id, platformStatuses }] = posts as [(typeof posts)[0]]
  const [published] = platformStatuses as [(typeof platformStatuses)[0]]
  const { _id: target } = (await world.context.accounts.findDefault(userId, 'mastodon'))!
  await world.control.setMetrics(published.platformPostId!, { likes: 3 })
  const named = { ...published, target, accountId: target }
  const failed = { ...published, status: 'failed', platformPostId: null, completedAt: null, metricsDueAt: null }
  const records = world.context.database.connection.collection<{ _id: string }>('posts')
  for (const entries of [[named], [failed, named]]) {
    await records.updateOne({ _id }, { $set: { platformStatuses: entries } })
    expect(await refresh(userId, _id)).toMatchObject({ fresh: true, snapshot: { target, likes: 3 } })
    await world.context.rateLimits.clearAllOf([userId])
  }
})

it('a refresh without a platform reads every account of the post, and counts once', async () => {
  const { userId } = await world.author(0)
  const post = publishedPost({ userId, on: ['mastodon', 'bluesky', 'tumblr'] })
  post.platformStatuses[2]!.status = 'failed'
  await storePosts(world.context, [post])
  const asked: string[] = []
  const outcomes: RefreshOutcome[] = ['failed', 'failed', 'fresh', 'failed']
  const scripted = partial<PublishOrchestrator>({
    refreshMetrics: async ({ platform }) => {
      asked.push(platform)
      return outcomes.shift()!
    },
  })
  const all = () => refreshMetrics({ ...world.context, orchestrator: scripted }, { userId, postId: post._id })
  const nothing = { platform: 'mastodon', snapshot: null, fresh: false }
  expect(await all()).toEqual(nothing)
  expect(await all()).toEqual(nothing)
  expect(asked).toEqual(['mastodon', 'bluesky', 'mastodon', 'bluesky'])
  await expect(all()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

it('a refresh of a post that no platform has published is refused', async () => {
  const { userId } = await world.author(0)
  const post = publishedPost({ userId, on: ['mastodon'] })
  post.platformStatuses[0]!.status = 'failed'
  await storePosts(world.context, [post])
  const all = refreshMetrics({ ...world.context, orchestrator }, { userId, postId: post._id })
  await expect(all).rejects.toMatchObject({ code: 'BAD_REQUEST', message: 'The post is not published yet' })
})

it('a refresh returns the stored counts as not fresh when the account is disconnected', async () => {
  const { userId, posts } = await world.author(1)
  const [{ _id }] = posts as [(typeof posts)[0]]
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true })
  await world.context.rateLimits.clearAllOf([userId])
  await disconnectDefault(world.context.accounts, userId, 'mastodon')
  expect(await refresh(userId, _id)).toMatchObject({ fresh: false, snapshot: { postId: _id } })
})

it('a refresh returns the stored counts as not fresh when the platform fails or takes too long', async () => {
  const { userId, posts } = await world.author(2)
  const [first, second] = posts.map(({ _id }) => _id) as [string, string]
  expect(await refresh(userId, first)).toMatchObject({ fresh: true })
  await world.context.rateLimits.clearAllOf([userId])
  await world.control.fault({ path: '/api/v1/statuses', action: { status: 500 } })
  expect(await refresh(userId, first)).toMatchObject({ fresh: false, snapshot: { postId: first } })
  await world.context.rateLimits.clearAllOf([userId])
  await world.control.clearFaults()
  await world.control.fault({ path: '/api/v1/statuses', action: { delayMs: 8_000 } })
  expect(await refresh(userId, second)).toMatchObject({ fresh: false, snapshot: null })
  expect(unreachable).toEqual([])
})

it('a refresh that fails at the platform leaves the allowance for another try', async () => {
  const { userId, posts } = await world.author(1)
  const [{ _id }] = posts as [(typeof posts)[0]]
  await world.control.fault({ path: '/api/v1/statuses', action: { status: 500 } })
  expect(await refresh(userId, _id)).toMatchObject({ fresh: false, snapshot: null })
  await world.control.clearFaults()
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true })
  await expect(refresh(userId, _id)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

describe('the allowance of a refresh', () => {
  /** Prepares a refresh with this outcome. Resolving `later` ends the wait for a late outcome. */
  async function refreshWith(outcome: RefreshOutcome) {
    const { userId, posts } = await world.author(1)
    const [{ _id: postId }] = posts as [(typeof posts)[0]]
    const later = Promise.withResolvers<void>()
    const calls: string[] = []
    const read = { times: 0 }
    const latest: typeof world.context.snapshots.latest = async (...args) => {
      const snapshot = await world.context.snapshots.latest(...args)
      read.times += 1
      return snapshot
    }
    const deps = {
      ...world.context,
      snapshots: { ...world.context.snapshots, latest },
      clock: { ...world.context.clock, sleepUntil: () => later.promise },
      orchestrator: partial<PublishOrchestrator>({
        refreshMetrics: async ({ postId: id }) => (calls.push(id), outcome),
      }),
    }
    const refreshOnce = () => refreshMetrics(deps, { userId, postId, platform: 'mastodon' })
    const isRefused = () =>
      refreshOnce().then(
        () => false,
        () => true,
      )
    return { refreshOnce, isRefused, later, calls, read, userId, postId }
  }

  it('the allowance is held while the outcome is unknown, and returned when there is no new snapshot', async () => {
    const { refreshOnce, isRefused, later, calls } = await refreshWith('unknown')
    await refreshOnce()
    expect([await isRefused(), await isRefused()]).toEqual([true, true])
    expect(calls).toHaveLength(1)
    later.resolve()
    await expect.poll(isRefused, { timeout: 50_000 }).toBe(false)
  })

  it('the allowance stays used when the late outcome is a new snapshot', async () => {
    const { refreshOnce, isRefused, later, calls, read, userId, postId } = await refreshWith('unknown')
    await refreshOnce()
    await world.context.rateLimits.clearAllOf([userId])
    expect(await refresh(userId, postId)).toMatchObject({ fresh: true })
    later.resolve()
    await expect.poll(() => read.times).toBe(2)
    expect(await isRefused()).toBe(true)
    expect(calls).toHaveLength(1)
  })

  it('the allowance is not returned after the eleventh failure in 15 minutes', async () => {
    const { refreshOnce, isRefused, calls } = await refreshWith('failed')
    for (let call = 0; call < 11; call++) expect(await refreshOnce()).toMatchObject({ fresh: false, snapshot: null })
    expect(await isRefused()).toBe(true)
    expect(calls).toHaveLength(11)
  })
})

it('an account that was just connected has its follower count without the daily run', async () => {
  const { userId } = await world.author(0)
  const { _id: accountId } = (await world.context.accounts.findDefault(userId, 'mastodon'))!
  await expect
    .poll(() => world.context.snapshots.latestFollowers(userId, 'mastodon', accountId), { timeout: 50_000 })
    .toMatchObject({ followers: expect.any(Number) })
})

it('a refresh returns the stored counts while no worker runs', async () => {
  const { userId, posts } = await world.author(1)
  const [{ _id }] = posts as [(typeof posts)[0]]
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true })
  await world.context.rateLimits.clearAllOf([userId])
  await workers?.stop()
  workers = null
  expect(await refresh(userId, _id)).toMatchObject({ fresh: false, snapshot: { postId: _id } })
})
