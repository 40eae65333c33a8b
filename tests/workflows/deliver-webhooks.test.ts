import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker, type WorkflowBundleOption } from '@temporalio/worker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HOUR } from '../../src/domain/shared/times.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import { wakeSignal, type RoundResult } from '../../src/workflows/contract/rounds.ts'
import { createSkippedClock, startTestServer, synced } from './skipped-time.ts'

let env: TestWorkflowEnvironment
let workflowBundle: WorkflowBundleOption
beforeAll(async () => {
  env = await startTestServer()
  workflowBundle = await loadBundle()
})
afterAll(() => env?.teardown())

let runs = 0

/** Runs the workflow with a scripted activity until it ends. Returns the times of the rounds since the first, in hours. */
async function run(round: (nth: number, now: number, wake: () => Promise<void>) => Promise<number | null>) {
  const clock = await createSkippedClock(env)
  const rounds: number[] = []
  const [taskQueue, workflowId] = [`webhooks-${process.pid}-${++runs}`, `deliver-webhooks/w${runs}`]
  const wake = () => env.client.workflow.getHandle(workflowId).signal(wakeSignal)
  const activities = {
    async deliverRound(webhookId: string, userId: string): Promise<RoundResult> {
      expect([webhookId, userId]).toEqual(['w', 'u'])
      const now = clock.now().getTime()
      rounds.push(now)
      return { nextAt: await round(rounds.length, now, wake) }
    },
  }
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    activities: synced(activities, clock.sync),
    workflowBundle,
  })
  const handle = await env.client.workflow.start('deliverWebhooks', { taskQueue, workflowId, args: ['w', 'u'] })
  await worker.runUntil(handle.result())
  const { runId } = await env.client.workflow.getHandle(workflowId).describe()
  return {
    hours: rounds.map((at) => Math.floor((at - rounds[0]!) / HOUR)),
    isContinued: runId !== handle.firstExecutionRunId,
  }
}

it('the workflow runs the next round when it is due, and ends when nothing is left', async () => {
  const { hours, isContinued } = await run(async (nth, now) => (nth < 3 ? now + nth * HOUR : null))
  expect(hours).toEqual([0, 1, 3])
  expect(isContinued).toBe(false)
})

it('a signal during the last round runs another one', async () => {
  const { hours } = await run(async (nth, _, wake) => {
    if (nth === 1) await wake()
    return null
  })
  expect(hours).toEqual([0, 0])
})

it('a workflow with many rounds continues as new', async () => {
  const { hours, isContinued } = await run(async (nth, now) => (nth <= 250 ? now : null))
  expect(hours).toHaveLength(251)
  expect(isContinued).toBe(true)
})
