import { randomUUID } from 'node:crypto'
import { Connection, WorkflowClient } from '@temporalio/client'
import { afterAll, describe, expect, it } from 'vitest'
import type { NewConnection } from '../../../../src/store/accounts/accounts.ts'
import { createOrchestrator } from '../../../../src/integrations/temporal/orchestrator.ts'
import { publishPostWorkflowId } from '../../../../src/workflows/contract/publishing.ts'
import { createUserStore } from '../../../../src/store/users/users.ts'
import { inAnHour, postBody, postsWorld, withCallers, type PostsWorld } from '../../../support/posts-api.ts'
import { shared } from '../../../support/shared-worlds.ts'
import { CONNECT_OPTIONS } from '../../../support/published.ts'

let world: PostsWorld
let temporal: Connection

shared.beforeAll(async ({ api }) => {
  world = withCallers(api)
  temporal = await Connection.connect({ address: world.context.config.TEMPORAL_ADDRESS })
})
afterAll(() => temporal?.close())

const notificationsOf = (userId: string) => world.context.notifications.listOf(userId, 100)
const usageOf = async (userId: string) => (await world.context.users.findById(userId))!.usage.postsCreated
const postCountOf = async (userId: string) =>
  (await world.context.posts.list(userId, { page: 1, limit: 1, sortBy: 'createdAt', sortOrder: 'desc' })).total

async function workflowOf(postId: string) {
  await world.context.startQueue.idle()
  const client = new WorkflowClient({ connection: temporal, namespace: world.context.config.TEMPORAL_NAMESPACE })
  return client.getHandle(publishPostWorkflowId(postId)).describe()
}

