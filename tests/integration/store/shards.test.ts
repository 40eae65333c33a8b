import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRunningWork } from '../../../src/activities/shared/running-work.ts'
import { createActivities } from '../../../src/activities/index.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import {
  startAgeClass,
  type CollectionPlan,
  type DuePage,
  type FollowersPlan,
} from '../../../src/workflows/messages/analytics.ts'
import { publishPostWorkflowId } from '../../../src/workflows/messages/publishing.ts'
import { startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { collectCommands, type DriverCommand } from '../../support/driver-commands.ts'

/** Collections that a deployment may shard by user. */
const SHARDED = ['posts', 'notifications', 'postSnapshots', 'accountSnapshots']

const { commands, onCommand } = collectCommands()
let world: DeliveryWorld
beforeAll(async () => {
  world = await startDeliveryWorld({}, { onCommand })
}, 60_000)
afterAll(() => world?.stop())

type Filter = Record<string, unknown>

/** Whether a filter selects the records of certain users. */
function hasUser(filter: Filter): boolean {
  const { userId, $and: all = [] } = filter as Filter & { $and?: Filter[] }
  return userId !== undefined || all.some(hasUser)
}

/** The filters of a command on a sharded collection, and of its joins with others. */
function filtersOf({ name, collection, command }: DriverCommand): Filter[] {
  const lists: Record<string, () => Filter[]> = {
    find: () => [command['filter'] as Filter],
    findAndModify: () => [command['query'] as Filter],
    count: () => [(command['query'] ?? {}) as Filter],
    distinct: () => [command['query'] as Filter],
    update: () => (command['updates'] as { q: Filter }[]).map(({ q }) => q),
    delete: () => (command['deletes'] as { q: Filter }[]).map(({ q }) => q),
    aggregate: () => filtersOfPipeline(collection!, command['pipeline'] as Filter[]),
  }
  if (name === 'aggregate') return lists['aggregate']!()
  return SHARDED.includes(collection!) ? (lists[name]?.() ?? []) : []
}

function filtersOfPipeline(collection: string, stages: Filter[]): Filter[] {
  const own = SHARDED.includes(collection) ? [Object.assign({}, ...stages.slice(0, 1).map(matchOf)) as Filter] : []
  return [
    ...own,
    ...stages.flatMap(({ $lookup, $unionWith }) => {
      const {
        from,
        coll,
        pipeline = [],
      } = ($lookup ?? $unionWith ?? {}) as {
        from?: string
        coll?: string
        pipeline?: Filter[]
      }
      const joined = from ?? coll
      return joined === undefined ? [] : filtersOfPipeline(joined, pipeline)
    }),
  ]
}

const matchOf = (stage: Filter | undefined): Filter => (stage?.['$match'] ?? {}) as Filter

/** Commands without a user that do not say so. */
function listUnnamed(): string[] {
  const unnamed = commands.filter(
    (one) => one.command['comment'] === undefined && filtersOf(one).some((filter) => !hasUser(filter)),
  )
  return unnamed.map(({ command }) => JSON.stringify(command).slice(0, 400))
}

it('the check detects a filter without a user', async () => {
  const { connection } = world.context.database
  await connection.collection('posts').find({ status: 'DRAFT' }).toArray()
  await connection
    .collection('uploads')
    .aggregate([{ $unionWith: { coll: 'postSnapshots', pipeline: [] } }])
    .toArray()
  expect(listUnnamed()).toHaveLength(2)
  commands.length = 0
})

it('every query of a sharded collection names the user, or states that it asks every shard', async () => {
  const { context } = world
  const user = await world.user()
  const get = async (path: string) => expect((await user.call('GET', path)).status, path).toBe(200)
  const run = new MockActivityEnvironment()
  const activities = createActivities({
    ...context,
    running: createRunningWork(),
    draining: new AbortController().signal,
    publishTimeoutMs: context.config.PUBLISH_TIMEOUT_MS,
    unansweredSettleMs: context.config.UNANSWERED_CALL_SETTLE_MS,
    maxLatenessMs: context.config.DELIVERY_MAX_LATENESS_MS,
    callsInFlight: context.config.PLATFORM_CALLS_IN_FLIGHT,
    activitySlots: context.config.WORKER_ACTIVITY_SLOTS,
  })

  const published = await user.create({ content: { text: 'Published' } })
  await user.until(published)
  const at = new Date(Date.now() + DAY).toISOString()
  const scheduled = await user.create({ content: { text: 'Scheduled' }, scheduledAt: at })
  await context.startQueue.idle()
  await user.call('PATCH', `/api/posts/${scheduled}`, { content: { text: 'Changed' } })
  await user.call('POST', `/api/posts/${scheduled}/cancel`)
  await user.until(scheduled)
  const refused = await user.create({ content: { text: 'Refused' }, selectedPlatforms: ['mastodon'] })
  await user.until(refused)
  await user.call('POST', `/api/posts/${refused}/retry`)
  await user.until(refused)
  await user.call('POST', `/api/posts/${published}/duplicate`)
  await user.call('POST', `/api/analytics/posts/${published}/refresh?platform=bluesky`)

  for (const path of ['', '?q=word&platform=bluesky&sortBy=date', `/${published}`, `/${published}/timeline`]) {
    await get(`/api/posts${path}`)
  }
  for (const path of ['overview', 'timeline', 'growth', 'posts/top', 'platforms', 'heatmap']) {
    await get(`/api/analytics/${path}`)
  }
  await get('/api/notifications')
  await user.call('POST', '/api/notifications/read-all')
  await get('/api/profile/export')

  const { shards }: CollectionPlan = await run.run(activities.planCollection)
  const place = startAgeClass(
    0,
    shards.find(({ platform }) => platform === 'bluesky')!,
  )
  const page: DuePage = await run.run(activities.listDueMetrics, place)
  for (const { batches, ...account } of page.accounts) {
    for (const postIds of batches) await run.run(activities.collectBatch, { ...account, postIds, slot: Date.now() })
  }
  const { shards: followers }: FollowersPlan = await run.run(activities.planFollowers)
  for (const { platform, range } of followers) {
    await run.run(activities.collectShardFollowers, { platform, range, after: null, pauses: {} })
  }
  await run.run(activities.downsampleSnapshotsPage, { from: null, until: Date.now(), afterUserId: null })
  await run.run(activities.sweepDeliveries)
  await user.call('DELETE', `/api/posts/${refused}`)
  await context.orchestrator.deleteWorkflows([publishPostWorkflowId(refused)])

  expect(commands.some(({ collection }) => collection === 'postSnapshots')).toBe(true)
  expect(listUnnamed()).toEqual([])
})
