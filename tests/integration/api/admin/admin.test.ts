import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createPost } from '../../../../src/commands/posts/create-post.ts'
import { DAY } from '../../../../src/domain/shared/times.ts'
import { newUser, type User } from '../../../../src/domain/users/user.ts'
import { newId } from '../../../../src/store/shared/schema.ts'
import { apiWorld, createAccount, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { unique } from '../../../support/servers.ts'

let world: ApiWorld
let admin: SignedIn

beforeAll(async () => {
  world = await apiWorld({ PLAN_PRO_MAX_POSTS: 61, PLAN_PRO_MAX_CAPTIONS: 31 })
  admin = await signIn(world.context, { role: 'admin', name: 'Grace' })
})
afterAll(() => world.close())

async function ask(method: NonNullable<InjectOptions['method']>, path: string, payload?: unknown, who = admin) {
  const response = await world.app.inject({
    method,
    url: `/api/admin${path}`,
    headers: who.headers,
    ...(payload === undefined ? {} : { payload: payload as object }),
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

const stored = async (user: User) => (await world.context.users.findById(user._id))!
const entriesAbout = async (user: User) => Array.fromAsync(world.context.audit.streamBySubject(user._id))
const messagesOf = async ({ _id }: User) =>
  (await world.context.notifications.listOf(_id, 10)).map(({ type, message }) => `${type}: ${message}`)

describe('the admin list of users', () => {
  it('the list has every user, newest first, without secrets', async () => {
    const user = await createAccount(world.context, { withPassword: true, name: 'Newest', createdAt: inDays(1) })
    const { status, headers, body } = await ask('GET', '/get-all-users')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(Object.keys(body)).toEqual(['message', 'data'])
    expect(body.data).toHaveLength(await countUsers())
    expect(body.data[0]).toEqual({
      id: user._id,
      _id: user._id,
      email: user.email,
      name: 'Newest',
      role: 'user',
      isDisabled: false,
      auth: { provider: 'email' },
      avatar: user.avatar,
      timezone: 'UTC',
      holdSeconds: 0,
      subscription: {
        plan: 'free',
        status: 'active',
        processorCustomerId: null,
        processorSubscriptionId: null,
        currentPeriodStart: null,
        currentPeriodEnd: null,
        cancelAtPeriodEnd: false,
      },
      usage: user.usage,
      limits: user.limits,
      createdAt: user.createdAt.toISOString(),
      lastLogin: null,
    })
    expect(JSON.stringify(body)).not.toMatch(/argon2|passwordHash|tokenVersion/)
    const times = (body.data as { createdAt: string }[]).map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted().reverse())
  })

  it('a long list is complete and is streamed in chunks', async () => {
    const created = Date.now() - DAY
    const many = Array.from({ length: 2_000 }, (_, index) => ({
      ...newUser(
        { _id: newId(), email: `${unique('many')}@example.test`, name: 'M', passwordHash: null, limits: LIMITS },
        new Date(created - index),
      ),
    }))
    await world.context.database.connection.collection<User>('users').insertMany(many)
    const { body, headers } = await ask('GET', '/get-all-users')
    expect(headers['content-length']).toBeUndefined()
    const ids = new Set((body.data as { _id: string }[]).map(({ _id }) => _id))
    expect(body.data).toHaveLength(await countUsers())
    expect(many.every(({ _id }) => ids.has(_id))).toBe(true)
  })

  it('the list is paged when the request has a page, and the response names the page', async () => {
    const { body: whole } = await ask('GET', '/get-all-users')
    const { length: total } = whole.data
    const second = await ask('GET', '/get-all-users?page=2&limit=3')
    expect(second.body).toEqual({
      message: 'Users found',
      data: whole.data.slice(3, 6),
      total,
      page: 2,
      limit: 3,
      totalPages: Math.ceil(total / 3),
    })
    expect((await ask('GET', '/get-all-users?page=1')).body).toMatchObject({ page: 1, limit: 20, total })
    expect((await ask('GET', '/get-all-users?limit=100000')).body).toMatchObject({ page: 1, limit: 200 })
    for (const query of ['page=0', 'limit=0', 'page=x', 'limit=1.5']) {
      expect((await ask('GET', `/get-all-users?${query}`)).status).toBe(400)
    }
  })

  it('the list is searched by name, address and id, ignoring case and without patterns', async () => {
    const name = unique('Zoë (M.)')
    const user = await createAccount(world.context, { name, email: `${unique('a.b')}@example.test` })
    const search = async (q: string) => {
      const { body } = await ask('GET', `/get-all-users?q=${encodeURIComponent(q)}`)
      return { total: body.total, ids: (body.data as { _id: string }[]).map(({ _id }) => _id) }
    }
    const found = { total: 1, ids: [user._id] }
    for (const q of [name.toUpperCase(), user.email.slice(0, -2), user._id]) expect(await search(q)).toEqual(found)
    expect(await search(user.email.replace('a.b', 'a_b'))).toEqual({ total: 0, ids: [] })
    expect(await search('.*')).toEqual({ total: 0, ids: [] })
    expect((await ask('GET', '/get-all-users?q=')).status).toBe(400)
  })

  it('the list is a complete 503 when the database fails at its start', async () => {
    const failing = vi.spyOn(world.context.users, 'all').mockImplementationOnce(() => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(Object.assign(new Error('gone'), OUTAGE)) }),
    }))
    const { status, body } = await ask('GET', '/get-all-users')
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    failing.mockRestore()
  })
})

