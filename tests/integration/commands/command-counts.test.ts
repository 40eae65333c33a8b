import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { benchPlatforms, INSTANT_PLATFORMS } from '../../../bench/platforms.ts'
import { createUsers } from '../../../bench/users.ts'
import { createContext, type Context } from '../../../src/context.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { SECOND } from '../../../src/domain/shared/times.ts'
import { openDatabase } from '../../../src/store/shared/database.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import { apiWorld, type ApiWorld } from '../../support/api.ts'
import { poll, DELIVERING } from '../../support/delivery-world.ts'
import { ARMED, createCommandCounter } from '../../support/driver-commands.ts'
import { openTestSession } from '../../support/sessions.ts'

let api: ApiWorld
let worker: Context
let workers: Awaited<ReturnType<typeof startWorkers>>
let postId: string
let headers: { authorization: string }
const ofApi = createCommandCounter()
const ofWorker = createCommandCounter()

beforeAll(async () => {
  const platforms = benchPlatforms(null)
  api = await apiWorld(DELIVERING, { platforms, onCommand: ofApi.onCommand })
  const database = await openDatabase(api.context.config.MONGODB_URL, { onCommand: ofWorker.onCommand })
  worker = await createContext(api.context.config, { platforms, database })
  workers = await startWorkers(worker)
  const user = (await createUsers(api.context, 1))[0]!
  headers = { authorization: `Bearer ${(await openTestSession(api.context, user)).accessToken}` }
  // Caches are filled, and modules loaded.
  postId = ((await send(create(['mastodon']))) as { postId: string }).postId
  await ended()
})
afterAll(async () => {
  await workers?.stop()
  await Promise.all([api?.close(), worker?.close()])
})

const create = (selectedPlatforms: readonly string[], dueInMs?: number): InjectOptions => ({
  method: 'POST',
  url: '/api/posts',
  payload: {
    content: { text: 'Counted' },
    selectedPlatforms,
    ...(dueInMs !== undefined && { scheduledAt: new Date(Date.now() + dueInMs).toISOString() }),
  },
})

async function send(request: InjectOptions) {
  const response = await api.app.inject({ headers, ...request })
  expect(response.statusCode, response.body).toBeLessThan(300)
  return response.json<{ data: unknown }>().data
}

/** Waits until every post is published, with all its notifications and events. */
async function ended(): Promise<void> {
  const { connection } = api.context.database
  const open = () =>
    connection.collection<Post>('posts').countDocuments({
      $or: [{ status: { $ne: 'COMPLETED' } }, { 'pendingEvents.0': { $exists: true } }],
    } as object)
  await poll(open, (count) => count === 0)
  for (const { startQueue, eventRelay } of [api.context, worker]) {
    await startQueue.idle()
    await eventRelay.idle()
  }
}

/** Returns the commands that `work` causes in each process, without those whose number depends on the time. */
async function count(work: () => Promise<unknown>) {
  const before = { api: { ...ofApi.counts }, worker: { ...ofWorker.counts } }
  await work()
  return { api: difference(ofApi.counts, before.api), worker: difference(ofWorker.counts, before.worker) }
}

function difference(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const changes = Object.entries(after).map(([name, total]) => [name, total - (before[name] ?? 0)] as const)
  return Object.fromEntries(changes.filter(([name, change]) => change > 0 && !name.startsWith(ARMED)))
}

/** The commands that authenticate a request. */
const AUTHENTICATED = { 'find users': 1, 'find sessions': 1 }
/** The commands that move the events of a post to the feed of its user. */
const RELAYED = {
  'relay: find posts': 1,
  'relay: find events': 1,
  'relay: update events': 1,
  'relay: insert events': 1,
  'relay: commitTransaction': 1,
  'relay: update posts': 1,
  'relay: find webhooks': 1,
}
const CREATED = {
  ...AUTHENTICATED,
  // Who is asking, and how its owner wants to be notified.
  'find users': 2,
  ...RELAYED,
  'find accounts': 1,
  'insert posts': 1,
  'insert notifications': 1,
  'findAndModify users': 1,
  commitTransaction: 1,
}
/** The commands from the claimable post to its recorded outcome. */
const DELIVERED = {
  'find posts': 1,
  // Whether the owner may publish, and how the owner wants to be notified.
  'find users': 2,
  'find accounts': 1,
  'update posts': 2,
  'insert platformPosts': 1,
}
/** The relay stores the notifications of outcomes. */
const NOTIFIED = { ...RELAYED, 'relay: insert notifications': 1 }

it.each([
  ['one platform', ['mastodon']],
  // Deliveries of one post share reads and writes.
  ['three platforms', INSTANT_PLATFORMS],
])('a lone post to %s causes these commands', async (_, platforms) => {
  const counts = await count(async () => {
    await send(create(platforms))
    await ended()
  })
  expect(counts).toEqual({ api: CREATED, worker: { ...DELIVERED, ...NOTIFIED } })
})

it('a lone scheduled post causes these commands', async () => {
  const counts = await count(async () => {
    await send(create(['mastodon'], 3 * SECOND))
    await ended()
  })
  // A delivery that is armed early reads once more shortly before the instant.
  const reads = counts.worker['find posts'] === 1 ? 1 : 2
  expect(counts).toEqual({
    api: { ...CREATED, 'find users': 3, 'aggregate posts': 1, 'update posts': 1 },
    worker: { ...DELIVERED, 'find posts': reads, 'find users': reads + 1, 'find accounts': reads, ...NOTIFIED },
  })
})

it.each([
  ['/api/posts', { 'aggregate posts': 2 }],
  ['/api/posts/:id', { 'find posts': 1, 'aggregate postSnapshots': 1 }],
  ['/api/posts/:id/status', { 'find posts': 1 }],
  ['/api/posts/:id/timeline', { 'find posts': 1 }],
  ['/api/notifications', { 'find notifications': 1, 'aggregate notifications': 2 }],
  ['/api/platform/accounts', { 'find accounts': 1 }],
  ['/api/platform/limits', { 'find accounts': 1 }],
  ['/api/events', { 'find events': 4 }],
  ['/api/auth/me', { 'find users': 2 }],
  // Responses of unchanged metrics come from memory.
  ['/api/analytics/overview', {}],
])('GET %s causes these commands', async (route, commands) => {
  const url = route.replace(':id', postId)
  await send({ url })
  expect(await count(() => send({ url }))).toEqual({ api: { ...AUTHENTICATED, ...commands }, worker: {} })
})
