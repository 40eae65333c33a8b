import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HOUR, SECOND } from '../../src/domain/times.ts'
import { PUBLISH_SIGNALS, publishPostWorkflowId } from '../../src/workflows/messages.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../support/delivery-world.ts'

/** From here on Temporal suggests a new history; at 50 thousand events it ends the workflow. */
const SUGGESTED_AT = 4_096

let world: DeliveryWorld

beforeAll(async () => {
  world = await startDeliveryWorld()
}, 120_000)
afterAll(() => world?.stop())

it('starts its history afresh when a post is edited without end', async () => {
  const user = await world.user()
  const postId = await user.create({
    content: { text: 'Edited without end' },
    scheduledAt: new Date(Date.now() + HOUR).toISOString(),
  })
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  const connection = await Connection.connect({ address })
  const handle = new Client({ connection, namespace }).workflow.getHandle(publishPostWorkflowId(postId))
  const { runId } = await handle.describe()

  let revision = 0
  while (revision < SUGGESTED_AT) {
    await Promise.all(Array.from({ length: 100 }, () => handle.signal(PUBLISH_SIGNALS.changed, ++revision)))
  }
  const afresh = await poll(
    () => handle.describe(),
    (now) => now.runId !== runId,
    20_000,
  )
  expect(afresh.historyLength).toBeLessThan(100)

  await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: new Date(Date.now() + 2 * SECOND).toISOString() })
  expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  expect(await user.published()).toHaveLength(1)
  await connection.close()
})
