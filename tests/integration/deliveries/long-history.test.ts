import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HOUR, SECOND } from '../../../src/domain/shared/times.ts'
import { PUBLISH_SIGNALS, publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'

/** History length at which Temporal suggests continue-as-new. It terminates the workflow at 50 thousand events. */
const SUGGESTED_AT = 4_096
/** Concurrent signals. Temporal fails a workflow task during which a hundred signals arrive. */
const SIGNALS_PER_BATCH = 90

let world: DeliveryWorld

beforeAll(async () => {
  world = await startDeliveryWorld()
})
afterAll(() => world?.stop())

it('a workflow continues as new when a post is edited very often', async () => {
  const user = await world.user()
  const postId = await user.create({
    content: { text: 'Edited without end' },
    scheduledAt: new Date(Date.now() + HOUR).toISOString(),
  })
  await world.context.startQueue.idle()
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  const connection = await Connection.connect({ address })
  const handle = new Client({ connection, namespace }).workflow.getHandle(publishPostWorkflowId(postId))
  const { runId } = await handle.describe()

  const untilIdle = () =>
    poll(
      () => handle.describe(),
      ({ raw }) => !raw.pendingWorkflowTask,
    )
  let revision = 0
  let current = await untilIdle()
  while (current.runId === runId && revision < 2 * SUGGESTED_AT) {
    await Promise.all(
      Array.from({ length: SIGNALS_PER_BATCH }, () => handle.signal(PUBLISH_SIGNALS.changed, ++revision)),
    )
    current = await untilIdle()
  }
  expect(current.runId).not.toBe(runId)
  expect(current.historyLength).toBeLessThan(SUGGESTED_AT / 10)

  await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: new Date(Date.now() + 2 * SECOND).toISOString() })
  expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  expect(await user.published()).toHaveLength(1)
  await connection.close()
})
