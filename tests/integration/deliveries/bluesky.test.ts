import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { film } from '../../support/film.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'

let world: DeliveryWorld

beforeAll(async () => {
  world = await startDeliveryWorld()
})
afterEach(() => world.control.clearFaults())
afterAll(() => world?.stop())

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()
const PUT_RECORD = '/xrpc/com.atproto.repo.putRecord'

interface PublicRecord {
  text: string
  facets: { features: unknown[] }[]
  embed: unknown
}

/** Reads the record over the server's public API, without a login. */
async function publicRecord(uri: string): Promise<PublicRecord> {
  const [repo, collection, rkey] = uri.replace('at://', '').split('/') as [string, string, string]
  const query = new URLSearchParams({ repo, collection, rkey })
  const response = await fetch(`${world.bluesky.pdsUrl}/xrpc/com.atproto.repo.getRecord?${query}`)
  return ((await response.json()) as { value: PublicRecord }).value
}

type User = Awaited<ReturnType<DeliveryWorld['user']>>

async function uploadImage(user: User, altText: string) {
  const bytes = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#336699' } })
    .png()
    .toBuffer()
  return user.upload(bytes, 'image/png', altText)
}

describe('a post on a real Bluesky server', () => {
  it('an immediate post appears with links, mentions and hashtags as facets', async () => {
    const user = await world.user()
    const other = await world.user()
    const text = `Hi @${other.account.handle} see https://example.com/a?b=1 #naïve`
    const postId = await user.create({ content: { text } })
    const done = await user.until(postId)
    expect(done).toMatchObject({
      status: 'COMPLETED',
      platformStatuses: [{ status: 'completed', attemptCount: 1, error: null }],
    })

    const { platformPostId, platformPostUrl } = done.platformStatuses[0]!
    const record = await publicRecord(platformPostId!)
    expect(record.text).toBe(text)
    expect(record.facets.map((facet) => facet.features[0])).toEqual([
      { $type: 'app.bsky.richtext.facet#mention', did: other.account.did },
      { $type: 'app.bsky.richtext.facet#link', uri: 'https://example.com/a?b=1' },
      { $type: 'app.bsky.richtext.facet#tag', tag: 'naïve' },
    ])
    expect(platformPostUrl).toBe(
      `https://bsky.app/profile/${user.account.did}/post/${platformPostId!.split('/').at(-1)}`,
    )
    expect(await user.published()).toHaveLength(1)
  })

  it('a post notifies of its creation and success, with a link and a picture', async () => {
    const user = await world.user()
    const image = await uploadImage(user, 'A blue field')
    const postId = await user.create({ content: { text: 'With a picture', mediaItems: [image] } })
    const done = await user.until(postId)
    // The second notification is a separate write after the status.
    const notifications = await poll(
      () => world.notificationsOf(user.userId),
      ({ length }) => length === 2,
    )
    expect(notifications.map(({ type, message, options }) => ({ type, message, options }))).toEqual([
      {
        type: 'success',
        message: 'Successfully posted on bluesky: “With a picture”',
        options: { link: done.platformStatuses[0]!.platformPostUrl, image: image.storageUrl },
      },
      {
        type: 'success',
        message: 'Your post “With a picture” was created and is now pending',
        options: { image: image.storageUrl },
      },
    ])
  })

  it('a post has its images with their alt texts', async () => {
    const user = await world.user()
    const mediaItems = [await uploadImage(user, 'First'), await uploadImage(user, 'Second')]
    const done = await user.until(await user.create({ content: { text: '', mediaItems } }))
    expect(done.status).toBe('COMPLETED')
    const record = await publicRecord(done.platformStatuses[0]!.platformPostId!)
    expect(record.embed).toMatchObject({
      $type: 'app.bsky.embed.images',
      images: [
        { alt: 'First', aspectRatio: { width: 64, height: 48 } },
        { alt: 'Second', aspectRatio: { width: 64, height: 48 } },
      ],
    })
  })

  it('a post has the text of its platform override', async () => {
    const user = await world.user()
    const postId = await user.create({
      content: { text: 'For everyone' },
      platformSpecificContent: { bluesky: { text: 'For Bluesky' } },
    })
    await user.until(postId)
    expect((await user.published()).map(({ text }) => text)).toEqual(['For Bluesky'])
  })

  it('a scheduled post is published when it is due, and not before', async () => {
    const user = await world.user()
    const scheduledAt = inSeconds(6)
    const postId = await user.create({ content: { text: 'On time' }, scheduledAt })
    expect(await user.status(postId)).toMatchObject({ status: 'SCHEDULED' })
    await user.until(postId)
    const sent = (await world.control.requests()).filter(
      ({ path, status }) => path.startsWith(PUT_RECORD) && status === 200,
    )
    expect(new Date(sent.at(-1)!.receivedAt).getTime()).toBeGreaterThanOrEqual(new Date(scheduledAt).getTime())
    expect(await user.published()).toHaveLength(1)
  })

  it('a post cancelled while it is armed is never published', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Never' }, scheduledAt: inSeconds(3) })
    const cancelled = await user.call('POST', `/api/posts/${postId}/cancel`)
    expect(cancelled).toMatchObject({ status: 200, body: { data: { postId, status: 'CANCELLED' } } })
    await workflowEnd(postId)
    expect(await user.published()).toEqual([])
    expect(await user.status(postId)).toMatchObject({ status: 'CANCELLED', platformStatuses: [{ status: 'pending' }] })
  })

  it('a post deleted while it is armed is never published', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Never' }, scheduledAt: inSeconds(3) })
    expect((await user.call('DELETE', `/api/posts/${postId}`)).status).toBe(200)
    await workflowEnd(postId)
    expect(await user.published()).toEqual([])
  })

  it('an edited and moved post is published with its last text at its last time', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'First words' }, scheduledAt: inSeconds(3_600) })
    expect(
      (await user.call('PATCH', `/api/posts/${postId}`, { content: { text: 'Last words' }, scheduledAt: null })).status,
    ).toBe(200)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect((await user.published()).map(({ text }) => text)).toEqual(['Last words'])
  })

  it('a draft can be published', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Drafted' }, status: 'DRAFT' })
    expect(await user.status(postId)).toMatchObject({ status: 'DRAFT' })
    await user.call('PATCH', `/api/posts/${postId}`, { status: 'PENDING' })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  })
})