describe('creating a post', () => {
  it('create returns 201 with id, status, time and warnings, and starts the workflow', async () => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/', postBody())
    expect(status).toBe(201)
    expect(body).toEqual({
      success: true,
      message: 'Post created successfully',
      data: {
        postId: expect.stringMatching(/^[0-9a-f]{24}$/),
        status: 'PENDING',
        scheduledAt: null,
        dueAt: expect.any(String),
        warnings: [
          {
            path: 'selectedPlatforms.0',
            code: 'PLATFORM_NOT_CONNECTED',
            message: expect.stringContaining('Bluesky'),
            platform: 'bluesky',
          },
        ],
      },
    })
    expect(await world.context.posts.find(body.data.postId)).toMatchObject({
      userId: ann.userId,
      timezone: 'UTC',
      status: 'PENDING',
    })
    expect((await workflowOf(body.data.postId)).status.name).toBe('RUNNING')
    expect(await notificationsOf(ann.userId)).toMatchObject([
      {
        type: 'success',
        message: expect.stringContaining('pending'),
        reference: { type: 'post', id: body.data.postId, model: 'Post' },
      },
    ])
    expect(await usageOf(ann.userId)).toBe(1)
  })

  it('a future time schedules the post, notifies the user, and owes no start after Temporal acknowledges it', async () => {
    const ann = await world.caller()
    const scheduledAt = inAnHour()
    const { body } = await ann.call('POST', '/', postBody({ scheduledAt, status: 'PENDING' }))
    expect(body.data).toMatchObject({ status: 'SCHEDULED', scheduledAt })
    await world.context.startQueue.idle()
    expect(await world.context.posts.find(body.data.postId)).toMatchObject({
      startPending: false,
      dueAt: new Date(scheduledAt),
    })
    expect((await workflowOf(body.data.postId)).status.name).toBe('RUNNING')
    expect((await notificationsOf(ann.userId))[0]!.message).toContain('scheduled')
  })

  it('a past time publishes now and is stored as null', async () => {
    const ann = await world.caller()
    const { body } = await ann.call('POST', '/', postBody({ scheduledAt: '2001-01-01T00:00:00Z' }))
    expect(body.data).toMatchObject({ status: 'PENDING', scheduledAt: null })
    expect(body.data.warnings).toContainEqual(
      expect.objectContaining({ path: 'scheduledAt', code: 'SCHEDULED_IN_PAST' }),
    )
  })

  it.each([
    ['without a time', {}, 'SCHEDULED_AT_REQUIRED'],
    ['with null for its time', { scheduledAt: null }, 'SCHEDULED_AT_REQUIRED'],
    ['with a past time', { scheduledAt: '2001-01-01T00:00:00Z' }, 'SCHEDULED_IN_PAST'],
  ])('a request to schedule a post %s is 400, from create and validate alike', async (_, time, code) => {
    const ann = await world.caller()
    const input = postBody({ status: 'SCHEDULED', ...time })
    const { status, body } = await ann.call('POST', '/', input)
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ path: 'scheduledAt', code })]])
    expect(await usageOf(ann.userId)).toBe(0)
    const { data } = (await ann.call('POST', '/validate', input)).body
    expect(data.valid).toBe(false)
    expect(data.errors).toContainEqual(expect.objectContaining({ path: 'scheduledAt', code }))
  })

  it('with past=refuse a past time is 400, from create and validate alike, and a draft may have one', async () => {
    const ann = await world.caller()
    const past = { scheduledAt: '2001-01-01T00:00:00Z' }
    const problem = expect.objectContaining({ path: 'scheduledAt', code: 'SCHEDULED_IN_PAST' })
    for (const status of [{}, { status: 'PENDING' }]) {
      const refused = await ann.call('POST', '/?past=refuse', postBody({ ...past, ...status }))
      expect([refused.status, refused.body.errors]).toEqual([400, [problem]])
      const { data } = (await ann.call('POST', '/validate?past=refuse', postBody({ ...past, ...status }))).body
      expect(data).toMatchObject({ valid: false, errors: expect.arrayContaining([problem]) })
    }
    expect(await usageOf(ann.userId)).toBe(0)
    const draft = await ann.call('POST', '/?past=refuse', postBody({ ...past, status: 'DRAFT' }))
    expect(draft).toMatchObject({ status: 201, body: { data: { status: 'DRAFT', scheduledAt: null } } })
    expect((await ann.call('POST', '/?past=ask', postBody())).status).toBe(400)
  })

  it('a draft with a past time is stored without it, and the response warns of that', async () => {
    const ann = await world.caller()
    const { body } = await ann.call('POST', '/', postBody({ scheduledAt: '2001-01-01T00:00:00Z', status: 'DRAFT' }))
    expect(body.data).toMatchObject({ status: 'DRAFT', scheduledAt: null })
    expect(body.data.warnings).toContainEqual(expect.objectContaining({ code: 'SCHEDULED_IN_PAST' }))
  })

  it('a connected platform causes no warning', async () => {
    const ann = await world.caller()
    const auth = { accessToken: 'sealed', refreshToken: null, expiresAt: null, endsAt: null }
    const profile = { displayName: 'Ann', handle: 'ann.test', avatar: null }
    const connection: NewConnection = {
      platformId: `did:plc:${ann.userId}`,
      handle: 'ann.test',
      server: null,
      profile,
      auth,
    }
    await world.context.accounts.connect(ann.userId, { platform: 'bluesky', seal: () => connection }, CONNECT_OPTIONS)
    const { body } = await ann.call('POST', '/', postBody())
    expect(body.data.warnings).toEqual([])
  })

  it.each([
    ['web', { origin: 'http://localhost:3000' }],
    ['api', undefined],
  ])('the source is %s, derived from the Origin header', async (source, headers) => {
    const ann = await world.caller()
    const { body } = await ann.call('POST', '/', postBody(), headers)
    expect((await world.context.posts.find(body.data.postId))!.metadata.source).toBe(source)
  })

  it.each(['console', 'cli', 'mcp', 'sdk'])(
    'a program that names itself as %s is the client of its posts',
    async (client) => {
      const ann = await world.caller()
      const { body } = await ann.call('POST', '/', postBody({ status: 'DRAFT' }), { 'x-postonce-client': client })
      const { postId } = body.data
      await ann.call('PATCH', `/${postId}`, { status: 'PENDING' }, { 'x-postonce-client': 'console' })
      expect((await ann.call('GET', `/${postId}`)).body.data.post.metadata).toEqual({ source: 'api', client })
      const copy = await ann.call('POST', `/${postId}/duplicate`, undefined, { 'x-postonce-client': 'console' })
      expect((await world.context.posts.find(copy.body.data.postId))!.metadata.client).toBe('console')
    },
  )

  it.each(['import', 'api', '', 'other'])('the API refuses "%s" as the name of a program', async (name) => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/', postBody(), { 'x-postonce-client': name })
    expect([status, body.errors]).toMatchObject([400, [{ path: 'x-postonce-client', code: 'NOT_ALLOWED' }]])
  })
})

