import { describe, expect, it } from 'vitest'
import { disconnectAccount } from '../../../../src/commands/accounts/disconnect-platform.ts'
import { createdPost } from '../../../support/created-post.ts'
import { deliver, inAnHour, postBody, postsWorld, withCallers, type PostsWorld } from '../../../support/posts-api.ts'
import { addAccount, connectAccounts } from '../../../support/published.ts'
import { unique } from '../../../support/servers.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
shared.beforeAll(({ api }) => void (world = withCallers(api)))

/** Reads a post whose workflow has started. */
const stored = async (postId: string) => {
  await world.context.startQueue.idle()
  return (await world.context.posts.find(postId))!
}
const notificationsOf = (userId: string) => world.context.notifications.listOf(userId, 100)
const item = (userId: string) => ({ storageKey: `posts/${userId}/a.jpg`, mimeType: 'image/jpeg' })

describe('PATCH /api/posts/:postId', () => {
  it('a patch replaces the given fields and keeps the rest, per part of the content', async () => {
    const ann = await world.caller()
    const scheduledAt = inAnHour()
    const postId = await createdPost(ann, {
      content: { text: 'first', mediaItems: [item(ann.userId)] },
      platformSpecificContent: { bluesky: { text: 'b' }, threads: { text: 't' } },
      selectedPlatforms: ['bluesky', 'threads'],
      scheduledAt,
    })
    const { status, body } = await ann.call('PATCH', `/${postId}`, { content: { text: 'second' } })
    expect([status, body]).toMatchObject([
      200,
      { success: true, message: 'Post updated successfully', data: { postId, status: 'SCHEDULED', scheduledAt } },
    ])
    expect((await stored(postId)).content).toMatchObject({ text: 'second', mediaItems: [{ mimeType: 'image/jpeg' }] })

    await ann.call('PATCH', `/${postId}`, {
      content: { mediaItems: [] },
      platformSpecificContent: { threads: { text: 'new' } },
    })
    expect(await stored(postId)).toMatchObject({
      content: { text: 'second', mediaItems: [] },
      scheduledAt: new Date(scheduledAt),
    })
    expect((await stored(postId)).platformSpecificContent).toEqual({ threads: { text: 'new' } })

    await ann.call('PATCH', `/${postId}`, { selectedPlatforms: ['threads', 'tumblr'] })
    expect((await stored(postId)).platformStatuses.map(({ platform }) => platform)).toEqual(['threads', 'tumblr'])
  })

  it('a patch of the timezone alone does not move the stored instant', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt: '2030-07-01T10:00', timezone: 'Europe/Berlin' })
    await ann.call('PATCH', `/${postId}`, { timezone: 'Asia/Tokyo' })
    expect(await stored(postId)).toMatchObject({
      timezone: 'Asia/Tokyo',
      scheduledAt: new Date('2030-07-01T08:00:00Z'),
    })
  })

  it('a patch interprets local time in the given timezone, else in the stored one', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt: '2030-07-01T10:00', timezone: 'Europe/Berlin' })
    const first = await ann.call('PATCH', `/${postId}`, { scheduledAt: '2030-07-01T12:00' })
    expect(first.body.data.scheduledAt).toBe('2030-07-01T10:00:00.000Z')
    const second = await ann.call('PATCH', `/${postId}`, { scheduledAt: '2030-07-01T12:00', timezone: 'Asia/Tokyo' })
    expect(second.body.data.scheduledAt).toBe('2030-07-01T03:00:00.000Z')
  })

  it('a post has a rank among the posts of its second, and a new one when it is moved', async () => {
    const [ann, bob] = [await world.caller(), await world.caller()]
    const [full, empty] = ['2031-03-01T09:00:00Z', '2031-03-01T09:30:00Z']
    const postIds: string[] = []
    for (const caller of [ann, bob, ann]) postIds.push(await createdPost(caller, { scheduledAt: full }))
    const ranks = () => Promise.all(postIds.map(async (postId) => (await stored(postId)).dueRank))
    expect(await ranks()).toEqual([0, 1, 2])
    await ann.call('PATCH', `/${postIds[2]}`, { scheduledAt: empty })
    await ann.call('PATCH', `/${postIds[0]}`, { scheduledAt: empty })
    await ann.call('PATCH', `/${postIds[0]}`, { content: { text: 'Not moved' } })
    expect(await ranks()).toEqual([1, 1, 0])
  })

  it('posts of one user beyond the burst limit become due one after the other, with a warning, and show when', async () => {
    const crowded = await postsWorld({}, { USER_POSTS_AT_INSTANT: 2, USER_POSTS_PER_SECOND: 2 })
    const [ann, bob] = [await crowded.caller(), await crowded.caller()]
    const [full, empty] = ['2031-04-01T09:00:00Z', '2031-04-01T10:00:00Z']
    const warningsOf = (body: { data: { warnings: { code: string }[] } }) =>
      body.data.warnings.filter(({ code }) => code === 'TIME_CROWDED')
    const delayOf = async (postId: string) => {
      await crowded.context.startQueue.idle()
      const { dueAt, scheduledAt } = (await crowded.context.posts.find(postId))!
      return dueAt!.getTime() - scheduledAt!.getTime()
    }
    try {
      const postIds: string[] = []
      for (let rank = 0; rank < 4; rank++) postIds.push(await createdPost(ann, { scheduledAt: full }))
      const others = await createdPost(bob, { scheduledAt: full })
      expect(await Promise.all([...postIds, others].map(delayOf))).toEqual([0, 0, 500, 1_000, 0])

      const body = postBody({ scheduledAt: full, timezone: 'Europe/Berlin' })
      const validated = await ann.call('POST', '/validate', body)
      const created = await ann.call('POST', '/', body)
      for (const { body: answer } of [validated, created]) {
        expect(warningsOf(answer)).toMatchObject([
          {
            path: 'scheduledAt',
            message: expect.stringContaining('published at 1 April 2031, 11:00:02 (Europe/Berlin)'),
            nextFreeAt: '2031-04-01T09:00:01.500Z',
          },
        ])
      }
      const late = { _id: created.body.data.postId, scheduledAt: '2031-04-01T09:00:00.000Z' }
      const shown = { scheduledAt: late.scheduledAt, dueAt: '2031-04-01T09:00:01.500Z' }
      expect((await ann.call('GET', `/${late._id}`)).body.data.post).toMatchObject(shown)
      expect((await ann.call('GET', `/${late._id}/status`)).body.data).toMatchObject(shown)
      const { posts } = (await ann.call('GET', '')).body.data
      expect(posts).toContainEqual(expect.objectContaining({ _id: late._id, ...shown }))

      const moved = await ann.call('PATCH', `/${postIds[3]}`, { scheduledAt: empty })
      expect(warningsOf(moved.body)).toEqual([])
      expect(await delayOf(postIds[3]!)).toBe(0)
      const back = await ann.call('PATCH', `/${postIds[3]}`, { scheduledAt: full })
      expect(warningsOf(back.body)).toHaveLength(1)
      await ann.call('PATCH', `/${postIds[3]}`, { content: { text: 'Not moved' } })
      expect(await delayOf(postIds[3]!)).toBe(1_500)
    } finally {
      await crowded.close()
    }
  })

  it('null as the time of a scheduled post publishes it now', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt: inAnHour() })
    const { body } = await ann.call('PATCH', `/${postId}`, { scheduledAt: null })
    expect(body.data).toMatchObject({ postId, status: 'PENDING', scheduledAt: null })
  })

  it('a future time schedules a pending post', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    const scheduledAt = inAnHour()
    const { body } = await ann.call('PATCH', `/${postId}`, { scheduledAt })
    expect(body.data).toMatchObject({ postId, status: 'SCHEDULED', scheduledAt })
  })

  it('an empty patch changes nothing visible', async () => {
    const ann = await world.caller()
    const scheduledAt = inAnHour()
    const postId = await createdPost(ann, { scheduledAt })
    const { status, body } = await ann.call('PATCH', `/${postId}`, {})
    expect([status, body.data]).toMatchObject([200, { postId, status: 'SCHEDULED', scheduledAt }])
  })

  it('a patch checks the whole resulting post', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, {
      content: { text: 'a'.repeat(400) },
      selectedPlatforms: ['mastodon'],
      scheduledAt: inAnHour(),
    })
    const { status, body } = await ann.call('PATCH', `/${postId}`, { selectedPlatforms: ['bluesky'] })
    expect(status).toBe(400)
    expect(body.errors).toMatchObject([{ code: 'TEXT_TOO_LONG', platform: 'bluesky', path: 'content.text' }])
    expect((await stored(postId)).selectedPlatforms).toEqual(['mastodon'])
  })

  it('two concurrent patches are both applied', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { content: { text: 'old', mediaItems: [item(ann.userId)] }, status: 'DRAFT' })
    await Promise.all([
      ann.call('PATCH', `/${postId}`, { content: { text: 'new' } }),
      ann.call('PATCH', `/${postId}`, { content: { mediaItems: [] } }),
    ])
    expect((await stored(postId)).content).toEqual({ text: 'new', mediaItems: [] })
  })

  it.each([
    [{ content: { text: 7 } }],
    [{ selectedPlatforms: [] }],
    [{ status: 'CANCELLED' }],
    [{ timezone: 'Nowhere' }],
    [{ timezone: null }],
    [{ scheduledAt: 'soon' }],
    [{ platformSpecificContent: { myspace: {} } }],
    [{ content: { mediaItems: [{ storageKey: 'posts/other/a.jpg', mimeType: 'image/png' }] } }],
  ])('a patch with %j is rejected', async (change) => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt: inAnHour() })
    const before = await stored(postId)
    expect((await ann.call('PATCH', `/${postId}`, change)).status).toBe(400)
    expect(await stored(postId)).toEqual(before)
  })

  it('a patch never sets fields that clients must not set', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt: inAnHour() })
    const before = await stored(postId)
    const { status } = await ann.call('PATCH', `/${postId}`, {
      userId: 'f'.repeat(24),
      _id: 'x',
      createdAt: '2001-01-01T00:00:00Z',
      platformStatuses: [],
      correlationId: 'new',
      revision: 99,
      metadata: { source: 'web' },
    })
    expect(status).toBe(200)
    const { updatedAt, revision, startPending, ...after } = await stored(postId)
    // An edit clears the reason why an earlier attempt had to wait.
    const platformStatuses = before.platformStatuses.map((entry) => ({ ...entry, platformReason: null }))
    expect({ ...after, updatedAt: before.updatedAt, revision: before.revision, startPending }).toEqual({
      ...before,
      platformStatuses,
      startPending,
    })
    expect([updatedAt >= before.updatedAt, revision]).toEqual([true, 1])
  })
})

