import { Client, Connection } from '@temporalio/client'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createPost } from '../../../src/commands/posts/create-post.ts'
import { HIGHEST_DUE_RANK } from '../../../src/domain/posts/publish-plan.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'

// One user with more work than a worker has slots, and another user with a single post.

type User = Awaited<ReturnType<DeliveryWorld['user']>>

/** A single user can fill three quarters of them. */
const ARMED_SLOTS = 8
const PREPARATION_SLOTS = 4
const USABLE_PREPARATION_SLOTS = 3
/** Temporal's state of an activity that runs. */
const STARTED = 2

let world: DeliveryWorld
let connection: Connection

beforeAll(async () => {
  world = await startDeliveryWorld({
    WORKER_ACTIVITY_SLOTS: ARMED_SLOTS,
    WORKER_PREPARATION_SLOTS: PREPARATION_SLOTS,
  })
  connection = await Connection.connect({ address: world.context.config.TEMPORAL_ADDRESS })
})
afterEach(() => world?.control.clearFaults())
afterAll(async () => {
  await connection?.close()
  await world?.stop()
})

const handleOf = (postId: string) => {
  const { workflow } = new Client({ connection, namespace: world.context.config.TEMPORAL_NAMESPACE })
  return workflow.getHandle(publishPostWorkflowId(postId))
}

const times = <T>(count: number, create: () => Promise<T>) => Promise.all(Array.from({ length: count }, create))

it(
  'posts of one user that fill the slots of a worker do not delay a post of another user that is due before them',
  async () => {
    const [many, one] = [await world.user(), await world.user()]
    const dueAt = new Date(Date.now() + 35 * SECOND)
    // As the last of many posts of their second, they are armed well before the post of the other user.
    const posts = { ...world.context.posts, countScheduled: async () => HIGHEST_DUE_RANK }
    const input = { selectedPlatforms: ['bluesky' as const], scheduledAt: dueAt.toISOString() }
    const manyIds = await times(2 * ARMED_SLOTS, async () => {
      const request = { userId: many.userId, metadata: { source: 'api', client: 'api' }, idempotency: null } as const
      const created = await createPost(
        { ...world.context, posts },
        { ...request, input: { ...input, content: { text: 'One of many' } } },
      )
      return created.data.postId
    })
    const oneId = await one.create({
      content: { text: 'The only one' },
      scheduledAt: new Date(dueAt.getTime() - 20 * SECOND).toISOString(),
    })
    expect(await one.until(oneId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 1 }] })
    expect(await many.published()).toEqual([])
    for (const postId of manyIds) expect(await many.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await many.published()).toHaveLength(manyIds.length)
  },
  2 * MINUTE,
)

it(
  'media of one user that takes long to prepare leaves slots for the media of another user',
  async () => {
    const [many, one] = [await world.user(), await world.user()]
    await world.control.fault({ path: 'uploadBlob', account: many.account.did, action: { hang: true } })
    const scheduledAt = new Date(Date.now() + 50 * SECOND).toISOString()
    const createWithPicture = async (user: User) => {
      const square = sharp({ create: { width: 64, height: 64, channels: 3, background: 'teal' } })
      const picture = await user.upload(Buffer.from(await square.jpeg().toBuffer()), 'image/jpeg')
      return user.create({ content: { text: 'With a picture', mediaItems: [picture] }, scheduledAt })
    }
    const manyIds = await times(2 * PREPARATION_SLOTS, () => createWithPicture(many))
    await world.context.startQueue.idle()
    const countRunning = async () => {
      const workflows = await Promise.all(manyIds.map((postId) => handleOf(postId).describe()))
      const activities = workflows.flatMap(({ raw }) => raw.pendingActivities ?? [])
      // The others have been refused a slot at least once.
      const isDecided =
        activities.length === manyIds.length &&
        activities.every(({ attempt, state }) => (attempt ?? 1) > 1 || state === STARTED)
      return isDecided ? activities.filter(({ state }) => state === STARTED).length : null
    }
    await poll(countRunning, (running) => running !== null)
    const oneId = await createWithPicture(one)
    await world.context.startQueue.idle()
    await poll(
      async () =>
        (await handleOf(oneId).fetchHistory()).events?.some((event) => event.activityTaskCompletedEventAttributes),
      (isPrepared) => isPrepared === true,
    )
    expect(await countRunning()).toBeLessThanOrEqual(USABLE_PREPARATION_SLOTS)
    const uploads = (await world.control.requests()).filter(
      ({ path, account }) => path.includes('uploadBlob') && account === many.account.did,
    )
    // The first upload still hangs.
    expect(uploads).toHaveLength(1)
  },
  2 * MINUTE,
)

it("the workflow of a post has the weight of its user's plan", async () => {
  const user = await world.user()
  const scheduledAt = new Date(Date.now() + HOUR).toISOString()
  const findWeight = async () => {
    const postId = await user.create({ content: { text: 'Later' }, scheduledAt })
    await world.context.startQueue.idle()
    return (await handleOf(postId).describe()).raw.workflowExecutionInfo?.priority
  }
  const { planWeights } = world.context
  expect(await findWeight()).toMatchObject({ fairnessKey: user.userId, fairnessWeight: planWeights.free })
  const users = world.context.database.connection.collection<{ _id: string }>('users')
  await users.updateOne({ _id: user.userId }, { $set: { 'subscription.plan': 'pro' } })
  expect(await findWeight()).toMatchObject({ fairnessKey: user.userId, fairnessWeight: planWeights.pro })
  expect(planWeights.pro).toBeGreaterThan(planWeights.free)
})