describe('drafts', () => {
  it('a draft is stored and counted, but not started, and causes no notification', async () => {
    const ann = await world.caller()
    const scheduledAt = inAnHour()
    const { status, body } = await ann.call('POST', '/', postBody({ status: 'DRAFT', scheduledAt }))
    expect([status, body.data.status, body.data.scheduledAt]).toEqual([201, 'DRAFT', scheduledAt])
    await expect(workflowOf(body.data.postId)).rejects.toThrow(/not found/i)
    expect(await notificationsOf(ann.userId)).toEqual([])
    expect(await usageOf(ann.userId)).toBe(1)
  })

  it('a draft with a past time stores none, because it will publish immediately', async () => {
    const ann = await world.caller()
    const { body } = await ann.call('POST', '/', postBody({ status: 'DRAFT', scheduledAt: '2001-01-01T00:00:00Z' }))
    expect(body.data).toMatchObject({ status: 'DRAFT', scheduledAt: null })
  })

  it('a draft is not checked against the platform rules', async () => {
    const ann = await world.caller()
    const { status } = await ann.call('POST', '/', postBody({ status: 'DRAFT', content: { text: 'a'.repeat(301) } }))
    expect(status).toBe(201)
  })
})

describe('time and timezone of a post', () => {
  it.each([
    [
      'local time without an offset is in the timezone',
      '2030-07-01T10:00',
      'Europe/Berlin',
      '2030-07-01T08:00:00.000Z',
    ],
    ['an offset overrides the timezone', '2030-07-01T10:00:00-07:00', 'Europe/Berlin', '2030-07-01T17:00:00.000Z'],
    ['a skipped hour moves forward', '2030-03-31T02:30', 'Europe/Berlin', '2030-03-31T01:30:00.000Z'],
    ['a repeated hour is the first one', '2030-10-27T02:30', 'Europe/Berlin', '2030-10-27T00:30:00.000Z'],
    ['local time without a timezone is UTC', '2030-07-01T10:00', undefined, '2030-07-01T10:00:00.000Z'],
    ['an IANA alias is a timezone', '2030-07-01T10:00', 'Asia/Calcutta', '2030-07-01T04:30:00.000Z'],
  ])('%s', async (_, scheduledAt, timezone, expected) => {
    const ann = await world.caller()
    const { body } = await ann.call('POST', '/', postBody({ scheduledAt, ...(timezone ? { timezone } : {}) }))
    expect(body.data).toMatchObject({ status: 'SCHEDULED', scheduledAt: expected })
    expect((await world.context.posts.find(body.data.postId))!.timezone).toBe(timezone ?? 'UTC')
  })

  it.each([
    [{ timezone: '+02:00' }, 'timezone', 'TIMEZONE_UNKNOWN'],
    [{ timezone: 'Mars/Olympus' }, 'timezone', 'TIMEZONE_UNKNOWN'],
    [{ scheduledAt: 'tomorrow' }, 'scheduledAt', 'DATE_TIME_INVALID'],
    [{ scheduledAt: '2030-02-30T10:00:00Z' }, 'scheduledAt', 'DATE_TIME_INVALID'],
    [{ scheduledAt: '9999-01-01T00:00:00Z' }, 'scheduledAt', 'SCHEDULED_TOO_FAR'],
  ])('create rejects %j', async (change, path, code) => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/', postBody(change))
    expect(status).toBe(400)
    expect(body).toMatchObject({ success: false, statusCode: 400, code: 'VALIDATION_FAILED', errors: [{ path, code }] })
    expect(await postCountOf(ann.userId)).toBe(0)
  })
})

