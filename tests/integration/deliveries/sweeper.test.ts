import { fileURLToPath } from 'node:url'
import { Connection, WorkflowClient } from '@temporalio/client'
import { MockActivityEnvironment } from '@temporalio/testing'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMailCatcher, type MailCatcher } from '../../../sandbox/services/mail.ts'
import { createSweepActivities } from '../../../src/activities/publishing/sweep.ts'
import type { BackgroundBacklog } from '../../../src/commands/shared/background-backlog.ts'
import { createPost } from '../../../src/commands/posts/create-post.ts'
import { queueMail } from '../../../src/commands/notifications/queue-mail.ts'
import type { StartQueue } from '../../../src/commands/posts/start-queue.ts'
import { updatePost } from '../../../src/commands/posts/update-post.ts'
import { codeMail } from '../../../src/domain/notifications/mail-texts.ts'
import { DAY, MINUTE } from '../../../src/domain/shared/times.ts'
import {
  BACKGROUND_WORK,
  backgroundWorkflowId,
  type BackgroundWork,
} from '../../../src/workflows/contract/background-work.ts'
import type { PublishOrchestrator } from '../../../src/integrations/temporal/orchestrator.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { ALL_QUEUES, poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { partial } from '../../support/partial.ts'
import { unique } from '../../support/servers.ts'

const assertMayPublish = () => {}

let world: DeliveryWorld

let catcher: MailCatcher
let temporal: Connection
let workflow: WorkflowClient

beforeAll(async () => {
  catcher = await startMailCatcher()
  world = await startDeliveryWorld({ ...catcher.env(), METRICS_PORT: 1, ...ALL_QUEUES })
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  temporal = await Connection.connect({ address })
  workflow = new WorkflowClient({ connection: temporal, namespace })
})
afterAll(async () => {
  await temporal?.close()
  await world?.stop()
  await catcher?.stop()
})

/** Runs the sweeper's activity with a clock that is `ms` ahead. */
async function sweepIn(
  ms: number,
  backlogs: BackgroundBacklog[] = [],
  parts: Partial<typeof world.context> = {},
): Promise<{ restarted: number }> {
  const clock = { ...world.context.clock, now: () => new Date(Date.now() + ms) }
  const { sweepDeliveries } = createSweepActivities({ ...world.context, ...parts, backlogs, clock })
  return new MockActivityEnvironment().run<[], { restarted: number }, typeof sweepDeliveries>(sweepDeliveries)
}

/** An orchestrator whose Temporal server acknowledges nothing. */
const unreachable = partial<PublishOrchestrator>({ start: async () => false, signal: async () => false })

