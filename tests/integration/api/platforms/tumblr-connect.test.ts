import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { startTumblr, type Tumblr } from '../../../../sandbox/platforms/tumblr.ts'
import { buildApp } from '../../../../src/api/app.ts'
import type { Context } from '../../../../src/context.ts'
import { buildCallbackUrl } from '../../../../src/domain/accounts/platform-connect.ts'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import { connecting, testConnections } from '../../../support/connecting.ts'
import { hasPausedCalls } from '../../../support/paused-calls.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { testConfig, testContext } from '../../../support/servers.ts'

const CONNECTED = '?success=tumblr_connected'
const AUTH_FAILED = '?error=tumblr_auth_failed'
const CONNECT_FAILED = '?error=tumblr_connect_failed'
const STATE_INVALID = '?error=tumblr_state_invalid'

const REQUEST_TOKEN = '/oauth/request_token'
const ACCESS_TOKEN = '/oauth/access_token'
const USER_INFO = '/v2/user/info'

let tumblr: Tumblr
let control: Control
let context: Context
let app: FastifyInstance
let { follow, someone } = {} as ReturnType<typeof connecting>

beforeAll(async () => {
  tumblr = await startTumblr()
  control = controlOf(tumblr.control)
  await startService()
})

async function startService(): Promise<void> {
  const { consumerKey, consumerSecret } = tumblr.createApp({
    name: 'postonce',
    callbackUrl: buildCallbackUrl(testConfig().PUBLIC_URL, 'tumblr'),
  })
  context = await testContext({
    TUMBLR_CONSUMER_KEY: consumerKey,
    TUMBLR_CONSUMER_SECRET: consumerSecret,
    TUMBLR_AUTHORIZE_URL: tumblr.url,
    TUMBLR_API_URL: tumblr.url,
  })
  app = await buildApp(context)
  ;({ follow, someone } = connecting('tumblr', context, app))
}

async function stopService(): Promise<void> {
  await app?.close()
  await context?.close()
}

afterEach(async () => {
  await control.clearFaults()
  if (await hasPausedCalls(context)) {
    await stopService()
    await startService()
  }
})

afterAll(async () => {
  await stopService()
  await tumblr?.stop()
})

const newBlog = () => tumblr.createAccount({ name: `b${randomBytes(6).toString('hex')}`, title: 'Ann' })

async function connected() {
  const [user, blog] = [await someone(), newBlog()]
  expect(await user.connect(blog.loginId)).toBe(CONNECTED)
  return { ...user, blog }
}

/** Counts calls that reached Tumblr. */
const requestsTo = async (path: string) => (await control.requests()).filter((request) => request.path === path).length

/** Allows the login and returns the callback query with changed parameters. */
async function callbackOf(
  user: { authUrl(): Promise<string> },
  change: (query: URLSearchParams) => void = () => undefined,
): Promise<string> {
  const callback = new URL(await consent(await user.authUrl(), newBlog().loginId))
  change(callback.searchParams)
  return callback.href
}

const signal = () => AbortSignal.timeout(MINUTE)

