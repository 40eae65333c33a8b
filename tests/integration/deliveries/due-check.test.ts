import { Client, Connection } from '@temporalio/client'
import { MockActivityEnvironment } from '@temporalio/testing'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCheckDuePostsActivities } from '../../../src/activities/publishing/check-due-posts.ts'
import { createContext, type Context } from '../../../src/context.ts'
import { POSTING_RULES } from '../../../src/domain/posts/posting-rules.ts'
import { edit } from '../../../src/domain/posts/post-moves.ts'
import type { MediaItem, Post } from '../../../src/domain/posts/post.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import type { CheckedPosts, UncheckedPage } from '../../../src/workflows/contract/publishing.ts'
import { poll } from '../../support/delivery-world.ts'
import { film } from '../../support/film.ts'
import { buildPost } from '../../support/posts.ts'
import { connectAccounts, connectedUser, disconnectDefault, storePosts } from '../../support/published.ts'
import { testContext, unique } from '../../support/servers.ts'

let context: Context
let png: Buffer
beforeAll(async () => {
  context = await testContext({ WORKER_QUEUES: 'maintenance' })
  png = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
})
afterAll(() => context?.close())
beforeEach(async () => {
  await context.database.connection.collection('posts').deleteMany({})
})

async function check(parts: Partial<Context> = {}): Promise<CheckedPosts> {
  const { checkDuePostsPage } = createCheckDuePostsActivities({ ...context, ...parts })
  const page: UncheckedPage = await new MockActivityEnvironment().run(checkDuePostsPage, null)
  expect(page.next).toBe(null)
  return { checked: page.checked, warned: page.warned }
}

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE)
const scheduled = (userId: string, fields: Parameters<typeof buildPost>[0] = {}) =>
  buildPost({ userId, scheduledAt: inMinutes(10), ...fields }, new Date())

async function storeScheduled(fields: Parameters<typeof buildPost>[0] = {}): Promise<{ userId: string; post: Post }> {
  const { _id: userId } = await connectedUser(context, ['bluesky'])
  const post = scheduled(userId, fields)
  await storePosts(context, [post])
  return { userId, post }
}

const messagesOf = async (userId: string) =>
  (await context.notifications.listOf(userId, 10)).map(({ message }) => message)
const stored = async ({ _id }: Post) => (await context.posts.find(_id))!

async function storeImage(userId: string, body: Uint8Array = png): Promise<MediaItem> {
  const storageKey = `uploads/${userId}/${newId()}.png`
  await context.storage.put({ key: storageKey, body, contentType: 'image/png' })
  return { storageKey, mimeType: 'image/png', sizeBytes: png.length, width: 4, height: 4 } as MediaItem
}

