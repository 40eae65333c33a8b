import { describe, expect, it } from 'vitest'
import { IMPOSSIBLE_DATE_TIMES } from '../../../support/date-times.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import { publishedPost } from '../../../support/published-post.ts'
import { DAY, HOUR } from '../../../../src/domain/shared/times.ts'
import { buildPost } from '../../../support/posts.ts'
import { createdPost } from '../../../support/created-post.ts'
import { deliver, inAnHour, postBody, withCallers, type PostsWorld } from '../../../support/posts-api.ts'
import { signIn } from '../../../support/api.ts'
import { addAccount, connectAccounts } from '../../../support/published.ts'
import { unique } from '../../../support/servers.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
shared.beforeAll(({ api }) => void (world = withCallers(api)))

const INTERNAL = ['delivery', 'requestHash', 'firstAnswer', 'revision', 'startPending', 'dueRank', 'contentVersion']

describe('GET /api/posts', () => {
  it('the list has the specified fields and no internal ones', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, {
      scheduledAt: '2030-01-01T00:00:00Z',
      timezone: 'Europe/Berlin',
      correlationId: 'c1',
    })
    const { status, body } = await ann.call('GET', '/')
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      message: 'Posts fetched successfully',
      data: {
        posts: [
          {
            _id: postId,
            userId: ann.userId,
            content: { text: 'Good morning', mediaItems: [] },
            selectedPlatforms: ['bluesky'],
            platformSpecificContent: {},
            scheduledAt: '2030-01-01T00:00:00.000Z',
            dueAt: '2030-01-01T00:00:00.000Z',
            timezone: 'Europe/Berlin',
            status: 'SCHEDULED',
            platformStatuses: [
              {
                platform: 'bluesky',
                accountId: null,
                accountName: null,
                server: null,
                status: 'pending',
                platformPostId: null,
                platformPostUrl: null,
                error: null,
                errorCode: null,
                nextAttemptAt: null,
                attemptCount: 0,
                lastAttemptAt: null,
                completedAt: null,
                lastAnalyticsFetch: null,
              },
            ],
            correlationId: 'c1',
            metadata: { source: 'api', client: 'api' },
            createdAt: expect.stringMatching(/Z$/),
            updatedAt: expect.stringMatching(/Z$/),
            etag: '"0"',
          },
        ],
        total: 1,
        page: 1,
        limit: 20,
        totalPages: 1,
      },
    })
    for (const name of INTERNAL) expect(JSON.stringify(body)).not.toContain(name)
  })

  it('the list is paged, newest first, with posts of the caller only', async () => {
    const [ann, bob] = [await world.caller(), await world.caller()]
    const ids = []
    for (let index = 0; index < 5; index += 1) ids.unshift(await createdPost(ann))
    await createdPost(bob)
    const page = async (query: string) => (await ann.call('GET', `/?${query}`)).body.data
    const first = await page('limit=2')
    expect(first).toMatchObject({ total: 5, page: 1, limit: 2, totalPages: 3 })
    const rest = [...(await page('limit=2&page=2')).posts, ...(await page('limit=2&page=3')).posts]
    expect([...first.posts, ...rest].map(({ _id }) => _id)).toEqual(ids)
    expect((await page('limit=2&page=4')).posts).toEqual([])
    expect((await page('limit=5&sortOrder=asc')).posts.map(({ _id }: { _id: string }) => _id)).toEqual(ids.toReversed())
  })

  it('the list sorts by scheduledAt and breaks ties by id', async () => {
    const ann = await world.caller()
    const late = await createdPost(ann, { scheduledAt: '2031-01-01T00:00:00Z' })
    const soonA = await createdPost(ann, { scheduledAt: '2030-01-01T00:00:00Z' })
    const soonB = await createdPost(ann, { scheduledAt: '2030-01-01T00:00:00Z' })
    const order = async (direction: string) =>
      (await ann.call('GET', `/?sortBy=scheduledAt&sortOrder=${direction}`)).body.data.posts.map(
        ({ _id }: { _id: string }) => _id,
      )
    expect(await order('asc')).toEqual([soonA, soonB, late])
    expect(await order('desc')).toEqual([late, soonB, soonA])
  })

  it('the list filters by status and platform', async () => {
    const ann = await world.caller()
    const draft = await createdPost(ann, { status: 'DRAFT' })
    const tumblr = await createdPost(ann, { selectedPlatforms: ['tumblr', 'bluesky'] })
    const ids = async (query: string) =>
      (await ann.call('GET', `/?${query}`)).body.data.posts.map(({ _id }: { _id: string }) => _id)
    expect(await ids('status=DRAFT')).toEqual([draft])
    expect(await ids('platform=tumblr')).toEqual([tumblr])
    expect(await ids('status=COMPLETED')).toEqual([])
    expect(await ids('status=PENDING&platform=bluesky')).toEqual([tumblr])
  })

  it('every selection of posts filters by accounts, source and client', async () => {
    const ann = await world.caller()
    const draft = (text: string) => createdPost(ann, { status: 'DRAFT', content: { text } })
    const [one, other, third] = [await draft('Draft 1'), await draft('Draft 2'), await draft('Draft 3')]
    const posts = world.context.database.connection.collection<{ _id: string }>('posts')
    const change = (id: string, accountId: string, source: string, client: string) =>
      posts.updateOne(
        { _id: id },
        { $set: { 'platformStatuses.0.accountId': accountId, metadata: { source, client } } },
      )
    await change(one, 'acc-one', 'web', 'console')
    await change(other, 'acc-other', 'api', 'mcp')
    await change(third, 'acc-third', 'api', 'import')
    const range = `from=${new Date(Date.now() - HOUR).toISOString()}&to=${new Date(Date.now() + HOUR).toISOString()}`
    const select = async (query: string) => {
      const list = (await ann.call('GET', `/?${query}`)).body.data
      const calendar = (await ann.call('GET', `/calendar?${range}&${query}`)).body.data
      const counts = (await ann.call('GET', `/counts?${range}&${query}`)).body.data
      const exported = (await world.app.inject({ url: `/api/exports/posts?${query}`, headers: ann.headers })).json()
      const ids = list.posts.map(({ _id }: { _id: string }) => _id)
      const inCalendar = calendar.posts.map(({ _id }: { _id: string }) => _id)
      expect(inCalendar).toEqual(ids.toReversed())
      const counted = counts.days.reduce((sum: number, { total }: { total: number }) => sum + total, 0)
      expect([list.total, counted, exported.length]).toEqual([ids.length, ids.length, ids.length])
      return ids
    }
    expect(await select('accounts=acc-one')).toEqual([one])
    expect(await select('accounts=acc-one,acc-other')).toEqual([other, one])
    expect(await select('accounts=acc-one&accounts=acc-third&client=import,api')).toEqual([third])
    expect(await select('accounts=acc-one&platform=tumblr')).toEqual([])
    expect(await select('source=api')).toEqual([third, other])
    expect(await select('client=mcp')).toEqual([other])
    expect(await select('client=mcp,console&q=draft%201')).toEqual([one])
  })

  it.each([
    ['accounts=', 'accounts.0', 'TOO_SHORT'],
    [`accounts=${'a'.repeat(101)}`, 'accounts.0', 'TOO_LONG'],
    [`accounts=${Array.from({ length: 101 }, (_, index) => index).join()}`, 'accounts', 'TOO_LONG'],
    ['source=phone', 'source', 'NOT_ALLOWED'],
    ['client=mcp,agent', 'client.1', 'NOT_ALLOWED'],
    ['q=', 'q', 'TOO_SHORT'],
  ])('a selection of posts is 400 for %s', async (query, path, code) => {
    const ann = await world.caller()
    for (const route of ['/?', '/counts?from=2026-05-01&to=2026-05-02&', '/calendar?from=2026-05-01&to=2026-05-02&']) {
      const { status, body } = await ann.call('GET', route + query)
      expect([status, body.errors]).toMatchObject([400, [{ path, code }]])
    }
  })

  it('the list filters from and to by scheduledAt, or by createdAt without a time', async () => {
    const ann = await world.caller()
    const now = await createdPost(ann)
    const later = await createdPost(ann, { scheduledAt: '2031-01-01T00:00:00Z' })
    const ids = async (query: string) =>
      (await ann.call('GET', `/?${query}`)).body.data.posts.map(({ _id }: { _id: string }) => _id)
    expect(await ids('from=2030-01-01T00:00:00Z')).toEqual([later])
    expect(await ids('to=2030-01-01T00:00:00Z')).toEqual([now])
    expect(await ids('from=2020-01-01T00:00:00Z&to=2031-01-01T00:00:00Z')).toEqual([later, now])
    expect(await ids('from=2031-01-01T00:00:00.001Z')).toEqual([])
  })

  it("the list accepts several statuses, dates in the user's timezone, text search and order by date", async () => {
    const ann = await world.caller()
    await world.context.users.setTimezone(ann.userId, 'Asia/Tokyo')
    const draft = await createdPost(ann, { status: 'DRAFT', content: { text: 'The (big) launch.*' } })
    const newYear = await createdPost(ann, { scheduledAt: '2030-12-31T15:00:00Z' })
    const newYearsEve = await createdPost(ann, {
      scheduledAt: '2030-12-31T14:59:59Z',
      platformSpecificContent: { bluesky: { text: 'LAUNCH day' } },
    })
    const ids = async (query: string) => {
      const { status, body } = await ann.call('GET', `/?sortOrder=asc&${query}`)
      expect(status, JSON.stringify(body)).toBe(200)
      return body.data.posts.map(({ _id }: { _id: string }) => _id)
    }
    expect(await ids('status=DRAFT,SCHEDULED')).toEqual([draft, newYear, newYearsEve])
    expect(await ids('status=DRAFT&status=FAILED')).toEqual([draft])
    expect(await ids('from=2031-01-01')).toEqual([newYear])
    expect(await ids('from=2030-12-31&to=2030-12-31')).toEqual([newYearsEve])
    expect(await ids('sortBy=date')).toEqual([draft, newYearsEve, newYear])
    expect(await ids('q=launch')).toEqual([draft, newYearsEve])
    expect(await ids(`q=${encodeURIComponent('(BIG) launch.*')}`)).toEqual([draft])
    expect(await ids('q=%5B')).toEqual([])
    expect((await ann.call('GET', '/?status=DRAFT,gone')).status).toBe(400)
  })

  it('the list includes the latest metrics on request', async () => {
    const ann = await world.caller()
    const post = publishedPost({ userId: ann.userId, on: ['bluesky', 'mastodon'] })
    await world.context.database.transaction((session) => world.context.posts.insert([post], session))
    const draft = await createdPost(ann, { status: 'DRAFT' })
    const first = new Date('2026-01-01T00:00:00Z')
    const snapshot = (platform: Platform, likes: number, takenAt: Date) => ({
      ...{ userId: ann.userId, postId: post._id, platform, target: null, accountId: `${platform}-account` },
      ...{ slot: takenAt, takenAt, completedAt: first },
      ...{ likes, shares: 0, comments: null, impressions: null, reach: null, saved: null },
      ...{ totalEngagement: likes, engagementRate: null, virality: null, followerCountAtSnapshot: null },
    })
    const second = new Date(first.getTime() + 900_000)
    const taken = [snapshot('bluesky', 1, first), snapshot('bluesky', 5, second), snapshot('mastodon', 2, first)]
    await world.context.database.transaction((session) => world.context.snapshots.save(taken, session))
    const { posts, limit } = (await ann.call('GET', '/?include=metrics&limit=100')).body.data
    const analyticsOf = (postId: string) => posts.find(({ _id }: { _id: string }) => _id === postId).analytics
    expect(analyticsOf(post._id)).toMatchObject({ bluesky: { likes: 5, comments: null }, mastodon: { likes: 2 } })
    expect(analyticsOf(draft)).toEqual({})
    expect(limit).toBe(50)
    expect((await ann.call('GET', '/')).body.data.posts[0]).not.toHaveProperty('analytics')
  })

  it.each(['201', '100000', '9'.repeat(20)])(
    'the list reduces the limit %s to 200 and ignores unknown parameters',
    async (limit) => {
      const ann = await world.caller()
      const { status, body } = await ann.call('GET', `/?limit=${limit}&colour=red`)
      expect([status, body.data.limit, body.data.totalPages]).toEqual([200, 200, 0])
    },
  )

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=one',
    'page=',
    'page=1&page=2',
    'limit=0',
    'limit=1e2',
    'limit=0x10',
    'status=done',
    'status[$ne]=DRAFT&status=x',
    'platform=twitter',
    'sortBy=userId',
    'sortOrder=up',
    'from=yesterday',
    'from=2030-02-30',
    'include=everything',
    'q=',
    'to=2030-13-01T00:00:00Z',
  ])('the list rejects ?%s', async (query) => {
    const ann = await world.caller()
    const { status, body } = await ann.call('GET', `/?${query}`)
    expect([status, body.code]).toEqual([400, 'VALIDATION_FAILED'])
  })
})