describe('platform rules', () => {
  it('create reports all problems together, each with its platform and code', async () => {
    const ann = await world.caller()
    const item = { storageKey: `posts/${ann.userId}/a.jpg`, mimeType: 'image/jpeg' }
    const { status, body } = await ann.call('POST', '/', {
      content: {
        text: 'a'.repeat(501),
        mediaItems: [...Array.from({ length: 5 }, () => item), { ...item, mimeType: 'video/mp4' }],
      },
      selectedPlatforms: ['bluesky', 'instagram', 'mastodon'],
      scheduledAt: inAnHour(),
      platformSpecificContent: {
        instagram: { mediaItems: [] },
        mastodon: { mediaItems: [{ ...item, mimeType: 'image/gif' }] },
      },
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ success: false, code: 'VALIDATION_FAILED', requestId: expect.any(String) })
    expect(body.errors.map(({ platform, code }: Record<string, string>) => `${platform} ${code}`)).toEqual([
      'bluesky TEXT_TOO_LONG',
      'bluesky TOO_MANY_MEDIA',
      'bluesky MEDIA_MIX',
      'instagram MEDIA_REQUIRED',
      'mastodon TEXT_TOO_LONG',
      'mastodon MEDIA_TYPE',
    ])
    expect([await postCountOf(ann.userId), await usageOf(ann.userId), await notificationsOf(ann.userId)]).toEqual([
      0,
      0,
      [],
    ])
  })

  it('an empty text is allowed with media and rejected without', async () => {
    const ann = await world.caller()
    const mediaItems = [{ storageKey: `posts/${ann.userId}/a.jpg`, mimeType: 'image/jpeg' }]
    const scheduled = postBody({ content: { text: '', mediaItems }, scheduledAt: inAnHour() })
    expect((await ann.call('POST', '/', scheduled)).status).toBe(201)
    expect((await ann.call('POST', '/', postBody({ content: { text: '' } }))).status).toBe(400)
  })

  it('an override is checked in place of the common content', async () => {
    const ann = await world.caller()
    const content = { text: 'a'.repeat(400) }
    expect((await ann.call('POST', '/', postBody({ content }))).status).toBe(400)
    const platformSpecificContent = { bluesky: { text: 'short' } }
    const { status, body } = await ann.call('POST', '/', postBody({ content, platformSpecificContent }))
    expect(status).toBe(201)
    expect((await world.context.posts.find(body.data.postId))!.platformSpecificContent).toEqual(platformSpecificContent)
  })

  it('unknown keys of platformSpecificContent are rejected', async () => {
    const ann = await world.caller()
    const { status, body } = await ann.call(
      'POST',
      '/',
      postBody({ platformSpecificContent: { bluesky: {}, twitter: { text: 'x' } } }),
    )
    expect(status).toBe(400)
    expect(body.errors).toMatchObject([{ path: 'platformSpecificContent.twitter', code: 'UNKNOWN_FIELD' }])
  })
})