describe('failed deliveries', () => {
  it('a platform without an adapter fails with a reason, while another platform accepts', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Both' }, selectedPlatforms: ['bluesky', 'tumblr'] })
    const done = await user.until(postId)
    expect(done.status).toBe('PARTIAL_SUCCESS')
    expect(done.platformStatuses).toMatchObject([
      { platform: 'bluesky', status: 'completed' },
      {
        platform: 'tumblr',
        status: 'failed',
        errorCode: 'PLATFORM_NOT_SUPPORTED',
        error: 'Tumblr is not set up here',
      },
    ])
  })

  it('a post to an unconnected platform fails, and a retry after connecting publishes it', async () => {
    const user = await world.user({ connected: false })
    const postId = await user.create({ content: { text: 'Later' } })
    expect(await user.until(postId)).toMatchObject({
      status: 'FAILED',
      platformStatuses: [{ errorCode: 'PLATFORM_NOT_CONNECTED' }],
    })
    await user.connect()
    const retried = await user.call('POST', `/api/posts/${postId}/retry`)
    expect(retried).toMatchObject({ status: 200, body: { data: { postId, retryingPlatforms: ['bluesky'] } } })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })

  it('a refused post has the reason, notifies once, and can be retried', async () => {
    const user = await world.user()
    await world.control.fault({
      path: PUT_RECORD,
      times: 1,
      action: {
        status: 400,
        headers: {},
        body: JSON.stringify({ error: 'InvalidRequest', message: 'Invalid record' }),
      },
    })
    const postId = await user.create({ content: { text: 'Refused, then not' } })
    expect(await user.until(postId)).toMatchObject({
      status: 'FAILED',
      platformStatuses: [{ status: 'failed', errorCode: 'validation', attemptCount: 1 }],
    })
    // The notification is a separate write after the status.
    const failures = await poll(
      async () => (await world.notificationsOf(user.userId)).filter(({ type }) => type === 'error'),
      ({ length }) => length === 1,
    )
    expect(failures[0]!.message).toMatch(/^Posting “Refused, then not” on Bluesky failed: /)

    await user.call('POST', `/api/posts/${postId}/retry`)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 2 }] })
    expect(await user.published()).toHaveLength(1)
  })

  it('a refusal by a stricter server rule is recorded', async () => {
    const user = await world.user()
    const scheduledAt = inSeconds(12)
    const postId = await user.create({ content: { text: 'Short enough' }, scheduledAt })
    await world.context.database.connection
      .collection<{ _id: string }>('posts')
      .updateOne({ _id: postId }, { $set: { 'content.text': 'x'.repeat(301) } })
    expect(await user.until(postId)).toMatchObject({
      status: 'FAILED',
      platformStatuses: [{ status: 'failed', errorCode: 'validation', attemptCount: 1, platformPostId: null }],
    })
    expect(await user.published()).toEqual([])
  })

  it('a post waits for the time that a 429 states', async () => {
    const user = await world.user()
    await world.control.fault({
      path: PUT_RECORD,
      times: 1,
      action: { status: 429, headers: { 'retry-after': '3' }, body: JSON.stringify({ error: 'RateLimitExceeded' }) },
    })
    const postId = await user.create({ content: { text: 'Patient' } })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    const sent = (await world.control.requests()).filter(({ path }) => path.startsWith(PUT_RECORD)).slice(-2)
    expect(sent.map(({ status }) => status)).toEqual([429, 200])
    expect(Date.parse(sent[1]!.receivedAt) - Date.parse(sent[0]!.receivedAt)).toBeGreaterThanOrEqual(3_000)
  })

  it('a post fails when its media is missing in storage', async () => {
    const user = await world.user()
    const missing = {
      storageKey: `posts/${user.userId}/00000000-0000-4000-8000-000000000000.png`,
      mimeType: 'image/png',
    }
    const content = { text: 'No picture', mediaItems: [missing] }
    const postId = await user.create({ content, scheduledAt: inSeconds(3) })
    expect(await user.until(postId)).toMatchObject({
      status: 'FAILED',
      platformStatuses: [{ errorCode: 'MEDIA_UNAVAILABLE' }],
    })
    expect(await user.published()).toEqual([])
  })

  it('a revoked app password expires the connection, and the notification says what to do', async () => {
    const user = await world.user()
    await world.control.revoke(user.account.did)
    await world.control.fault({
      path: PUT_RECORD,
      times: 1,
      action: {
        status: 400,
        headers: {},
        body: JSON.stringify({ error: 'ExpiredToken', message: 'Token has expired' }),
      },
    })
    const postId = await user.create({ content: { text: 'Without a login' } })
    expect(await user.until(postId)).toMatchObject({
      status: 'FAILED',
      platformStatuses: [{ errorCode: 'unauthorized' }],
    })
    const { body } = await user.call('GET', '/api/platform/find')
    expect(body.data.bluesky.health).toMatchObject({ status: 'expired', needsReconnection: true })
    const kinds = (await world.notificationsOf(user.userId)).map(({ type }) => type)
    expect(kinds.toSorted()).toEqual(['error', 'success', 'warning'])
  })
})