describe('one user', () => {
  it('one user is returned like in the list', async () => {
    const user = await createAccount(world.context)
    const { body: list } = await ask('GET', `/get-all-users?q=${user._id}`)
    expect(await ask('GET', `/users/${user._id}`)).toMatchObject({
      status: 200,
      body: { message: 'User found', data: list.data[0] },
    })
    for (const path of ['', '/posts']) expect((await ask('GET', `/users/${newId()}${path}`)).status).toBe(404)
  })

  it('limits are set exactly and audited, until the plan changes', async () => {
    const user = await createAccount(world.context)
    const limits = { maxPosts: 5, maxCaptionGenerations: 0 }
    const { status, body } = await ask('PATCH', `/users/${user._id}/limits`, limits)
    expect([status, body.data.limits]).toEqual([200, limits])
    expect(await stored(user)).toEqual({ ...user, limits })
    expect(await entriesAbout(user)).toMatchObject([
      { action: 'update-limits', before: { limits: user.limits }, after: { limits }, actorId: admin.user._id },
    ])
    await ask('PATCH', `/update-user-plan/${user._id}?plan=pro`)
    expect((await stored(user)).limits).toEqual({ maxPosts: 61, maxCaptionGenerations: 31 })
  })

  it.each([
    {},
    { maxPosts: 1 },
    { maxPosts: -1, maxCaptionGenerations: 1 },
    { maxPosts: 1.5, maxCaptionGenerations: 1 },
  ])('the limits %o are refused', async (limits) => {
    const user = await createAccount(world.context)
    expect((await ask('PATCH', `/users/${user._id}/limits`, limits)).status).toBe(400)
  })

  it("a user's posts are paged and filtered like the user's own list, and the audit log names each read", async () => {
    const owner = await createAccount(world.context)
    for (const text of ['First', 'Second', 'Third']) {
      await createPost(world.context, {
        userId: owner._id,
        input: { content: { text }, selectedPlatforms: ['bluesky'], status: 'DRAFT' },
        metadata: { source: 'api', client: 'api' },
        idempotency: null,
      })
    }
    const texts = ({ posts }: { posts: { content: { text: string } }[] }) => posts.map(({ content }) => content.text)
    const { status, body } = await ask('GET', `/users/${owner._id}/posts?limit=2`)
    expect(status).toBe(200)
    expect(texts(body.data)).toEqual(['Third', 'Second'])
    expect(body.data).toMatchObject({ total: 3, page: 1, limit: 2, totalPages: 2 })
    expect(texts((await ask('GET', `/users/${owner._id}/posts?q=first`)).body.data)).toEqual(['First'])
    const read = { actorId: admin.user._id, action: 'read-posts', subjectId: owner._id, before: {}, after: {} }
    expect(await entriesAbout(owner)).toMatchObject([read, read])

    vi.spyOn(world.context.audit, 'insert').mockRejectedValueOnce(Object.assign(new Error('gone'), OUTAGE))
    expect((await ask('GET', `/users/${owner._id}/posts`)).status).toBe(503)
  })
})