describe('updates of a post', () => {
  it.each(['PUT', 'PATCH'] as const)('%s returns the same warnings as create', async (method) => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt: inAnHour() })
    const now = { scheduledAt: null }
    const { body } = await ann.call(method, `/${postId}`, method === 'PUT' ? postBody(now) : now)
    expect(body.data).toMatchObject({ status: 'PENDING', scheduledAt: null })
    expect(body.data.warnings.map(({ code }: { code: string }) => code)).toEqual(['PLATFORM_NOT_CONNECTED'])
  })

  it.each([
    ['PUT', 'SCHEDULED', undefined],
    ['PATCH', 'SCHEDULED', undefined],
    ['PUT', 'DRAFT', 'PENDING'],
    ['PATCH', 'DRAFT', 'PENDING'],
    ['PATCH', 'DRAFT', 'SCHEDULED'],
  ] as const)('%s refuses a past time of a %s post with the status %s', async (method, before, status) => {
    const ann = await world.caller()
    const postId = await createdPost(ann, before === 'DRAFT' ? { status: before } : { scheduledAt: inAnHour() })
    const unchanged = await stored(postId)
    const past = { scheduledAt: '2001-01-01T00:00:00Z', ...(status && { status }) }
    const { status: code, body } = await ann.call(method, `/${postId}`, method === 'PUT' ? postBody(past) : past)
    expect(code).toBe(400)
    expect(body.errors).toMatchObject([{ path: 'scheduledAt', code: 'SCHEDULED_IN_PAST' }])
    expect(await stored(postId)).toEqual(unchanged)
  })

  it.each(['PUT', 'PATCH'] as const)('%s of a draft that stays one removes a past time', async (method) => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { status: 'DRAFT', scheduledAt: inAnHour() })
    const past = { scheduledAt: '2001-01-01T00:00:00Z' }
    const { body } = await ann.call(method, `/${postId}`, method === 'PUT' ? postBody(past) : past)
    expect(body.data).toMatchObject({ status: 'DRAFT', scheduledAt: null })
    expect(body.data.warnings).toContainEqual(expect.objectContaining({ code: 'SCHEDULED_IN_PAST' }))
  })

  it.each(['PUT', 'PATCH'] as const)(
    '%s accepts the time that the post has, also when it has passed',
    async (method) => {
      const ann = await world.caller()
      const postId = await createdPost(ann, { status: 'DRAFT', scheduledAt: inAnHour() })
      const scheduledAt = new Date(Date.now() - 1_000)
      const posts = world.context.database.connection.collection<{ _id: string }>('posts')
      await posts.updateOne({ _id: postId }, { $set: { scheduledAt } })
      const same = { scheduledAt: scheduledAt.toISOString(), status: 'PENDING' }
      const { body } = await ann.call(method, `/${postId}`, method === 'PUT' ? postBody(same) : same)
      expect(body.data).toMatchObject({ status: 'PENDING', scheduledAt: null })
      expect(body.data.warnings).toContainEqual(expect.objectContaining({ code: 'SCHEDULED_IN_PAST' }))
    },
  )
})

