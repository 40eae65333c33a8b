import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Context } from '../../../src/context.ts'
import { deriveMetrics, NO_COUNTS } from '../../../src/domain/analytics/analytics.ts'
import { findDownsampledUntil } from '../../../src/domain/analytics/snapshots.ts'
import { DAY, HOUR } from '../../../src/domain/shared/times.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import type { Downsampled } from '../../../src/workflows/contract/analytics.ts'
import { createAccount } from '../../support/api.ts'
import { poll } from '../../support/delivery-world.ts'
import { testContext } from '../../support/servers.ts'

let context: Context
beforeAll(async () => {
  context = await testContext()
})
afterAll(() => context?.close())

const NOW = new Date()
const UNTIL = findDownsampledUntil(NOW)

async function store(userId: string, takenAt: Date, likes: number | null = 1): Promise<Date> {
  const counts = { ...NO_COUNTS, likes, ...deriveMetrics({ ...NO_COUNTS, likes }, null), followerCountAtSnapshot: null }
  const snapshot = {
    userId,
    postId: `post-of-${userId}`,
    platform: 'bluesky' as const,
    target: null,
    accountId: `account-of-${userId}`,
    slot: takenAt,
    takenAt,
    completedAt: takenAt,
  }
  await context.database.transaction((session) => context.snapshots.save([{ ...snapshot, ...counts }], session))
  return takenAt
}

const timesOf = async (userId: string) =>
  (await Array.fromAsync(context.snapshots.allOf(userId))).map(({ takenAt }) => takenAt).toReversed()

async function triggerSchedule(): Promise<Downsampled> {
  const connection = await Connection.connect({ address: context.config.TEMPORAL_ADDRESS })
  try {
    const client = new Client({ connection, namespace: context.config.TEMPORAL_NAMESPACE })
    const schedule = client.schedule.getHandle('downsampleSnapshots')
    const before = (await schedule.describe()).info.numActionsTaken
    await schedule.trigger()
    const { info } = await poll(
      () => schedule.describe(),
      (described) => described.info.numActionsTaken > before,
    )
    const { workflow } = info.recentActions.at(-1)!.action
    const handle = client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId)
    return (await handle.result()) as Downsampled
  } finally {
    await connection.close()
  }
}

it('the Schedule reduces old snapshots to one per day and metric, and continues after its last week', async () => {
  const [{ _id: first }, { _id: second }] = [await createAccount(context), await createAccount(context)]
  const weekAgo = (weeks: number, ms = 0) => new Date(UNTIL.getTime() - weeks * 7 * DAY + ms)
  const remaining: Date[] = []
  for (const weeks of [3, 2, 1]) {
    await store(first, weekAgo(weeks))
    await store(first, weekAgo(weeks, HOUR))
    remaining.push(await store(first, weekAgo(weeks, 2 * HOUR)))
  }
  remaining.push(await store(first, UNTIL), await store(first, new Date(UNTIL.getTime() + HOUR)))
  await store(second, weekAgo(1))
  const known = await store(second, weekAgo(1, HOUR))
  const unknown = await store(second, weekAgo(1, 2 * HOUR), null)
  await context.orchestrator.ensureSchedules(DAY)

  const workers = await startWorkers(context)
  try {
    expect(await triggerSchedule()).toEqual({ removed: 7 })
    expect(await timesOf(first)).toEqual(remaining)
    expect(await timesOf(second)).toEqual([known, unknown])
    const late = await store(second, weekAgo(2))
    await store(second, weekAgo(2, HOUR))
    expect(await triggerSchedule()).toEqual({ removed: 0 })
    expect(await timesOf(second)).toContainEqual(late)
  } finally {
    await workers.stop()
  }
})
