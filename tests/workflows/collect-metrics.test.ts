import { ApplicationFailure } from '@temporalio/activity'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { HOUR, MINUTE } from '../../src/domain/shared/times.ts'
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import type {
  CollectedBatch,
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
async function runWorkflow(name: string, activities: object) {
  const taskQueue = `metrics-${process.pid}-${++runs}`
  const worker = await Worker.create({ connection: env.nativeConnection, taskQueue, activities, workflowBundle })
  const workflowId = `${taskQueue}-run`
  return worker.runUntil(async () => {
    const handle = await env.client.workflow.start(name, { taskQueue, workflowId })
    const totals = await handle.result()
    const { runId } = await env.client.workflow.getHandle(workflowId).describe()
    return { totals, continuedAsNew: runId !== handle.firstExecutionRunId }
  })
}

const DONE: CollectedBatch = { saved: 1, deleted: 0, skipped: 0, failed: 0, end: 'done' }
const PLATFORMS: Platform[] = ['bluesky', 'mastodon']

const FIRST_PLACE = { youngestSlot: 0, startUserId: null, isRound: false, afterUserId: null, within: null }

/** Returns a `listDueMetrics` with this many pages. Each has the accounts on two platforms, with two batches per account. */
const createPages = (pages: number, accounts: number) => async (place: DuePlace | null) => {
  const ageClass = place?.ageClass ?? 0
  const users = Array.from({ length: accounts }, (_, index) => `user-${ageClass}-${index}`)
  const page: DuePage = {
    slot: 0,
    accounts: users.flatMap((userId) =>
      PLATFORMS.map((platform) => ({ userId, platform, batches: [['one'], ['two']] })),
    ),
    next: ageClass + 1 < pages ? { ...FIRST_PLACE, ageClass: ageClass + 1 } : null,
  }
  return page
}

it('a pause lasts for the whole run, even after it continues as new', async () => {
  const collected: DueBatch[] = []
  const { totals, continuedAsNew } = await runWorkflow('collectPostMetrics', {
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
  const { totals } = await runWorkflow('collectPostMetrics', {
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

it('a run reads eight accounts of a platform concurrently, and no platform waits for another', async () => {
  const running = { bluesky: 0, mastodon: 0 }
  let mostRunning = 0
  const mastodonEnded = Promise.withResolvers<void>()
  let mastodonBatchesLeft = 40
  await runWorkflow('collectPostMetrics', {
    listDueMetrics: createPages(1, 20),
    collectBatch: async ({ platform }: DueBatch): Promise<CollectedBatch> => {
      const name = platform as keyof typeof running
      mostRunning = Math.max(mostRunning, (running[name] += 1))
      // The batches of Bluesky hang until all of Mastodon have ended.
      if (name === 'bluesky') await mastodonEnded.promise
      else if (--mastodonBatchesLeft === 0) mastodonEnded.resolve()
      running[name] -= 1
      return DONE
    },
  })
  expect(mostRunning).toBe(8)
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