describe('a check before a post is due', () => {
  it('warns once of an account that was disconnected, and removes the warning when it is connected again', async () => {
    const { userId, post } = await storeScheduled()
    const before = await stored(post)
    await disconnectDefault(context.accounts, userId, 'bluesky')
    expect(await check()).toEqual({ checked: 1, warned: 1 })
    expect(await messagesOf(userId)).toEqual([expect.stringContaining('Connect the account in settings')])
    expect(await check()).toEqual({ checked: 1, warned: 0 })
    expect(await messagesOf(userId)).toHaveLength(1)
    await connectAccounts(context, userId, ['bluesky'])
    expect(await check()).toEqual({ checked: 1, warned: 0 })
    expect(await messagesOf(userId)).toEqual([])
    expect(await check()).toEqual({ checked: 0, warned: 0 })
    const { dueCheck, ...after } = await stored(post)
    expect(dueCheck).toMatchObject({ warned: [] })
    expect(after).toEqual(before)
  })

  it('warns of a login that ends before the post is due', async () => {
    const { userId } = await storeScheduled()
    const accounts = context.database.connection.collection('accounts')
    await accounts.updateOne({ userId }, { $set: { 'auth.endsAt': inMinutes(5) } })
    expect(await check()).toEqual({ checked: 1, warned: 1 })
    expect(await messagesOf(userId)).toEqual([expect.stringContaining('Reconnect the account')])
  })

  it('warns of a file that is missing, and removes the warning when the file is replaced', async () => {
    const { _id: userId } = await connectedUser(context, ['bluesky'])
    const [lost, other] = [await storeImage(userId), await storeImage(userId)]
    const post = scheduled(userId, { content: { text: 'With an image', mediaItems: [lost] } })
    await storePosts(context, [post])
    await context.storage.remove(lost.storageKey)
    expect(await check()).toEqual({ checked: 1, warned: 1 })
    expect(await messagesOf(userId)).toEqual([
      expect.stringContaining('A file of the post was never uploaded, or is gone. Upload the file again'),
    ])
    await context.posts.transition(post, edit({ content: { text: 'With an image', mediaItems: [other] } }))
    expect(await check()).toEqual({ checked: 1, warned: 0 })
    expect(await messagesOf(userId)).toEqual([])
  })

  it('warns of a file and of a text in a later post of a thread, and of a comment that is too long', async () => {
    const { _id: userId } = await connectedUser(context, ['bluesky'])
    const lost = await storeImage(userId)
    await context.storage.remove(lost.storageKey)
    const segments = [
      [{ text: 'Two', mediaItems: [lost] }],
      [
        { text: 'Two', mediaItems: [] },
        { text: 'x'.repeat(301), mediaItems: [] },
      ],
    ]
    const threads = [...segments.map((one) => ({ segments: one })), { firstComment: 'x'.repeat(301) }]
    await storePosts(
      context,
      threads.map((thread, index) => scheduled(userId, { content: { text: `${index}`, mediaItems: [], ...thread } })),
    )
    expect(await check()).toEqual({ checked: 3, warned: 3 })
    expect((await messagesOf(userId)).toSorted()).toEqual([
      expect.stringMatching(/“0” .*A file of the post was never uploaded/),
      expect.stringMatching(/“1” .*Text is too long/),
      expect.stringMatching(/“2” .*Text is too long/),
    ])
  })

  it('warns of a file that is cut off, with that reason', async () => {
    const { _id: userId } = await connectedUser(context, ['bluesky'])
    const cut = await storeImage(userId, png.subarray(0, png.length - 30))
    await storePosts(context, [scheduled(userId, { content: { text: 'With an image', mediaItems: [cut] } })])
    expect(await check()).toEqual({ checked: 1, warned: 1 })
    expect(await messagesOf(userId)).toEqual([
      expect.stringContaining('A file of the post is cut off or damaged, so it cannot be shown.'),
    ])
  })

  it('warns of a video with more frames a second than the server of the account states', async () => {
    const { _id: userId } = await connectedUser(context, ['bluesky'])
    const { video } = POSTING_RULES.bluesky.media
    const media = { ...POSTING_RULES.bluesky.media, video: { ...video, frameRate: { max: 120 } } }
    const adapter = { ...context.platforms.find('bluesky')!, limits: async () => ({ ...POSTING_RULES.bluesky, media }) }
    const storageKey = `uploads/${userId}/${newId()}.mp4`
    await context.storage.put({ key: storageKey, body: film({ frameRate: 240 }), contentType: 'video/mp4' })
    const mediaItems = [{ storageKey, mimeType: 'video/mp4' }] as MediaItem[]
    await storePosts(context, [scheduled(userId, { content: { text: 'In slow motion', mediaItems } })])
    const platforms = { ...context.platforms, find: () => adapter }
    expect(await check({ platforms })).toEqual({ checked: 1, warned: 1 })
    expect(await messagesOf(userId)).toEqual([
      expect.stringContaining('Bluesky takes videos of at most 120 frames a second, and this one has 240'),
    ])
  })

  it('warns of nothing while the storage is down, and checks the post again', async () => {
    const { _id: userId } = await connectedUser(context, ['bluesky'])
    const post = scheduled(userId, { content: { text: 'With an image', mediaItems: [await storeImage(userId)] } })
    await storePosts(context, [post])
    const cutOff = await createContext({ ...context.config, S3_ENDPOINT: 'http://127.0.0.1:9' })
    try {
      expect(await check({ media: cutOff.media })).toEqual({ checked: 1, warned: 0 })
    } finally {
      await cutOff.close()
    }
    expect(await messagesOf(userId)).toEqual([])
    expect(await check()).toEqual({ checked: 1, warned: 0 })
    expect(await check()).toEqual({ checked: 0, warned: 0 })
  })

  it('warns of a quota that is used up by then, and removes the warning when there is room', async () => {
    const { _id: userId } = await connectedUser(context, ['bluesky'])
    const key = unique('account')
    const limits = [{ span: 'hour', limit: 2, windowMs: HOUR }]
    const bluesky = { ...context.platforms.find('bluesky')!, publicationQuota: () => ({ key, limits }) }
    const platforms = { ...context.platforms, find: () => bluesky }
    const taken = await context.publicationLedger.request(key, {
      id: 'published',
      dueAt: new Date(),
      limits,
      arrivalMs: SECOND,
    })
    await storePosts(context, [scheduled(userId, { scheduledAt: inMinutes(9) }), scheduled(userId)])
    expect(await check({ platforms })).toEqual({ checked: 2, warned: 1 })
    const [message] = await messagesOf(userId)
    expect(message).toContain('may be late on Bluesky: Bluesky accepts 2 posts of an account in an hour')
    expect(message).toContain('Move it or another post of the account to a later time')
    if ('grant' in taken) await context.publicationLedger.takeBack(key, taken.grant)
    expect(await check({ platforms })).toEqual({ checked: 1, warned: 0 })
    expect(await messagesOf(userId)).toEqual([])
  })

  it('is repeated after a change, and not made earlier than its lead', async () => {
    const { userId, post } = await storeScheduled()
    await storePosts(context, [scheduled(userId, { scheduledAt: inMinutes(20) })])
    expect(await check()).toEqual({ checked: 1, warned: 0 })
    await context.posts.transition(post, edit({ content: { text: 'Changed', mediaItems: [] } }))
    expect(await check()).toEqual({ checked: 1, warned: 0 })
    await context.posts.transition(post, edit({ scheduledAt: inMinutes(14) }))
    expect(await check()).toEqual({ checked: 1, warned: 0 })
    expect(await check()).toEqual({ checked: 0, warned: 0 })
  })

  it('owners take turns, so that many posts of one do not delay the check of another', async () => {
    const { _id: busy } = await connectedUser(context, ['bluesky'])
    const many = Array.from({ length: 300 }, () => scheduled(busy))
    const { _id: other } = await connectedUser(context, ['bluesky'])
    await storePosts(context, [...many, scheduled(other, { scheduledAt: inMinutes(12) })])
    const order: string[] = []
    const posts: Context['posts'] = {
      ...context.posts,
      async saveDueCheck(post, dueCheck) {
        order.push(post.userId)
        await context.posts.saveDueCheck(post, dueCheck)
      },
    }
    expect(await check({ posts })).toEqual({ checked: 301, warned: 0 })
    expect(order.indexOf(other)).toBeLessThan(100)
  })
})

it('the Schedule checkDuePosts runs the check', async () => {
  const { userId, post } = await storeScheduled()
  await disconnectDefault(context.accounts, userId, 'bluesky')
  const workers = await startWorkers(context)
  const connection = await Connection.connect({ address: context.config.TEMPORAL_ADDRESS })
  try {
    await context.orchestrator.ensureSchedules(DAY)
    const client = new Client({ connection, namespace: context.config.TEMPORAL_NAMESPACE })
    await client.schedule.getHandle('checkDuePosts').trigger()
    await poll(
      () => stored(post),
      ({ dueCheck }) => dueCheck?.warned.length === 1,
      30 * SECOND,
    )
    expect(await messagesOf(userId)).toHaveLength(1)
  } finally {
    await connection.close()
    await workers.stop()
  }
})
