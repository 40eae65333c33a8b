import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Bluesky, BlueskyAccount } from '../../../../sandbox/platforms/bluesky.ts'
import { buildApp } from '../../../../src/api/app.ts'
import type { Context } from '../../../../src/context.ts'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'
import { MAX_UPLOAD_BYTES, POSTING_RULES } from '../../../../src/domain/posts/posting-rules.ts'
import { DAY, SECOND } from '../../../../src/domain/shared/times.ts'
import { newUser } from '../../../../src/domain/users/user.ts'
import { newId } from '../../../../src/store/shared/schema.ts'
import { testContext, unique } from '../../../support/servers.ts'
import { openTestSession } from '../../../support/sessions.ts'
import { workerBluesky } from '../../../support/worker-bluesky.ts'

let bluesky: Bluesky
let context: Context
let app: FastifyInstance
let alice: BlueskyAccount

beforeAll(async () => {
  bluesky = await workerBluesky()
  context = await testContext({ BLUESKY_ENTRY_URL: bluesky.url })
  app = await buildApp(context)
  alice = await bluesky.createAccount({ handle: 'alice.test' })
})

afterEach(() => fetch(`${bluesky.control}/faults`, { method: 'DELETE' }))

afterAll(async () => {
  await app?.close()
  await context?.close()
  await bluesky?.reset()
})

/** A signed-in user with calls in their name. */
async function signIn() {
  const limits = { maxPosts: 30, maxCaptionGenerations: 15 }
  const user = newUser(
    { _id: newId(), email: `${unique('user')}@example.com`, name: 'Someone', passwordHash: null, limits },
    context.clock.now(),
  )
  await context.users.insert(user)
  const { accessToken } = await openTestSession(context, user)

  async function call(method: NonNullable<InjectOptions['method']>, path: string, payload?: object) {
    const answer = await app.inject({
      method,
      url: `/api/platform${path}`,
      headers: { authorization: `Bearer ${accessToken}` },
      ...(payload && { payload }),
    })
    return { status: answer.statusCode, body: answer.json(), text: answer.body, headers: answer.headers }
  }

  return {
    userId: user._id,
    call,
    connect: (identifier: string, appPassword: string) => call('POST', '/bluesky/connect', { identifier, appPassword }),
    refresh: () => call('GET', '/bluesky/refresh'),
    disconnect: () => call('DELETE', '/bluesky/disconnect'),
    find: async () => (await call('GET', '/find')).body.data,
    stored: () => context.accounts.findDefault(user._id, 'bluesky'),
  }
}

/** A user with a connected Bluesky account. */
async function connected() {
  const account = await bluesky.createAccount({ handle: `${unique('u').replace('-', '')}.test` })
  const user = await signIn()
  expect(await user.connect(account.handle, account.appPassword)).toMatchObject({ status: 200 })
  return { ...user, account }
}

async function fault(fields: { path?: string; times?: number; action: object }): Promise<void> {
  const answer = await fetch(`${bluesky.control}/faults`, { method: 'POST', body: JSON.stringify(fields) })
  expect(answer.status).toBe(200)
}

/** Lists calls that reached the platform by method name. */
async function requestsOf(method: string): Promise<number> {
  const requests = (await (await fetch(`${bluesky.control}/requests`)).json()) as { path: string }[]
  return requests.filter(({ path }) => path.includes(method)).length
}