describe('the posts of a range', () => {
  it('the counts have every day of the timezone with its posts by status', async () => {
    const ann = await world.caller()
    // The clocks of Berlin go forward on the 27th, from 02:00 to 03:00.
    for (const scheduledAt of [
      '2033-03-26T22:59:59Z',
      '2033-03-26T23:00:00Z',
      '2033-03-27T21:59:00Z',
      '2033-03-27T22:00:00Z',
    ])
      await createdPost(ann, { scheduledAt })
    const draft = await createdPost(ann, { status: 'DRAFT', scheduledAt: '2033-03-27T12:00:00Z' })
    const count = async (query: string) => (await ann.call('GET', `/counts?${query}`)).body.data
    expect(await count('from=2033-03-26&to=2033-03-29&timezone=Europe/Berlin')).toEqual({
      timezone: 'Europe/Berlin',
      days: [
        { date: '2033-03-26', total: 1, statuses: { SCHEDULED: 1 } },
        { date: '2033-03-27', total: 3, statuses: { SCHEDULED: 2, DRAFT: 1 } },
        { date: '2033-03-28', total: 1, statuses: { SCHEDULED: 1 } },
        { date: '2033-03-29', total: 0, statuses: {} },
      ],
    })
    expect((await count('from=2033-03-27&to=2033-03-27&status=DRAFT')).days).toEqual([
      { date: '2033-03-27', total: 1, statuses: { DRAFT: 1 } },
    ])
    await world.context.users.setTimezone(ann.userId, 'Asia/Kathmandu')
    expect(await count('from=2033-03-27&to=2033-03-27')).toMatchObject({
      timezone: 'Asia/Kathmandu',
      days: [{ total: 3, statuses: { SCHEDULED: 2, DRAFT: 1 } }],
    })
    await ann.call('DELETE', `/${draft}`)
    expect((await count('from=2033-03-27&to=2033-03-27')).days).toMatchObject([{ total: 2 }])
  })

  it('the counts and the calendar place posts without a time at their creation', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    const today = new Date().toISOString().slice(0, 10)
    const query = `from=${today}&to=${new Date(Date.now() + DAY).toISOString()}`
    const { body } = await ann.call('GET', `/counts?${query}`)
    expect(body.data.days[0]).toEqual({ date: today, total: 1, statuses: { PENDING: 1 } })
    expect((await ann.call('GET', `/calendar?${query}`)).body.data.posts).toMatchObject([
      { _id: postId, scheduledAt: null },
    ])
  })

  it('the calendar has the posts of its range in their order, in a short form', async () => {
    const ann = await world.caller()
    const content = { text: '👋'.repeat(200) }
    const late = await createdPost(ann, {
      content,
      selectedPlatforms: ['mastodon', 'bluesky'],
      scheduledAt: '2034-05-31T12:00:00Z',
    })
    const early = await createdPost(ann, { scheduledAt: '2034-05-01T00:00:00Z' })
    await createdPost(ann, { scheduledAt: '2034-06-01T00:00:00Z' })
    const { body } = await ann.call('GET', '/calendar?from=2034-05-01&to=2034-05-31')
    expect(body.data.isComplete).toBe(true)
    expect(body.data.posts.map(({ _id }: { _id: string }) => _id)).toEqual([early, late])
    expect(body.data.posts[1]).toEqual({
      ...{ _id: late, status: 'SCHEDULED', text: '👋'.repeat(140), mediaCount: 0 },
      ...{ scheduledAt: '2034-05-31T12:00:00.000Z', createdAt: expect.stringMatching(/Z$/) },
      ...{ platforms: ['mastodon', 'bluesky'], accounts: [], metadata: { source: 'api', client: 'api' }, etag: '"0"' },
    })
  })

  it('the calendar ends after 1,000 posts and says so', async () => {
    const ann = await world.caller()
    const posts = Array.from({ length: 1_001 }, (_, index) =>
      buildPost({ userId: ann.userId, scheduledAt: new Date(Date.UTC(2035, 0, 1, 0, index)) }),
    )
    await world.context.database.transaction((session) => world.context.posts.insert(posts, session))
    const { body } = await ann.call('GET', '/calendar?from=2035-01-01&to=2035-01-31')
    expect([body.data.isComplete, body.data.posts.length]).toEqual([false, 1_000])
    expect(body.data.posts.at(-1)._id).toBe(posts[999]!._id)
  })

  it.each([
    ['from=2026-05-01', 'to', 'REQUIRED'],
    ['from=2026-05-01&to=never', 'to', 'DATE_TIME_INVALID'],
    ['from=2026-05-02&to=2026-05-01', 'to', 'INVALID'],
    ['from=2026-01-01&to=2027-02-05', 'to', 'TOO_LONG'],
    ['from=0000-01-02&to=9999-12-30', 'to', 'TOO_LONG'],
    ['from=2026-05-01&to=2026-05-02&timezone=Mars/Base', 'timezone', 'TIMEZONE_UNKNOWN'],
  ])('a range is 400 for %s', async (query, path, code) => {
    const ann = await world.caller()
    for (const route of ['counts', 'calendar']) {
      const { status, body } = await ann.call('GET', `/${route}?${query}`)
      expect([status, body.errors]).toMatchObject([400, [{ path, code }]])
    }
    expect((await ann.call('GET', '/counts?from=2026-01-01&to=2027-02-04')).body.data.days).toHaveLength(400)
  })
})