describe('PUT /api/posts/:postId', () => {
  it('PUT accepts the body of create: absent fields get their defaults, but an absent time does not change', async () => {
    const ann = await world.caller()
    const scheduledAt = inAnHour()
    const postId = await createdPost(ann, {
      content: { text: 'first', mediaItems: [item(ann.userId)] },
      platformSpecificContent: { bluesky: { text: 'b' } },
      timezone: 'Europe/Berlin',
      scheduledAt,
    })
    const { status, body } = await ann.call('PUT', `/${postId}`, postBody({ content: { text: 'second' } }))
    expect([status, body.data]).toMatchObject([200, { postId, status: 'SCHEDULED', scheduledAt }])
    expect(await stored(postId)).toMatchObject({
      content: { text: 'second', mediaItems: [] },
      platformSpecificContent: {},
      timezone: 'UTC',
    })
    const moved = await ann.call('PUT', `/${postId}`, postBody({ scheduledAt: null }))
    expect(moved.body.data).toMatchObject({ postId, status: 'PENDING', scheduledAt: null })
  })

  it('a post for named accounts lists their platforms, and a client that does not know accounts saves it as it is', async () => {
    const ann = await world.caller()
    await connectAccounts(world.context, ann.userId, ['bluesky', 'mastodon'])
    const brand = await addAccount(world.context, ann.userId, { platform: 'bluesky', platformId: unique('brand') })
    const ofAccounts = {
      selectedAccounts: [brand._id],
      accountSpecificContent: { [brand._id]: { text: 'For the brand' } },
    }
    const { body } = await ann.call('POST', '', { content: { text: 'first' }, ...ofAccounts, scheduledAt: inAnHour() })
    const { postId } = body.data
    const read = async () => (await ann.call('GET', '?platform=bluesky')).body.data.posts[0]
    expect(await read()).toMatchObject({ _id: postId, selectedPlatforms: ['bluesky'], ...ofAccounts })
    const accountsOf = async () => (await stored(postId)).platformStatuses.map(({ accountId }) => accountId)

    const { content, selectedPlatforms, selectedAccounts, accountSpecificContent } = await read()
    for (const saved of [
      { content, selectedPlatforms },
      { content, selectedPlatforms, selectedAccounts, accountSpecificContent },
    ]) {
      expect((await ann.call('PUT', `/${postId}`, saved)).status).toBe(200)
      expect(await read()).toMatchObject({ selectedPlatforms: ['bluesky'], ...ofAccounts })
      expect(await accountsOf()).toEqual([brand._id])
    }
    await disconnectAccount(world.context, ann.userId, brand._id)
    const { data } = (await ann.call('PUT', `/${postId}`, { content, selectedPlatforms })).body
    expect(data.warnings).toMatchObject([{ code: 'PLATFORM_NOT_CONNECTED', accountId: brand._id }])
    expect(await accountsOf()).toEqual([brand._id])

    await ann.call('PUT', `/${postId}`, { content, selectedPlatforms: ['mastodon'] })
    expect(await stored(postId)).toMatchObject({ selectedAccounts: [], platformStatuses: [{ platform: 'mastodon' }] })
  })

  it('PUT requires the whole body', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt: inAnHour() })
    expect((await ann.call('PUT', `/${postId}`, { content: { text: 'x' } })).body.errors).toMatchObject([
      { path: 'selectedPlatforms', code: 'TOO_SHORT' },
    ])
    expect((await ann.call('PUT', `/${postId}`)).status).toBe(400)
  })
})

