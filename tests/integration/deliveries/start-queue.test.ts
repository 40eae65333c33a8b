import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPost } from '../../../src/commands/posts/create-post.ts'
import { createStartQueue } from '../../../src/commands/posts/start-queue.ts'
import { HOUR } from '../../../src/domain/shared/times.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'

let world: DeliveryWorld
let connection: Connection

beforeAll(async () => {
  world = await startDeliveryWorld()
  connection = await Connection.connect({ address: world.context.config.TEMPORAL_ADDRESS })
})
afterAll(async () => {
  await connection?.close()
  await world?.stop()
})

const statusOf = async (postId: string) => {
  const { workflow } = new Client({ connection, namespace: world.context.config.TEMPORAL_NAMESPACE })
  return (await workflow.getHandle(publishPostWorkflowId(postId)).describe()).status.name
}

it.each(['cancelled', 'deleted'])('no workflow keeps running when a post is %s before its start', async (change) => {
  const user = await world.user()
  const { context } = world
  const changed = Promise.withResolvers<void>()
  const start: typeof context.orchestrator.start = async (...args) => {
    await changed.promise
    return context.orchestrator.start(...args)
  }
  const startQueue = createStartQueue(
    { ...context, orchestrator: { ...context.orchestrator, start } },
    context.planWeights,
  )
  const scheduledAt = new Date(Date.now() + HOUR).toISOString()
  const input = { content: { text: 'Regretted' }, selectedPlatforms: ['bluesky' as const], scheduledAt }
  const request = { userId: user.userId, input, metadata: { source: 'api', client: 'api' }, idempotency: null } as const
  const { data } = await createPost({ ...context, startQueue }, request)
  const { status } = await (change === 'cancelled'
    ? user.call('POST', `/api/posts/${data.postId}/cancel`)
    : user.call('DELETE', `/api/posts/${data.postId}`))
  expect(status).toBe(200)
  changed.resolve()
  await startQueue.idle()
  await poll(
    () => statusOf(data.postId),
    (found) => found === 'COMPLETED',
  )
})