it('a post that names only accounts has at least one selected platform wherever it is read', async () => {
  const { user, headers } = await signIn(world.context, { role: 'admin' })
  await connectAccounts(world.context, user._id, ['bluesky'])
  const brand = await addAccount(world.context, user._id, { platform: 'threads', platformId: unique('brand') })
  const payload = postBody({ selectedPlatforms: [], selectedAccounts: [brand._id], status: 'DRAFT' })
  const created = await world.app.inject({ method: 'POST', url: '/api/posts', headers, payload })
  const { postId } = created.json().data
  const read = async (url: string) => (await world.app.inject({ url: `/api/${url}`, headers })).json().data
  const lists = ['posts', 'posts?platform=threads', `posts?accounts=${brand._id}`, 'profile/export']
  const readings = [
    (await read(`posts/${postId}`)).post,
    await read(`admin/posts/${postId}`),
    ...(await Promise.all(lists.map(async (url) => (await read(url)).posts[0]))),
  ]
  const expected = { _id: postId, selectedPlatforms: ['threads'] }
  expect(readings).toMatchObject(readings.map(() => expected))
  expect((await read('posts?platform=bluesky')).posts).toEqual([])
})

describe('GET /api/posts/:postId', () => {
  it('the response has the post and its analytics', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    const { status, body } = await ann.call('GET', `/${postId}`)
    expect([status, body.success, body.message]).toEqual([200, true, 'Post fetched successfully'])
    expect(body.data).toMatchObject({ post: { _id: postId, status: 'PENDING' }, analytics: {} })
    for (const name of INTERNAL) expect(JSON.stringify(body)).not.toContain(name)
  })
})

