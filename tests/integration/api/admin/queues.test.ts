import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPost } from '../../../../src/commands/posts/create-post.ts'
import type { PlatformStatus, Post } from '../../../../src/domain/posts/post.ts'
import { MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { newId } from '../../../../src/store/shared/schema.ts'
import { buildApp } from '../../../../src/api/app.ts'
import { createOrchestrator } from '../../../../src/integrations/temporal/orchestrator.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { poll } from '../../../support/delivery-world.ts'
import { after, buildPost } from '../../../support/posts.ts'
import { connectedUser, storePosts } from '../../../support/published.ts'

let world: ApiWorld
let admin: SignedIn
/** Moves past the cache. */
let now = new Date()

beforeAll(async () => {
  world = await apiWorld({}, { clock: { now: () => now, sleepUntil: async () => {} } })
  admin = await signIn(world.context, { role: 'admin' })
})
afterAll(() => world.close())

async function readQueues() {
  now = after(now, 6 * SECOND)
  const response = await world.app.inject({ url: '/api/admin/queues', headers: admin.headers })
  expect(response.statusCode, response.body).toBe(200)
  return response.json().data
}

interface Queue {
  queue: string
  kind: string
  backlogAgeMs: number
}

it('a task queue without a worker has its backlog with its age', async () => {
  const { _id: userId } = await connectedUser(world.context, ['bluesky'])
  const input = { content: { text: 'Waits' }, selectedPlatforms: ['bluesky' as const], status: 'PENDING' as const }
  await createPost(world.context, { userId, input, metadata: { source: 'api', client: 'api' }, idempotency: null })
  await world.context.startQueue.idle()
  const findPublishing = (queues: Queue[]) =>
    queues.find(({ queue, kind }) => queue === 'publishing' && kind === 'workflows')!
  const { taskQueues } = await poll(readQueues, (found) => findPublishing(found.taskQueues).backlogAgeMs > 0)
  expect(taskQueues).toHaveLength(13)
  expect(findPublishing(taskQueues)).toMatchObject({ isServed: false, backlog: 1, pollers: [] })
})

it('due deliveries are counted by the reason for which they wait', async () => {
  const due = after(now, -MINUTE)
  const build = (delivery: Partial<PlatformStatus['delivery']>, entry: Partial<PlatformStatus> = {}): Post => {
    const post = buildPost({ userId: newId(), scheduledAt: due }, after(due, -MINUTE))
    const [status] = post.platformStatuses
    const changed = { ...status!, ...entry, delivery: { ...status!.delivery, ...delivery } }
    return { ...post, status: 'PROCESSING', platformStatuses: [changed] }
  }
  const later = after(now, 10 * MINUTE)
  const outage = { server: 'https://down.example', since: due, at: due }
  await storePosts(world.context, [
    { ...build({}), status: 'SCHEDULED' },
    build({ outage, nextAttemptAt: later }, { errorCode: 'transient' }),
    build({ outage, nextAttemptAt: later }, { errorCode: 'transient' }),
    build({ outcome: 'unknown', nextAttemptAt: later }, { status: 'processing', errorCode: 'transient' }),
    build({ leaseUntil: later }, { status: 'processing' }),
    build({ nextAttemptAt: later }, { errorCode: 'QUOTA_EXCEEDED' }),
    build({}, { status: 'completed' }),
    { ...build({}), status: 'SCHEDULED', scheduledAt: later, dueAt: later },
    { ...build({}), status: 'CANCELLED' },
  ])
  const { waiting, unstartedPosts, isComplete, deadLetters } = await readQueues()
  const counts = Object.fromEntries(
    (waiting as { reason: string; deliveries: number }[]).map(({ reason, deliveries }) => [reason, deliveries]),
  )
  expect(counts).toMatchObject({ SERVER_UNREACHABLE: 2, RECONCILING: 1, SENDING: 1, QUOTA_EXCEEDED: 1 })
  expect(waiting[0].oldestDueAt).toBe(due.toISOString())
  expect(unstartedPosts).toBeGreaterThanOrEqual(1)
  expect({ isComplete, deadLetters }).toEqual({ isComplete: true, deadLetters: 0 })
})

it('the reads of what waits use an index', async () => {
  const posts = world.context.database.connection.collection('posts')
  const filter = { status: { $in: ['PENDING', 'SCHEDULED', 'PROCESSING'] }, dueAt: { $lte: now } }
  const plan = JSON.stringify(await posts.find(filter).sort({ dueAt: 1 }).limit(10).explain('executionStats'))
  expect(plan).toContain('"keyPattern":{"status":1,"dueAt":1}')
  expect(plan).not.toMatch(/COLLSCAN|"stage":"SORT"/)
})

it('the queues are returned without Temporal', async () => {
  const { context } = world
  const unreachable = createOrchestrator({ address: '127.0.0.1:9', namespace: context.config.TEMPORAL_NAMESPACE })
  const app = await buildApp({ ...context, orchestrator: unreachable })
  try {
    const response = await app.inject({ url: '/api/admin/queues', headers: admin.headers })
    expect(response.json()).toMatchObject({ data: { taskQueues: null, deadLetters: 0 } })
  } finally {
    await app.close()
    await unreachable.close()
  }
})
