import { Client, Connection } from '@temporalio/client'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createPost } from '../../../src/commands/posts/create-post.ts'
import { HIGHEST_DUE_RANK } from '../../../src/domain/posts/publish-plan.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'

type User = Awaited<ReturnType<DeliveryWorld['user']>>

/** As many posts of one second as are armed one after the other: the last is armed almost two minutes ahead. */
const POSTS_OF_SECOND = HIGHEST_DUE_RANK
/** An instant that no test waits for. Without the notice of a change, a delivery would react shortly before it. */
const FAR_MS = 100 * SECOND
/** Longer than any delivery is armed that shares its second with no other. */
const NEAR_MS = 25 * SECOND
const TIMEOUT_MS = 5 * MINUTE

const processes = createProcesses()
let world: DeliveryWorld
let connection: Connection

beforeAll(async () => {
  world = await startDeliveryWorld()
  connection = await Connection.connect({ address: world.context.config.TEMPORAL_ADDRESS })
}, TIMEOUT_MS)
afterEach(() => processes.killAll())
afterAll(async () => {
  await connection?.close()
  await world?.stop()
})

/** Creates a post as the last of many for the same second, and waits until it is armed. */
async function createArmed(user: User, text: string, dueAt: Date): Promise<string> {
  const posts = { ...world.context.posts, countScheduled: async () => POSTS_OF_SECOND }
  const input = { content: { text }, selectedPlatforms: ['bluesky' as const], scheduledAt: dueAt.toISOString() }
  const request = { userId: user.userId, input, metadata: { source: 'api', client: 'api' }, idempotency: null } as const
  const { data } = await createPost({ ...world.context, posts }, request)
  await world.context.startQueue.idle()
  await poll(
    async () => (await describeWorkflow(data.postId)).raw.pendingActivities ?? [],
    (activities) => activities.length === 1,
  )
  return data.postId
}

function describeWorkflow(postId: string) {
  const { workflow } = new Client({ connection, namespace: world.context.config.TEMPORAL_NAMESPACE })
  return workflow.getHandle(publishPostWorkflowId(postId)).describe()
}

it(
  'a change of a post that is armed early takes effect long before its instant',
  async () => {
    const user = await world.user()
    const farAt = Date.now() + FAR_MS
    const [cancelled, deleted, later, sooner] = await Promise.all(
      ['Cancelled', 'Deleted', 'Moved to later', 'Moved to sooner'].map((text) =>
        createArmed(user, text, new Date(farAt)),
      ),
    )
    const nearAt = Date.now() + NEAR_MS
    const [alone, edited] = await Promise.all(
      ['Left alone', 'Edited'].map((text) => createArmed(user, text, new Date(nearAt))),
    )
    const moveTo = (postId: string, at: number) =>
      user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: new Date(at).toISOString() })
    const soonerAt = Date.now() + 2 * SECOND
    const answers = await Promise.all([
      user.call('POST', `/api/posts/${cancelled}/cancel`),
      user.call('DELETE', `/api/posts/${deleted}`),
      moveTo(later!, Date.now() + HOUR),
      moveTo(sooner!, soonerAt),
      user.call('PATCH', `/api/posts/${edited}`, { content: { text: 'Edited while armed' } }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])

    for (const postId of [cancelled!, deleted!]) {
      const { closeTime } = await poll(
        () => describeWorkflow(postId),
        ({ status }) => status.name === 'COMPLETED',
      )
      expect(closeTime!.getTime()).toBeLessThan(farAt - NEAR_MS)
    }
    for (const postId of [alone!, sooner!, edited!])
      expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect((await describeWorkflow(later!)).raw.pendingActivities ?? []).toEqual([])

    const published = new Map((await user.published()).map(({ text, createdAt }) => [text, Date.parse(createdAt)]))
    expect([...published.keys()].toSorted()).toEqual(['Edited while armed', 'Left alone', 'Moved to sooner'])
    for (const text of ['Edited while armed', 'Left alone']) expect(published.get(text)).toBeGreaterThanOrEqual(nearAt)
    expect(published.get('Moved to sooner')).toBeGreaterThanOrEqual(soonerAt)
    expect(published.get('Moved to sooner')).toBeLessThan(farAt - NEAR_MS)
  },
  TIMEOUT_MS,
)

it(
  'the posts of a worker that is killed while they are armed early are published by another worker, each once',
  async () => {
    const user = await world.user()
    const startWorker = async () => {
      const worker = processes.start('src/worker.ts', world.context.config, { LOG_LEVEL: 'info' })
      await waitForLogEntry(worker, 'worker ready')
      return worker
    }
    await world.stopWorkers()
    const worker = await startWorker()
    const dueAt = new Date(Date.now() + NEAR_MS)
    const postIds = await Promise.all(['First', 'Second'].map((text) => createArmed(user, text, dueAt)))
    await startWorker()
    worker.kill('SIGKILL')
    for (const postId of postIds) {
      expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 1 }] })
    }
    expect((await user.published()).map(({ text }) => text).toSorted()).toEqual(['First', 'Second'])
  },
  TIMEOUT_MS,
)
