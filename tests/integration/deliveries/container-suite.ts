import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { connectByPage } from '../../../sandbox/platforms/sandbox-platform.ts'
import type { ContainerStore } from '../../../sandbox/platforms/shared/graph/container-store.ts'
import type { Config } from '../../../src/config/schema.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { equalPostsPublished, expiredLoginReported, publishedOnce } from './once.ts'
import { picture } from '../../platforms/shared/containers-support.ts'
import { startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { film } from '../../support/film.ts'
import { controlOf, type Control, type LedgerEntry } from '../../support/platform-control.ts'
import { testConfig, unique } from '../../support/servers.ts'

interface Server {
  control: string
  store: Pick<ContainerStore, 'age' | 'find'>
  env(publicUrl: string): Partial<Config>
  /** Creates an account: its name and id, and the id that the login page lists. */
  newAccount(name: string): { account: string; accountId: string; consentId: string }
  stop(): Promise<void>
}

interface Suite {
  platform: Platform
  /** The platform whose login connects the account. */
  connects: Platform
  start(): Promise<Server>
  /** The last path segments for creating and publishing containers. */
  createPath: string
  publishPath: string
}

const HOUR = 3_600_000
/** Enough time to prepare everything ahead. */
const AHEAD_MS = 50_000

/** Tests the whole service with a platform on which posts are prepared as containers. */
export function containerDeliveries({ platform, connects, start, createPath, publishPath }: Suite): void {
  let server: Server
  let control: Control
  let world: DeliveryWorld

  beforeAll(async () => {
    server = await start()
    control = controlOf(server.control)
    world = await startDeliveryWorld(server.env(testConfig().PUBLIC_URL))
  })
  afterEach(() => control.clearFaults())
  afterAll(async () => {
    await world?.stop()
    await server?.stop()
  })

  /** Creates a user with an account on the platform, connected over its page. */
  async function connectUser() {
    const user = await world.user()
    const { account, accountId, consentId } = server.newAccount(unique('u').replaceAll('-', '_'))
    await connectByPage(connects, consentId, {
      async call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) {
        return (await user.call(method, path, body)).body.data as T
      },
      async follow(address) {
        const { pathname, search } = new URL(address)
        return String((await world.app.inject({ url: `${pathname}${search}` })).headers.location)
      },
    })
    const image = async (altText: string) => user.upload(Buffer.from(await picture(400, 400)), 'image/jpeg', altText)
    return {
      ...user,
      accountId,
      image,
      publish: async (text: string, more: { mediaItems?: object[]; scheduledAt?: string } = {}) => {
        const { mediaItems = [await image('One')], ...rest } = more
        return user.create({ content: { text, mediaItems }, selectedPlatforms: [platform], ...rest })
      },
      publicPosts: async (): Promise<LedgerEntry[]> =>
        (await control.ledger()).filter((entry) => entry.account === account),
    }
  }

  type ConnectedUser = Awaited<ReturnType<typeof connectUser>>

  /** Returns how many containers were created for the user. */
  async function countContainers({ accountId }: ConnectedUser): Promise<number> {
    const createCall = new RegExp(`/${accountId}/${createPath}$`)
    return (await control.requests()).filter(
      ({ method, path, status }) => method === 'POST' && createCall.test(path) && status === 200,
    ).length
  }

  /** Waits until the user's post is ready at the platform but not visible. Returns the id of its container. */
  async function untilPrepared(user: ConnectedUser, postId: string): Promise<string> {
    const readContainer = async () => {
      const post = await world.context.posts.find(postId)
      const container = post?.platformStatuses[0]?.delivery.handles['container']
      return container ? (JSON.parse(container) as { id: string }).id : ''
    }
    await expect.poll(readContainer, { timeout: 50_000 }).not.toBe('')
    expect(await user.publicPosts()).toEqual([])
    return readContainer()
  }

  /** Makes the container older by `ms`, at the platform and in the record. */
  async function age(postId: string, container: string, ms: number): Promise<void> {
    server.store.age(container, ms)
    const handle = 'platformStatuses.0.delivery.handles.container'
    const stored = JSON.stringify({ id: container, createdAt: Date.now() - ms })
    const posts = world.context.database.connection.collection<{ _id: string }>('posts')
    await posts.updateOne({ _id: postId }, { $set: { [handle]: stored } })
  }

  const inFuture = () => new Date(Date.now() + AHEAD_MS).toISOString()

  it('a post with images and a video appears with all of them', async () => {
    const user = await connectUser()
    const mediaItems = [
      await user.image('One'),
      await user.upload(film(), 'video/mp4', 'Two'),
      await user.image('Three'),
    ]
    const { status, platformStatuses } = await user.until(await user.publish('All of them', { mediaItems }))
    expect(status).toBe('COMPLETED')
    const [entry] = await user.publicPosts()
    expect(entry!.media.map(({ type }) => type)).toEqual(['image/jpeg', 'video/mp4', 'image/jpeg'])
    expect(platformStatuses[0]).toMatchObject({ platformPostId: entry!.id })
    expect((await fetch(platformStatuses[0]!.platformPostUrl!)).status).toBe(200)
  })

  it('a video appears alone', async () => {
    const user = await connectUser()
    const mediaItems = [await user.upload(film(), 'video/mp4', 'Waves')]
    expect((await user.until(await user.publish('A film', { mediaItems }))).status).toBe('COMPLETED')
    expect(await user.publicPosts()).toMatchObject([{ text: 'A film', media: [{ type: 'video/mp4' }] }])
  })

  const subject = { control: () => control, call: { method: 'POST', path: publishPath }, connectUser }
  publishedOnce(subject)
  equalPostsPublished(subject)
  expiredLoginReported(platform, subject)

  it('a post edited after its preparation shows only its last text', async () => {
    const user = await connectUser()
    const postId = await user.publish('First words', { scheduledAt: inFuture() })
    const stale = await untilPrepared(user, postId)
    const edit = { content: { text: 'Last words' }, scheduledAt: null }
    expect((await user.call('PATCH', `/api/posts/${postId}`, edit)).status).toBe(200)
    expect((await user.until(postId)).status).toBe('COMPLETED')
    expect(await user.publicPosts()).toMatchObject([{ text: 'Last words' }])
    expect(server.store.find(stale)!.isPublished).toBe(false)
  })

  it('a post moved after its preparation is not prepared again', async () => {
    const user = await connectUser()
    const postId = await user.publish('Moved', { scheduledAt: inFuture() })
    const container = await untilPrepared(user, postId)
    expect((await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: null })).status).toBe(200)
    expect((await user.until(postId)).status).toBe('COMPLETED')
    expect(await user.publicPosts()).toHaveLength(1)
    expect(await countContainers(user)).toBe(1)
    expect(server.store.find(container)!.isPublished).toBe(true)
  })

  it('a post cancelled after its preparation is never visible', async () => {
    const user = await connectUser()
    const postId = await user.publish('Cancelled', { scheduledAt: inFuture() })
    const container = await untilPrepared(user, postId)
    expect((await user.call('POST', `/api/posts/${postId}/cancel`)).status).toBe(200)
    expect((await user.until(postId)).status).toBe('CANCELLED')
    expect(await user.publicPosts()).toEqual([])
    expect(server.store.find(container)!.isPublished).toBe(false)
  })

  it('a post with an expired container gets a new one', async () => {
    const user = await connectUser()
    const postId = await user.publish('Ended', { scheduledAt: inFuture() })
    const ended = await untilPrepared(user, postId)
    await age(postId, ended, 25 * HOUR)
    await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: null })
    expect((await user.until(postId)).status).toBe('COMPLETED')
    expect(await user.publicPosts()).toHaveLength(1)
    expect(server.store.find(ended)!.isPublished).toBe(false)
  })
}