describe('GET /api/platform/find', () => {
  it('the list has all six platforms for a user without connections', async () => {
    const user = await signIn()
    expect((await user.call('GET', '/find')).body).toEqual({
      success: true,
      message: 'Platform accounts found',
      data: Object.fromEntries(PLATFORMS.map((platform) => [platform, { connected: false }])),
    })
  })

  it('the list shows the account with its profile and health', async () => {
    const user = await connected()
    const data = await user.find()
    expect(data.bluesky).toEqual({
      connected: true,
      _id: expect.any(String),
      platformId: user.account.did,
      did: user.account.did,
      handle: user.account.handle,
      profile: { displayName: user.account.handle, handle: user.account.handle, avatar: null },
      health: {
        status: 'active',
        needsReconnection: false,
        lastError: null,
        checkedAt: expect.stringMatching(/Z$/),
        expiresAt: expect.stringMatching(/Z$/),
      },
      connectedAt: expect.stringMatching(/Z$/),
    })
    expect(Object.keys(data)).toEqual([...PLATFORMS])
    expect(data.mastodon).toEqual({ connected: false })
    const leftMs = Date.parse(data.bluesky.health.expiresAt) - Date.now()
    expect(leftMs).toBeGreaterThan(80 * DAY)
  })

  it('a connection is reported as expiring in its last seven days', async () => {
    const user = await connected()
    const account = (await user.stored())!
    const { handle, server, auth } = account
    const endsAt = new Date(Date.now() + 6 * DAY)
    await context.accounts.saveRenewed(
      { userId: user.userId, platform: 'bluesky', version: account.version },
      {
        handle,
        server,
        auth: { ...auth, endsAt },
      },
      account.version + 1,
    )
    expect((await user.find()).bluesky.health).toMatchObject({
      status: 'expiring',
      needsReconnection: false,
      expiresAt: endsAt.toISOString(),
    })
  })
})

describe('GET /api/platform/limits', () => {
  it('the limits equal the rules for posts, with files no larger than an upload', async () => {
    const { status, body } = await (await signIn()).call('GET', '/limits')
    expect(status).toBe(200)
    const expected = structuredClone(POSTING_RULES)
    for (const { media } of Object.values(expected)) {
      for (const kind of ['image', 'video'] as const) {
        media[kind].maxBytes = Math.min(media[kind].maxBytes, MAX_UPLOAD_BYTES[kind])
      }
    }
    const options = Object.entries<{ options: string[] }>(body.data).map(([platform, one]) => [platform, one.options])
    expect(Object.fromEntries(options)).toMatchObject({
      threads: ['replyControl', 'topicTag', 'poll', 'crossreshare'],
      instagram: ['kind', 'coverAt', 'collaborators', 'userTags', 'shareToFeed'],
      facebook: [],
      tumblr: ['tags', 'sourceUrl', 'state'],
    })
    for (const one of Object.values<{ options?: string[] }>(body.data)) delete one.options
    expect(body.data).toEqual(JSON.parse(JSON.stringify(expected)))
    expect(body.data.bluesky.text).toContainEqual({ unit: 'graphemes', max: 300 })
  })
})