describe('edits of a post on two devices', () => {
  /** Creates a post, reads it, and returns edits of it that name a reading. */
  async function readPost(method: 'PUT' | 'PATCH', scheduledAt: string | null = inAnHour()) {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt })
    const { headers, body } = await ann.call('GET', `/${postId}`)
    const etag = headers['etag'] as string
    const edit = (text: string, ifMatch: string) =>
      ann.call(method, `/${postId}`, postBody({ content: { text } }), { 'if-match': ifMatch })
    const readText = async () => (await stored(postId)).content.text
    return { ann, postId, etag, post: body.data.post, edit, readText }
  }

  it.each(['PUT', 'PATCH'] as const)('%s is 412 when the post has changed since it was read', async (method) => {
    const { ann, postId, etag, post, edit, readText } = await readPost(method)
    const [listed] = (await ann.call('GET', '/')).body.data.posts
    expect([post.etag, listed.etag]).toEqual([etag, etag])
    const phone = await edit('From the phone', etag)
    expect([phone.status, phone.headers['etag']]).toEqual([200, phone.body.data.etag])
    const desk = await edit('From the desk', etag)
    expect([desk.status, desk.body.code]).toEqual([412, 'PRECONDITION_FAILED'])
    expect(desk.body.post).toEqual((await ann.call('GET', `/${postId}`)).body.data.post)
    expect(await readText()).toBe('From the phone')
    expect((await edit('Read again', phone.body.data.etag)).status).toBe(200)
  })

  it('a deletion is 412 with the newer post when the post has changed since it was read', async () => {
    const { ann, postId, etag, edit } = await readPost('PATCH')
    const { body } = await edit('From the phone', etag)
    const remove = (ifMatch: string) => ann.call('DELETE', `/${postId}`, undefined, { 'if-match': ifMatch })
    const refused = await remove(etag)
    expect([refused.status, refused.body]).toMatchObject([
      412,
      { code: 'PRECONDITION_FAILED', post: { _id: postId, content: { text: 'From the phone' }, etag: body.data.etag } },
    ])
    expect((await remove(body.data.etag)).status).toBe(200)
    expect((await remove(body.data.etag)).status).toBe(404)
  })

  it('of concurrent edits after one reading, exactly one is applied', async () => {
    const { etag, edit, readText } = await readPost('PATCH')
    const texts = Array.from({ length: 10 }, (_, index) => `From device ${index}`)
    const answers = await Promise.all(texts.map((text) => edit(text, etag)))
    const applied = texts.filter((_, index) => answers[index]!.status === 200)
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(9)
    expect(applied).toEqual([await readText()])
  })

  it.each([
    [200, 'W/"0"'],
    [200, '"9", "0"'],
    [200, '*'],
    [412, '"9"'],
    [412, '0'],
    [412, ''],
  ])('an edit of the first revision is %i with If-Match: %s', async (status, header) => {
    const { etag, edit } = await readPost('PATCH')
    expect([etag, (await edit('Changed', header)).status]).toEqual(['"0"', status])
  })

  it('a delivery that began after the reading is a change', async () => {
    const { postId, etag, edit } = await readPost('PATCH', null)
    await deliver(world.context, postId, { bluesky: 'claimed' })
    expect((await edit('Too late', etag)).status).toBe(412)
  })
})