describe('media items', () => {
  it('the storage URL is derived from the key, whatever the client sends, and image/jpg is stored as image/jpeg', async () => {
    const ann = await world.caller()
    const item = {
      storageKey: `posts/${ann.userId}/${randomUUID()}.jpg`,
      storageUrl: 'https://evil.example/x.jpg',
      mimeType: 'image/jpg',
      originalFilename: 'cat.jpg',
      sizeBytes: 12,
      width: 3,
      height: 4,
      altText: 'A cat',
    }
    const scheduled = postBody({ content: { text: '', mediaItems: [item] }, scheduledAt: inAnHour() })
    const { body } = await ann.call('POST', '/', scheduled)
    const post = await ann.call('GET', `/${body.data.postId}`)
    expect(post.body.data.post.content.mediaItems).toEqual([
      { ...item, mimeType: 'image/jpeg', storageUrl: `${world.context.config.S3_PUBLIC_URL}/${item.storageKey}` },
    ])
  })

  it.each([
    ['another user', () => 'posts/aaaaaaaaaaaaaaaaaaaaaaaa/a.jpg'],
    ['a dot segment', (own: string) => `${own}../b/a.jpg`],
    ['an encoded dot segment', (own: string) => `${own}%2e%2e/b/a.jpg`],
    ['1,025 bytes', (own: string) => own.padEnd(1_025, 'a')],
    ['1,024 characters of two bytes', (own: string) => own + 'é'.repeat(600)],
    ['a NUL', (own: string) => `${own}a\0.jpg`],
  ])('media items with a key of %s are rejected, also in drafts and overrides', async (_, make) => {
    const ann = await world.caller()
    const mediaItems = [{ storageKey: make(`posts/${ann.userId}/`), mimeType: 'image/jpeg' }]
    for (const change of [
      { content: { text: 'x', mediaItems } },
      { content: { text: 'x', mediaItems }, status: 'DRAFT' },
      { platformSpecificContent: { bluesky: { mediaItems } } },
    ]) {
      const { status, body } = await ann.call('POST', '/', postBody(change))
      expect(status).toBe(400)
      expect(body.errors[0].path).toMatch(/storageKey$/)
    }
    expect(await postCountOf(ann.userId)).toBe(0)
  })

  it('a post has at most 20 media items, none larger than the storage accepts', async () => {
    const ann = await world.caller()
    const item = { storageKey: `posts/${ann.userId}/a.jpg`, mimeType: 'image/jpeg' }
    const create = (mediaItems: unknown[]) =>
      ann.call('POST', '/', postBody({ content: { text: '', mediaItems }, status: 'DRAFT' }))
    expect((await create(Array.from({ length: 20 }, () => item))).status).toBe(201)
    expect((await create(Array.from({ length: 21 }, () => item))).status).toBe(400)
    expect((await create([{ ...item, sizeBytes: 10_000_001 }])).body.errors).toMatchObject([
      { path: 'content.mediaItems.0.sizeBytes', code: 'MEDIA_TOO_LARGE' },
    ])
    expect((await create([{ ...item, mimeType: 'video/mp4', sizeBytes: 512_000_000 }])).status).toBe(201)
  })
})