describe('POST /api/platform/bluesky/connect', () => {
  it.each([
    ['handle', (account: BlueskyAccount) => account.handle],
    ['handle with a leading @', (account: BlueskyAccount) => `@${account.handle}`],
    ['handle in capitals and blanks', (account: BlueskyAccount) => ` ${account.handle.toUpperCase()} `],
    ['email address', (account: BlueskyAccount) => account.email],
    ['DID', (account: BlueskyAccount) => account.did],
  ])('connect accepts a %s', async (_case, identifier) => {
    const account = await bluesky.createAccount({ handle: `${unique('c').replace('-', '')}.test` })
    const user = await signIn()
    const { status, body } = await user.connect(identifier(account), account.appPassword)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      message: 'Bluesky connected',
      data: { connected: true, did: account.did, handle: account.handle },
    })
    expect((await context.accounts.findOwn(user.userId, body.data._id))?.platformId).toBe(account.did)
    expect((await user.find()).bluesky).toEqual(body.data)
  })

  it('secrets are left out of responses and encrypted in the database', async () => {
    const user = await signIn()
    const account = await bluesky.createAccount({ handle: `${unique('s').replace('-', '')}.test` })
    const answers = [
      await user.connect(account.handle, account.appPassword),
      await user.call('GET', '/find'),
      await user.refresh(),
    ]
    const credentials = (await context.credentials.get(user.userId, 'bluesky', {
      signal: new AbortController().signal,
    }))!
    const raw = await context.database.connection.collection('accounts').find({ userId: user.userId }).toArray()
    const stored = JSON.stringify(raw)
    expect(credentials.accessToken).toMatch(/^ey.+\..+\..+$/)
    expect(stored).toContain('v1.test.')
    for (const text of [stored, ...answers.map((answer) => answer.text)]) {
      expect(text).not.toContain(account.appPassword)
      expect(text).not.toContain(credentials.accessToken)
      expect(text).not.toContain(credentials.refreshToken)
      expect(text).not.toMatch(/\bey[\w-]+\.[\w-]+\.[\w-]+/)
    }
    for (const answer of answers) expect(answer.text).not.toMatch(/v1\.test\.|accessToken|refreshToken|"auth"|version/)
  })

  it.each([
    ['a wrong password', () => [alice.handle, 'aaaa-bbbb-cccc-dddd']],
    ['an unknown handle', () => ['nobody.test', 'aaaa-bbbb-cccc-dddd']],
    ['an unknown address', () => ['nobody@example.com', 'aaaa-bbbb-cccc-dddd']],
    ['text that is not a handle', () => ['@@ not a handle', 'aaaa-bbbb-cccc-dddd']],
    ['spaces', () => ['   ', '   ']],
  ])('connect refuses %s with 400 and stores nothing', async (_case, credentials) => {
    const user = await signIn()
    const [identifier, password] = credentials() as [string, string]
    expect(await user.connect(identifier, password)).toMatchObject({
      status: 400,
      body: {
        success: false,
        message: 'Invalid Bluesky credentials',
        statusCode: 400,
        code: 'PLATFORM_CREDENTIALS_INVALID',
      },
    })
    expect(await user.stored()).toBeNull()
    expect((await user.find()).bluesky).toEqual({ connected: false })
  })

  it('connect refuses the main password, links to app passwords, and stores nothing', async () => {
    const account = await bluesky.createAccount({ handle: `${unique('m').replace('-', '')}.test` })
    const user = await signIn()
    const ended = await requestsOf('deleteSession')
    expect(await user.connect(account.handle, account.password)).toMatchObject({
      status: 400,
      body: {
        code: 'PLATFORM_CREDENTIALS_INVALID',
        message: expect.stringContaining('Settings > Privacy and security > App passwords'),
      },
    })
    expect((await requestsOf('deleteSession')) - ended).toBe(1)
    expect(await user.stored()).toBeNull()
    expect((await user.find()).bluesky).toEqual({ connected: false })
    expect(await user.connect(account.handle, account.appPassword)).toMatchObject({ status: 200 })
  })

  it.each([
    ['nothing', {}, ['identifier', 'appPassword']],
    ['empty fields', { identifier: '', appPassword: '' }, ['identifier', 'appPassword']],
    ['values that are not strings', { identifier: 5, appPassword: ['x'] }, ['identifier', 'appPassword']],
    ['null', { identifier: null, appPassword: 'x' }, ['identifier']],
    ['an endless identifier', { identifier: 'x'.repeat(321), appPassword: 'x' }, ['identifier']],
    ['an operator instead of a value', { identifier: { $ne: '' }, appPassword: 'x' }, ['identifier']],
  ])('connect rejects a body with %s and never calls the platform', async (_case, payload, paths) => {
    const user = await signIn()
    const before = await requestsOf('createSession')
    const { status, body } = await user.call('POST', '/bluesky/connect', payload)
    expect(status).toBe(400)
    expect(body.code).toBe('VALIDATION_FAILED')
    expect(body.errors.map(({ path }: { path: string }) => path).toSorted()).toEqual(paths.toSorted())
    expect(await requestsOf('createSession')).toBe(before)
  })

  it('connect passes on five wrong passwords per user and identifier, and right ones always', async () => {
    const user = await signIn()
    const account = await bluesky.createAccount({ handle: `${unique('g').replace('-', '')}.test` })
    for (let round = 0; round < 6; round += 1) {
      expect(await user.connect(account.handle, account.appPassword)).toMatchObject({ status: 200 })
    }
    const before = await requestsOf('createSession')
    const answers = []
    for (let count = 0; count < 15; count += 1) {
      const identifier = count % 2 === 0 ? account.handle : `@${account.handle.toUpperCase()}`
      answers.push(await user.connect(identifier, `aaaa-bbbb-cccc-${1_000 + count}`))
    }
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 5 }, () => 400),
      ...Array.from({ length: 10 }, () => 429),
    ])
    expect((await requestsOf('createSession')) - before).toBe(5)
    const { headers, body } = answers.at(-1)!
    expect(Number(headers['retry-after'])).toBeGreaterThan(600)
    expect(body).toMatchObject({ code: 'RATE_LIMITED', bucket: 'bluesky_guess' })
    expect(body.message).toMatch(
      /^Too many failed Bluesky logins\. Check the handle and the app password, then try again in/,
    )
  })

  it('connect passes on twenty wrong passwords per identifier across all users', async () => {
    const account = await bluesky.createAccount({ handle: `${unique('g').replace('-', '')}.test` })
    const before = await requestsOf('createSession')
    const users = await Promise.all(Array.from({ length: 6 }, () => signIn()))
    for (const user of users) {
      for (let count = 0; count < 5; count += 1) await user.connect(account.handle, `aaaa-bbbb-cccc-${1_000 + count}`)
    }
    expect((await requestsOf('createSession')) - before).toBe(20)
  })

  it('connect never stores fields that clients must not set', async () => {
    const user = await signIn()
    const stranger = newId()
    const account = await bluesky.createAccount({ handle: `${unique('f').replace('-', '')}.test` })
    const { status } = await user.call('POST', '/bluesky/connect', {
      identifier: account.handle,
      appPassword: account.appPassword,
      userId: stranger,
      connected: false,
      version: 99,
      did: 'did:plc:stranger',
    })
    expect(status).toBe(200)
    expect(await user.stored()).toMatchObject({ version: 1, platformId: account.did })
    expect(await context.accounts.list(stranger)).toEqual([])
  })

  it.each([
    ['answers 500', { status: 500, body: { error: 'InternalServerError' } }],
    ['responds without JSON', { status: 200, body: '<html>' }],
    ['closes the connection', { dropAfterAccept: true }],
    ['breaks off its response', { truncate: true }],
  ])('connect is 502 when Bluesky %s', async (_case, action) => {
    const user = await signIn()
    await fault({ path: 'createSession', action })
    expect(await user.connect(alice.handle, alice.appPassword)).toMatchObject({
      status: 502,
      body: { success: false, code: 'PLATFORM_UNAVAILABLE' },
    })
    expect(await user.stored()).toBeNull()
  })

  it('connect is 502 with the Retry-After of Bluesky', async () => {
    const user = await signIn()
    await fault({
      path: 'createSession',
      action: {
        status: 429,
        headers: { 'retry-after': '120' },
        body: { error: 'RateLimitExceeded', message: 'Rate Limit Exceeded' },
      },
    })
    const { status, headers } = await user.connect(alice.handle, alice.appPassword)
    expect(status).toBe(502)
    expect(Number(headers['retry-after'])).toBeGreaterThan(100)
  })

  it.each([
    ['AccountTakedown', /taken .* down/],
    ['AuthFactorTokenRequired', /app password/],
  ])('connect reports the problem of the account itself: %s', async (error, message) => {
    const user = await signIn()
    await fault({ path: 'createSession', action: { status: 401, body: { error, message: 'No' } } })
    expect(await user.connect(alice.handle, alice.appPassword)).toMatchObject({
      status: 400,
      body: { code: 'PLATFORM_CREDENTIALS_INVALID', message: expect.stringMatching(message) },
    })
  })

  it('connect works without the profile when only the profile call fails', async () => {
    const user = await signIn()
    const account = await bluesky.createAccount({ handle: `${unique('p').replace('-', '')}.test` })
    await fault({ path: 'getProfile', action: { status: 502, body: { error: 'UpstreamFailure' } } })
    const { status, body } = await user.connect(account.handle, account.appPassword)
    expect(status).toBe(200)
    expect(body.data.profile).toEqual({ displayName: account.handle, handle: account.handle, avatar: null })
  })

  it('a reconnect replaces the connection and ends the previous session', async () => {
    const user = await connected()
    const signal = new AbortController().signal
    const first = (await context.credentials.get(user.userId, 'bluesky', { signal }))!
    const ended = await requestsOf('deleteSession')
    expect(await user.connect(user.account.handle, user.account.appPassword)).toMatchObject({ status: 200 })
    expect(await requestsOf('deleteSession')).toBe(ended + 1)
    expect((await user.stored())?.version).toBe(2)
    expect(await user.refresh()).toMatchObject({ status: 200 })
    await expect(context.platforms.find('bluesky')!.renew!(first, { signal })).rejects.toMatchObject({
      class: 'unauthorized',
    })
  })

  it('an account of another user is 409, and the other connection stays valid', async () => {
    const owner = await connected()
    const other = await signIn()
    const ended = await requestsOf('deleteSession')
    expect(await other.connect(owner.account.handle, owner.account.appPassword)).toMatchObject({
      status: 409,
      body: { code: 'ACCOUNT_ALREADY_CONNECTED' },
    })
    expect((await other.find()).bluesky).toEqual({ connected: false })
    expect(await requestsOf('deleteSession')).toBe(ended + 1)
    expect(await owner.refresh()).toMatchObject({ status: 200 })

    await owner.disconnect()
    expect(await other.connect(owner.account.handle, owner.account.appPassword)).toMatchObject({ status: 200 })
  })
})