describe('the plan of a user', () => {
  it('a plan change sets the current limits, notifies the user and is audited', async () => {
    const user = await createAccount(world.context)
    const requestId = unique('request')
    const response = await world.app.inject({
      method: 'PATCH',
      url: `/api/admin/update-user-plan/${user._id}?plan=pro`,
      headers: { ...admin.headers, 'x-request-id': requestId },
      remoteAddress: '192.0.2.7',
    })
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ message: 'User plan updated', data: { userId: user._id, plan: 'pro' } })
    const limits = { maxPosts: 61, maxCaptionGenerations: 31 }
    expect(await stored(user)).toEqual({ ...user, limits, subscription: { ...user.subscription, plan: 'pro' } })
    expect(await messagesOf(user)).toEqual([
      'success: Your account is now on the Pro plan: 61 posts and 31 caption generations. No action is needed.',
    ])
    expect(await entriesAbout(user)).toMatchObject([
      {
        actorId: admin.user._id,
        action: 'update-plan',
        before: { plan: 'free', limits: user.limits },
        after: { plan: 'pro', limits },
        requestId,
        ipAddress: '192.0.2.7',
      },
    ])
  })

  it('a plan change notifies and audits once, and repeating it does neither', async () => {
    const user = await createAccount(world.context)
    for (const plan of ['pro', 'pro', 'free', 'pro'])
      expect((await ask('PATCH', `/update-user-plan/${user._id}?plan=${plan}`)).status).toBe(200)
    const notified = (await messagesOf(user)).map((message) => /the (Pro|Free) plan/.exec(message)?.[1])
    expect(notified).toEqual(['Pro', 'Free', 'Pro'])
    expect(await entriesAbout(user)).toHaveLength(3)
  })

  it.each(['', '?plan=', '?plan=gold', '?plan=Pro', '?plan=free&plan=pro', '?plan[$ne]=free'])(
    'the API returns 400 for the plan query %j',
    async (query) => {
      const user = await createAccount(world.context)
      const { status, body } = await ask('PATCH', `/update-user-plan/${user._id}${query}`)
      expect([status, body.code, body.success]).toEqual([400, 'VALIDATION_FAILED', false])
      expect(body.errors[0]).toMatchObject({ path: 'plan' })
      expect(await stored(user)).toEqual(user)
    },
  )

  it('concurrent plan changes are all applied', async () => {
    const user = await createAccount(world.context)
    const plans = ['pro', 'free', 'pro', 'free', 'pro', 'free']
    const answers = await Promise.all(plans.map((plan) => ask('PATCH', `/update-user-plan/${user._id}?plan=${plan}`)))
    expect(answers.map(({ status }) => status)).toEqual(plans.map(() => 200))
    const entries = await entriesAbout(user)
    expect(await messagesOf(user)).toHaveLength(entries.length)
    const { subscription, limits } = await stored(user)
    expect(limits.maxPosts).toBe(world.context.planLimits[subscription.plan].maxPosts)
  })
})

describe('the activity of a user', () => {
  it('false disables an account immediately, and true enables it again', async () => {
    const user = await signIn(world.context)
    const me = () => world.app.inject({ url: '/api/auth/me', headers: user.headers })
    const refresh = () =>
      world.app.inject({ method: 'POST', url: '/api/auth/refresh', cookies: { refreshToken: user.refreshCookie } })
    const { _id, email, name } = user.user
    expect(await ask('PATCH', `/update-user-activity/${_id}`, { activity: false })).toMatchObject({
      status: 200,
      body: { message: 'User disabled', data: { _id, email, name, isDisabled: true } },
    })
    for (const refused of [await me(), await refresh()]) {
      expect(refused.json()).toMatchObject({ statusCode: 403, message: 'Account is disabled' })
    }
    const { body } = await ask('PATCH', `/update-user-activity/${_id}`, { activity: true })
    expect(body).toEqual({ message: 'User enabled', data: { _id, email, name, isDisabled: false } })
    expect((await me()).statusCode).toBe(200)
    expect(await entriesAbout(user.user)).toMatchObject([
      { action: 'update-activity', before: { isDisabled: false }, after: { isDisabled: true } },
      { action: 'update-activity', before: { isDisabled: true }, after: { isDisabled: false } },
    ])
  })

  it.each([
    {},
    { activity: 'true' },
    { activity: 'false' },
    { activity: 0 },
    { activity: null },
    { activity: [] },
    [[]],
  ])('the API returns 400 for the activity body %j', async (body) => {
    const user = await createAccount(world.context)
    expect((await ask('PATCH', `/update-user-activity/${user._id}`, body)).status).toBe(400)
    expect(await stored(user)).toEqual(user)
  })

  it('admins cannot disable themselves', async () => {
    const answer = await ask('PATCH', `/update-user-activity/${admin.user._id}`, { activity: false })
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'OWN_ACCOUNT', message: 'You cannot disable your own account' },
    })
    expect((await stored(admin.user)).isDisabled).toBe(false)
    expect((await ask('PATCH', `/update-user-activity/${admin.user._id}`, { activity: true })).status).toBe(200)
  })
})

