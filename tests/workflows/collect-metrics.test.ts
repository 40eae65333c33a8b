import { ApplicationFailure, Context } from '@temporalio/activity'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { HOUR, MINUTE, SECOND } from '../../src/domain/shared/times.ts'
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import type {
  CollectedBatch,
  CollectionPlan,
  DueAccount,
  DueBatch,
  DuePage,
  DuePlace,
  FollowersPage,
  Pauses,
} from '../../src/workflows/messages/analytics.ts'
import { startTestServer } from './skipped-time.ts'

let env: TestWorkflowEnvironment
let workflowBundle: WorkflowBundleWithSourceMap
beforeAll(async () => {
  ;[env, workflowBundle] = await Promise.all([startTestServer(), bundleWorkflows()])
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

const FIRST_PLACE = { startUserId: null, isRound: false, afterUserId: null }

/** Returns a `listDueMetrics` with this many pages. Each has the accounts on both servers, with two batches per account. */
const createPages =
  (pages: number, accounts: number, servers: Pick<DueAccount, 'platform' | 'server'>[] = TWO_SERVERS) =>
  async (place: DuePlace | null) => {
    const ageClass = place?.ageClass ?? 0
    const users = Array.from({ length: accounts }, (_, index) => `user-${ageClass}-${index}`)
    const page: DuePage = {
      slot: 0,
      accounts: users.flatMap((userId) =>
        servers.map((server) => ({ userId, ...server, batches: [['one'], ['two']] })),
      ),
      next: ageClass + 1 < pages ? { ...FIRST_PLACE, ageClass: ageClass + 1 } : null,
    }
    return page
  }

const TWO_SERVERS = PLATFORMS.map((platform) => ({ platform }))
const NO_POSTS = { saved: 0, deleted: 0, skipped: 0, failed: 0 }

/** Runs a shard that ends in an hour, or after `ms`. */
const runShard = async (activities: object, ms = HOUR) =>
  runWorkflow('collectMetricsShard', activities, {
    place: { ...FIRST_PLACE, ageClass: 0 },
    pauses: {},
    endsAt: (await env.currentTimeMs()) + ms,
    ...NO_POSTS,
  })

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
  const servers = ['slow', 'other'].map((server) => ({ platform: 'mastodon' as const, server }))
  const list = createPages(1, 20, servers)
  await runShard({
    listDueMetrics: async (place: DuePlace) => {
      const page = await list(place)
      return { ...page, accounts: page.accounts.map((account) => ({ ...account, publishedBy: `1@${account.server}` })) }
    },
    collectBatch: async ({ publishedBy }: DueBatch): Promise<CollectedBatch> => {
      const name = publishedBy!.slice(2) as keyof typeof running
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

it('a shard stops when its run ends, and counts what it collected', async () => {
  let calls = 0
  const { totals } = await runShard(
    {
      listDueMetrics: createPages(1, 2, [{ platform: 'bluesky' }]),
      collectBatch: async ({ userId }: DueBatch): Promise<CollectedBatch> => {
        calls += 1
        if (userId === 'user-0-0') return DONE
        const context = Context.current()
        const beats = setInterval(() => context.heartbeat(), 100)
        await context.cancelled.finally(() => clearInterval(beats))
        return DONE
      },
    },
    3 * SECOND,
  )
  expect(calls).toBe(3)
  expect(totals).toEqual({ ...NO_POSTS, saved: 2 })
})

const planOf = async (names: string[]): Promise<CollectionPlan> => ({
  shards: names.map((name) => ({ name, place: { ...FIRST_PLACE, ageClass: 0, startUserId: name } })),
  endsAt: (await env.currentTimeMs()) + HOUR,
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

it('follower counts that a pause skipped are read after it, twice at most', async () => {
  const calls: { after: string | null; pauses: Pauses; on: Platform[] | undefined; at: number }[] = []
  const page: FollowersPage = { next: null, pauses: {}, taken: 1, skipped: 0, failed: 0, paused: 0 }
  const { totals } = await runWorkflow('collectAccountMetrics', {
    collectFollowersPage: async (after: string | null, pauses: Pauses, on?: Platform[]): Promise<FollowersPage> => {
      const at = await env.currentTimeMs()
      calls.push({ after, pauses, on, at })
      if (on) return { ...page, taken: 0, paused: 1, pauses: { mastodon: at + 24 * HOUR } }
      if (after === null) return { ...page, next: 'last', paused: 2, pauses: { mastodon: at + 10 * MINUTE } }
      return { ...page, pauses }
    },
  })
  expect(calls).toMatchObject([
    { after: null, pauses: {} },
    { after: 'last', pauses: { mastodon: expect.any(Number) } },
    { after: null, pauses: {}, on: ['mastodon'] },
    { after: null, pauses: {}, on: ['mastodon'] },
  ])
  expect(calls[2]!.at - calls[1]!.at).toBeGreaterThan(9 * MINUTE)
  expect(calls[3]!.at - calls[2]!.at).toBeGreaterThan(HOUR)
  expect(calls[3]!.at - calls[2]!.at).toBeLessThan(3 * HOUR)
  expect(totals).toEqual({ taken: 2, skipped: 0, failed: 0, paused: 1 })
})
