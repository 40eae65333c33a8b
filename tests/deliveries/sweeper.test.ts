import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSweepActivities } from '../../src/activities/sweep.ts'
import { createPost } from '../../src/commands/create-post.ts'
import { updatePost } from '../../src/commands/update-post.ts'
import { DAY, MINUTE } from '../../src/domain/times.ts'
import { publishPostWorkflowId } from '../../src/workflows/messages.ts'
import { MockActivityEnvironment } from '@temporalio/testing'
import { Client, Connection } from '@temporalio/client'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../support/delivery-world.ts'

let world: DeliveryWorld

beforeAll(async () => {
  world = await startDeliveryWorld()
}, 120_000)
afterAll(() => world?.stop())

/** The sweeper's activity, as if `ms` had gone by since the posts were stored. */
async function sweepIn(ms: number): Promise<{ takenUp: number }> {
  const { posts, notifications, orchestrator, metrics } = world.context
  const clock = { ...world.context.clock, now: () => new Date(Date.now() + ms) }
  const { sweepDeliveries } = createSweepActivities({
    posts,
    notifications,
    orchestrator,
    backlogs: [],
    clock,
    metrics,
  })
  return new MockActivityEnvironment().run<[], { takenUp: number }, typeof sweepDeliveries>(sweepDeliveries)
}

/** Temporal away: nothing is acknowledged. */
const unreachable = { start: async () => false, signal: async () => false }

describe('the sweeper', () => {
  it.each([
    ['an immediate post', undefined],
    ['a scheduled post', 5_000],
  ])('starts %s whose start never reached Temporal, and it goes out once', async (_name, delayMs) => {
    const user = await world.user()
    const { data } = await createPost(
      { ...world.context, orchestrator: unreachable },
      {
        userId: user.userId,
        input: {
          content: { text: 'Stranded' },
          selectedPlatforms: ['bluesky'],
          ...(delayMs === undefined ? {} : { scheduledAt: new Date(Date.now() + delayMs).toISOString() }),
        },
        source: 'api',
        idempotency: null,
      },
    )
    expect((await sweepIn(0)).takenUp).toBe(0)
    expect((await sweepIn(MINUTE)).takenUp).toBe(1)
    expect(await user.until(data.postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
    expect((await world.context.posts.find(data.postId))!.startPending).toBe(false)
  })

  it('tells a running workflow of an edit that it never heard of', async () => {
    const user = await world.user()
    const scheduledAt = new Date(Date.now() + DAY).toISOString()
    const postId = await user.create({ content: { text: 'Moved in an outage' }, scheduledAt })
    const sooner = new Date(Date.now() + 3_000).toISOString()
    await updatePost(
      { ...world.context, orchestrator: unreachable },
      { userId: user.userId, postId, update: { kind: 'patch', input: { scheduledAt: sooner } } },
    )
    await sweepIn(MINUTE)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })

  it('makes up for everything that a process left undone when it died while publishing a draft', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Half published' }, status: 'DRAFT' })
    const dying = { ...world.context, notifications: { insertOnce: () => Promise.reject(new Error('killed')) } }
    const update = { kind: 'patch', input: { status: 'PENDING' } } as const
    await expect(updatePost(dying, { userId: user.userId, postId, update })).rejects.toThrow('killed')
    await sweepIn(MINUTE)
    await user.until(postId, ['COMPLETED'])
    const told = (await world.notificationsOf(user.userId)).map(({ dedupeKey }) => dedupeKey)
    expect(told).toContain(`post-created:${postId}`)
  })

  it('leaves a running workflow alone, and starts a terminated one again', async () => {
    const user = await world.user()
    const scheduledAt = new Date(Date.now() + 15_000).toISOString()
    const postId = await user.create({ content: { text: 'Terminated' }, scheduledAt })
    const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
    const connection = await Connection.connect({ address })
    const handle = new Client({ connection, namespace }).workflow.getHandle(publishPostWorkflowId(postId))
    // Started, decided, and waiting by its timer.
    const { runId } = await poll(
      () => handle.describe(),
      ({ historyLength }) => historyLength === 5,
    )
    await sweepIn(MINUTE)
    expect(await handle.describe()).toMatchObject({ runId, historyLength: 5 })

    await handle.terminate('for the test')
    await sweepIn(MINUTE)
    expect((await handle.describe()).runId).not.toBe(runId)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    await connection.close()
    expect(await user.published()).toHaveLength(1)
  })
})
