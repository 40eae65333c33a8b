import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startMeta, type Meta } from '../../../sandbox/platforms/meta.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { uploadImage } from '../../faults/image.ts'
import { decide, uniqueName } from '../../platforms/shared/meta-support.ts'
import { publishedOnce } from './once.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { controlOf, type Control } from '../../support/platform-control.ts'
import { testConfig } from '../../support/servers.ts'
import { film } from '../../support/film.ts'

const FEED = '/feed'
/** The call that publishes a draft. */
const VISIBLE = { method: 'POST', path: 'published=true' }

let meta: Meta
let control: Control
let world: DeliveryWorld

beforeAll(async () => {
  meta = await startMeta({ processingMs: 500 })
  control = controlOf(meta.facebook.control)
  const { id, secret } = meta.createApp({
    name: 'postonce',
    redirectUris: [buildCallbackUrl(testConfig().PUBLIC_URL, 'facebook')],
  })
  world = await startDeliveryWorld({
    FACEBOOK_APP_ID: id,
    FACEBOOK_APP_SECRET: secret,
    FACEBOOK_DIALOG_URL: meta.facebook.url,
    FACEBOOK_GRAPH_URL: meta.facebook.url,
    INSTAGRAM_GRAPH_URL: meta.instagram.url,
  })
})
afterEach(() => control.clearFaults())
afterAll(async () => {
  await world?.stop()
  await meta?.stop()
})

/** Creates a user with a connected page. */
async function connectUser() {
  const user = await world.user()
  const { person, pages } = meta.createPerson({
    name: uniqueName('Ann '),
    pages: [{ name: uniqueName('Page '), instagram: { username: uniqueName('ig') } }],
  })
  const page = pages[0]!
  async function connect(): Promise<void> {
    const { body } = await user.call('GET', '/api/platform/facebook/connect')
    const { pathname, search } = new URL(await decide(body.data.url, person.id))
    const back = await world.app.inject({ url: `${pathname}${search}` })
    expect(back.headers.location).toContain('success=facebook_connected')
  }
  await connect()
  const requests = async (method: string, part: string) =>
    (await control.requests()).filter((one) => one.method === method && one.path.includes(`${page.id}${part}`))
  return {
    ...user,
    page,
    requests,
    reconnect: connect,
    health: async (platform = 'facebook') => (await user.call('GET', '/api/platform/find')).body.data[platform].health,
    publish: (content: object, more: object = {}) => user.create({ content, selectedPlatforms: ['facebook'], ...more }),
    publicPosts: async () => (await control.ledger()).filter((entry) => entry.account === page.id),
    upload: () => uploadImage(user.call),
    async uploadVideo() {
      const bytes = film()
      const input = { contentType: 'video/mp4', sizeBytes: bytes.length }
      const { data } = (await user.call('POST', '/api/posts/media/upload', input)).body
      const headers = { 'content-type': 'video/mp4' }
      expect((await fetch(data.uploadUrl, { method: 'PUT', headers, body: bytes })).status).toBe(200)
      return { storageKey: data.storageKey as string, mimeType: 'video/mp4', sizeBytes: bytes.length }
    },
    /** Waits until `count` photos of the page are uploaded. */
    untilUploaded: (count: number) =>
      poll(
        () => requests('POST', '/photos'),
        (uploads) => uploads.filter(({ status }) => status === 200).length >= count,
      ),
  }
}

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

it('a post is published on Facebook and Bluesky', async () => {
  const user = await connectUser()
  const postId = await user.publish({ text: 'Both' }, { selectedPlatforms: ['bluesky', 'facebook'] })
  const { status, platformStatuses } = await user.until(postId)
  expect(status).toBe('COMPLETED')
  const [entry] = await user.publicPosts()
  expect(entry).toMatchObject({ text: 'Both' })
  const [, onFacebook] = platformStatuses
  expect(onFacebook).toMatchObject({ platformPostId: entry!.id })
  expect(await (await fetch(onFacebook!.platformPostUrl!)).text()).toContain('Both')
  expect(await user.published()).toMatchObject([{ text: 'Both' }])
})

it('photos are published with their text and descriptions', async () => {
  const user = await connectUser()
  const mediaItems = [{ ...(await user.upload()), altText: 'A picture' }, await user.upload()]
  expect(await user.until(await user.publish({ text: 'Two', mediaItems }))).toMatchObject({ status: 'COMPLETED' })
  expect(await user.publicPosts()).toMatchObject([
    { text: 'Two', media: [{ altText: 'A picture' }, { altText: 'Plain blue' }] },
  ])
})

it('a video is published at its URL', async () => {
  const user = await connectUser()
  const post = await user.until(await user.publish({ text: 'Waves', mediaItems: [await user.uploadVideo()] }))
  expect(post.status).toBe('COMPLETED')
  const [entry] = await user.publicPosts()
  expect(entry).toMatchObject({ text: 'Waves', media: [{ type: 'video/mp4' }] })
  const { platformPostId, platformPostUrl } = post.platformStatuses[0]!
  expect(platformPostId).toBe(entry!.id)
  expect((await fetch(platformPostUrl!)).status).toBe(200)
})

