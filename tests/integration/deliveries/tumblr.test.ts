import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import { startTumblr, type Tumblr } from '../../../sandbox/platforms/tumblr.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { equalPostsPublished, publishedOnce } from './once.ts'
import { film } from '../../support/film.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { controlOf, type Control } from '../../support/platform-control.ts'
import { testConfig, unique } from '../../support/servers.ts'

const POSTS = '/posts/'

let tumblr: Tumblr
let control: Control
let world: DeliveryWorld

beforeAll(async () => {
  tumblr = await startTumblr()
  control = controlOf(tumblr.control)
  const { consumerKey, consumerSecret } = tumblr.createApp({
    name: 'postonce',
    callbackUrl: buildCallbackUrl(testConfig().PUBLIC_URL, 'tumblr'),
  })
  world = await startDeliveryWorld({
    TUMBLR_CONSUMER_KEY: consumerKey,
    TUMBLR_CONSUMER_SECRET: consumerSecret,
    TUMBLR_AUTHORIZE_URL: tumblr.url,
    TUMBLR_API_URL: tumblr.url,
  })
})
afterEach(() => control.clearFaults())
afterAll(async () => {
  await world?.stop()
  await tumblr?.stop()
})

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()
const newBlog = () => tumblr.createAccount({ name: unique('b').replace(/\W/g, '') })

/** Creates a user with a connected Tumblr blog. */
async function connectUser() {
  const user = await world.user()
  const blog = newBlog()
  const connect = async (loginId = blog.loginId, query = '') => {
    const { body } = await user.call('GET', `/api/platform/tumblr/connect${query}`)
    const { pathname, search } = new URL(await consent(body.data.authUrl, loginId))
    const back = await world.app.inject({ url: `${pathname}${search}` })
    expect(back.headers.location).toContain('success=tumblr_connected')
  }
  await connect()
  const image = async (altText?: string) => {
    const picture = sharp({ create: { width: 64, height: 48, channels: 3, background: '#336699' } })
    return user.upload(new Uint8Array(await picture.png().toBuffer()), 'image/png', altText)
  }
  const publish = (text: string, more: object = {}) =>
    user.create({ content: { text }, selectedPlatforms: ['tumblr'], ...more })

  return {
    ...user,
    blog,
    connect,
    image,
    publish,
    publicPosts: async (on = blog) => (await control.ledger()).filter((entry) => entry.account === on.name),
    drafts: () => tumblr.draftsOf(blog),
    /** Creates a scheduled post with an image and waits until its draft exists. */
    async createPrepared(text: string, more: object = {}) {
      const content = { text, mediaItems: [await image()] }
      const postId = await publish(text, { content, scheduledAt: inSeconds(40), ...more })
      await poll(
        async () => tumblr.draftsOf(blog),
        (drafts) => drafts.some((draft) => draft.text === text),
      )
      return postId
    },
    /** Resolves when the blog has no drafts. */
    untilNoDrafts: () =>
      poll(
        async () => tumblr.draftsOf(blog),
        (drafts) => drafts.length === 0,
      ),
  }
}

describe('a post on Tumblr', () => {
  it('a post is published with images and video, and its page shows it', async () => {
    const user = await connectUser()
    const mediaItems = [await user.image('A blue field'), await user.upload(film(), 'video/mp4')]
    const postId = await user.publish('', { content: { text: 'All of it #here', mediaItems } })
    const { status, platformStatuses } = await user.until(postId)
    expect(status).toBe('COMPLETED')
    const [entry, ...others] = await user.publicPosts()
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      text: 'All of it #here',
      media: [
        { type: 'image/png', altText: 'A blue field' },
        { type: 'video/mp4', altText: '' },
      ],
    })
    const platformPostUrl = `${tumblr.url}/${user.blog.name}/${entry!.id}`
    expect(platformStatuses[0]).toMatchObject({ platformPostId: entry!.id, platformPostUrl })
    expect(await (await fetch(platformPostUrl)).text()).toContain('All of it #here')
    expect(user.drafts()).toEqual([])
  })

  it('two blogs have their own text and outcome, and one is published when the other is disconnected before the instant', async () => {
    const user = await connectUser()
    const second = newBlog()
    await user.connect(second.loginId, '?replace=false')
    const accounts = (await user.call('GET', '/api/platform/accounts')).body.data as {
      _id: string
      platform: string
      profile: { handle: string }
    }[]
    const { _id } = accounts.find(({ profile }) => profile.handle === second.name)!
    const toBoth = { selectedAccounts: [_id], accountSpecificContent: { [_id]: { text: 'For the other blog' } } }
    expect(await user.until(await user.publish('For the blog', toBoth))).toMatchObject({
      status: 'COMPLETED',
      platformStatuses: [{ accountName: user.blog.name }, { accountName: second.name, accountId: _id }],
    })
    expect((await user.publicPosts()).map(({ text }) => text)).toEqual(['For the blog'])
    expect((await user.publicPosts(second)).map(({ text }) => text)).toEqual(['For the other blog'])

    const postId = await user.createPrepared('Soon', { selectedAccounts: [_id], scheduledAt: inSeconds(20) })
    expect((await user.call('DELETE', `/api/platform/accounts/${_id}`)).status).toBe(200)
    const { status, platformStatuses } = await user.until(postId)
    expect(status).toBe('PARTIAL_SUCCESS')
    expect(platformStatuses).toMatchObject([{ status: 'completed' }, { errorCode: 'PLATFORM_NOT_CONNECTED' }])
    expect((await user.publicPosts()).map(({ text }) => text)).toContain('Soon')
    expect(await user.publicPosts(second)).toHaveLength(1)
  })

  const subject = { control: () => control, call: { method: 'PUT', path: POSTS }, connectUser }
  publishedOnce(subject)
  equalPostsPublished(subject)

  it('a post fails with an expired login, and a retry after a new login publishes it', async () => {
    const user = await connectUser()
    await control.revoke(user.blog.uuid)
    const postId = await user.publish('Too late')
    const { platformStatuses } = await user.until(postId)
    expect(platformStatuses[0]).toMatchObject({ status: 'failed', errorCode: 'unauthorized' })
    const { body } = await user.call('GET', '/api/platform/find')
    expect(body.data.tumblr.health).toMatchObject({ status: 'expired', needsReconnection: true })
    expect(await user.publicPosts()).toEqual([])
    await user.connect()
    await user.call('POST', `/api/posts/${postId}/retry`)
    expect(await user.until(postId, ['COMPLETED'])).toMatchObject({ status: 'COMPLETED' })
  })
})