describe('GET /api/posts/:postId/status', () => {
  it('the status reports the progress of the delivery', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { selectedPlatforms: ['bluesky', 'threads', 'tumblr', 'mastodon'] })
    await deliver(world.context, postId, { bluesky: 'accepted', threads: 'refused', tumblr: 'claimed' })
    const { status, headers, body } = await ann.call('GET', `/${postId}/status`)
    expect([status, headers['retry-after']]).toEqual([200, '1'])
    expect(body).toMatchObject({ success: true, message: 'Post status fetched successfully' })
    expect(body.data).toEqual({
      postId,
      status: 'PROCESSING',
      scheduledAt: null,
      dueAt: expect.any(String),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      progress: { total: 4, pending: 1, processing: 1, completed: 1, failed: 1, deleted: 0 },
      platformStatuses: [
        expect.objectContaining({
          platform: 'bluesky',
          status: 'completed',
          platformPostUrl: expect.stringMatching(/^https:/),
        }),
        expect.objectContaining({
          platform: 'threads',
          status: 'failed',
          error: 'The platform refused it',
          errorCode: 'validation',
        }),
        expect.objectContaining({ platform: 'tumblr', status: 'processing', attemptCount: 1 }),
        expect.objectContaining({ platform: 'mastodon', status: 'pending' }),
      ],
    })
    for (const name of INTERNAL) expect(JSON.stringify(body)).not.toContain(name)
  })

  it('the status has Retry-After only while the delivery is in progress', async () => {
    const ann = await world.caller()
    const retryAfter = async (postId: string) => (await ann.call('GET', `/${postId}/status`)).headers['retry-after']
    const pending = await createdPost(ann)
    expect(await retryAfter(pending)).toBe('1')
    expect(await retryAfter(await createdPost(ann, { scheduledAt: inAnHour() }))).toBeUndefined()
    await deliver(world.context, pending, { bluesky: 'accepted' })
    expect(await retryAfter(pending)).toBeUndefined()
  })

  it('the status is 304 for the ETag of an unchanged response', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    const first = await ann.call('GET', `/${postId}/status`)
    const etag = first.headers['etag'] as string
    const ask = (tag: string) => ann.call('GET', `/${postId}/status`, undefined, { 'if-none-match': tag })
    expect(await ask(etag)).toMatchObject({ status: 304, body: null, headers: { etag, 'retry-after': '1' } })
    expect((await ask(`"other", W/${etag}`)).status).toBe(304)
    expect((await ask('"other"')).status).toBe(200)
    await deliver(world.context, postId, { bluesky: 'accepted' })
    expect((await ask(etag)).status).toBe(200)
  })
})