describe('the admin statistics', () => {
  it('the statistics count all users by UTC calendar months', async () => {
    // In the future, because MongoDB removes sessions that end before the present.
    const empty = await apiWorld(
      {},
      { clock: { now: () => new Date('2096-03-15T12:00:00Z'), sleepUntil: async () => {} } },
    )
    try {
      const create = (createdAt: string, changes: Partial<User> = {}) =>
        createAccount(empty.context, { createdAt: new Date(createdAt), ...changes })
      const { subscription } = newUser({ _id: '', email: '', name: '', passwordHash: null, limits: LIMITS }, new Date())
      const pro = { subscription: { ...subscription, plan: 'pro' as const } }
      await create('2096-01-31T23:59:59.999Z', pro)
      await create('2096-02-01T00:00:00Z', { isDisabled: true })
      await create('2096-02-28T23:59:59.999Z', pro)
      await create('2096-02-10T00:00:00Z')
      await create('2096-03-01T00:00:00Z', pro)
      const { headers } = await signIn(empty.context, { role: 'admin', createdAt: new Date('2096-03-10T00:00:00Z') })
      const response = await empty.app.inject({ url: '/api/admin/analytics', headers })
      expect(response.json()).toEqual({
        message: 'Analytics found',
        data: {
          totalUsers: 6,
          activeUsers: 5,
          inactiveUsers: 1,
          paidUsers: 3,
          monthlyGrowth: -33.33,
          topPlan: 'Free',
        },
      })
    } finally {
      await empty.close()
    }
  })

  it('the statistics read no user record, and no index entries of ordinary users', async () => {
    const commands: { count?: string; aggregate?: string; [field: string]: unknown }[] = []
    const { context, app, close } = await apiWorld(
      {},
      {
        onCommand: ({ commandName, command }) => {
          if (['count', 'aggregate'].includes(commandName)) commands.push(command)
        },
      },
    )
    try {
      await Promise.all(Array.from({ length: 50 }, () => createAccount(context, { createdAt: new Date(0) })))
      await createAccount(context, { isDisabled: true })
      const { headers } = await signIn(context, { role: 'admin' })
      commands.length = 0
      const { data } = (await app.inject({ url: '/api/admin/analytics', headers })).json()
      expect(data).toMatchObject({ totalUsers: 52, inactiveUsers: 1 })
      const onUsers = commands.filter(({ count, aggregate }) => (count ?? aggregate) === 'users')
      expect(onUsers).toHaveLength(5)
      for (const { lsid: _, $db: _db, $clusterTime: _time, txnNumber: _txn, ...command } of onUsers) {
        const plan = await context.database.connection.db!.command({ explain: command, verbosity: 'executionStats' })
        const text = JSON.stringify(plan)
        expect(text).not.toContain('COLLSCAN')
        expect(text).not.toContain('FETCH')
        expect(text).toMatch(command.count ? /RECORD_STORE_FAST_COUNT/ : /IXSCAN|COUNT_SCAN/)
        const keys = [...text.matchAll(/"totalKeysExamined":(\d+)/g)].map(([, examined]) => Number(examined))
        expect(Math.max(0, ...keys)).toBeLessThan(5)
      }
    } finally {
      await close()
    }
  })

  it('the statistics return the specified 500 when they are not available', async () => {
    vi.spyOn(world.context.userStatistics, 'count').mockRejectedValueOnce(Object.assign(new Error('gone'), OUTAGE))
    const { status, body } = await ask('GET', '/analytics')
    expect([status, body.message, body.success]).toEqual([500, 'Failed to retrieve analytics', false])
  })
})