describe('a prepared post on Tumblr', () => {
  it('a prepared post that is edited is published with its new text and leaves no draft', async () => {
    const user = await connectUser()
    const postId = await user.createPrepared('First words')
    const edited = await user.call('PATCH', `/api/posts/${postId}`, {
      content: { text: 'Second words' },
      scheduledAt: inSeconds(3),
    })
    expect(edited.status).toBe(200)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.publicPosts()).toMatchObject([{ text: 'Second words' }])
    await user.untilNoDrafts()
  })

  it('a prepared post that is moved keeps its draft and is published once', async () => {
    const user = await connectUser()
    const postId = await user.createPrepared('Moved')
    const before = user.drafts()
    await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: inSeconds(3) })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    const creates = (await control.requests()).filter(
      ({ method, path, account }) => method === 'POST' && path.endsWith('/posts') && account === user.blog.uuid,
    )
    expect(creates).toHaveLength(1)
    expect(before).toHaveLength(1)
    expect(await user.publicPosts()).toMatchObject([{ text: 'Moved' }])
    expect(user.drafts()).toEqual([])
  })

  it.each([
    ['cancelled', 'POST', '/cancel'],
    ['deleted', 'DELETE', ''],
  ] as const)('a prepared post that is %s leaves no draft', async (_, method, path) => {
    const user = await connectUser()
    const postId = await user.createPrepared('Unwanted')
    expect((await user.call(method, `/api/posts/${postId}${path}`)).status).toBe(200)
    await user.untilNoDrafts()
    expect(await user.publicPosts()).toEqual([])
  })

  it('a prepared post that no longer includes Tumblr leaves no draft', async () => {
    const user = await connectUser()
    const postId = await user.createPrepared('Elsewhere', { selectedPlatforms: ['bluesky', 'tumblr'] })
    expect((await user.call('PATCH', `/api/posts/${postId}`, { selectedPlatforms: ['bluesky'] })).status).toBe(200)
    await user.untilNoDrafts()
    await user.call('POST', `/api/posts/${postId}/cancel`)
    expect(await user.publicPosts()).toEqual([])
  })

  it('a prepared post of a reconnected account is published once and leaves no draft', async () => {
    const user = await connectUser()
    const postId = await user.createPrepared('Connected anew')
    await user.connect()
    await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: inSeconds(3) })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.publicPosts()).toHaveLength(1)
    await user.untilNoDrafts()
  })

  it('a prepared post for a replaced blog fails, and is published on neither blog', async () => {
    const user = await connectUser()
    const postId = await user.createPrepared('Exchanged')
    const other = newBlog()
    await user.connect(other.loginId)
    await user.call('PATCH', `/api/posts/${postId}`, { scheduledAt: inSeconds(3) })
    const notConnected = { status: 'failed', errorCode: 'PLATFORM_NOT_CONNECTED' }
    expect(await user.until(postId)).toMatchObject({ status: 'FAILED', platformStatuses: [notConnected] })
    expect([await user.publicPosts(other), await user.publicPosts()]).toEqual([[], []])
  })

  it('a refused post is prepared again by a retry and leaves no draft', async () => {
    const user = await connectUser()
    const body = { meta: { status: 400, msg: 'Bad Request' }, response: [], errors: [{ title: 'no', code: 8001 }] }
    await control.fault({ method: 'PUT', path: POSTS, times: 1, action: { status: 400, body } })
    const postId = await user.publish('Refused first')
    expect(await user.until(postId)).toMatchObject({ status: 'FAILED' })
    expect((await user.call('POST', `/api/posts/${postId}/retry`)).status).toBe(200)
    expect(await user.until(postId, ['COMPLETED'])).toMatchObject({ status: 'COMPLETED' })
    expect(await user.publicPosts()).toHaveLength(1)
    await user.untilNoDrafts()
  })
})