describe('the sweeper', () => {
  it.each([
    ['an immediate post', undefined],
    ['a scheduled post', 5_000],
  ])('the sweeper starts %s whose start never reached Temporal, and it is published once', async (_name, delayMs) => {
    const user = await world.user()
    const { data } = await createPost(
      { ...world.context, startQueue: partial({ add: async () => {} }) },
      {
        userId: user.userId,
        input: {
          content: { text: 'Stranded' },
          selectedPlatforms: ['bluesky'],
          ...(delayMs === undefined ? {} : { scheduledAt: new Date(Date.now() + delayMs).toISOString() }),
        },
        metadata: { source: 'api', client: 'api' },
        idempotency: null,
      },
    )
    expect((await sweepIn(0)).restarted).toBe(0)
    expect((await sweepIn(MINUTE)).restarted).toBe(1)
    expect(await user.until(data.postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
    expect((await world.context.posts.find(data.postId))!.startPending).toBe(false)
  })

  it('the sweeper starts the post of a user before most of the earlier posts of another user', async () => {
    const [many, one] = [await world.user(), await world.user()]
    const lost = { ...world.context, startQueue: partial<StartQueue>({ add: async () => {} }) }
    const strand = (userId: string) =>
      createPost(lost, {
        userId,
        input: { content: { text: 'Stranded' }, selectedPlatforms: ['bluesky'] },
        metadata: { source: 'api', client: 'api' },
        idempotency: null,
      })
    const stranded: string[] = []
    for (let count = 0; count < 60; count++) stranded.push((await strand(many.userId)).data.postId)
    const last = (await strand(one.userId)).data.postId
    stranded.push(last)
    // The first step of a turn: starts end in any order.
    const order: string[] = []
    const orchestrator = {
      ...world.context.orchestrator,
      async terminateStuck(workflowId: string) {
        order.push(...stranded.filter((postId) => workflowId === publishPostWorkflowId(postId)))
        return false
      },
      start: async () => false,
    }
    await sweepIn(MINUTE, [], { orchestrator })
    expect(order).toHaveLength(61)
    // Behind the twenty that run concurrently.
    expect(order.indexOf(last)).toBeLessThanOrEqual(20)
    for (const { _id } of await world.context.posts.listSome(many.userId, 100))
      await many.call('DELETE', `/api/posts/${_id}`)
    for (const { _id } of await world.context.posts.listSome(one.userId, 100))
      await one.call('DELETE', `/api/posts/${_id}`)
  })

  it('the sweeper signals an edit whose signal was lost', async () => {
    const user = await world.user()
    const scheduledAt = new Date(Date.now() + DAY).toISOString()
    const postId = await user.create({ content: { text: 'Moved in an outage' }, scheduledAt })
    const sooner = new Date(Date.now() + 3_000).toISOString()
    await updatePost(
      { ...world.context, orchestrator: unreachable },
      { userId: user.userId, postId, update: { kind: 'patch', input: { scheduledAt: sooner } }, assertMayPublish },
    )
    // On a slow machine Temporal may not acknowledge the signal in time, and the next sweep sends it again.
    await poll(
      () => sweepIn(MINUTE),
      ({ restarted }) => restarted === 1,
    )
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })

  it('the sweeper completes the publication of a draft after a crash', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Half published' }, status: 'DRAFT' })
    const crashingContext = {
      ...world.context,
      notifications: { ...world.context.notifications, insertOnce: () => Promise.reject(new Error('killed')) },
    }
    const update = { kind: 'patch', input: { status: 'PENDING' } } as const
    await expect(
      updatePost(crashingContext, { userId: user.userId, postId, update, assertMayPublish }),
    ).rejects.toThrow('killed')
    await sweepIn(MINUTE)
    await user.until(postId, ['COMPLETED'])
    const notified = (await world.notificationsOf(user.userId)).map(({ dedupeKey }) => dedupeKey)
    expect(notified).toContain(`post-created:${postId}`)
  })

  it('the sweeper restarts a terminated workflow, and not a running one', async () => {
    const user = await world.user()
    const scheduledAt = new Date(Date.now() + DAY).toISOString()
    const postId = await user.create({ content: { text: 'Terminated' }, scheduledAt })
    await world.context.startQueue.idle()
    const handle = workflow.getHandle(publishPostWorkflowId(postId))
    // At five events the workflow waits for its timer.
    const { runId } = await poll(
      () => handle.describe(),
      ({ historyLength }) => historyLength === 5,
    )
    await sweepIn(DAY + MINUTE)
    expect(await handle.describe()).toMatchObject({ runId, historyLength: 5 })

    await handle.terminate('for the test')
    await sweepIn(DAY + MINUTE)
    expect((await handle.describe()).runId).not.toBe(runId)
    expect((await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: null })).status).toBe(200)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })

  it('the sweeper restarts workflows that a new release cannot replay, and every post and mail is sent once', async () => {
    const user = await world.user()
    const runIdOf = async (workflowId: string) => (await workflow.getHandle(workflowId).describe()).runId
    const hasBegun = (workflowId: string) =>
      poll(
        () => workflow.getHandle(workflowId).fetchHistory(),
        ({ events }) => events?.some(({ timerStartedEventAttributes: timer }) => timer) === true,
      )

    await world.stopWorkers()
    await world.startWorkers({ workflowBundle: await bundleOtherRelease() })
    const scheduledAt = new Date(Date.now() + 12_000).toISOString()
    const postIds = await Promise.all(
      [scheduledAt, scheduledAt, undefined].map((at) =>
        user.create({ content: { text: unique('Stuck') }, scheduledAt: at }),
      ),
    )
    const cancelledId = await user.create({ content: { text: unique('Cancelled') }, scheduledAt })
    await world.context.startQueue.idle()
    await user.call('POST', `/api/posts/${cancelledId}/cancel`)
    const to = `${unique('ann')}@example.test`
    await queueMail(world.context, { kind: 'code', userId: null, lifeMs: MINUTE, to, ...codeMail('123456') })
    const [mail] = await world.context.database.connection.collection<{ _id: string }>('mails').find().toArray()
    const works = Object.keys(BACKGROUND_WORK) as BackgroundWork[]
    const recordless = works.map((work) => backgroundWorkflowId(work, unique('none')))
    await Promise.all(
      works.map((work, index) => {
        const { taskQueue, idPrefix } = BACKGROUND_WORK[work]
        const workflowId = recordless[index]!
        return workflow.start(work, { workflowId, taskQueue, args: [workflowId.slice(idPrefix.length)] })
      }),
    )
    const stuck = [
      ...[...postIds, cancelledId].map(publishPostWorkflowId),
      backgroundWorkflowId('sendMail', mail!._id),
      ...recordless,
    ]
    await Promise.all(stuck.map(hasBegun))
    const runIds = await Promise.all(postIds.map((postId) => runIdOf(publishPostWorkflowId(postId))))
    await world.stopWorkers()
    await world.startWorkers()

    await poll(
      async () => {
        await sweepIn(2 * MINUTE, world.context.backlogs)
        return Promise.all(postIds.map(async (postId) => (await user.status(postId)).status))
      },
      (statuses) => statuses.every((status) => status === 'COMPLETED'),
    )
    expect(await user.published()).toHaveLength(postIds.length)
    for (const [index, postId] of postIds.entries()) {
      expect(await runIdOf(publishPostWorkflowId(postId))).not.toBe(runIds[index])
    }
    await poll(
      async () => {
        await sweepIn(2 * MINUTE, world.context.backlogs)
        return catcher.mails.list(to)
      },
      (mails) => mails.length === 1,
    )
    // Its post has ended, so the sweeper finds it only by its search attribute.
    await poll(
      async () => {
        await sweepIn(2 * MINUTE)
        return workflow.getHandle(publishPostWorkflowId(cancelledId)).describe()
      },
      ({ status }) => status.name === 'TERMINATED',
    )
    // Workflows without a record are in no backlog.
    for (const workflowId of recordless) {
      await poll(
        () => world.context.orchestrator.terminateStuck(workflowId),
        (isTerminated) => isTerminated,
      )
    }
    const metrics = await world.context.metrics.text()
    expect(metrics).toMatch(/temporal_workflow_task_execution_failed_total\{[^}]*failure_reason="NonDeterminismError"/)
    for (const type of ['publishPost', ...works]) {
      expect(metrics).toMatch(new RegExp(`postonce_stuck_workflows_terminated_total\\{workflow="${type}"\\} [1-9]`))
    }
  })
})

/** Bundles workflows whose commands differ from those of this release. */
function bundleOtherRelease() {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../support/other-release.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  })
}