describe("a user's post in the admin API", () => {
  it('admins read a post and its timeline, and the audit log names each read', async () => {
    const owner = await createAccount(world.context)
    const { data } = await createPost(world.context, {
      userId: owner._id,
      input: { content: { text: 'Mine' }, selectedPlatforms: ['bluesky'], status: 'DRAFT' },
      metadata: { source: 'api', client: 'api' },
      idempotency: null,
    })
    const { postId } = data
    const post = await ask('GET', `/posts/${postId}`)
    expect(post).toMatchObject({ status: 200, body: { data: { _id: postId, userId: owner._id, status: 'DRAFT' } } })
    expect(post.headers['cache-control']).toBe('no-store')
    const timeline = await ask('GET', `/posts/${postId}/timeline`)
    expect(timeline).toMatchObject({
      status: 200,
      body: { data: { postId, events: [{ type: 'transition', status: 'DRAFT' }] } },
    })
    const read = { actorId: admin.user._id, subjectId: owner._id, before: { postId }, after: {} }
    expect(await entriesAbout(owner)).toMatchObject([
      { ...read, action: 'read-post' },
      { ...read, action: 'read-timeline' },
    ])
    const { body } = await ask('GET', '/audit?limit=1')
    expect(body.data[0]).toMatchObject({ action: 'read-timeline', before: { postId } })
  })

  it('a post is not returned when its audit entry cannot be stored', async () => {
    const { _id: userId } = await createAccount(world.context)
    const input = { content: { text: 'Mine' }, selectedPlatforms: ['bluesky' as const], status: 'DRAFT' as const }
    const { data } = await createPost(world.context, {
      userId,
      input,
      metadata: { source: 'api', client: 'api' },
      idempotency: null,
    })
    for (const path of ['', '/timeline']) {
      vi.spyOn(world.context.audit, 'insert').mockRejectedValueOnce(Object.assign(new Error('gone'), OUTAGE))
      expect((await ask('GET', `/posts/${data.postId}${path}`)).status).toBe(503)
    }
  })

  it('a missing post is a 404 without an audit entry', async () => {
    const before = (await ask('GET', '/audit?limit=1')).body.total
    for (const path of ['', '/timeline']) expect((await ask('GET', `/posts/${newId()}${path}`)).status).toBe(404)
    expect((await ask('GET', '/audit?limit=1')).body.total).toBe(before)
  })
})

it('the audit log is paged, newest first', async () => {
  const users = await Promise.all([1, 2, 3].map(() => createAccount(world.context)))
  for (const { _id } of users) await ask('PATCH', `/update-user-plan/${_id}?plan=pro`)
  const { body } = await ask('GET', '/audit?limit=2')
  expect(Object.keys(body)).toEqual(['message', 'data', 'total', 'page', 'limit', 'totalPages'])
  expect(body.data.map(({ subjectId }: { subjectId: string }) => subjectId)).toEqual([users[2]!._id, users[1]!._id])
  expect(body.data[0]).toEqual({
    _id: expect.any(String),
    at: expect.stringMatching(/Z$/),
    actorId: admin.user._id,
    action: 'update-plan',
    subjectId: users[2]!._id,
    before: { plan: 'free', limits: { maxPosts: 1_000, maxCaptionGenerations: 15 } },
    after: { plan: 'pro', limits: { maxPosts: 61, maxCaptionGenerations: 31 } },
    requestId: expect.any(String),
    ipAddress: '127.0.0.1',
  })
  const next = await ask('GET', '/audit?limit=2&page=2')
  expect(next.body.data[0].subjectId).toBe(users[0]!._id)
  expect((await ask('GET', '/audit?page=0')).status).toBe(400)
})

const LIMITS = { maxPosts: 30, maxCaptionGenerations: 15 }
const OUTAGE = { name: 'MongoServerSelectionError' }
const inDays = (days: number) => new Date(Date.now() + days * DAY)
const countUsers = () => world.context.database.connection.collection('users').countDocuments()
