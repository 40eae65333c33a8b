import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toSlot } from '../../../src/domain/analytics/collection.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { readHistories } from '../../faults/gather.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'
import { snapshotsIn, startMastodonWorld, type MastodonWorld } from './mastodon-world.ts'

// Makes two concurrent runs and kills their workers at random times. Another worker claims what is left, when the leases have ended.

const AUTHORS = 16
const POSTS = 45
const COLLECTORS = ['one', 'two']

const processes = createProcesses()
/** Oldest first; the last one may still be starting. */
const workers: Promise<ChildProcess>[] = []
let world: MastodonWorld
let postIds: string[]

beforeAll(async () => {
  world = await startMastodonWorld()
  workers.push(startWorker(), startWorker())
  const authors = await Promise.all(Array.from({ length: AUTHORS }, () => world.author(POSTS)))
  postIds = authors.flatMap(({ posts }) => posts.map(({ _id }) => _id))
  await Promise.all(workers)
})
afterAll(async () => {
  processes.killAll()
  await world?.close()
})

async function startWorker(): Promise<ChildProcess> {
  const worker = processes.start('src/worker.ts', { ...world.context.config, LOG_LEVEL: 'info' })
  worker.stderr!.resume()
  await waitForLogEntry(worker, 'worker ready')
  return worker
}

it('every post has exactly one snapshot after two workers were killed during the collection', async () => {
  await world.control.fault({ path: '/api/v1/statuses', action: { delayMs: 300 } })
  const runs = COLLECTORS.map((name) =>
    world.client.workflow.execute('collectPostMetrics', { taskQueue: 'analytics', workflowId: `collector-${name}` }),
  )
  const before = toSlot(new Date(), 15 * MINUTE)
  const remaining: number[] = []
  for (const isLast of [false, true]) {
    await delay(200 + Math.random() * 800)
    const killed = await workers.shift()!
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    remaining.push(postIds.length - (await snapshotsIn(world.context).countDocuments()))
    if (!isLast) workers.push(startWorker())
  }
  await Promise.all(runs)
  expect(remaining[0]).toBeGreaterThan(0)
  const after = toSlot(new Date(), 15 * MINUTE)
  const stored = await snapshotsIn(world.context).find().toArray()
  const countBySlot = new Map<string, number>()
  for (const { postId, slot } of stored) {
    const name = `${postId} ${(slot as Date).toISOString()}`
    countBySlot.set(name, (countBySlot.get(name) ?? 0) + 1)
  }
  expect(Math.max(...countBySlot.values())).toBe(1)
  expect(new Set(stored.map(({ postId }) => postId as string))).toEqual(new Set(postIds))
  // A run that began at the end of a slot may collect posts again in the next one.
  if (before.getTime() === after.getTime()) expect(stored).toHaveLength(postIds.length)
  expect(await world.context.database.connection.collection('deadLetters').countDocuments()).toBe(0)
})

it('every account has one follower count after a worker was killed during the daily run', async () => {
  const counts = world.context.database.connection.collection('accountSnapshots')
  // The collection of metrics has stored the counts of today.
  await counts.deleteMany({})
  await world.control.fault({ path: '/api/v1/accounts', action: { delayMs: 300 } })
  workers.push(startWorker())
  await Promise.all(workers)
  const options = { taskQueue: 'analytics', workflowId: 'follower-collector' }
  const running = world.client.workflow.execute('collectAccountMetrics', options)
  while ((await counts.countDocuments()) === 0) await delay(20)
  const killed = await workers.shift()!
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  expect(await running).toMatchObject({ failed: 0 })
  const stored = await counts.find().toArray()
  expect(new Set(stored.map(({ userId }) => userId as string)).size).toBe(AUTHORS)
  if (new Set(stored.map(({ slot }) => (slot as Date).getTime())).size === 1) expect(stored).toHaveLength(AUTHORS)
})

it('histories of a collection contain no email address and no account name', async () => {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  const { text } = await readHistories(address, namespace)
  expect(text).toContain('collectDuePosts')
  for await (const { _id, email } of world.context.users.all()) {
    const account = (await world.context.accounts.findDefault(_id, 'mastodon'))!
    for (const word of [email, account.handle]) expect(text.includes(word), word).toBe(false)
  }
})
