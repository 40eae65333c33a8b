import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker, type WorkflowBundleOption } from '@temporalio/worker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { HOUR, MINUTE, SECOND } from '../../src/domain/shared/times.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import {
  startAgeClass,
  type CollectedBatch,
  type CollectionPlan,
  type CollectionShard,
  type DueAccount,
  type DueBatch,
  type DuePage,
  type DuePlace,
  type FollowersPage,
  type FollowersPlace,
  type FollowersPlan,
} from '../../src/workflows/contract/analytics.ts'
import { startTestServer } from './skipped-time.ts'

let env: TestWorkflowEnvironment
let workflowBundle: WorkflowBundleOption
beforeAll(async () => {
  ;[env, workflowBundle] = await Promise.all([startTestServer(), loadBundle()])
})
afterAll(() => env?.teardown())

let runs = 0

/** Runs a workflow with activities that the test defines. Returns its result and whether it continued as new. */
async function runWorkflow(name: string, activities: object, ...args: unknown[]) {
  const taskQueue = `metrics-${process.pid}-${++runs}`
  const worker = await Worker.create({ connection: env.nativeConnection, taskQueue, activities, workflowBundle })
  const workflowId = `${taskQueue}-run`
  return worker.runUntil(async () => {
    const handle = await env.client.workflow.start(name, { taskQueue, workflowId, args })
    const totals = await handle.result()
    const { runId } = await env.client.workflow.getHandle(workflowId).describe()
    return { totals, continuedAsNew: runId !== handle.firstExecutionRunId }
  })
}

const DONE: CollectedBatch = { saved: 1, deleted: 0, skipped: 0, failed: 0, end: 'done' }
const PLATFORMS: Platform[] = ['bluesky', 'mastodon']

const ALL_OWNERS = { afterUserId: null, untilUserId: null }
const FIRST_PLACE = startAgeClass(0, { platform: 'mastodon', range: ALL_OWNERS, startUserId: null })
const NO_POSTS = { saved: 0, deleted: 0, skipped: 0, failed: 0 }
const TWO_SERVERS = PLATFORMS.map((platform) => ({ platform }))
const MASTODON = ['slow', 'other'].map((server) => ({ platform: 'mastodon' as const, server }))

/** Returns a page with the accounts of these users on each server, with two batches per account. */
const createPage = (
  users: string[],
  servers: Pick<DueAccount, 'platform' | 'server'>[],
  next: DuePlace | null = null,
): DuePage => ({
  slot: 0,
  accounts: users.flatMap((userId) =>
    servers.map((server) => ({ userId, ...server, publishedBy: server.server ?? null, batches: [['one'], ['two']] })),
  ),
  next,
})

/** Returns a `listDueMetrics` with this many pages. Each has the accounts on both platforms. */
const createPages = (pages: number, accounts: number, servers = TWO_SERVERS) => {
  return async ({ ageClass }: DuePlace) => {
    const users = Array.from({ length: accounts }, (_, index) => `user-${ageClass}-${index}`)
    return createPage(users, servers, ageClass + 1 < pages ? { ...FIRST_PLACE, ageClass: ageClass + 1 } : null)
  }
}

/** Runs a shard that ends in an hour, or after `ms`. */
const runShard = async (activities: object, ms = HOUR) =>
  runWorkflow('collectMetricsShard', activities, {
    place: FIRST_PLACE,
    pauses: {},
    endsAt: (await env.currentTimeMs()) + ms,
    listing: { collectedBefore: 0, slow: [], isCut: false },
    ...NO_POSTS,
  })

/** Waits in an activity until the workflow cancels it. */
async function waitForCancellation(): Promise<void> {
  const context = Context.current()
  const beats = setInterval(() => context.heartbeat(), 100)
  await context.cancelled.catch(() => {}).finally(() => clearInterval(beats))
}

it('a pause lasts for the whole run, even after it continues as new', async () => {
  const collected: DueBatch[] = []
  const { totals, continuedAsNew } = await runShard({
    listDueMetrics: createPages(7, 1),
    collectBatch: async (batch: DueBatch): Promise<CollectedBatch> => {
      collected.push(batch)
      return batch.platform === 'bluesky' ? { ...DONE, saved: 0, skipped: 1, end: 'platform', pauseMs: HOUR } : DONE
    },
  })
  expect(collected.filter(({ platform }) => platform === 'bluesky')).toHaveLength(1)
  expect(totals).toEqual({ saved: 14, deleted: 0, skipped: 1, failed: 0 })
  expect(continuedAsNew).toBe(true)
})