describe('updating drafts', () => {
  it('a draft stays a draft without a status and may break platform rules', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { status: 'DRAFT' })
    const { createdAt } = await stored(postId)
    const { body } = await ann.call('PATCH', `/${postId}`, {
      content: { text: 'a'.repeat(999) },
      scheduledAt: inAnHour(),
    })
    expect(body.data).toMatchObject({ status: 'DRAFT', scheduledAt: expect.any(String) })
    expect((await ann.call('PATCH', `/${postId}`, { status: 'DRAFT' })).body.data.status).toBe('DRAFT')
    expect((await stored(postId)).createdAt).toEqual(createdAt)
    expect(await notificationsOf(ann.userId)).toEqual([])
  })

  it('status PENDING publishes a draft immediately, and either status schedules it with a future time', async () => {
    const ann = await world.caller()
    const draft = (change: object = {}) => createdPost(ann, { status: 'DRAFT', ...change })
    const publish = async (postId: string, status: string) => (await ann.call('PATCH', `/${postId}`, { status })).body
    expect((await publish(await draft(), 'PENDING')).data.status).toBe('PENDING')
    for (const status of ['PENDING', 'SCHEDULED']) {
      expect((await publish(await draft({ scheduledAt: inAnHour() }), status)).data.status).toBe('SCHEDULED')
    }
    const unscheduled = await draft()
    expect((await publish(unscheduled, 'SCHEDULED')).errors).toMatchObject([{ code: 'SCHEDULED_AT_REQUIRED' }])
    expect((await stored(unscheduled)).status).toBe('DRAFT')
  })

  it('a draft whose time has passed is rejected with SCHEDULED and published with a warning by PENDING', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { status: 'DRAFT', scheduledAt: inAnHour() })
    const posts = world.context.database.connection.collection<{ _id: string }>('posts')
    await posts.updateOne({ _id: postId }, { $set: { scheduledAt: new Date(Date.now() - 1_000) } })
    const refused = await ann.call('PATCH', `/${postId}`, { status: 'SCHEDULED' })
    expect([refused.status, refused.body.errors]).toMatchObject([400, [{ path: 'scheduledAt' }]])
    const { body } = await ann.call('PATCH', `/${postId}`, { status: 'PENDING' })
    expect(body.data).toMatchObject({ status: 'PENDING', scheduledAt: null })
    expect(body.data.warnings).toContainEqual(expect.objectContaining({ code: 'SCHEDULED_IN_PAST' }))
  })

  it('a published draft gets a new createdAt and raises its creation notification once', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { status: 'DRAFT' })
    const draft = await stored(postId)
    await ann.call('PUT', `/${postId}`, postBody({ status: 'SCHEDULED', scheduledAt: inAnHour() }))
    expect((await stored(postId)).createdAt.getTime()).toBeGreaterThan(draft.createdAt.getTime())
    await ann.call('PATCH', `/${postId}`, { status: 'SCHEDULED', content: { text: 'again' } })
    expect(await notificationsOf(ann.userId)).toMatchObject([
      { message: expect.stringContaining('scheduled'), reference: { id: postId } },
    ])
    expect((await world.context.users.findById(ann.userId))!.usage.postsCreated).toBe(1)
  })

  it('a draft is checked against the platform rules when it is published', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { status: 'DRAFT', content: { text: 'a'.repeat(301) } })
    const { status, body } = await ann.call('PATCH', `/${postId}`, { status: 'PENDING' })
    expect([status, body.errors[0].code]).toEqual([400, 'TEXT_TOO_LONG'])
    expect((await stored(postId)).status).toBe('DRAFT')
  })
})