describe('protected fields of a post', () => {
  it('create never stores fields that clients must not set', async () => {
    const ann = await world.caller()
    const forbidden = {
      _id: 'f'.repeat(24),
      userId: 'f'.repeat(24),
      platformStatuses: [{ platform: 'bluesky', status: 'completed' }],
      createdAt: '2001-01-01T00:00:00Z',
      updatedAt: '2001-01-01T00:00:00Z',
      revision: 7,
      startPending: true,
      dueAt: '2001-01-01T00:00:00Z',
      metadata: { source: 'web', more: 1 },
      role: 'admin',
      isDisabled: true,
      limits: { maxPosts: 9 },
      usage: { postsCreated: -9 },
      subscription: { plan: 'pro' },
      requestHash: 'x',
      firstResponse: {},
    }
    const payload = JSON.stringify({
      ...postBody({ ...forbidden, content: { text: 'x', mediaItems: [], userId: 'y' } }),
    }).replace('{', '{"__proto__":{"role":"admin"},"constructor":{"prototype":{"a":1}},')
    const { status, body } = await ann.call('POST', '/', payload, { 'content-type': 'application/json' })
    expect(status).toBe(201)
    const post = (await world.context.posts.find(body.data.postId))!
    expect(post).toMatchObject({
      userId: ann.userId,
      revision: 0,
      startPending: false,
      requestHash: null,
      metadata: { source: 'api', client: 'api' },
    })
    expect(post.platformStatuses).toMatchObject([{ status: 'pending' }])
    expect(post.createdAt.getFullYear()).toBeGreaterThan(2020)
    expect(post.content).toEqual({ text: 'x', mediaItems: [] })
    for (const name of ['role', 'isDisabled', 'limits', 'usage', 'subscription', 'constructor', 'firstAnswer']) {
      expect(Object.keys(post)).not.toContain(name)
    }
    expect(await world.context.users.findById(ann.userId)).toMatchObject({ role: 'user', limits: { maxPosts: 1_000 } })
  })

  it.each([
    ['no body', undefined],
    ['an array', []],
    ['no content', { selectedPlatforms: ['bluesky'] }],
    ['no text', postBody({ content: {} })],
    ['null text', postBody({ content: { text: null } })],
    ['a number for text', postBody({ content: { text: 1 } })],
    ['no platforms', postBody({ selectedPlatforms: [] })],
    ['an unknown platform', postBody({ selectedPlatforms: ['twitter'] })],
    ['a platform twice', postBody({ selectedPlatforms: ['bluesky', 'bluesky'] })],
    ['one platform as text', postBody({ selectedPlatforms: 'bluesky' })],
    ['status COMPLETED', postBody({ status: 'COMPLETED' })],
    ['status PROCESSING', postBody({ status: 'PROCESSING' })],
    ['a number as time', postBody({ scheduledAt: 1_900_000_000_000 })],
    ['a query as text', postBody({ content: { text: { $ne: null } } })],
    ['an item without a key', postBody({ content: { text: 'x', mediaItems: [{ mimeType: 'image/png' }] } })],
    ['an item without a type', postBody({ content: { text: 'x', mediaItems: [{ storageKey: 'posts/x' }] } })],
    ['a very long text', postBody({ content: { text: 'a'.repeat(100_001) }, status: 'DRAFT' })],
    ['a NUL in the text', postBody({ content: { text: 'a\0b' } })],
    ['a lone surrogate in the text', postBody({ content: { text: 'a\ud800b' } })],
    ['an empty key', postBody({ correlationId: '' })],
    ['a query as key', postBody({ correlationId: { $gt: '' } })],
    ['a very long key', postBody({ correlationId: 'k'.repeat(201) })],
  ])('a body with %s is 400 and stores nothing', async (_, body) => {
    const ann = await world.caller()
    const answer = await ann.call('POST', '/', body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      success: false,
      statusCode: 400,
      message: expect.any(String),
      code: expect.any(String),
    })
    expect([await postCountOf(ann.userId), await usageOf(ann.userId)]).toEqual([0, 0])
  })
})