describe('foreign and missing posts', () => {
  const routes = [
    ['GET', ''],
    ['GET', '/status'],
    ['GET', '/timeline'],
    ['PUT', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/retry'],
    ['POST', '/cancel'],
  ] as const

  it.each(routes)('%s /:postId%s responds to a foreign, a missing and a malformed id alike', async (method, suffix) => {
    const [ann, bob] = [await world.caller(), await world.caller()]
    const postId = await createdPost(ann, { scheduledAt: inAnHour() })
    const body = method === 'PUT' ? postBody() : method === 'PATCH' ? { content: { text: 'mine' } } : undefined
    const answers = []
    for (const id of [postId, 'f'.repeat(24), 'nonsense', '%00', '$ne', '__proto__', 'a'.repeat(100)]) {
      const { status, body: answer } = await bob.call(method, `/${id}${suffix}`, body)
      answers.push({ ...answer, requestId: null, status })
    }
    const message =
      suffix === '/cancel'
        ? 'Post not found, unauthorized, or not in a cancellable state'
        : 'Post not found or unauthorized'
    expect(answers[0]).toEqual({
      success: false,
      message,
      statusCode: 404,
      code: 'NOT_FOUND',
      requestId: null,
      status: 404,
    })
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toHaveLength(1)
    expect(await world.context.posts.find(postId)).toMatchObject({
      status: 'SCHEDULED',
      content: { text: 'Good morning' },
    })
  })

  it.each([
    ['GET', '/'],
    ['POST', '/'],
    ['POST', '/validate'],
    ['POST', '/media/upload'],
    ...routes.map(([method, suffix]) => [method, `/${'f'.repeat(24)}${suffix}`]),
  ] as ['GET', string][])('%s %s requires a session of an enabled account', async (method, path) => {
    const response = await world.app.inject({ method, url: `/api/posts${path}` })
    expect([response.statusCode, response.json().message]).toEqual([401, 'Unauthorized'])
    const disabled = await world.caller({ isDisabled: true })
    const { status, body } = await disabled.call(method, path)
    expect([status, body.message]).toEqual([403, 'Account is disabled'])
  })
})

describe('impossible date-times', () => {
  it.each(['from', 'to'])('the list is 400 for every impossible date-time in %s', async (name) => {
    const ann = await world.caller()
    for (const value of IMPOSSIBLE_DATE_TIMES) {
      const { status, body } = await ann.call('GET', `/?${name}=${encodeURIComponent(value)}`)
      expect([value, status, body.errors?.[0]?.path]).toEqual([value, 400, name])
    }
  })

  it.each([
    ['POST', '/'],
    ['PUT', '/:postId'],
    ['PATCH', '/:postId'],
  ] as const)('%s %s is 400 for every impossible date-time in scheduledAt', async (method, path) => {
    const ann = await world.caller()
    const url = path.replace(':postId', await createdPost(ann, { status: 'DRAFT' }))
    for (const scheduledAt of IMPOSSIBLE_DATE_TIMES) {
      const { status, body } = await ann.call(method, url, postBody({ scheduledAt }))
      expect([scheduledAt, status, body.errors?.[0]?.path]).toEqual([scheduledAt, 400, 'scheduledAt'])
    }
  })

  it('validate reports every impossible date-time in scheduledAt', async () => {
    const ann = await world.caller()
    for (const scheduledAt of IMPOSSIBLE_DATE_TIMES) {
      const { status, body } = await ann.call('POST', '/validate', postBody({ scheduledAt }))
      expect([scheduledAt, status, body.data.errors[0]?.path]).toEqual([scheduledAt, 200, 'scheduledAt'])
    }
  })
})
