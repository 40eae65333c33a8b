import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { refreshMetrics } from '../../src/commands/refresh-metrics.ts'
import { HOUR, SECOND } from '../../src/domain/times.ts'
import { createOrchestrator, type PublishOrchestrator } from '../../src/integrations/orchestrator.ts'
import { startWorkers } from '../../src/workers.ts'
import { publishedPost, storePosts } from '../support/published.ts'
import { snapshotsIn, startMastodonWorld, type MastodonWorld } from './mastodon-world.ts'

let world: MastodonWorld
let workers: Awaited<ReturnType<typeof startWorkers>> | null
let orchestrator: PublishOrchestrator
/** What was put down to Temporal. */
const unreachable: unknown[] = []
beforeAll(async () => {
  world = await startMastodonWorld()
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  orchestrator = createOrchestrator({ address, namespace, onUnreachable: (error) => unreachable.push(error) })
  workers = await startWorkers(world.context)
}, 120_000)
afterEach(() => world.control.clearFaults())
afterAll(async () => {
  await workers?.stop()
  await orchestrator?.close()
  await world?.close()
})

const refresh = (userId: string, postId: string) =>
  refreshMetrics({ ...world.context, orchestrator }, { userId, postId, platform: 'mastodon' })
const countOf = (postId: string) => snapshotsIn(world.context).countDocuments({ postId })

it('brings the counts of now, in the place of those of the same slot', async () => {
  const { userId, posts } = await world.author(1, new Date(Date.now() - HOUR))
  const [{ _id, platformStatuses }] = posts as [(typeof posts)[0]]
  const id = platformStatuses[0]!.platformPostId!
  await world.control.setMetrics(id, { likes: 3 })
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true, snapshot: { postId: _id, likes: 3 } })
  await world.control.setMetrics(id, { likes: 9 })
  await world.context.rateLimits.forget([userId])
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true, snapshot: { likes: 9 } })
  expect(await countOf(_id)).toBe(1)
})

it('is for the owner, and for what is published there; only what can be asked for costs the allowance', async () => {
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

it('answers what is known, not fresh, when the account is not connected any more', async () => {
  const { userId, posts } = await world.author(1)
  const [{ _id }] = posts as [(typeof posts)[0]]
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true })
  await world.context.rateLimits.forget([userId])
  await world.context.accounts.disconnect(userId, 'mastodon')
  expect(await refresh(userId, _id)).toMatchObject({ fresh: false, snapshot: { postId: _id } })
})

it('answers what is known, not fresh, when the platform fails or takes too long', async () => {
  const { userId, posts } = await world.author(2)
  const [first, second] = posts.map(({ _id }) => _id) as [string, string]
  expect(await refresh(userId, first)).toMatchObject({ fresh: true })
  await world.context.rateLimits.forget([userId])
  await world.control.fault({ path: '/api/v1/statuses', action: { status: 500 } })
  expect(await refresh(userId, first)).toMatchObject({ fresh: false, snapshot: { postId: first } })
  await world.context.rateLimits.forget([userId])
  await world.control.clearFaults()
  await world.control.fault({ path: '/api/v1/statuses', action: { delayMs: 8_000 } })
  const startedAt = performance.now()
  expect(await refresh(userId, second)).toEqual({ fresh: false, snapshot: null })
  expect(performance.now() - startedAt).toBeLessThan(6 * SECOND)
  expect(unreachable).toEqual([])
})

it('answers within six seconds while no worker runs', async () => {
  const { userId, posts } = await world.author(1)
  const [{ _id }] = posts as [(typeof posts)[0]]
  expect(await refresh(userId, _id)).toMatchObject({ fresh: true })
  await world.context.rateLimits.forget([userId])
  await workers?.stop()
  workers = null
  const startedAt = performance.now()
  expect(await refresh(userId, _id)).toMatchObject({ fresh: false, snapshot: { postId: _id } })
  expect(performance.now() - startedAt).toBeLessThan(6 * SECOND)
})