const DUPLICATE = { error: { message: '(#506) Duplicate status message', type: 'OAuthException', code: 506 } }

publishedOnce({
  control: () => control,
  call: VISIBLE,
  async connectUser() {
    const user = await connectUser()
    return { ...user, publish: (text) => user.publish({ text }) }
  },
})

it('a post whose answer calls it a repeat of itself is published once', async () => {
  const user = await connectUser()
  const action = { statusAfterAccept: 400, body: DUPLICATE }
  await control.fault({ ...VISIBLE, times: 1, action })
  const { status, platformStatuses } = await user.until(await user.publish({ text: 'Only once' }))
  expect(status).toBe('COMPLETED')
  const records = await user.publicPosts()
  expect(records).toHaveLength(1)
  expect(platformStatuses[0]).toMatchObject({ platformPostId: records[0]!.id, attemptCount: 1 })
})

it('photos with a lost answer are published once', async () => {
  const user = await connectUser()
  await control.fault({ ...VISIBLE, times: 1, action: { dropAfterAccept: true } })
  const postId = await user.publish({ text: 'Once', mediaItems: [await user.upload()] })
  expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  expect(await user.publicPosts()).toHaveLength(1)
})

it('a video with a lost answer is published once', async () => {
  const user = await connectUser()
  await control.fault({ ...VISIBLE, times: 1, action: { dropAfterAccept: true } })
  const postId = await user.publish({ text: 'Found', mediaItems: [await user.uploadVideo()] })
  const { status, platformStatuses } = await user.until(postId)
  expect(status).toBe('COMPLETED')
  const [entry, ...others] = await user.publicPosts()
  expect(others).toEqual([])
  expect(platformStatuses[0]).toMatchObject({ platformPostId: entry!.id })
})

it('a video that Facebook cannot process is not published, and its post says why', async () => {
  const user = await connectUser()
  meta.failNextVideo('The copyright check failed.')
  const postId = await user.publish({ text: 'Copied', mediaItems: [await user.uploadVideo()] })
  const { platformStatuses } = await poll(
    () => user.status(postId),
    ({ platformStatuses: [entry] }) => Boolean(entry!.error),
  )
  expect(platformStatuses[0]).toMatchObject({ status: 'pending', errorCode: 'media_fetch_failed' })
  expect(platformStatuses[0]!.error).toMatch(/^Facebook could not process the video\. .*The copyright check failed\./)
  expect(await user.publicPosts()).toEqual([])
})

it('a lost call is repeated immediately, because a draft is published once', async () => {
  const user = await connectUser()
  await control.fault({ ...VISIBLE, times: 1, action: { cut: true } })
  const { status } = await user.until(await user.publish({ text: 'Repeated' }))
  expect(status).toBe('COMPLETED')
  expect(await user.publicPosts()).toHaveLength(1)
})

it('a post is found next to a post that another person published meanwhile', async () => {
  const user = await connectUser()
  await control.fault({ ...VISIBLE, times: 1, action: { dropAfterAccept: true } })
  meta.publishElsewhere(user.page, 'By hand')
  const { status, platformStatuses } = await user.until(await user.publish({ text: 'By postonce' }))
  expect(status).toBe('COMPLETED')
  const own = (await user.publicPosts()).filter(({ text }) => text === 'By postonce')
  expect(own.map(({ id }) => id)).toEqual([platformStatuses[0]!.platformPostId])
})

it('a post on a page without drafts that a person may have edited is not sent again', async () => {
  const user = await connectUser()
  meta.publishElsewhere(user.page, 'By hand')
  const refused = { error: { type: 'OAuthException', code: 200, message: 'No drafts' } }
  await control.fault({ method: 'POST', path: FEED, times: 1, action: { status: 403, body: refused } })
  await control.fault({ method: 'POST', path: FEED, times: 1, action: { cut: true } })
  const postId = await user.publish({ text: 'Lost on its way' })
  interface Event {
    type: string
    result?: string
  }
  const timeline = async (): Promise<Event[]> =>
    (await user.call('GET', `/api/posts/${postId}/timeline`)).body.data.events
  const reconciled = await poll(timeline, (events) => events.some(({ type }) => type === 'reconcile'))
  expect(reconciled.find(({ type }) => type === 'reconcile')).toMatchObject({ result: 'unknown' })
  expect(await user.status(postId)).toMatchObject({ status: 'PROCESSING' })
  expect(await user.requests('POST', FEED)).toHaveLength(2)
})

