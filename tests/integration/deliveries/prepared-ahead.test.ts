import { Client, Connection } from '@temporalio/client'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { poll } from '../../support/delivery-world.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'

// Posts on all platforms whose media is prepared before they are due.

type User = Awaited<ReturnType<PlatformsWorld['user']>>

/** Less than the minute by which images are prepared ahead, so preparation starts immediately. */
const AHEAD_MS = 45 * SECOND

const processes = createProcesses()
let world: PlatformsWorld
let temporal: Connection
let client: Client
let platforms: Platform[]

beforeAll(async () => {
  world = await startPlatformsWorld()
  platforms = world.platforms.map(({ platform }) => platform)
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  temporal = await Connection.connect({ address })
  client = new Client({ connection: temporal, namespace })
})
afterEach(() => world?.clearFaults())
afterAll(async () => {
  processes.killAll()
  await temporal?.close()
  await world?.stop()
})

async function picture(user: User, background: string) {
  const bytes = await sharp({ create: { width: 640, height: 640, channels: 3, background } })
    .jpeg()
    .toBuffer()
  return user.upload(Buffer.from(bytes), 'image/jpeg')
}

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const handleOf = (postId: string) => client.workflow.getHandle(publishPostWorkflowId(postId))

/** Waits until this number of preparations of the post have completed. */
async function untilPrepared(postId: string, times: number): Promise<void> {
  await world.context.startQueue.idle()
  await poll(
    async () => {
      const { events = [] } = await handleOf(postId).fetchHistory()
      return events?.filter((event) => event.activityTaskCompletedEventAttributes).length ?? 0
    },
    (completed) => completed >= times,
  )
}

async function createPrepared(user: User, text: string): Promise<string> {
  const mediaItems = [await picture(user, 'teal')]
  const postId = await user.create({
    content: { text, mediaItems },
    selectedPlatforms: platforms,
    scheduledAt: inMs(AHEAD_MS),
  })
  await untilPrepared(postId, platforms.length)
  return postId
}

async function published(user: User) {
  const entries = await Promise.all(platforms.map(async (one) => [one, await user.published(one)] as const))
  return Object.fromEntries(
    entries.map(([one, records]) => [one, records.map(({ text, media }) => [text, media.length])]),
  )
}

const everywhere = (records: unknown) => Object.fromEntries(platforms.map((one) => [one, records]))

it(
  'a prepared post is not visible before it is due, nor after a cancel',
  async () => {
    const user = await world.user()
    const postId = await createPrepared(user, 'Never')
    expect(await published(user)).toEqual(everywhere([]))
    expect((await user.call('POST', `/api/posts/${postId}/cancel`)).status).toBe(200)
    expect(await handleOf(postId).result()).toMatchObject({ status: 'CANCELLED' })
    expect(await published(user)).toEqual(everywhere([]))
  },
  2 * MINUTE,
)

it(
  'a prepared post that was edited is published once with its last text',
  async () => {
    const user = await world.user()
    const postId = await createPrepared(user, 'First words')
    const content = { text: 'Last words', mediaItems: [await picture(user, 'red')] }
    expect((await user.call('PATCH', `/api/posts/${postId}`, { content })).status).toBe(200)
    await untilPrepared(postId, 2 * platforms.length)
    expect((await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: null })).status).toBe(200)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await published(user)).toEqual(everywhere([['Last words', 1]]))
  },
  2 * MINUTE,
)

it(
  'a moved post is published without preparing it again',
  async () => {
    const user = await world.user()
    const postId = await createPrepared(user, 'Sooner')
    const writes = async () => {
      const all = await Promise.all(
        world.platforms.map(async ({ control, platform }) => {
          const { accountId } = user.accountOn(platform)
          const requests = (await control.requests()).filter(({ account }) => account === accountId)
          return requests.filter(({ method }) => method !== 'GET').length
        }),
      )
      return all.reduce((sum, count) => sum + count, 0)
    }
    const before = await writes()
    expect((await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: null })).status).toBe(200)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await published(user)).toEqual(everywhere([['Sooner', 1]]))
    // Only the visible calls are new: nothing is uploaded or created again.
    expect((await writes()) - before).toBe(platforms.length)
  },
  2 * MINUTE,
)

it(
  'another worker continues when a worker is killed during preparation',
  async () => {
    const user = await world.user()
    await world.stopWorkers()
    const worker = processes.start('src/worker.ts', { ...world.context.config, LOG_LEVEL: 'info' })
    await waitForLogEntry(worker, 'worker ready')
    const { control } = world.find('bluesky')
    const { accountId: account } = user.accountOn('bluesky')
    await control.fault({ path: 'uploadBlob', account, times: 1, action: { hang: true } })
    const uploads = async () =>
      (await control.requests()).filter((request) => request.account === account && request.path.includes('uploadBlob'))
    const scheduledAt = inMs(AHEAD_MS)
    const postId = await user.create({
      content: { text: 'Taken over', mediaItems: [await picture(user, 'blue')] },
      selectedPlatforms: ['bluesky'],
      scheduledAt,
    })
    await poll(uploads, ({ length }) => length === 1)
    worker.kill('SIGKILL')
    await world.startWorkers()
    await untilPrepared(postId, 1)
    expect((await uploads()).map(({ status }) => status)).toEqual([null, 200])
    expect(await user.published('bluesky')).toEqual([])
    expect(await user.until(postId, ['COMPLETED'])).toMatchObject({ platformStatuses: [{ attemptCount: 1 }] })
    expect(await user.published('bluesky')).toHaveLength(1)
    expect(await uploads()).toHaveLength(2)
  },
  3 * MINUTE,
)