it('a run collects after a pause, skips a blocked account, and continues after a failed batch', async () => {
  const collected: string[] = []
  const { totals } = await runShard({
    listDueMetrics: createPages(1, 3),
    collectBatch: async ({ userId, platform, postIds }: DueBatch): Promise<CollectedBatch> => {
      collected.push(`${platform} ${userId} ${postIds[0]}`)
      if (platform === 'mastodon') return { ...DONE, end: 'platform', pauseMs: 0 }
      if (userId === 'user-0-0') return { ...DONE, saved: 0, skipped: 1, end: 'account' }
      if (userId === 'user-0-1') throw ApplicationFailure.nonRetryable('no call succeeds')
      return DONE
    },
  })
  expect(collected.filter((batch) => batch.startsWith('mastodon'))).toHaveLength(3)
  expect(collected.filter((batch) => batch.startsWith('bluesky')).toSorted()).toEqual([
    'bluesky user-0-0 one',
    'bluesky user-0-1 one',
    'bluesky user-0-1 two',
    'bluesky user-0-2 one',
    'bluesky user-0-2 two',
  ])
  expect(totals).toEqual({ saved: 5, deleted: 0, skipped: 1, failed: 2 })
})

it('a shard reads eight accounts of a server concurrently, and no server waits for another', async () => {
  const running = { slow: 0, other: 0 }
  let mostRunning = 0
  const othersEnded = Promise.withResolvers<void>()
  let othersLeft = 40
  await runShard({
    listDueMetrics: async () =>
      createPage(
        Array.from({ length: 20 }, (_, index) => `user-${index}`),
        MASTODON,
      ),
    collectBatch: async ({ publishedBy }: DueBatch): Promise<CollectedBatch> => {
      const name = publishedBy as keyof typeof running
      mostRunning = Math.max(mostRunning, (running[name] += 1))
      // The batches of the slow server hang until all of the other have ended.
      if (name === 'slow') await othersEnded.promise
      else if (--othersLeft === 0) othersEnded.resolve()
      running[name] -= 1
      return DONE
    },
  })
  expect(mostRunning).toBe(8)
})

it('a slow server has a turn of 30 seconds per listing, and its other accounts are in the next listing', async () => {
  const users = Array.from({ length: 9 }, (_, index) => `user-${index}`)
  const listings: string[][] = [[]]
  const { totals } = await runShard({
    listDueMetrics: async ({ ageClass }: DuePlace) => {
      if (ageClass === 0 && listings.at(-1)!.length > 0) listings.push([])
      const done = listings.flat()
      const page = createPage(users, MASTODON, ageClass === 0 ? { ...FIRST_PLACE, ageClass: 1 } : null)
      return { ...page, accounts: page.accounts.filter((one) => !done.includes(`${one.userId} ${one.server} two`)) }
    },
    collectBatch: async ({ userId, publishedBy, postIds }: DueBatch): Promise<CollectedBatch> => {
      // Time is skipped between two attempts.
      if (publishedBy === 'slow' && listings.length === 1 && Context.current().info.attempt === 1) {
        throw ApplicationFailure.create({ message: 'no answer', nextRetryDelay: 20 * SECOND })
      }
      listings.at(-1)!.push(`${userId} ${publishedBy} ${postIds[0]}`)
      return DONE
    },
  })
  const [first, second, ...others] = listings.map((listing) => listing.filter((one) => one.includes('slow')))
  expect(first!.map((one) => one.split(' ')[0])).not.toContain('user-8')
  expect(second).toContain('user-8 slow two')
  expect(others).toEqual([])
  expect(totals.saved).toBeGreaterThanOrEqual(36)
})

it.each([
  { what: 'saved posts', result: DONE, listings: 3 },
  { what: 'nothing', result: { ...DONE, saved: 0, skipped: 1 }, listings: 1 },
])('a shard lists again after an owner had more posts than a page, unless it collected $what', async (found) => {
  const places: DuePlace[] = []
  await runShard({
    listDueMetrics: async (place: DuePlace) => {
      places.push(place)
      return { ...createPage(['owner'], [{ platform: 'bluesky' }]), ...(places.length < 3 && { isCut: true }) }
    },
    collectBatch: async (): Promise<CollectedBatch> => found.result,
  })
  expect(places.map(({ ageClass }) => ageClass)).toEqual(Array.from({ length: found.listings }, () => 0))
})