describe('GET /api/platform/bluesky/refresh', () => {
  it('refresh restores the session and updates the profile', async () => {
    const user = await connected()
    const signal = new AbortController().signal
    const { accessJwt } = (await (
      await fetch(`${bluesky.pdsUrl}/xrpc/com.atproto.server.createSession`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ identifier: user.account.did, password: user.account.password }),
        signal,
      })
    ).json()) as { accessJwt: string }
    const changed = await fetch(`${bluesky.pdsUrl}/xrpc/com.atproto.repo.putRecord`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${accessJwt}` },
      body: JSON.stringify({
        repo: user.account.did,
        collection: 'app.bsky.actor.profile',
        rkey: 'self',
        record: { $type: 'app.bsky.actor.profile', displayName: 'New name', description: 'Says hello' },
      }),
    })
    expect(changed.status).toBe(200)
    const before = (await user.stored())!

    const { status, body } = await user.refresh()
    expect(status).toBe(200)
    expect(body.message).toBe('Bluesky refreshed')
    expect(body.data.profile).toMatchObject({ displayName: 'New name', description: 'Says hello' })
    expect((await user.find()).bluesky).toEqual(body.data)
    const after = (await user.stored())!
    expect(after.version).toBe(before.version + 1)
    expect(Date.parse(body.data.health.checkedAt)).toBeGreaterThan(before.health.checkedAt!.getTime())
  })

  it('refresh is 400 when the platform is not connected', async () => {
    const user = await signIn()
    expect(await user.refresh()).toMatchObject({
      status: 400,
      body: { code: 'PLATFORM_NOT_CONNECTED', message: 'Bluesky is not connected' },
    })
  })

  it('refresh requires a reconnect when the platform ended the session', async () => {
    const user = await connected()
    const revoked = await fetch(`${bluesky.control}/accounts/${encodeURIComponent(user.account.did)}/revoke`, {
      method: 'POST',
    })
    expect(revoked.status).toBe(200)
    for (const _attempt of [1, 2]) {
      expect(await user.refresh()).toMatchObject({ status: 409, body: { code: 'RECONNECT_REQUIRED' } })
    }
    const { bluesky: found } = await user.find()
    expect(found).toMatchObject({ connected: true, health: { status: 'expired', needsReconnection: true } })
    expect(found.health.lastError).toMatch(/\w+ \w+/)
    expect(await context.notifications.listOf(user.userId, 10)).toMatchObject([{ type: 'warning' }])
  })

  it.each([
    ['the session', 'refreshSession', { status: 503, body: { error: 'NotEnoughResources' } }],
    ['the session, for too many requests', 'refreshSession', { status: 429, body: { error: 'RateLimitExceeded' } }],
    ['the profile', 'getProfile', { status: 502, body: { error: 'UpstreamFailure' } }],
    ['the profile, breaking off', 'getProfile', { truncate: true }],
  ])('refresh is 502 when Bluesky fails on %s, and changes nothing', async (_case, path, action) => {
    const user = await connected()
    const before = await user.find()
    await fault({ path, action })
    expect(await user.refresh()).toMatchObject({ status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } })
    const after = await user.find()
    expect(after.bluesky.profile).toEqual(before.bluesky.profile)
    expect(after.bluesky.health).toMatchObject({ status: 'active', needsReconnection: false, lastError: null })
  })

  it('refresh recovers the session after a lost response', async () => {
    const user = await connected()
    await fault({ path: 'refreshSession', times: 1, action: { dropAfterAccept: true } })
    expect(await user.refresh()).toMatchObject({ status: 502 })
    await expect.poll(async () => (await user.refresh()).status, { timeout: 50 * SECOND }).toBe(200)
  })

  it('concurrent refreshes make a single call for new tokens', async () => {
    const user = await connected()
    const before = await requestsOf('refreshSession')
    await fault({ path: 'refreshSession', times: 1, action: { delayMs: 300 } })
    const answers = await Promise.all(Array.from({ length: 6 }, () => user.refresh()))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect(await requestsOf('refreshSession')).toBe(before + 1)
  })
})

describe('DELETE /api/platform/bluesky/disconnect', () => {
  it('disconnect removes the connection, ends the session at Bluesky and is repeatable', async () => {
    const user = await connected()
    const signal = new AbortController().signal
    const credentials = (await context.credentials.get(user.userId, 'bluesky', { signal }))!
    for (const _attempt of [1, 2]) {
      expect(await user.disconnect()).toMatchObject({
        status: 200,
        body: { success: true, message: 'Bluesky disconnected', data: { connected: false } },
      })
    }
    expect((await user.find()).bluesky).toEqual({ connected: false })
    expect(await user.refresh()).toMatchObject({ status: 400, body: { code: 'PLATFORM_NOT_CONNECTED' } })
    await expect(context.platforms.find('bluesky')!.renew!(credentials, { signal })).rejects.toMatchObject({
      class: 'unauthorized',
    })
  })

  it('disconnect removes the connection even when Bluesky fails', async () => {
    const user = await connected()
    await fault({ path: 'deleteSession', action: { status: 500, body: { error: 'InternalServerError' } } })
    expect(await user.disconnect()).toMatchObject({ status: 200 })
    expect(await user.stored()).toBeNull()
  })

  it('disconnect is 200 without a connection', async () => {
    const user = await signIn()
    expect(await user.disconnect()).toMatchObject({ status: 200, body: { data: { connected: false } } })
  })
})

describe('platform routes', () => {
  it('platform routes respond within their deadline while Bluesky hangs', async () => {
    const [newcomer, refreshing, leaving] = [await signIn(), await connected(), await connected()]
    for (const path of ['createSession', 'getProfile', 'deleteSession']) await fault({ path, action: { hang: true } })
    const answers = await Promise.all([
      newcomer.connect(alice.handle, alice.appPassword),
      refreshing.refresh(),
      leaving.disconnect(),
    ])
    expect(answers).toMatchObject([
      { status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } },
      { status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } },
      { status: 200 },
    ])
    expect((await refreshing.find()).bluesky.health).toMatchObject({ status: 'active' })
    expect(await leaving.stored()).toBeNull()
  })

  it.each([
    ['GET', '/find'],
    ['GET', '/limits'],
    ['POST', '/bluesky/connect'],
    ['GET', '/bluesky/refresh'],
    ['DELETE', '/bluesky/disconnect'],
  ] as const)('%s %s requires a session', async (method, path) => {
    const answer = await app.inject({ method, url: `/api/platform${path}` })
    expect(answer.statusCode).toBe(401)
    expect(answer.json()).toMatchObject({ success: false, message: 'Unauthorized' })
  })

  it("platform routes never change another user's account", async () => {
    const owner = await connected()
    const other = await signIn()
    expect(await other.refresh()).toMatchObject({ status: 400 })
    expect(await other.disconnect()).toMatchObject({ status: 200 })
    expect((await owner.find()).bluesky).toMatchObject({ connected: true, did: owner.account.did })
  })
})
