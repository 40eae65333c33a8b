import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectByPage } from '../../../sandbox/platforms/sandbox-platform.ts'
import { startThreads } from '../../../sandbox/platforms/threads.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { toPublicationQuota } from '../../../src/platforms/shared/quota-subjects.ts'
import { HOUR, SECOND } from '../../../src/domain/shared/times.ts'
import { controlOf } from '../../support/platform-control.ts'
import { poll, startDeliveryWorld, type DeliveryWorld, type PostStatusData } from '../../support/delivery-world.ts'
import { testConfig, unique } from '../../support/servers.ts'

/** The window, the deadline of a call, and the time that a call may begin late: so long a place is taken. */
const WINDOW_MS = SECOND

let world: DeliveryWorld
beforeAll(async () => {
  world = await startDeliveryWorld({ PUBLISH_TIMEOUT_MS: 2_000 })
  // The server of a test has no documented limit.
  Object.assign(world.context.platforms.find('bluesky')!, {
    publicationQuota: ({ accountId }: { accountId: string }) => ({
      ...toPublicationQuota('bluesky', accountId),
      limits: [{ span: 'second', limit: 2, windowMs: WINDOW_MS }],
    }),
  })
})
afterAll(() => world?.stop())

const entryOf = ({ platformStatuses }: PostStatusData) => platformStatuses[0]!
const isDelayed = (status: PostStatusData) => entryOf(status).errorCode === 'QUOTA_EXCEEDED'

describe('a post beyond the quota of its account', () => {
  it('is accepted with a warning, says that it waits, can be cancelled, and is published in due order', async () => {
    const user = await world.user()
    const texts = ['first', 'second', 'cancelled', 'third', 'fourth']
    const post = (text: string) =>
      user.call('POST', '/api/posts', { content: { text }, selectedPlatforms: ['bluesky'] })
    const ids: string[] = []
    for (const text of texts) {
      const { body } = await post(text)
      const { postId, warnings } = body.data
      const isBeyond = ids.length >= 2
      expect(warnings.map(({ code }: { code: string }) => code)).toEqual(isBeyond ? ['QUOTA_LIKELY_EXCEEDED'] : [])
      if (isBeyond) {
        expect(warnings[0]).toMatchObject({ path: 'selectedPlatforms.0', platform: 'bluesky' })
        expect(Date.parse(warnings[0].nextFreeAt)).toBeGreaterThan(Date.now())
      }
      ids.push(postId)
      await (isBeyond ? poll(() => user.status(postId), isDelayed) : user.until(postId, ['COMPLETED']))
    }
    const delayed = await user.status(ids[3]!)
    expect(delayed.status).toBe('PENDING')
    expect(entryOf(delayed)).toMatchObject({ status: 'pending', attemptCount: 0 })
    expect(entryOf(delayed).error).toContain('Bluesky accepts 2 posts of an account')
    expect(Date.parse(entryOf(delayed).nextAttemptAt!)).toBeGreaterThan(Date.now())
    const { body: limits } = await user.call('GET', '/api/platform/limits')
    expect(limits.data.bluesky.publications).toMatchObject([{ limit: 2, used: 2, waiting: 3, windowSeconds: 1 }])
    expect(limits.data.facebook.publications).toBe(undefined)
    expect((await user.call('POST', `/api/posts/${ids[2]}/cancel`)).status).toBe(200)
    for (const id of [ids[3]!, ids[4]!]) await user.until(id, ['COMPLETED'])
    const published = (await user.published()).map(({ text }) => text)
    expect(published).toEqual(['first', 'second', 'third', 'fourth'])
    const { body: timeline } = await user.call('GET', `/api/posts/${ids[3]}/timeline`)
    expect(JSON.stringify(timeline.data)).toContain('QUOTA_EXCEEDED')
  })

  it('is published although it waited for longer than posts may be late', async () => {
    const user = await world.user()
    const id = await user.create({ content: { text: 'late' }, scheduledAt: new Date(Date.now() + HOUR).toISOString() })
    const posts = world.context.database.connection.collection<{ _id: string }>('posts')
    const cause = { 'platformStatuses.0.errorCode': 'QUOTA_EXCEEDED', 'platformStatuses.0.error': 'It waited' }
    const longAgo = new Date(Date.now() - 50 * HOUR)
    await posts.updateOne({ _id: id }, { $set: { ...cause, dueAt: longAgo }, $inc: { revision: 1 } })
    await world.context.orchestrator.signal((await world.context.posts.find(id))!, 'changed')
    await user.until(id, ['COMPLETED'])
  })
})

it('a quota that only the platform knows delays the post that reaches it and the posts after it', async () => {
  const threads = await startThreads({ quota: 2 })
  const { id: appId, secret } = threads.createApp({
    name: 'postonce',
    redirectUris: [buildCallbackUrl(testConfig().PUBLIC_URL, 'threads')],
  })
  const tight = await startDeliveryWorld({
    THREADS_APP_ID: appId,
    THREADS_APP_SECRET: secret,
    THREADS_AUTHORIZE_URL: threads.url,
    THREADS_GRAPH_URL: threads.url,
  })
  try {
    const user = await tight.user({ connected: false })
    const username = unique('u').replaceAll('-', '_')
    await connectByPage('threads', threads.createAccount({ username }).id, {
      async call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) {
        return (await user.call(method, path, body)).body.data as T
      },
      async follow(address) {
        const { pathname, search } = new URL(address)
        return String((await tight.app.inject({ url: `${pathname}${search}` })).headers.location)
      },
    })
    const create = (text: string) => user.create({ content: { text }, selectedPlatforms: ['threads'] })
    for (const text of ['one', 'two']) await user.until(await create(text), ['COMPLETED'])
    const refused = await create('three')
    const entry = entryOf(await poll(() => user.status(refused), isDelayed))
    expect(entry.error).toContain('Threads accepts 2 posts of an account in 24 hours')
    const leftMs = Date.parse(entry.nextAttemptAt!) - Date.now()
    expect(leftMs).toBeGreaterThan(HOUR - 60 * SECOND)
    expect(leftMs).toBeLessThanOrEqual(HOUR)
    const before = (await controlOf(threads.control).requests()).filter(({ path }) => path.endsWith('/threads_publish'))
    const next = await create('four')
    expect(entryOf(await poll(() => user.status(next), isDelayed)).attemptCount).toBe(0)
    const after = (await controlOf(threads.control).requests()).filter(({ path }) => path.endsWith('/threads_publish'))
    expect(after).toHaveLength(before.length)
    const { body } = await user.call('GET', '/api/platform/limits')
    expect(body.data.threads.publications).toMatchObject([{ limit: 2, used: 2, windowSeconds: 86_400 }])
  } finally {
    await tight.stop()
    await threads.stop()
  }
})