describe('exactly once', () => {
  it.each([
    ['the answer is lost after accepting', { dropAfterAccept: true }],
    ['the answer is cut off', { truncate: 10 }],
  ])('a post is published once when %s', async (_name, action) => {
    const user = await world.user()
    await world.control.fault({ path: PUT_RECORD, times: 1, action })
    const postId = await user.create({ content: { text: 'Once' } })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
    expect(
      (await world.notificationsOf(user.userId)).filter(({ message }) => /Successfully/.test(message)),
    ).toHaveLength(1)
  })

  it('a post is published once when the call never reaches the server', async () => {
    const user = await world.user()
    await world.control.fault({ path: PUT_RECORD, times: 1, action: { status: 502, headers: {}, body: 'Bad gateway' } })
    const postId = await user.create({ content: { text: 'At the second go' } })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 2 }] })
    expect(await user.published()).toHaveLength(1)
  })

  it('an armed delivery of a stopped worker moves to another worker and is published once', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Handed over' }, scheduledAt: inSeconds(4) })
    await world.stopWorkers()
    await world.startWorkers()
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })
})

describe('a video', () => {
  const LARGE = 53_000_000
  const called = async (path: string) =>
    (await world.control.requests()).filter((request) => request.path.includes(path))
  const films = async (user: User) => (await user.published()).map(({ text, media }) => [text, media])

  it('a video appears with its description', async () => {
    const user = await world.user()
    const mediaItems = [await user.upload(film({ width: 320, height: 180 }), 'video/mp4', 'A cat')]
    const done = await user.until(await user.create({ content: { text: 'Watch', mediaItems } }))
    expect(done.status).toBe('COMPLETED')
    expect(await publicRecord(done.platformStatuses[0]!.platformPostId!)).toMatchObject({
      embed: { $type: 'app.bsky.embed.video', alt: 'A cat', aspectRatio: { width: 320, height: 180 } },
    })
  })

  it.each([
    ['the upload', 'uploadVideo', { dropAfterAccept: true }],
    ['a status check', 'getJobStatus', { truncate: 10 }],
    ['the post', PUT_RECORD, { dropAfterAccept: true }],
  ])('a large video is published once when the answer to %s is lost', async (_, path, action) => {
    const user = await world.user()
    const mediaItems = [await user.upload(film({ bytes: LARGE }), 'video/mp4', 'Long')]
    await world.control.fault({ path, times: 1, action })
    const done = await user.until(await user.create({ content: { text: 'Once', mediaItems } }))
    expect(done).toMatchObject({ status: 'COMPLETED' })
    expect(await films(user)).toEqual([['Once', [{ type: 'video/mp4', altText: 'Long' }]]])
  })

  it('a video that the service cannot read fails with a reason', async () => {
    const user = await world.user()
    const mediaItems = [await user.upload(film({ bytes: LARGE }), 'video/mp4')]
    world.bluesky.video.failures.push('encoding_failure')
    expect(await user.until(await user.create({ content: { text: '', mediaItems } }))).toMatchObject({
      status: 'FAILED',
      platformStatuses: [
        {
          errorCode: 'validation',
          error: expect.stringMatching(/^Bluesky cannot read the video\. Bluesky says: .*encoding_failure/),
        },
      ],
    })
    expect(await user.published()).toEqual([])
  })

  it('a video changed after its preparation is published in its last form', async () => {
    const user = await world.user()
    const first = await user.upload(film({ value: 1 }), 'video/mp4', 'First')
    const second = await user.upload(film({ value: 2 }), 'video/mp4', 'Second')
    const content = (item: object) => ({ text: 'Changed', mediaItems: [item] })
    const uploads = (await called('uploadBlob')).length
    const postId = await user.create({ content: content(first), scheduledAt: inSeconds(40) })
    await poll(
      () => called('uploadBlob'),
      ({ length }) => length === uploads + 1,
    )
    const change = { content: content(second), scheduledAt: null }
    expect((await user.call('PATCH', `/api/posts/${postId}`, change)).status).toBe(200)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await films(user)).toEqual([['Changed', [{ type: 'video/mp4', altText: 'Second' }]]])
    expect((await called('uploadBlob')).length).toBe(uploads + 2)
  })
})

/** Resolves when the post's workflow has ended by itself. */
async function workflowEnd(postId: string): Promise<void> {
  const { Connection, Client } = await import('@temporalio/client')
  const connection = await Connection.connect({ address: world.context.config.TEMPORAL_ADDRESS })
  try {
    await world.context.startQueue.idle()
    const client = new Client({ connection, namespace: world.context.config.TEMPORAL_NAMESPACE })
    await client.workflow.getHandle(`publish-post/${postId}`).result()
  } finally {
    await connection.close()
  }
}
