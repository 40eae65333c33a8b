import { ApplicationFailure } from '@temporalio/activity'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker, type WorkflowBundleOption } from '@temporalio/worker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MINUTE } from '../../src/domain/shared/times.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import { NOTHING_COLLECTED, type CollectorTurn } from '../../src/workflows/contract/analytics.ts'
import { startTestServer } from './skipped-time.ts'

let env: TestWorkflowEnvironment
let workflowBundle: WorkflowBundleOption
beforeAll(async () => {
  ;[env, workflowBundle] = await Promise.all([startTestServer(), loadBundle()])
})
afterAll(() => env?.teardown())

let runs = 0
const COLLECTORS = 8
const LAST_TURN: CollectorTurn = { ...NOTHING_COLLECTED, saved: 1, resumeAt: null }

/** Runs a workflow with activities that the test defines. */
async function runWorkflow(name: string, activities: object): Promise<unknown> {
  const taskQueue = `metrics-${process.pid}-${++runs}`
  const worker = await Worker.create({ connection: env.nativeConnection, taskQueue, activities, workflowBundle })
  return worker.runUntil(env.client.workflow.execute(name, { taskQueue, workflowId: `${taskQueue}-run` }))
}

it.each([
  ['collectPostMetrics', 'collectDuePosts'],
  ['collectAccountMetrics', 'collectDueFollowers'],
])('%s makes the turns of eight collectors and sums up their results', async (workflow, activity) => {
  const runsStartedAt: number[] = []
  const collect = async (startedAt: number): Promise<CollectorTurn> => {
    runsStartedAt.push(startedAt)
    return { saved: 4, deleted: 3, skipped: 2, failed: 1, resumeAt: null }
  }
  const totals = { saved: 4 * COLLECTORS, deleted: 3 * COLLECTORS, skipped: 2 * COLLECTORS, failed: COLLECTORS }
  expect(await runWorkflow(workflow, { [activity]: collect })).toEqual(totals)
  expect(runsStartedAt).toEqual(Array.from({ length: COLLECTORS }, () => runsStartedAt[0]))
})

it('a collector resumes when its turn says so, and belongs to the same run', async () => {
  const turns: { at: number; startedAt: number }[] = []
  const collectDuePosts = async (startedAt: number): Promise<CollectorTurn> => {
    const at = await env.currentTimeMs()
    turns.push({ at, startedAt })
    if (turns.length === 1) return { ...LAST_TURN, resumeAt: at + 7 * MINUTE }
    if (turns.length === COLLECTORS + 1) return { ...LAST_TURN, resumeAt: at }
    return LAST_TURN
  }
  expect(await runWorkflow('collectPostMetrics', { collectDuePosts })).toEqual({
    ...NOTHING_COLLECTED,
    saved: COLLECTORS + 2,
  })
  const [first, resumed, last] = [turns[0]!, ...turns.slice(COLLECTORS)]
  expect(resumed!.at - first.at).toBeGreaterThanOrEqual(7 * MINUTE)
  expect(last!.at - resumed!.at).toBeLessThan(MINUTE)
  expect(new Set(turns.map(({ startedAt }) => startedAt)).size).toBe(1)
})

it('a failed turn is repeated, and its run does not fail', async () => {
  let failures = 10
  const collectDuePosts = async (): Promise<CollectorTurn> => {
    if (failures-- > 0) throw ApplicationFailure.create({ message: 'the database is down' })
    return LAST_TURN
  }
  expect(await runWorkflow('collectPostMetrics', { collectDuePosts })).toMatchObject({ saved: COLLECTORS })
})