describe('idempotency key', () => {
  it('a repeated create returns the first data with status 200, whatever changed meanwhile', async () => {
    const ann = await world.caller({ maxPosts: 1 })
    const key = randomUUID()
    const body = postBody({ scheduledAt: inAnHour() })
    const first = await ann.call('POST', '/', body, { 'idempotency-key': key })
    expect(first.status).toBe(201)
    await ann.call('POST', `/${first.body.data.postId}/cancel`)
    const again = await ann.call('POST', '/', body, { 'idempotency-key': key })
    expect([again.status, again.body.data]).toEqual([200, first.body.data])
    expect([await postCountOf(ann.userId), await usageOf(ann.userId)]).toEqual([1, 1])
  })

  it('header and body carry the same idempotency key, and field order does not matter', async () => {
    const ann = await world.caller()
    const key = randomUUID()
    const first = await ann.call('POST', '/', { ...postBody({ timezone: 'UTC' }), correlationId: key })
    const again = await ann.call('POST', '/', { timezone: 'UTC', ...postBody() }, { 'idempotency-key': key })
    const both = await ann.call(
      'POST',
      '/',
      { correlationId: key, ...postBody(), timezone: 'UTC' },
      { 'idempotency-key': key },
    )
    expect([first.status, again.status, both.status]).toEqual([201, 200, 200])
    expect([again.body.data, both.body.data]).toEqual([first.body.data, first.body.data])
  })

  it('different idempotency keys in header and body are 400', async () => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/', postBody({ correlationId: 'a' }), { 'idempotency-key': 'b' })
    expect([status, body.code]).toEqual([400, 'IDEMPOTENCY_KEYS_DIFFER'])
    expect(await postCountOf(ann.userId)).toBe(0)
  })

  it('an idempotency key with another body is 422', async () => {
    const ann = await world.caller()
    const key = { 'idempotency-key': randomUUID() }
    await ann.call('POST', '/', postBody(), key)
    const { status, body } = await ann.call('POST', '/', postBody({ content: { text: 'other' } }), key)
    expect(status).toBe(422)
    expect(body).toMatchObject({
      success: false,
      statusCode: 422,
      code: 'IDEMPOTENCY_MISMATCH',
      message: 'Idempotency key was used with a different request',
    })
  })

  it('an idempotency key is checked before validation, so another invalid body is 422 as well', async () => {
    const ann = await world.caller()
    const key = { 'idempotency-key': randomUUID() }
    await ann.call('POST', '/', postBody(), key)
    expect((await ann.call('POST', '/', { content: 1 }, key)).status).toBe(422)
  })

  it('a rejected create does not use up its idempotency key', async () => {
    const ann = await world.caller()
    const key = { 'idempotency-key': randomUUID() }
    expect((await ann.call('POST', '/', postBody({ content: { text: 'a'.repeat(301) } }), key)).status).toBe(400)
    expect((await ann.call('POST', '/', postBody(), key)).status).toBe(201)
  })

  it('an idempotency key belongs to its user', async () => {
    const [ann, bob] = [await world.caller(), await world.caller()]
    const key = { 'idempotency-key': randomUUID() }
    const first = await ann.call('POST', '/', postBody(), key)
    const other = await bob.call('POST', '/', postBody({ content: { text: 'other' } }), key)
    expect(other.status).toBe(201)
    expect(other.body.data.postId).not.toBe(first.body.data.postId)
  })

  it('an idempotency key is free again once its post is deleted', async () => {
    const ann = await world.caller()
    const key = { 'idempotency-key': randomUUID() }
    const first = await ann.call('POST', '/', postBody(), key)
    await ann.call('DELETE', `/${first.body.data.postId}`)
    const again = await ann.call('POST', '/', postBody({ content: { text: 'other' } }), key)
    expect(again.status).toBe(201)
  })

  it('50 concurrent creates with the same idempotency key make a single post', async () => {
    const ann = await world.caller()
    const key = { 'idempotency-key': randomUUID() }
    const answers = await Promise.all(Array.from({ length: 50 }, () => ann.call('POST', '/', postBody(), key)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49)
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.data)))).toHaveLength(1)
    expect([await postCountOf(ann.userId), await usageOf(ann.userId)]).toEqual([1, 1])
    expect(await notificationsOf(ann.userId)).toHaveLength(1)
  })
})