it('a post cancelled after its photo upload leaves nothing visible', async () => {
  const user = await connectUser()
  const scheduledAt = inSeconds(20)
  const mediaItems = [await user.upload()]
  const cancelled = await user.publish({ text: 'Cancelled', mediaItems }, { scheduledAt })
  const other = await user.publish({ text: 'At the same instant' }, { scheduledAt })
  await user.untilUploaded(1)
  expect((await user.call('POST', `/api/posts/${cancelled}/cancel`)).status).toBe(200)
  expect(await user.until(other)).toMatchObject({ status: 'COMPLETED' })
  expect(await user.status(cancelled)).toMatchObject({ status: 'CANCELLED' })
  expect(await user.publicPosts()).toMatchObject([{ text: 'At the same instant', media: [] }])
})

it('a post changed after its photo upload is published in its new form', async () => {
  const user = await connectUser()
  const mediaItems = [await user.upload(), await user.upload()]
  const postId = await user.publish({ text: 'Before', mediaItems }, { scheduledAt: inSeconds(20) })
  await user.untilUploaded(2)
  const content = { text: 'After', mediaItems: [{ ...mediaItems[1], altText: 'The other one' }] }
  expect((await user.call('PATCH', `/api/posts/${postId}`, { content })).status).toBe(200)
  expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  expect(await user.publicPosts()).toMatchObject([{ text: 'After', media: [{ altText: 'The other one' }] }])
})

const refusal = (error: object) => ({ status: 400, body: { error: { type: 'OAuthException', ...error } } })

it('the sentence of Facebook about a checkpoint is in the post, in the health of the account and in later posts', async () => {
  const user = await connectUser()
  const message = 'You cannot access the app till you log in to www.facebook.com and follow the instructions given.'
  const action = refusal({ code: 190, error_subcode: 459, message })
  await control.fault({ ...VISIBLE, times: 1, action })
  const { platformStatuses } = await user.until(await user.publish({ text: 'Checked' }))
  expect(platformStatuses[0]).toMatchObject({ status: 'failed', errorCode: 'unauthorized' })
  expect(platformStatuses[0]!.error).toContain(message)
  expect(await user.health()).toMatchObject({ status: 'expired', lastError: expect.stringContaining(message) })
  const later = await user.until(await user.publish({ text: 'Later' }))
  expect(later.platformStatuses[0]!.error).toContain(message)
})

it('a page that its login no longer shows fails with "connect it again", and its account is not active', async () => {
  const user = await connectUser()
  const action = refusal({ code: 100, error_subcode: 33, message: 'Unsupported post request. Object does not exist' })
  await control.fault({ method: 'POST', path: FEED, times: 1, action })
  await control.fault({ method: 'GET', path: `/${user.page.id}?`, times: 1, action })
  const { platformStatuses } = await user.until(await user.publish({ text: 'Unlinked' }))
  expect(platformStatuses[0]).toMatchObject({ status: 'failed', errorCode: 'permission' })
  expect(platformStatuses[0]!.error).toContain('connect it again')
  expect(await user.health()).toMatchObject({ status: 'error', needsReconnection: true })
  await user.reconnect()
  expect(await user.health()).toMatchObject({ status: 'active' })
})

it('an Instagram account that was unlinked fails with "connect it again", and is not active', async () => {
  const user = await connectUser()
  meta.linkInstagram(user.page.id, null)
  const content = { text: 'Unlinked', mediaItems: [await user.upload()] }
  const { platformStatuses } = await user.until(await user.publish(content, { selectedPlatforms: ['instagram'] }))
  expect(platformStatuses[0]).toMatchObject({ status: 'failed', errorCode: 'permission' })
  expect(platformStatuses[0]!.error).toContain('Instagram no longer shows this account: connect it again')
  expect(await user.health('instagram')).toMatchObject({ status: 'error', needsReconnection: true })
  expect(await user.health()).toMatchObject({ status: 'active' })
})

it('a post in doubt names the expired login, and is found as soon as the account is connected again', async () => {
  const user = await connectUser()
  await control.fault({ ...VISIBLE, times: 1, action: { dropAfterAccept: true } })
  const revoked = refusal({
    code: 190,
    error_subcode: 460,
    message: 'The session is invalid: the password was changed',
  })
  await control.fault({ method: 'GET', path: 'fields=is_published', times: 1, action: revoked })
  const postId = await user.publish({ text: 'In doubt' })
  const waiting = await poll(
    () => user.status(postId),
    ({ platformStatuses: [entry] }) => entry!.error?.includes('searched for') === true,
  )
  expect(waiting.status).toBe('PROCESSING')
  expect(waiting.platformStatuses[0]!.error).toMatch(
    /^Facebook no longer accepts the login\. The post is searched for once the account is connected again\. .*password was changed/,
  )
  expect(Date.parse(waiting.platformStatuses[0]!.nextAttemptAt!) - Date.now()).toBeGreaterThan(50 * 60_000)
  await user.reconnect()
  expect((await user.until(postId)).platformStatuses[0]).toMatchObject({ status: 'completed' })
  expect(await user.publicPosts()).toHaveLength(1)
})
