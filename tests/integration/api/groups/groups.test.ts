import { describe, expect, it } from 'vitest'
import { MAX_GROUPS } from '../../../../src/domain/accounts/groups.ts'
import { signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { addAccount, connectAccounts, replaceAccount } from '../../../support/published.ts'
import { unique } from '../../../support/servers.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: ApiWorld
shared.beforeAll(({ api }) => void (world = api))

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests check the shapes
  body: any
  etag: string | undefined
}

/** Returns a user with two accounts on Bluesky and one on Mastodon. */
async function newUser() {
  const who = await signIn(world.context)
  const { _id: userId } = who.user
  await connectAccounts(world.context, userId, ['bluesky', 'mastodon'])
  const further = await addAccount(world.context, userId, { platform: 'bluesky', platformId: unique('further') })
  const findDefault = async (platform: 'bluesky' | 'mastodon') =>
    (await world.context.accounts.findDefault(userId, platform))!._id
  const call = caller(who)
  const create = async (body: object) => (await call('POST', '/api/groups', body)).body.data
  const post = async (body: object) => {
    const { body: created } = await call('POST', '/api/posts', { content: { text: 'News' }, status: 'DRAFT', ...body })
    return created.data.postId as string
  }
  const read = async (postId: string) => (await call('GET', `/api/posts/${postId}`)).body.data.post
  const accountsOf = async (postId: string) =>
    (await read(postId)).platformStatuses.map(({ accountId }: { accountId: string }) => accountId)
  const ids = { b1: await findDefault('bluesky'), b2: further._id, m1: await findDefault('mastodon') }
  return { ...ids, userId, call, create, post, read, accountsOf }
}

const caller =
  ({ headers }: SignedIn) =>
  async (method: Method, url: string, payload?: object, more = {}): Promise<Answer> => {
    const response = await world.app.inject({
      ...{ method, url, headers: { ...headers, ...more } },
      ...(payload && { payload }),
    })
    return { status: response.statusCode, body: response.json(), etag: response.headers.etag }
  }