describe('the post limit of a plan', () => {
  it('an exhausted plan is 403 with usage and limit, and stores nothing', async () => {
    const ann = await world.caller({ maxPosts: 1 })
    await ann.call('POST', '/', postBody({ status: 'DRAFT' }))
    const { status, body } = await ann.call('POST', '/', postBody())
    expect(status).toBe(403)
    expect(body).toMatchObject({ success: false, code: 'POST_LIMIT_REACHED', usage: 1, limit: 1 })
    expect(body.message).toContain('(1/1)')
    expect([await postCountOf(ann.userId), await usageOf(ann.userId), await notificationsOf(ann.userId)]).toEqual([
      1,
      1,
      [],
    ])
  })

  it('exactly one of many concurrent creates gets the last post of the plan', async () => {
    const ann = await world.caller({ maxPosts: 3 })
    await ann.call('POST', '/', postBody())
    await ann.call('POST', '/', postBody())
    const answers = await Promise.all(Array.from({ length: 20 }, () => ann.call('POST', '/', postBody())))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === 'POST_LIMIT_REACHED')).toHaveLength(19)
    expect([await postCountOf(ann.userId), await usageOf(ann.userId)]).toEqual([3, 3])
  })

  it('all concurrent creates of several users are counted', async () => {
    const callers = await Promise.all(Array.from({ length: 5 }, () => world.caller({ maxPosts: 10 })))
    const answers = await Promise.all(
      callers.flatMap((caller) => Array.from({ length: 12 }, () => caller.call('POST', '/', postBody()))),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50)
    expect(answers.filter(({ body }) => body.code === 'POST_LIMIT_REACHED')).toHaveLength(10)
    for (const { userId } of callers) {
      expect([await postCountOf(userId), await usageOf(userId)]).toEqual([10, 10])
      expect(await notificationsOf(userId)).toHaveLength(10)
    }
  })

  it('cancelling or deleting does not restore plan usage', async () => {
    const ann = await world.caller({ maxPosts: 2 })
    for (const undo of ['cancel', 'delete']) {
      const { body } = await ann.call('POST', '/', postBody())
      if (undo === 'cancel') await ann.call('POST', `/${body.data.postId}/cancel`)
      else await ann.call('DELETE', `/${body.data.postId}`)
    }
    expect((await ann.call('POST', '/', postBody())).status).toBe(403)
  })
})

it('a locked user record makes create return 503, store nothing and delay no other user', async () => {
  const [ann, bob] = [await world.caller(), await world.caller()]
  const { connection } = world.context.database
  const session = await connection.startSession()
  session.startTransaction()
  await createUserStore(connection).takeAllowance('posts', ann.userId, session)
  const locked = ann.call('POST', '/', postBody())
  const alsoLocked = Array.from({ length: 3 }, () => ann.call('POST', '/', postBody()))
  const free = await Promise.all(Array.from({ length: 10 }, () => bob.call('POST', '/', postBody())))
  expect(free.map((answer) => answer.status)).toEqual(free.map(() => 201))
  expect(await Promise.race([locked, Promise.resolve('still locked')])).toBe('still locked')
  const { status, body } = await locked
  for (const answer of await Promise.all(alsoLocked)) expect(answer.status).toBe(503)
  await session.abortTransaction()
  await session.endSession()
  expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
  expect([await postCountOf(ann.userId), await usageOf(ann.userId), await notificationsOf(ann.userId)]).toEqual([
    0,
    0,
    [],
  ])
})

it('create returns 201 while Temporal is unavailable, and the post records that its start is owed', async () => {
  const orchestrator = createOrchestrator({ address: '127.0.0.1:1', namespace: 'nowhere' })
  const cutOff = await postsWorld({ orchestrator })
  try {
    const ann = await cutOff.caller()
    const { status, body } = await ann.call('POST', '/', postBody({ scheduledAt: inAnHour() }))
    expect([status, body.data.status]).toEqual([201, 'SCHEDULED'])
    const { postId } = body.data
    expect((await cutOff.context.posts.find(postId))!.startPending).toBe(true)

    expect((await ann.call('PATCH', `/${postId}`, { content: { text: 'edited' } })).status).toBe(200)
    expect((await ann.call('POST', `/${postId}/cancel`)).body.data.status).toBe('CANCELLED')
    expect((await ann.call('DELETE', `/${postId}`)).status).toBe(200)
  } finally {
    await cutOff.close()
  }
})
