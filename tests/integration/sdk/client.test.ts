import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  ApiError,
  ConnectionError,
  createClient,
  logIn,
  WaitTimeoutError,
  type Client,
  type Event,
  type Session,
} from '../../../packages/sdk/src/index.ts'
import { startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { listenBehindFaults, startInterruptible, type FaultyAddress } from '../../support/listening.ts'
import { unique } from '../../support/servers.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let world: DeliveryWorld
let api: FaultyAddress
let owner: Awaited<ReturnType<DeliveryWorld['user']>>
let session: Session
let client: Client
let apiKey: string

beforeAll(async () => {
  world = await startDeliveryWorld()
  api = await listenBehindFaults(world.app)
  owner = await world.user()
  session = await logIn({ url: api.url, ...owner.secrets })
  const sessionClient = createClient({ url: api.url, session })
  const created = await sessionClient.request('POST', '/api/keys', {
    body: { name: 'SDK', scopes: ['posts:publish', 'accounts:read', 'events:read'] },
  })
  apiKey = created.key
  client = createClient({ url: api.url, apiKey })
})
beforeEach(() => api.control.clearFaults())
afterAll(async () => {
  await api?.stop()
  await world?.stop()
})

const textPost = (text = unique('text')) => ({ content: { text }, selectedPlatforms: ['bluesky' as const] })
const draft = (text = unique('text')) => ({ ...textPost(text), status: 'DRAFT' as const })
const countRequests = async (path: string) =>
  (await api.control.requests()).filter((request) => request.path.startsWith(path)).length

test('a post is created with a picture, and waitUntilPublished returns its final status', async () => {
  const file = join(temporaryFolder(), 'picture.jpg')
  await writeFile(
    file,
    await sharp({ create: { width: 800, height: 600, channels: 3, background: '#248' } })
      .jpeg()
      .toBuffer(),
  )
  const blob = await openAsBlob(file, { type: 'image/jpeg' })
  const reported: number[] = []
  const picture = await client.media.upload(blob, {
    altText: 'Blue',
    onProgress: ({ sentBytes, totalBytes }) => {
      expect(totalBytes).toBe(blob.size)
      reported.push(sentBytes)
    },
  })
  expect(reported[0]).toBe(0)
  expect(reported.at(-1)).toBe(blob.size)
  expect(reported).toEqual(reported.toSorted((one, other) => one - other))

  const text = unique('With a picture')
  const { postId } = await client.posts.create({ ...textPost(), content: { text, mediaItems: [picture] } })
  const seen: string[] = []
  const outcome = await client.posts.waitUntilPublished(postId, { onProgress: ({ status }) => seen.push(status) })
  expect(outcome).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ status: 'completed' }] })
  expect(seen.at(-1)).toBe('COMPLETED')
  expect((await owner.published()).filter((entry) => entry.text === text)).toMatchObject([
    { media: [{ altText: 'Blue' }] },
  ])
})

test('a create whose response is lost is repeated with the same key and creates one post', async () => {
  const text = unique('lost')
  await api.control.fault({ method: 'POST', path: '/api/posts', times: 1, action: { dropAfterAccept: true } })
  const { postId } = await client.posts.create(draft(text))
  const { posts } = await client.posts.list({ q: text })
  expect(posts.map(({ _id }) => _id)).toEqual([postId])
})

test('a response that breaks off is requested again', async () => {
  await api.control.fault({ path: '/api/platform/accounts', times: 2, action: { truncate: true } })
  expect(await client.accounts.list()).toHaveLength(1)
})

test('two calls with one idempotency key create one post', async () => {
  const body = draft()
  const call = { idempotencyKey: unique('key') }
  expect(await client.posts.create(body, call)).toEqual(await client.posts.create(body, call))
})