describe('groups of accounts', () => {
  it('a group is created, listed by name, read, changed and deleted', async () => {
    const { b1, b2, call, create } = await newUser()
    const south = await create({ name: ' South ', color: '#AABBCC', accountIds: [b1, b2] })
    expect(south).toEqual({
      ...{ id: expect.stringMatching(/^[\da-f]{24}$/), name: 'South', color: '#aabbcc', accountIds: [b1, b2] },
      ...{ createdAt: expect.any(String), etag: '"0"' },
    })
    const north = await create({ name: 'north' })
    expect(north).toMatchObject({ color: '#228be6', accountIds: [] })
    expect((await call('GET', '/api/groups')).body.data).toEqual([north, south])
    expect(await call('GET', `/api/groups/${south.id}`)).toMatchObject({ body: { data: south }, etag: '"0"' })
    const changed = await call('PATCH', `/api/groups/${south.id}`, { name: 'SOUTH', accountIds: [b2] })
    expect(changed).toMatchObject({
      ...{ status: 200, etag: '"1"', body: { data: { name: 'SOUTH', color: '#aabbcc', accountIds: [b2] } } },
    })
    expect((await call('DELETE', `/api/groups/${south.id}`)).status).toBe(200)
    expect((await call('DELETE', `/api/groups/${south.id}`)).status).toBe(404)
    expect((await call('GET', '/api/groups')).body.data).toEqual([north])
  })

  it('a name belongs to one group of a user in any letter case, also when two are created concurrently', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const create = () => user.call('POST', '/api/groups', { name: 'Brand' })
    const answers = await Promise.all([create(), create(), create()])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2)
    const refused = await user.call('POST', '/api/groups', { name: ' bRAND' })
    expect(refused.body).toMatchObject({ statusCode: 409, code: 'GROUP_NAME_TAKEN' })
    const { id } = await user.create({ name: 'Other' })
    expect((await user.call('PATCH', `/api/groups/${id}`, { name: 'brand' })).body.code).toBe('GROUP_NAME_TAKEN')
    expect(await other.create({ name: 'Brand' })).toMatchObject({ name: 'Brand' })
  })

  it.each([
    [{}, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(61) }, 'name'],
    [{ name: 'x', color: 'red' }, 'color'],
    [{ name: 'x', color: '#12345' }, 'color'],
    [{ name: 'x', accountIds: ['f'.repeat(24)] }, 'accountIds.0'],
    [{ name: 'x', accountIds: Array.from({ length: 51 }, (_, index) => `a${index}`) }, 'accountIds'],
    [{ name: 'x', accountIds: ['a', 'a'] }, 'accountIds'],
  ])('the body %j is refused and stores nothing', async (body, path) => {
    const { call, create } = await newUser()
    expect(await call('POST', '/api/groups', body)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    expect((await call('GET', '/api/groups')).body.data).toEqual([])
    const group = await create({ name: 'before' })
    const change = { name: 'after', ...body }
    const { status } = await call('PATCH', `/api/groups/${group.id}`, change)
    expect(status).toBe(path === 'name' && !('name' in body) ? 200 : 400)
  })

  it('only connected accounts of the user join a group', async () => {
    const [user, other] = [await newUser(), await newUser()]
    await world.context.accounts.disconnect(user.userId, [user.b2])
    const accountIds = [user.b1, other.b1, user.b2]
    expect((await user.call('POST', '/api/groups', { name: 'x', accountIds })).body.errors).toMatchObject([
      { path: 'accountIds.1', code: 'ACCOUNT_NOT_FOUND' },
      { path: 'accountIds.2', code: 'ACCOUNT_NOT_FOUND' },
    ])
  })

  it('a user has at most 100 groups, also when more are created concurrently', async () => {
    const { userId, call } = await newUser()
    const stored = Array.from({ length: MAX_GROUPS - 2 }, (_, index) => ({
      ...{ _id: unique('group'), userId, name: `${index}`, nameKey: `${index}` },
      ...{ color: '#112233', accountIds: [], revision: 0, createdAt: new Date() },
    }))
    await world.context.database.connection.collection<{ _id: string }>('accountGroups').insertMany(stored)
    const answers = await Promise.all([1, 2, 3, 4].map((index) => call('POST', '/api/groups', { name: `n${index}` })))
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(({ body }) => body)).toMatchObject([
      { statusCode: 403, code: 'GROUP_LIMIT_REACHED', limit: 100 },
      { statusCode: 403, code: 'GROUP_LIMIT_REACHED', limit: 100 },
    ])
  })

  it('a disconnected or replaced account leaves all groups, and does not return when it is connected again', async () => {
    const { userId, b1, b2, m1, call, create } = await newUser()
    const [one, two] = [
      await create({ name: '1', accountIds: [b1, b2, m1] }),
      await create({ name: '2', accountIds: [b1] }),
    ]
    expect((await call('DELETE', `/api/platform/accounts/${m1}`)).status).toBe(200)
    await connectAccounts(world.context, userId, ['mastodon'])
    const read = async () => (await call('GET', '/api/groups')).body.data
    expect(await read()).toMatchObject([
      { accountIds: [b1, b2], etag: '"1"' },
      { accountIds: [b1], etag: two.etag },
    ])
    // A renewed login of an account keeps it in its groups.
    await connectAccounts(world.context, userId, ['bluesky'])
    expect((await read())[1]).toEqual(two)
    await replaceAccount(world.context, userId, { platform: 'bluesky', platformId: unique('third') })
    expect(await read()).toMatchObject([{ id: one.id, accountIds: [b2] }, { accountIds: [] }])
  })

  it('an edit with an outdated If-Match is refused with 412', async () => {
    const { call, create } = await newUser()
    const { id, etag } = await create({ name: 'x' })
    const edit = (name: string, tag: string) => call('PATCH', `/api/groups/${id}`, { name }, { 'if-match': tag })
    expect((await edit('y', etag)).status).toBe(200)
    expect((await edit('z', etag)).body).toMatchObject({ statusCode: 412, code: 'PRECONDITION_FAILED' })
    expect((await call('GET', `/api/groups/${id}`)).body.data.name).toBe('y')
  })

  it('a group of another user is not found by any route, nor by its id or name in a post', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const { id } = await user.create({ name: 'Brand', accountIds: [user.b1] })
    const { call } = other
    const answers = [
      await call('GET', `/api/groups/${id}`),
      await call('PATCH', `/api/groups/${id}`, { name: 'mine' }),
      await call('DELETE', `/api/groups/${id}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    const post = { content: { text: 'x' }, selectedGroups: [id, 'Brand'] }
    expect((await call('POST', '/api/posts', post)).body.errors).toMatchObject([
      { path: 'selectedGroups.0', code: 'GROUP_NOT_FOUND' },
      { path: 'selectedGroups.1', code: 'GROUP_NOT_FOUND' },
    ])
    expect((await user.call('GET', `/api/groups/${id}`)).body.data.name).toBe('Brand')
  })

  it('the export of a user contains the groups', async () => {
    const { call, create } = await newUser()
    const group = await create({ name: 'Brand' })
    expect((await call('GET', '/api/profile/export')).body.data.groups).toEqual([group])
  })
})

describe('the filter by groups', () => {
  const range = 'from=2020-01-01&to=2020-02-01'
  const thisYear = `from=${new Date().getFullYear()}-01-01&to=${new Date().getFullYear()}-12-31`

  it('lists, counts, calendar and exports have the posts of the accounts of any of the groups', async () => {
    const { b1, b2, m1, call, create, post } = await newUser()
    const { id } = await create({ name: 'North', accountIds: [b1] })
    await create({ name: 'South', accountIds: [m1] })
    await create({ name: 'Empty' })
    const [ofB1, ofB2, ofM1] = [
      await post({ selectedAccounts: [b1] }),
      await post({ selectedAccounts: [b2] }),
      await post({ selectedAccounts: [m1] }),
    ]
    const list = async (query: string) =>
      (await call('GET', `/api/posts?sortOrder=asc&${query}`)).body.data.posts.map(({ _id }: { _id: string }) => _id)
    expect(await list(`group=${id}`)).toEqual([ofB1])
    expect(await list('group=north,SOUTH')).toEqual([ofB1, ofM1])
    expect(await list(`group=South&accounts=${b2}`)).toEqual([ofB2, ofM1])
    expect(await list('group=Empty')).toEqual([])
    const { body: calendar } = await call('GET', `/api/posts/calendar?${thisYear}&group=North`)
    expect(calendar.data.posts).toEqual([expect.objectContaining({ _id: ofB1, accounts: [b1] })])
    const { body: counts } = await call('GET', `/api/posts/counts?${thisYear}&group=North,South`)
    expect(counts.data.days.reduce((sum: number, { total }: { total: number }) => sum + total, 0)).toBe(2)
    expect((await call('GET', '/api/exports/posts?format=json&group=South')).body).toHaveLength(1)
  })

  it('analytics follow a group that changes', async () => {
    const { b1, m1, call, create } = await newUser()
    const { id, etag } = await create({ name: 'North', accountIds: [b1] })
    const followersOf = async (query: string) =>
      (await call('GET', `/api/analytics/overview?${query}`)).body.data.followers
    const [ofB1, ofM1] = [await followersOf(`accounts=${b1}`), await followersOf(`accounts=${m1}`)]
    expect(ofB1).not.toEqual(ofM1)
    expect(await followersOf('group=north')).toEqual(ofB1)
    expect(await followersOf(`group=${id}`)).toEqual(ofB1)
    await call('PATCH', `/api/groups/${id}`, { accountIds: [m1] }, { 'if-match': etag })
    expect(await followersOf('group=north')).toEqual(ofM1)
    expect(await followersOf(`group=${id}`)).toEqual(ofM1)
  })

  it.each(['overview', 'timeline', 'growth', 'posts/top', 'platforms', 'heatmap'])(
    'GET /api/analytics/%s of a group without accounts has no figures',
    async (figures) => {
      const { call, create } = await newUser()
      await create({ name: 'Empty' })
      const { status, body } = await call('GET', `/api/analytics/${figures}?period=7d&group=empty`)
      expect([status, body.success]).toEqual([200, true])
      if (figures === 'overview') expect(body.data.followers.total).toBe(0)
    },
  )

  it.each([
    'posts?',
    `posts/counts?${range}&`,
    `posts/calendar?${range}&`,
    'exports/posts?format=csv&',
    'analytics/overview?',
  ])('GET /api/%s refuses a group that the user does not have', async (path) => {
    const { create } = await newUser()
    const { id } = await create({ name: 'Brand' })
    const { call } = await newUser()
    for (const [index, names] of [id, 'West'].entries()) {
      const { status, body } = await call('GET', `/api/${path}group=${names}`)
      expect([index, status, body.errors]).toEqual([
        index,
        400,
        [expect.objectContaining({ path: 'group.0', code: 'GROUP_NOT_FOUND' })],
      ])
    }
  })
})

describe('a post for a group', () => {
  it('an account that is selected by its platform, its id and groups gets one delivery', async () => {
    const { b1, b2, m1, create, post, read, accountsOf } = await newUser()
    const { id } = await create({ name: 'North', accountIds: [b1, b2, m1] })
    await create({ name: 'South', accountIds: [m1] })
    const selection = { selectedPlatforms: ['bluesky'], selectedAccounts: [b1, m1], selectedGroups: ['NORTH', 'south'] }
    const postId = await post(selection)
    expect(await accountsOf(postId)).toEqual([b1, m1, b2])
    expect(await read(postId)).toMatchObject({
      ...{ selectedPlatforms: ['bluesky', 'mastodon'], selectedGroups: [id, expect.any(String)] },
      groups: [
        { id, name: 'North', accountIds: [b1, b2, m1] },
        { name: 'South', accountIds: [m1] },
      ],
    })
  })

  it('a group without accounts is refused with what to do, and a group is enough for a post', async () => {
    const { m1, call, create } = await newUser()
    const { id } = await create({ name: 'Brand' })
    const body = { content: { text: 'x' }, selectedGroups: ['brand'] }
    const errors = [
      {
        ...{ path: 'selectedGroups.0', code: 'GROUP_EMPTY' },
        message: 'The group "Brand" has no accounts. Add accounts to it, or select others.',
      },
    ]
    expect(await call('POST', '/api/posts', body)).toMatchObject({ status: 400, body: { errors } })
    expect((await call('POST', '/api/posts/validate', body)).body.data).toMatchObject({ valid: false, errors })
    await call('PATCH', `/api/groups/${id}`, { accountIds: [m1] })
    expect(
      (await call('POST', '/api/posts/validate', { ...body, content: { text: 'x'.repeat(501) } })).body.data,
    ).toMatchObject({
      errors: [{ path: 'content.text', code: 'TEXT_TOO_LONG' }],
      accounts: { [m1]: { length: 501 } },
    })
    expect((await call('POST', '/api/posts', { ...body, selectedGroups: [] })).body.errors).toMatchObject([
      { path: 'selectedPlatforms', code: 'TOO_SHORT' },
    ])
  })

  it('changes and the deletion of a group leave stored posts and their duplicates as they are', async () => {
    const { b1, b2, call, create, post, read, accountsOf } = await newUser()
    const { id } = await create({ name: 'Brand', accountIds: [b1] })
    const postId = await post({ selectedGroups: [id], status: 'SCHEDULED', scheduledAt: '2090-05-01T09:30:00Z' })
    await call('PATCH', `/api/groups/${id}`, { name: 'Renamed', accountIds: [b2] })
    await call('PATCH', `/api/posts/${postId}`, { content: { text: 'Changed' } })
    await call('DELETE', `/api/groups/${id}`)
    const copy = (await call('POST', `/api/posts/${postId}/duplicate`)).body.data.postId
    for (const one of [postId, copy]) {
      expect(await accountsOf(one)).toEqual([b1])
      expect((await read(one)).groups).toEqual([{ id, name: 'Brand', accountIds: [b1] }])
    }
  })

  it('naming a group in PATCH reads its accounts again, and repeating it in PUT keeps them', async () => {
    const { b1, b2, m1, call, create, post, read, accountsOf } = await newUser()
    const { id } = await create({ name: 'Brand', accountIds: [b1] })
    const postId = await post({ selectedPlatforms: ['mastodon'], selectedGroups: [id] })
    await call('PATCH', `/api/groups/${id}`, { accountIds: [b2] })
    const { status } = await call('PUT', `/api/posts/${postId}`, await read(postId))
    expect([status, await accountsOf(postId)]).toEqual([200, [m1, b1]])
    await call('PATCH', `/api/posts/${postId}`, { selectedGroups: ['brand'] })
    expect(await accountsOf(postId)).toEqual([m1, b2])
    await call('DELETE', `/api/groups/${id}`)
    await call('PATCH', `/api/posts/${postId}`, { selectedGroups: [id], selectedPlatforms: ['bluesky'] })
    expect(await accountsOf(postId)).toEqual([b2])
    expect((await call('PATCH', `/api/posts/${postId}`, { selectedGroups: [] })).body.errors).toMatchObject([
      { path: 'selectedPlatforms', code: 'TOO_SHORT' },
    ])
    await call('PATCH', `/api/posts/${postId}`, { selectedGroups: [], selectedAccounts: [m1] })
    expect(await accountsOf(postId)).toEqual([m1])
    expect(await read(postId)).not.toHaveProperty('groups')
  })

  it('a group that loses its last account stays selected by the posts that have it', async () => {
    const { userId, b2, call, create, post, accountsOf } = await newUser()
    const { id } = await create({ name: 'Brand', accountIds: [b2] })
    const postId = await post({ selectedGroups: [id] })
    await world.context.accounts.disconnect(userId, [b2])
    expect((await call('PATCH', `/api/posts/${postId}`, { selectedGroups: [id] })).body.errors).toMatchObject([
      { path: 'selectedGroups.0', code: 'GROUP_EMPTY' },
    ])
    expect((await call('PATCH', `/api/posts/${postId}`, { content: { text: 'y' } })).status).toBe(200)
    expect(await accountsOf(postId)).toEqual([b2])
  })
})
