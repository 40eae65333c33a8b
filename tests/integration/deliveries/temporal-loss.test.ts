import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection, WorkflowClient } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../../sandbox/servers/process.ts'
import { findTemporal, startTemporal, type Temporal } from '../../../sandbox/servers/temporal.ts'
import { HOUR, SECOND } from '../../../src/domain/shared/times.ts'
import { watchForTemporalDataLoss } from '../../../src/worker/temporal-data-loss.ts'
import { createProcesses, waitForExit } from '../../support/processes.ts'
import { ALL_QUEUES, poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'

const WAITING = 120
const DUE_SOON = 5

const processes = createProcesses()
let dir: string
let port: number
let temporal: Temporal
let world: DeliveryWorld

/** Starts Temporal with its data in memory, so that a restart loses everything. */
const start = async (namespaces: string[] = []) =>
  startTemporal({ program: await findTemporal(), logFile: join(dir, 'temporal.log'), port, namespaces })

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'postonce-loss-'))
  port = await freePort()
  temporal = await start()
  world = await startDeliveryWorld({ TEMPORAL_ADDRESS: temporal.address, ...ALL_QUEUES })
})
async function runSetup(): Promise<void> {
  const setup = processes.start('src/cli/setup.ts', world.context.config)
  setup.stdout!.resume()
  const { code, errors } = await waitForExit(setup)
  if (code !== 0) throw new Error(errors)
}

afterAll(async () => {
  processes.killAll()
  await world?.stop()
  await temporal?.stop()
  rmSync(dir, { recursive: true, force: true })
})

it.each([
  ['a worker finds it first', async () => {}],
  ['setup runs before the worker', runSetup],
])("after a loss of Temporal's data, when %s, every post is restarted before it is due", async (_, beforeWorker) => {
  const { context } = world
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = context.config
  await context.orchestrator.ensureSchedules(HOUR)
  const user = await world.user()
  const inHours = new Date(Date.now() + 2 * HOUR).toISOString()
  for (let index = 0; index < WAITING; index++) {
    await user.create({ content: { text: `Waits ${index}` }, scheduledAt: inHours })
  }

  const soon = new Date(Date.now() + 45 * SECOND).toISOString()
  const dueSoon = await Promise.all(
    Array.from({ length: DUE_SOON }, (_, index) =>
      user.create({ content: { text: `Soon ${index}` }, scheduledAt: soon }),
    ),
  )
  await world.stopWorkers()
  await temporal.stop()
  temporal = await start([namespace])
  await beforeWorker()
  await world.startWorkers()
  const stopWatching = watchForTemporalDataLoss(context, SECOND)

  const connection = await Connection.connect({ address })
  try {
    const workflows = new WorkflowClient({ connection, namespace })
    await poll(
      () => workflows.count(`WorkflowType = 'publishPost'`),
      ({ count }) => count >= WAITING + DUE_SOON,
    )
    await poll(() => context.orchestrator.hasSchedules(), Boolean)
  } finally {
    await connection.close()
  }
  for (const postId of dueSoon) expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  expect(await user.published()).toHaveLength(DUE_SOON)
  // No post became overdue, so the sweeper had nothing to restart.
  expect(await context.metrics.text()).toContain('postonce_sweep_findings_total{finding="overdue"} 0')
  stopWatching()
})