describe('connecting a Tumblr account', () => {
  it("connect opens Tumblr's own page with a token for this attempt", async () => {
    const user = await someone()
    const { status, body } = await user.begin()
    expect(status).toBe(200)
    const { origin, pathname, searchParams } = new URL(body.data.authUrl)
    expect(`${origin}${pathname}`).toBe(`${tumblr.url}/oauth/authorize`)
    expect([...searchParams.keys()]).toEqual(['oauth_token'])
    expect((await fetch(body.data.authUrl)).status).toBe(200)
    const callback = new URL(await consent(body.data.authUrl, newBlog().loginId))
    expect(callback.searchParams.get('state')).toMatch(new RegExp(`^${user.userId}\\.`))
  })

  it('connect lists the blog with the specified fields', async () => {
    const { blog, find } = await connected()
    expect((await find()).body.data.tumblr).toMatchObject({
      connected: true,
      platformId: blog.uuid,
      blogHostname: `${blog.name}.tumblr.com`,
      profile: { displayName: 'Ann', handle: blog.name, avatar: expect.stringContaining(`/v2/blog/${blog.name}`) },
      health: { status: 'active', needsReconnection: false, expiresAt: null },
    })
  })

  it('connect works when Tumblr does not return the state', async () => {
    const user = await someone()
    expect(await follow(await callbackOf(user, (query) => query.delete('state')))).toBe(CONNECTED)
  })

  it('tokens and secrets are left out of responses and encrypted in the database', async () => {
    const user = await connected()
    const { accessToken, tokenSecret } = (await context.credentials.get(user.userId, 'tumblr', { signal: signal() }))!
    const begun = (await user.begin()).body.data.authUrl as string
    const requestToken = new URL(begun).searchParams.get('oauth_token')!
    const { connection } = context.database
    const stored = [
      await connection.collection('accounts').find({ userId: user.userId }).toArray(),
      await connection.collection('connectAttempts').find({ userId: user.userId }).toArray(),
    ]
    for (const text of [JSON.stringify(stored), (await user.find()).text, (await user.refresh()).text]) {
      for (const secret of [accessToken, tokenSecret!, requestToken]) expect(text).not.toContain(secret)
    }
  })

  it('a denied login stores nothing and calls nothing', async () => {
    const user = await someone()
    const before = await requestsTo(ACCESS_TOKEN)
    expect(await user.connect(newBlog().loginId, 'deny')).toBe(AUTH_FAILED)
    expect(await requestsTo(ACCESS_TOKEN)).toBe(before)
    expect(await user.stored()).toBeNull()
  })

  it.each<[string, (query: URLSearchParams) => void, string]>([
    ['a forged token', (query) => query.set('oauth_token', 'forged'), STATE_INVALID],
    ['no token', (query) => query.delete('oauth_token'), STATE_INVALID],
    ['a garbled state', (query) => query.set('state', 'garbled'), STATE_INVALID],
    ['a token that came twice', (query) => query.append('oauth_token', 'another'), STATE_INVALID],
    ['no verifier', (query) => query.delete('oauth_verifier'), AUTH_FAILED],
  ])('a callback with %s is refused without a call', async (_, change, outcome) => {
    const user = await someone()
    const before = await requestsTo(ACCESS_TOKEN)
    expect(await follow(await callbackOf(user, change))).toBe(outcome)
    expect(await requestsTo(ACCESS_TOKEN)).toBe(before)
    expect(await user.stored()).toBeNull()
  })

  it("an attempt's token works only with the state of that attempt", async () => {
    const [user, other] = [await someone(), await someone()]
    const foreign = new URL(await callbackOf(other)).searchParams.get('state')!
    const before = await requestsTo(ACCESS_TOKEN)
    expect(await follow(await callbackOf(user, (query) => query.set('state', foreign)))).toBe(STATE_INVALID)
    expect(await requestsTo(ACCESS_TOKEN)).toBe(before)
  })

  it('an invented verifier is refused and uses up the attempt', async () => {
    const user = await someone()
    const callback = await callbackOf(user)
    const forged = new URL(callback)
    forged.searchParams.set('oauth_verifier', 'invented')
    expect(await follow(forged.href)).toBe(AUTH_FAILED)
    expect(await follow(callback)).toBe(STATE_INVALID)
    expect(await user.stored()).toBeNull()
  })

  it.each([
    ['fails', { status: 500, body: 'Internal' }],
    ['breaks off', { truncate: true }],
    ['rejects the client', { status: 401, body: 'oauth_signature does not match expected value' }],
    ['answers a page', { status: 200, body: '<html>' }],
    [
      'does not confirm the callback',
      { status: 200, body: 'oauth_token=a&oauth_token_secret=b&oauth_callback_confirmed=false' },
    ],
    ['confirms nothing', { status: 200, body: 'oauth_token=a&oauth_token_secret=b' }],
  ])('connect does not start when Tumblr %s', async (_, action) => {
    const user = await someone()
    await control.fault({ path: REQUEST_TOKEN, times: 1, action })
    expect(await user.begin()).toMatchObject({ status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } })
    const attempts = context.database.connection.collection('connectAttempts')
    expect(await attempts.countDocuments({ userId: user.userId })).toBe(0)
  })

  it.each([
    ['the exchange', ACCESS_TOKEN, { status: 500, body: 'Internal' }, CONNECT_FAILED],
    ['the exchange, breaking off', ACCESS_TOKEN, { truncate: 20 }, CONNECT_FAILED],
    ['the exchange, losing its response', ACCESS_TOKEN, { dropAfterAccept: true }, CONNECT_FAILED],
    ['the exchange, for too many requests', ACCESS_TOKEN, { status: 429, body: 'Too many' }, CONNECT_FAILED],
    ['the exchange, hanging', ACCESS_TOKEN, { hang: true }, CONNECT_FAILED],
    ['the exchange, rejecting the client', ACCESS_TOKEN, { status: 401, body: 'no' }, AUTH_FAILED],
    ['the exchange, with a page', ACCESS_TOKEN, { status: 200, body: '<html>' }, CONNECT_FAILED],
    ['the profile', USER_INFO, { status: 503, body: {} }, CONNECT_FAILED],
    ['the profile, with no blog', USER_INFO, { status: 200, body: { response: { user: { blogs: [] } } } }, AUTH_FAILED],
  ])('connect stores nothing when Tumblr fails on %s, and the token is used up', async (_, path, action, outcome) => {
    const user = await someone()
    const callback = await callbackOf(user)
    await control.fault({ path, action })
    expect(await follow(callback)).toBe(outcome)
    await control.clearFaults()
    expect(await follow(callback)).toBe(STATE_INVALID)
    expect(await user.stored()).toBeNull()
  })

  it('twenty concurrent replays make a single exchange', async () => {
    const [user, blog] = [await someone(), newBlog()]
    const callback = await consent(await user.authUrl(), blog.loginId)
    const before = await requestsTo(ACCESS_TOKEN)
    const answers = await Promise.all(Array.from({ length: 20 }, () => follow(callback)))
    expect(answers.toSorted()).toEqual([...Array<string>(19).fill(STATE_INVALID), CONNECTED])
    expect(await requestsTo(ACCESS_TOKEN)).toBe(before + 1)
    expect(await user.stored()).toMatchObject({ platformId: blog.uuid, version: 1 })
  })

  it('connecting another blog switches to it', async () => {
    const user = await connected()
    const second = newBlog()
    expect(await user.connect(second.loginId)).toBe(CONNECTED)
    expect(await user.stored()).toMatchObject({ platformId: second.uuid, version: 2 })
    expect(await user.refresh()).toMatchObject({ status: 200, body: { data: { platformId: second.uuid } } })
  })
})

describe('a connected Tumblr account', () => {
  testConnections({
    platform: 'tumblr',
    async connected() {
      const user = await connected()
      return { ...user, login: user.blog.loginId, accountId: user.blog.uuid }
    },
    someone: () => someone(),
    control: () => control,
    profilePath: USER_INFO,
  })

  it('disconnecting removes the account with its secrets', async () => {
    const user = await connected()
    expect(await user.disconnect()).toMatchObject({ status: 200, body: { data: { connected: false } } })
    const [record] = await context.database.connection.collection('accounts').find({ userId: user.userId }).toArray()
    expect(record).toEqual({
      ...{ _id: expect.any(String), userId: user.userId, platform: 'tumblr', connected: false },
      ...{ version: 1, isDefault: false, endings: [expect.any(Date)] },
    })
    expect(await user.refresh()).toMatchObject({ status: 400, body: { code: 'PLATFORM_NOT_CONNECTED' } })
  })
})
