import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eraseAccount } from '../../../../src/commands/users/erase-account.ts'
import { logOutDevice } from '../../../../src/commands/users/log-out.ts'
import {
  API_KEY_PATTERN,
  API_KEY_SCOPES,
  toApiKey,
  type ApiKey,
  type ApiKeyScope,
} from '../../../../src/domain/users/api-keys.ts'
import { DAY, HOUR } from '../../../../src/domain/shared/times.ts'
import { createTestKey, getSessionId, type TestKey } from '../../../support/api-keys.ts'
import { apiWorld, createAccount, PASSWORD, signIn, type SignedIn } from '../../../support/api.ts'
import { readCommands, runCommands } from '../../../support/documented-commands.ts'
import { connectAccounts } from '../../../support/published.ts'
import { openTestSession } from '../../../support/sessions.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { startUnsentMails, type UnsentMails } from '../../../support/unsent-mails.ts'

let world: UnsentMails
beforeAll(async () => {
  world = await startUnsentMails()
})
afterAll(() => world?.close())

type Caller = Pick<SignedIn, 'headers'>

const call = (who: Caller, method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', url: string, payload?: object) =>
  world.app.inject({ method, url, headers: who.headers, ...(payload && { payload }) })
const create = (who: Caller, body: object = {}) =>
  call(who, 'POST', '/api/keys', { name: 'Import', scopes: ['posts:read'], ...body })
const list = async (who: Caller) => (await call(who, 'GET', '/api/keys')).json().data
const readPosts = (key: Caller) => call(key, 'GET', '/api/posts')
const records = () => world.context.database.connection.collection<ApiKey>('apiKeys')
const setDisabled = (userId: string, isDisabled: boolean) =>
  world.context.database.connection
    .collection<{ _id: string }>('users')
    .updateOne({ _id: userId }, { $set: { isDisabled } })

const UNAUTHORIZED = { success: false, message: 'Unauthorized', statusCode: 401, code: 'UNAUTHORIZED' }

async function keyOf(scopes?: ApiKeyScope[]): Promise<{ who: SignedIn; key: TestKey }> {
  const who = await signIn(world.context)
  return { who, key: await createTestKey(world.context, who, scopes ? { scopes } : {}) }
}

describe('creating a key', () => {
  it('the key is in the response to its creation and nowhere else', async () => {
    const who = await signIn(world.context)
    const expiresAt = new Date(Date.now() + DAY).toISOString()
    const response = await create(who, { name: '  Import ', scopes: ['posts:read', 'accounts:read'], expiresAt })
    expect(response.statusCode).toBe(201)
    const { key, ...shown } = response.json().data
    expect(key).toMatch(new RegExp(`^${API_KEY_PATTERN}$`))
    expect(shown).toEqual({
      id: expect.stringMatching(/^[\da-f]{24}$/),
      name: 'Import',
      hint: `po_live_…${key.slice(-4)}`,
      scopes: ['posts:read', 'accounts:read'],
      createdAt: expect.any(String),
      expiresAt,
      lastUsedAt: null,
      lastUsedNetwork: null,
    })
    expect(response.headers['cache-control']).toBe('no-store')
    expect(await list(who)).toEqual([shown])
    const stored = await records().findOne({ userId: who.user._id })
    expect(JSON.stringify(stored)).not.toContain(key.slice(8, -4))
    expect((await readPosts({ headers: { authorization: `Bearer ${key}` } })).statusCode).toBe(200)
  })

  it('the owner gets a notification without the key', async () => {
    const who = await signIn(world.context)
    const { key, id } = (await create(who, { name: 'CI "one"' })).json().data
    const { body } = await call(who, 'GET', '/api/notifications')
    expect(JSON.parse(body).data.notifications).toMatchObject([
      {
        type: 'info',
        message: 'An API key “CI "one"” was created. If you did not create it, delete it and change your password.',
        reference: { type: 'apiKey', id, model: 'ApiKey' },
      },
    ])
    expect(body).not.toContain(key.slice(8))
  })

  it.each([
    [{ name: 'x' }, 'name'],
    [{ name: 'two\nlines' }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['posts:everything'] }, 'scopes.0'],
    [{ scopes: ['posts:read', 'posts:read'] }, 'scopes'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
  ])('the body %j is refused and stores nothing', async (body, path) => {
    const who = await signIn(world.context)
    const response = await create(who, body)
    expect(response.json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED', errors: [{ path }] })
    expect(await list(who)).toEqual([])
  })

  it('a user has at most 20 keys, also when more are created concurrently', async () => {
    const who = await signIn(world.context)
    for (let nth = 0; nth < 17; nth += 1) await createTestKey(world.context, who)
    const responses = await Promise.all(Array.from({ length: 8 }, () => create(who)))
    const statuses = responses.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)
    expect(statuses).toEqual([201, 201, 201, 403, 403, 403, 403, 403])
    expect(responses.find(({ statusCode }) => statusCode === 403)!.json()).toMatchObject({
      code: 'API_KEY_LIMIT_REACHED',
      limit: 20,
    })
    const keys = await list(who)
    expect(keys).toHaveLength(20)
    await call(who, 'DELETE', `/api/keys/${keys[0].id}`)
    expect((await create(who)).statusCode).toBe(201)
  })

  it('an expired key does not count', async () => {
    const who = await signIn(world.context)
    for (let nth = 0; nth < 20; nth += 1) {
      await createTestKey(world.context, who, { expiresAt: new Date(Date.now() + HOUR) })
    }
    expect((await create(who)).statusCode).toBe(403)
    await world.later(HOUR, async () => {
      const other = { headers: { authorization: `Bearer ${await newToken(who)}` } }
      expect(await list(other)).toEqual([])
      expect((await create(other)).statusCode).toBe(201)
    })
  })

  it('a session that ends meanwhile creates no key', async () => {
    const who = await signIn(world.context)
    await logOutDevice(world.context, who.user._id, getSessionId(who))
    await expect(createTestKey(world.context, who)).rejects.toThrow('Unauthorized')
    expect(await records().countDocuments({ userId: who.user._id })).toBe(0)
  })
})

async function newToken(who: SignedIn): Promise<string> {
  return (await openTestSession(world.context, who.user)).accessToken
}

describe('a request with a key', () => {
  it('the key acts as its owner', async () => {
    const { who, key } = await keyOf(['posts:draft'])
    const postId = (await call(key, 'POST', '/api/posts', draft)).json().data.postId
    expect((await call(who, 'GET', `/api/posts/${postId}`)).json().data.post).toMatchObject({
      metadata: { source: 'api', client: 'api' },
    })
    const { key: strangers } = await keyOf()
    expect((await call(strangers, 'GET', `/api/posts/${postId}`)).statusCode).toBe(404)
  })

  it('the source of a post is the API also when the client sends an Origin header', async () => {
    const { key } = await keyOf()
    const response = await world.app.inject({
      method: 'POST',
      url: '/api/posts',
      headers: { ...key.headers, origin: world.context.config.FRONTEND_URL },
      payload: draft,
    })
    const { postId } = response.json().data
    expect((await world.context.posts.find(postId))!.metadata).toEqual({ source: 'api', client: 'api' })
  })

  it('a key reads its own scopes with those that they include, and a session has all', async () => {
    const { who, key } = await keyOf(['posts:draft', 'accounts:write'])
    expect((await call(key, 'GET', '/api/keys/current')).json().data).toEqual({
      id: key.apiKey.keyId,
      scopes: ['posts:read', 'posts:draft', 'accounts:read', 'accounts:write'],
    })
    expect((await call(who, 'GET', '/api/keys/current')).json().data).toEqual({ id: null, scopes: API_KEY_SCOPES })
  })

  it('the key of an admin is the key of a user', async () => {
    const admin = await signIn(world.context, { role: 'admin' })
    const key = await createTestKey(world.context, admin)
    expect((await readPosts(key)).statusCode).toBe(200)
    for (const url of ['/api/admin/analytics', '/api/status/slo']) {
      expect((await call(key, 'GET', url)).json()).toMatchObject({ statusCode: 403, code: 'SESSION_REQUIRED' })
    }
  })

  const unusable: [string, (key: TestKey, who: SignedIn) => Promise<string | void>][] = [
    ['that was never issued', async () => toApiKey(new Uint8Array(32).fill(7))],
    ['with a wrong character', async ({ secret }) => `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`],
    ['that was deleted', async ({ apiKey }, who) => void (await call(who, 'DELETE', `/api/keys/${apiKey.keyId}`))],
    [
      'that has expired',
      async ({ apiKey }) => void (await records().updateOne({ _id: apiKey._id }, { $set: { expiresAt: new Date() } })),
    ],
    ['of a disabled account', async (_, who) => void (await setDisabled(who.user._id, true))],
    [
      'of an account under erasure',
      async (_, who) =>
        eraseAccount(world.context, {
          userId: who.user._id,
          sessionId: getSessionId(who),
          ipAddress: '127.0.0.1',
          password: undefined,
        }),
    ],
    [
      'of a missing account',
      async (_, who) =>
        world.context.database.transaction((session) => world.context.users.remove(who.user._id, session)),
    ],
  ]
  it.each(unusable)('a key %s is refused like a bad token', async (_, revoke) => {
    const who = await signIn(world.context, { auth: { provider: 'google', subject: crypto.randomUUID() } })
    const key = await createTestKey(world.context, who)
    expect((await readPosts(key)).statusCode).toBe(200)
    const secret = (await revoke(key, who)) ?? key.secret
    const refused = await readPosts({ headers: { authorization: `Bearer ${secret}` } })
    const bad = await readPosts({ headers: { authorization: 'Bearer a.b.c' } })
    const { requestId: _id, ...body } = refused.json()
    expect(body).toEqual(UNAUTHORIZED)
    expect(refused.headers['www-authenticate']).toBe(bad.headers['www-authenticate'])
    expect(Object.keys(refused.headers)).toEqual(Object.keys(bad.headers))
  })

  it('a key works again when its account is enabled again', async () => {
    const { who, key } = await keyOf()
    await setDisabled(who.user._id, true)
    expect((await readPosts(key)).statusCode).toBe(401)
    await setDisabled(who.user._id, false)
    expect((await readPosts(key)).statusCode).toBe(200)
  })

  it('a repeated create with an idempotency key returns the first post', async () => {
    const { key } = await keyOf(['posts:draft'])
    const options = { headers: { ...key.headers, 'idempotency-key': 'once' }, payload: draft }
    const send = () => world.app.inject({ method: 'POST', url: '/api/posts', ...options } satisfies InjectOptions)
    const [first, second] = [await send(), await send()]
    expect([first.statusCode, second.statusCode]).toEqual([201, 200])
    expect(second.json().data).toEqual(first.json().data)
  })

  it('keys and sessions of a user share the limit of the user', async () => {
    const limited = await apiWorld({ RATE_LIMIT_PER_USER: 2 })
    try {
      const who = await signIn(limited.context)
      const key = await createTestKey(limited.context, who)
      const get = (headers: SignedIn['headers']) => limited.app.inject({ url: '/api/posts', headers })
      expect((await get(who.headers)).statusCode).toBe(200)
      const allowed = await get(key.headers)
      expect(allowed.headers['ratelimit']).toContain('"user";r=0')
      const other = await createTestKey(limited.context, who)
      expect((await get(other.headers)).json()).toMatchObject({ statusCode: 429, bucket: 'user' })
    } finally {
      await limited.close()
    }
  })
})

const draft = { content: { text: 'From a program' }, selectedPlatforms: ['bluesky'], status: 'DRAFT' }
const scheduled = { ...draft, status: 'SCHEDULED', scheduledAt: '2090-05-01T09:30:00Z' }
const LACKS_PUBLISH = { statusCode: 403, code: 'INSUFFICIENT_SCOPE', scope: 'posts:publish' }

it('the commands of the guide create a key, and publish a draft with it', async () => {
  const who = await signIn(world.context)
  await connectAccounts(world.context, who.user._id, ['bluesky'])
  const api = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const commands = readCommands('guide/api-keys.md', 'Create a key and publish with it')
  const token = who.headers.authorization.slice('Bearer '.length)
  const output = await runCommands(commands.replace('http://localhost:4000', api), { TOKEN: token }, temporaryFolder())
  expect(JSON.parse(output)).toMatchObject({ success: true, data: { status: 'PENDING' } })
  expect(await list(who)).toMatchObject([{ name: 'Nightly import', scopes: ['posts:publish'] }])
})

describe('a key that may only draft', () => {
  it.each([
    scheduled,
    { ...scheduled, status: undefined },
    { ...draft, status: undefined },
    { ...draft, status: 'PENDING' },
  ])('the key cannot create a post that would be published: %j', async (body) => {
    const { who, key } = await keyOf(['posts:draft'])
    expect((await call(key, 'POST', '/api/posts', body)).json()).toMatchObject(LACKS_PUBLISH)
    expect((await call(who, 'GET', '/api/posts')).json().data.total).toBe(0)
  })

  it('the key changes a draft, and cannot publish it', async () => {
    const { key } = await keyOf(['posts:draft'])
    const { postId } = (await call(key, 'POST', '/api/posts', draft)).json().data
    const url = `/api/posts/${postId}`
    expect((await call(key, 'PATCH', url, { content: { text: 'Second' } })).statusCode).toBe(200)
    expect((await call(key, 'PUT', url, { ...draft, content: { text: 'Third' } })).statusCode).toBe(200)
    for (const status of ['PENDING', 'SCHEDULED']) {
      const time = status === 'SCHEDULED' ? { scheduledAt: '2090-05-01T09:30:00Z' } : {}
      expect((await call(key, 'PATCH', url, { status, ...time })).json()).toMatchObject(LACKS_PUBLISH)
      expect((await call(key, 'PUT', url, { ...draft, status, ...time })).json()).toMatchObject(LACKS_PUBLISH)
    }
    expect(await world.context.posts.find(postId)).toMatchObject({ status: 'DRAFT', content: { text: 'Third' } })
  })

  it('the key cannot change a post that waits for its time', async () => {
    const { who, key } = await keyOf(['posts:draft'])
    const { postId } = (await call(who, 'POST', '/api/posts', scheduled)).json().data
    const url = `/api/posts/${postId}`
    expect((await call(key, 'PATCH', url, { content: { text: 'Changed' } })).json()).toMatchObject(LACKS_PUBLISH)
    expect((await call(key, 'PATCH', url, { status: 'DRAFT' })).json()).toMatchObject(LACKS_PUBLISH)
    expect((await call(key, 'PUT', url, draft)).json()).toMatchObject(LACKS_PUBLISH)
    expect((await world.context.posts.find(postId))!.content.text).toBe('From a program')
  })

  it('the key cannot change a draft that is published before its change is stored', async () => {
    const { who, key } = await keyOf(['posts:draft'])
    const { postId } = (await call(key, 'POST', '/api/posts', draft)).json().data
    const url = `/api/posts/${postId}`
    const { transition } = world.context.posts
    const intercepted = vi.spyOn(world.context.posts, 'transition').mockImplementationOnce(async (...args) => {
      const { status, scheduledAt } = scheduled
      expect((await call(who, 'PATCH', url, { status, scheduledAt })).statusCode).toBe(200)
      return transition(...args)
    })
    try {
      expect((await call(key, 'PATCH', url, { content: { text: 'Late' } })).json()).toMatchObject(LACKS_PUBLISH)
    } finally {
      intercepted.mockRestore()
    }
    expect(await world.context.posts.find(postId)).toMatchObject({
      status: 'SCHEDULED',
      content: { text: 'From a program' },
    })
  })

  it('a key that may publish does all of it', async () => {
    const { key } = await keyOf(['posts:publish'])
    const { postId } = (await call(key, 'POST', '/api/posts', draft)).json().data
    const url = `/api/posts/${postId}`
    const time = { scheduledAt: '2090-05-01T09:30:00Z' }
    expect((await call(key, 'PATCH', url, { status: 'SCHEDULED', ...time })).json().data.status).toBe('SCHEDULED')
    expect((await call(key, 'POST', `${url}/cancel`)).statusCode).toBe(200)
    expect((await call(key, 'DELETE', url)).statusCode).toBe(200)
  })
})

describe('the last use of a key', () => {
  const WAIT = { timeout: 50_000 }
  const waitForUse = (key: TestKey) =>
    vi.waitUntil(async () => {
      const stored = await records().findOne({ _id: key.apiKey._id })
      return stored!.lastUsedAt !== null && stored
    }, WAIT)

  it('the hour and the network are stored, once an hour', async () => {
    const { who, key } = await keyOf()
    const send = (remoteAddress: string) => world.app.inject({ url: '/api/posts', headers: key.headers, remoteAddress })
    await send('192.0.2.77')
    const first = await waitForUse(key)
    expect(first.lastUsedAt!.getTime() % HOUR).toBe(0)
    expect(first.lastUsedNetwork).toBe('192.0.2.0/24')
    expect((await list(who))[0]).toMatchObject({ lastUsedNetwork: '192.0.2.0/24' })

    // Concurrent requests of the next hour read the old record and store one use.
    await world.later(HOUR, async () => {
      await Promise.all(['2001:db8:1:2::3', '2001:db8:1:2::3'].map(send))
      await vi.waitUntil(
        async () => (await records().findOne({ _id: key.apiKey._id }))!.lastUsedNetwork === '2001:db8:1::/48',
        WAIT,
      )
      await world.context.apiKeys.recordUse(key.apiKey, '198.51.100.0/24')
      expect((await records().findOne({ _id: key.apiKey._id }))!.lastUsedNetwork).toBe('2001:db8:1::/48')
    })
  })

  it('a request succeeds when its use cannot be stored', async () => {
    const { key } = await keyOf()
    const recordUse = vi.spyOn(world.context.apiKeys, 'recordUse').mockRejectedValue(new Error('database is full'))
    try {
      expect((await readPosts(key)).statusCode).toBe(200)
      expect(recordUse).toHaveBeenCalledTimes(1)
    } finally {
      recordUse.mockRestore()
    }
  })
})

describe('the end of keys', () => {
  it('concurrent deletes end a key once, and no other key', async () => {
    const { who, key } = await keyOf()
    const other = await createTestKey(world.context, who)
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => call(who, 'DELETE', `/api/keys/${key.apiKey.keyId}`)),
    )
    const statuses = responses.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, 404, 404, 404, 404])
    expect((await readPosts(key)).statusCode).toBe(401)
    expect((await readPosts(other)).statusCode).toBe(200)
  })

  it.each([
    ['', 200],
    ['?apiKeys=false', 200],
    ['?apiKeys=true', 401],
  ])('after logging out everywhere with "%s" a key gets %i', async (query, status) => {
    const { who, key } = await keyOf()
    const { key: strangers } = await keyOf()
    expect((await call(who, 'DELETE', `/api/auth/logout/all${query}`)).statusCode).toBe(200)
    expect((await readPosts(who)).statusCode).toBe(401)
    expect((await readPosts(key)).statusCode).toBe(status)
    expect((await readPosts(strangers)).statusCode).toBe(200)
  })

  it('no key that is created while the user logs out everywhere survives', async () => {
    const who = await signIn(world.context)
    const created = Promise.allSettled(Array.from({ length: 10 }, () => createTestKey(world.context, who)))
    expect((await call(who, 'DELETE', '/api/auth/logout/all?apiKeys=true')).statusCode).toBe(200)
    await created
    expect(await records().countDocuments({ userId: who.user._id })).toBe(0)
  })

  it.each([
    [undefined, 200],
    [true, 401],
  ])('after a password change with endsApiKeys=%s a key gets %i', async (endsApiKeys, status) => {
    const user = await createAccount(world.context, { withPassword: true })
    const tokens = await openTestSession(world.context, user)
    const who = { user, ...tokens, headers: { authorization: `Bearer ${tokens.accessToken}` } }
    const key = await createTestKey(world.context, who)
    const passwords = { currentPassword: PASSWORD, newPassword: 'another horse, another battery' }
    const changed = await call(who, 'PATCH', '/api/profile/change-password', { ...passwords, endsApiKeys })
    expect(changed.statusCode, changed.body).toBe(200)
    expect((await readPosts(key)).statusCode).toBe(status)
  })

  it.each([
    [undefined, 200],
    [true, 401],
  ])('after a password reset with endsApiKeys=%s a key gets %i', async (endsApiKeys, status) => {
    const user = await createAccount(world.context, { withPassword: true })
    const key = await createTestKey(world.context, {
      user,
      ...(await openTestSession(world.context, user)),
      headers: { authorization: '' },
    })
    await world.post('send-reset-email', { email: user.email })
    const text = (await world.mailsTo(user.email)).at(-1)!.text
    const token = new URL(/https?:\S+/.exec(text)![0]).searchParams.get('token')!
    const body = { token, email: user.email, password: 'another horse, another battery', endsApiKeys }
    const reset = await world.post('reset-password', body)
    expect(reset.statusCode, reset.body).toBe(200)
    expect((await readPosts(key)).statusCode).toBe(status)
  })

  it('the export lists the keys without key and hash', async () => {
    const { who, key } = await keyOf()
    const { body } = await call(who, 'GET', '/api/profile/export')
    expect(JSON.parse(body).data.apiKeys).toEqual(await list(who))
    expect(body).not.toContain(key.secret)
    expect(body).not.toContain(key.apiKey._id)
  })
})