describe('a post that can no longer be edited', () => {
  const refused = {
    success: false,
    statusCode: 409,
    code: 'POST_NOT_EDITABLE',
    message: 'Post can no longer be edited',
  }

  it.each(['claimed', 'accepted', 'refused'] as const)(
    'a post that delivery has %s can no longer be edited',
    async (outcome) => {
      const ann = await world.caller()
      const postId = await createdPost(ann)
      await deliver(world.context, postId, { bluesky: outcome })
      expect((await ann.call('PATCH', `/${postId}`, { content: { text: 'late' } })).body).toMatchObject(refused)
      expect((await ann.call('PUT', `/${postId}`, postBody({ content: { text: 'late' } }))).body).toMatchObject(refused)
      expect((await stored(postId)).content.text).toBe('Good morning')
    },
  )

  it('a cancelled post can no longer be edited', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    await ann.call('POST', `/${postId}/cancel`)
    expect((await ann.call('PATCH', `/${postId}`, { content: { text: 'late' } })).body).toMatchObject(refused)
  })

  it('a scheduled post cannot become a draft again', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { scheduledAt: inAnHour() })
    expect((await ann.call('PATCH', `/${postId}`, { status: 'DRAFT' })).body).toMatchObject(refused)
    expect((await stored(postId)).status).toBe('SCHEDULED')
  })
})