test('a cancel whose response is lost is not repeated', async () => {
  const { postId } = await client.posts.create({ ...textPost(), scheduledAt: '2090-01-01T00:00:00Z' })
  await api.control.fault({ method: 'POST', path: '/cancel', times: 1, action: { dropAfterAccept: true } })
  await expect(client.posts.cancel(postId)).rejects.toThrow(ConnectionError)
  expect((await client.posts.status(postId)).status).toBe('CANCELLED')
  expect(await countRequests(`/api/posts/${postId}/cancel`)).toBe(1)
})

test('a refusal by a rate limit is retried, and a refusal for a quarter of an hour is thrown', async () => {
  const { postId } = await client.posts.create(draft())
  const refusal = (seconds: number) => ({
    status: 429,
    headers: { 'retry-after': String(seconds), 'content-type': 'application/json' },
    body: { success: false, statusCode: 429, code: 'RATE_LIMITED', message: 'Too many requests', requestId: 'r' },
  })
  await api.control.fault({ method: 'PATCH', times: 1, action: refusal(0) })
  await client.posts.update(postId, { content: { text: 'Changed' } })
  expect((await client.posts.get(postId)).content.text).toBe('Changed')

  await api.control.fault({ method: 'PATCH', times: 1, action: refusal(900) })
  const error: unknown = await client.posts.update(postId, { content: { text: 'Again' } }).catch((caught) => caught)
  expect(error).toMatchObject({ status: 429, code: 'RATE_LIMITED', retryAfterSeconds: 900, requestId: 'r' })
})

test('an error has the code and every problem of the API', async () => {
  const error: unknown = await client.posts
    .create({ content: { text: 'x'.repeat(400) }, selectedPlatforms: ['bluesky'] })
    .catch((caught) => caught)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 400, requestId: expect.any(String) })
  expect((error as ApiError).problems).toMatchObject([{ code: 'TEXT_TOO_LONG', platform: 'bluesky' }])
  await expect(client.posts.get('0'.repeat(24))).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('posts name the program that wrote them, and are counted and selected by it', async () => {
  const options = { url: api.url, apiKey, client: 'console' } as const
  const text = unique('client')
  const body = { ...draft(), content: { text }, scheduledAt: '2091-03-01T12:00:00Z' }
  const byConsole = await createClient(options).posts.create(body)
  const bySdk = await client.posts.create(body)
  const filters = { from: '2091-03-01', to: '2091-03-02', q: text }
  const { posts } = await client.posts.calendar({ ...filters, client: ['console', 'cli'] })
  expect(posts).toMatchObject([{ _id: byConsole.postId, text, metadata: { client: 'console' } }])
  expect(await client.posts.counts({ ...filters, timezone: 'UTC' })).toEqual({
    timezone: 'UTC',
    days: [
      { date: '2091-03-01', total: 2, statuses: { DRAFT: 2 } },
      { date: '2091-03-02', total: 0, statuses: {} },
    ],
  })
  expect((await client.posts.get(bySdk.postId)).metadata).toEqual({ source: 'api', client: 'sdk' })
})

test('an update with the etag of an outdated reading is refused', async () => {
  const { postId } = await client.posts.create(draft())
  const { etag } = await client.posts.get(postId)
  const edit = (text: string, ifMatch: string) => client.posts.update(postId, { content: { text } }, { ifMatch })
  const updated = await edit('From the phone', etag)
  await expect(edit('From the desk', etag)).rejects.toMatchObject({
    status: 412,
    code: 'PRECONDITION_FAILED',
    body: { post: { content: { text: 'From the phone' }, etag: updated.etag } },
  })
  await expect(client.posts.delete(postId, { ifMatch: etag })).rejects.toMatchObject({ status: 412 })
  await edit('Read again', updated.etag)
  expect(await client.posts.get(postId)).toMatchObject({ content: { text: 'Read again' } })
})

test('an error page of a proxy is an ApiError without a code of the API', async () => {
  await api.control.fault({ times: 1, action: { status: 502, body: '<html>Bad Gateway</html>' } })
  await expect(client.posts.list()).rejects.toMatchObject({ status: 502, code: 'UNKNOWN', problems: [], body: null })
})

