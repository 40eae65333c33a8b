import { MockActivityEnvironment } from '@temporalio/testing'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRunningWork } from '../../../src/activities/shared/running-work.ts'
import { createActivities } from '../../../src/activities/index.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { ALL_QUEUES, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { collectCommands } from '../../support/driver-commands.ts'
import { beginsWithUser, findShardProblem, SHARDED } from '../../support/shard-rules.ts'

const { commands, onCommand } = collectCommands()
let world: DeliveryWorld
beforeAll(async () => {
  world = await startDeliveryWorld(ALL_QUEUES, { onCommand })
})
afterAll(() => world?.stop())

describe('the check of commands', () => {
  const [userId, comment] = ['ann', 'asks every shard']
  const update = (one: object) => ({ name: 'update', command: { updates: [one] } })
  const find = (filter: object, more: object = {}) => ({ name: 'find', command: { filter, ...more } })
  const aggregate = (pipeline: object[], more: object = {}) => ({ name: 'aggregate', command: { pipeline, ...more } })
  const remove = (q: object, limit: number) => ({ name: 'delete', command: { deletes: [{ q, limit }], comment } })
  const lookup = { $lookup: { from: 'postSnapshots', pipeline: [{ $match: { userId } }] } }

  it.each([
    ['a read without a user', find({ status: 'DRAFT' })],
    ['a read of all users but one', find({ userId: { $ne: 'ann' } })],
    ['a read with a user in one branch', find({ $or: [{ userId }, { status: 'DRAFT' }] })],
    ['a count without a user', { name: 'count', command: { query: {} } }],
    ['a distinct in a transaction', { name: 'distinct', command: { query: { userId }, autocommit: false } }],
    ['a document without a user', { name: 'insert', command: { documents: [{ userId }, {}] } }],
    ['an update of one document by its id', update({ q: { _id: '1' }, u: { $set: { status: 'DRAFT' } } })],
    ['an update of one document of several users', update({ q: { userId: { $in: ['a', 'b'] } }, u: { $set: {} } })],
    ['an upsert of several users', update({ q: { userId: { $gt: 'a' } }, u: { $set: {} }, multi: true, upsert: true })],
    ['a change of the user', update({ q: { userId }, u: { $set: { userId: 'bob' } } })],
    ['a replacement without the user', update({ q: { _id: '1', userId }, u: { status: 'DRAFT' } })],
    ['a removal of one document by its id', remove({ _id: '1' }, 1)],
    ['a find and modify by id', { name: 'findAndModify', command: { query: { _id: '1' }, remove: true, comment } }],
    ['a unique index across users', { name: 'createIndexes', command: { indexes: [{ key: { a: 1 }, unique: true }] } }],
    ['an aggregation without a user', aggregate([{ $group: { _id: '$status' } }])],
    ['an aggregation that writes', aggregate([{ $match: { userId } }, { $merge: 'totals' }])],
    ['a join without a user', aggregate([{ $match: { userId } }, { $unionWith: { coll: 'posts', pipeline: [] } }])],
    ['a lookup in a transaction', aggregate([{ $match: { userId } }, lookup], { autocommit: false })],
  ])('%s is reported', (_, command) => {
    expect(findShardProblem({ collection: 'posts', ...command })).not.toBeNull()
  })

  it.each([
    ['a read of a user', find({ userId })],
    ['a read of a range of users', find({ userId: { $gt: 'a', $lte: 'b' } })],
    ['a read that states that it asks every shard', find({}, { comment })],
    ['an estimated count', { name: 'count', command: {} }],
    ['an update of one document', update({ q: { _id: '1', userId }, u: { $set: { status: 'DRAFT' } } })],
    ['a replacement', update({ q: { _id: '1', userId }, u: { userId, status: 'DRAFT' }, upsert: true })],
    ['a lookup of the same user', aggregate([{ $match: { userId } }, lookup])],
    ['a removal of all documents of several users', remove({ userId: { $in: ['a', 'b'] } }, 0)],
  ])('%s is not reported', (_, command) => {
    expect(findShardProblem({ collection: 'posts', ...command })).toBeNull()
  })

  it('commands of other collections are not reported, except their joins', () => {
    const join = aggregate([{ $unionWith: { coll: 'posts', pipeline: [] } }])
    expect(findShardProblem({ collection: 'uploads', ...find({}) })).toBeNull()
    expect(findShardProblem({ collection: 'uploads', ...join })).not.toBeNull()
  })
})

describe('the indexes of a collection that can be sharded by user', () => {
  const listIndexes = (name: string) => world.context.database.connection.collection(name).indexes()

  it.each(SHARDED)('unique indexes of %s begin with the user', async (name) => {
    const unique = (await listIndexes(name)).filter((index) => index.unique)
    expect(unique.filter(({ key }) => !beginsWithUser(key))).toEqual([])
  })

  it.each(SHARDED)('%s has a full index that begins with the user, as the shard key requires', async (name) => {
    const indexes = await listIndexes(name)
    const full = indexes.filter(
      (index) => !index['partialFilterExpression'] && !index.sparse && beginsWithUser(index.key),
    )
    expect(full).not.toEqual([])
  })

  it('the documented commands shard these collections, and no others by user', () => {
    const text = readFileSync('docs/operations/capacity.md', 'utf8')
    const documented = [...text.matchAll(/sh\.shardCollection\('postonce\.(\w+)', \{ userId: 1 \}\)/g)]
    expect(documented.map(([, name]) => name)).toEqual(SHARDED)
  })
})

it('no command of a life of posts, their reads and their metrics is one that a sharded cluster refuses', async () => {
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
    preparationSlots: context.config.WORKER_PREPARATION_SLOTS,
    notificationSlots: context.config.WORKER_NOTIFICATION_SLOTS,
    webhookSlots: context.config.WORKER_WEBHOOK_SLOTS,
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

  await run.run(activities.collectDuePosts, Date.now())
  await run.run(activities.collectDueFollowers, Date.now())
  await run.run(activities.downsampleSnapshotsPage, { from: null, until: Date.now(), afterUserId: null })
  await run.run(activities.sweepDeliveries)
  for (const postId of [refused, published]) await user.call('DELETE', `/api/posts/${postId}`)
  await context.orchestrator.deleteWorkflows([publishPostWorkflowId(refused)])

  const find = (name: string) =>
    commands.filter((command) => command.name === name && SHARDED.includes(command.collection!))
  for (const name of ['find', 'aggregate', 'insert', 'update', 'delete', 'findAndModify']) {
    expect(find(name), name).not.toEqual([])
  }
  expect(commands.filter((command) => findShardProblem(command) !== null)).toEqual([])
})