it('a shard stops when its run ends, waits for its last activities, and counts what they collected', async () => {
  const calls: string[] = []
  const { totals } = await runShard(
    {
      listDueMetrics: createPages(1, 4, [{ platform: 'bluesky' }]),
      collectBatch: async ({ userId, postIds }: DueBatch): Promise<CollectedBatch> => {
        calls.push(`${userId} ${postIds[0]}`)
        if (userId === 'user-0-0') return DONE
        await waitForCancellation()
        if (userId === 'user-0-1') throw new CancelledFailure('The call was aborted')
        // This one ends after the others.
        await env.sleep(2 * SECOND)
        return DONE
      },
    },
    3 * SECOND,
  )
  expect(calls).toHaveLength(5)
  expect(totals).toEqual({ ...NO_POSTS, saved: 4 })
})

const planOf = async (owners: string[]): Promise<CollectionPlan> => ({
  shards: owners.map((startUserId) => ({ ...toShard(startUserId), startUserId })),
  endsAt: (await env.currentTimeMs()) + HOUR,
})

const toShard = (untilUserId: string): CollectionShard => ({
  name: `Owners until ${untilUserId}`,
  platform: 'mastodon',
  range: { afterUserId: null, untilUserId },
})

it('a run collects in shards and sums up their posts', async () => {
  const { totals } = await runWorkflow('collectPostMetrics', {
    planCollection: () => planOf(['first', 'second', 'third']),
    listDueMetrics: createPages(2, 1),
    collectBatch: async (): Promise<CollectedBatch> => DONE,
  })
  expect(totals).toEqual({ ...NO_POSTS, saved: 24 })
})

it('a failed shard fails the run only after the others have ended', async () => {
  const ended: string[] = []
  const list = createPages(1, 1)
  const run = runWorkflow('collectPostMetrics', {
    planCollection: () => planOf(['broken', 'whole']),
    listDueMetrics: async (place: DuePlace) => {
      if (place.startUserId === 'broken') throw ApplicationFailure.nonRetryable('no page can be read')
      return list(place)
    },
    collectBatch: async ({ platform }: DueBatch): Promise<CollectedBatch> => {
      ended.push(platform)
      return DONE
    },
  })
  await expect(run).rejects.toMatchObject({ cause: { message: '1 of 2 shards failed', details: [{ saved: 4 }] } })
  expect(ended).toHaveLength(4)
})

const NO_FOLLOWERS = { taken: 0, skipped: 0, failed: 0, paused: 0 }
const LAST_PAGE: FollowersPage = { next: null, pauses: {}, ...NO_FOLLOWERS }

it('each shard of follower counts pauses alone and reads the servers that a pause skipped after it, twice at most', async () => {
  const calls: (FollowersPlace & { at: number })[] = []
  const { totals } = await runWorkflow('collectAccountMetrics', {
    planFollowers: async (): Promise<FollowersPlan> => ({ shards: [toShard('paused'), toShard('whole')] }),
    collectFollowersPage: async (place: FollowersPlace): Promise<FollowersPage> => {
      const { after, pauses, servers, range } = place
      const at = await env.currentTimeMs()
      calls.push({ ...place, at })
      const page = { ...LAST_PAGE, taken: 1, pauses }
      if (range.untilUserId === 'whole') return page
      if (servers) return { ...page, taken: 0, paused: 1, pauses: { slow: at + 24 * HOUR } }
      if (after === null) return { ...page, next: 'last', paused: 2, pauses: { slow: at + 10 * MINUTE } }
      return page
    },
  })
  const [whole, paused] = ['whole', 'paused'].map((name) => calls.filter(({ range }) => range.untilUserId === name))
  const shard = { platform: 'mastodon', range: { afterUserId: null, untilUserId: 'paused' } }
  expect(whole).toHaveLength(1)
  expect(paused).toMatchObject([
    { ...shard, after: null, pauses: {} },
    { ...shard, after: 'last', pauses: { slow: expect.any(Number) } },
    { ...shard, after: null, pauses: {}, servers: ['slow'] },
    { ...shard, after: null, pauses: {}, servers: ['slow'] },
  ])
  const [first, second, third] = paused!.slice(1).map(({ at }) => at) as [number, number, number]
  expect(second - first).toBeGreaterThan(9 * MINUTE)
  expect(third - second).toBeGreaterThan(HOUR)
  expect(third - second).toBeLessThan(3 * HOUR)
  expect(totals).toEqual({ taken: 3, skipped: 0, failed: 0, paused: 1 })
})