test('posts.iterate yields every page, each post once', async () => {
  const text = unique('page')
  const created: string[] = []
  for (let nth = 0; nth < 5; nth += 1) created.push((await client.posts.create(draft(text))).postId)
  const listed: string[] = []
  for await (const { _id } of client.posts.iterate({ q: text, limit: 2 })) {
    // A new post at the front moves the last one of this page to the next page.
    if (listed.length === 0) await client.posts.create(draft(text))
    listed.push(_id)
  }
  expect(listed).toEqual(created.toReversed())
})

test('events.follow continues without a gap after its connection is lost', async () => {
  const line = await startInterruptible(api.url)
  const follower = createClient({ url: line.url, apiKey })
  const stop = new AbortController()
  const seen: Event[] = []
  const following = (async () => {
    for await (const event of follower.events.follow({ types: ['post.created'], signal: stop.signal })) seen.push(event)
  })()
  const create = async () => {
    const { postId } = await client.posts.create(draft())
    return postId
  }
  try {
    await expect.poll(() => countRequests('/api/events/stream'), { timeout: 50_000 }).toBe(1)
    const first = await create()
    await expect.poll(() => seen.length, { timeout: 50_000 }).toBe(1)
    line.interrupt()
    const second = await create()
    await expect.poll(() => seen.length, { timeout: 50_000 }).toBe(2)
    expect(seen.map(({ data }) => data['postId'])).toEqual([first, second])
    const stored: Event[] = []
    for await (const event of client.events.iterate({ types: ['post.created'] })) stored.push(event)
    expect(stored.slice(-2)).toEqual(seen)
  } finally {
    stop.abort(new Error('stopped'))
    await expect(following).rejects.toThrow('stopped')
    await line.stop()
  }
})

test('an ended access token is refreshed once for concurrent requests, and the new tokens are reported', async () => {
  const changes: Session[] = []
  const stale = createClient({
    url: api.url,
    session: { ...session, accessToken: 'ended' },
    onSessionChange: (changed) => void changes.push(changed),
  })
  const refreshes = await countRequests('/api/auth/refresh')
  await Promise.all([stale.posts.list(), stale.posts.list(), stale.accounts.list()])
  expect(await countRequests('/api/auth/refresh')).toBe(refreshes + 1)
  expect(changes).toEqual([{ accessToken: expect.any(String), refreshToken: expect.any(String) }])
  expect(changes[0]?.refreshToken).not.toBe(session.refreshToken)
  session = changes[0]!
  expect(await createClient({ url: api.url, session }).accounts.list()).toHaveLength(1)
})

test('a session that cannot be refreshed is reported as UNAUTHORIZED', async () => {
  const ended = createClient({ url: api.url, session: { accessToken: 'ended', refreshToken: 'ended' } })
  await expect(ended.posts.list()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
})

test('a wait ends with its time, with its signal and at a draft', async () => {
  const { postId } = await client.posts.create({ ...textPost(), scheduledAt: '2090-01-01T00:00:00Z' })
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(client.posts.waitUntilPublished(postId, { signal })).rejects.toThrow('enough')
  await client.posts.cancel(postId)
  expect(await client.posts.waitUntilPublished(postId)).toMatchObject({ status: 'CANCELLED' })
  const { postId: draftId } = await client.posts.create(draft())
  await expect(client.posts.waitUntilPublished(draftId)).rejects.toThrow('The post is a draft')
  const blocked = await client.posts.create({
    ...textPost(),
    scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
  })
  await expect(client.posts.waitUntilPublished(blocked.postId, { timeoutAfterDueMs: -3_700_000 })).rejects.toThrow(
    WaitTimeoutError,
  )
  await client.posts.cancel(blocked.postId)
})

test('a server that does not respond is a ConnectionError after the timeout', async () => {
  await api.control.fault({ path: '/api/posts', action: { hang: true } })
  const impatient = createClient({ url: api.url, apiKey: 'po_live_x', tryTimeoutMs: 50, maxRetries: 1 })
  await expect(impatient.posts.list()).rejects.toThrow('did not respond within 50 ms')
})
