import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startMastodon, type Mastodon } from '../../../../sandbox/platforms/mastodon.ts'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { buildApp } from '../../../../src/api/app.ts'
import type { Context } from '../../../../src/context.ts'
import { buildCallbackUrl } from '../../../../src/domain/accounts/platform-connect.ts'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import { connecting, testConnections } from '../../../support/connecting.ts'
import { hasPausedCalls } from '../../../support/paused-calls.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { testConfig, testContext } from '../../../support/servers.ts'

const CONNECTED = '?success=mastodon_connected'
const AUTH_FAILED = '?error=mastodon_auth_failed'
const CONNECT_FAILED = '?error=mastodon_connect_failed'
const STATE_INVALID = '?error=mastodon_state_invalid'

let mastodon: Mastodon
let control: Control
let context: Context
let app: FastifyInstance
let { follow, someone } = {} as ReturnType<typeof connecting>

beforeAll(async () => {
  mastodon = await startMastodon()
  control = controlOf(mastodon.control)
  await startService()
})

async function startService(): Promise<void> {
  const redirectUris = [buildCallbackUrl(testConfig().PUBLIC_URL, 'mastodon')]
  const { clientId, clientSecret } = mastodon.createApp({ name: 'postonce', redirectUris })
  context = await testContext({
    MASTODON_INSTANCE_URL: mastodon.url,
    MASTODON_CLIENT_ID: clientId,
    MASTODON_CLIENT_SECRET: clientSecret,
  })
  app = await buildApp(context)
  ;({ follow, someone } = connecting('mastodon', context, app))
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
  await mastodon?.stop()
})

const newAccount = () => mastodon.createAccount({ username: `u${randomBytes(6).toString('hex')}`, displayName: 'Ann' })

async function connected() {
  const [user, account] = [await someone(), newAccount()]
  expect(await user.connect(account.id)).toBe(CONNECTED)
  return { ...user, account }
}

/** Counts calls that reached Mastodon. */
const requestsTo = async (path: string) => (await control.requests()).filter((request) => request.path === path).length

describe('connecting a Mastodon account', () => {
  it('connect opens the page of the instance with PKCE', async () => {
    const user = await someone()
    const { origin, pathname, searchParams } = new URL(await user.authUrl())
    expect(`${origin}${pathname}`).toBe(`${mastodon.url}/oauth/authorize`)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(new RegExp(`^${user.userId}\\.`)),
      redirect_uri: buildCallbackUrl(context.config.PUBLIC_URL, 'mastodon'),
    })
    expect((await fetch(await user.authUrl())).status).toBe(200)
  })

  it('connect lists the account with the specified fields', async () => {
    const { account, find } = await connected()
    expect((await find()).body.data.mastodon).toMatchObject({
      connected: true,
      platformId: account.id,
      accountId: account.id,
      instanceUrl: mastodon.url,
      profile: { displayName: 'Ann', handle: `${account.username}@${new URL(mastodon.url).host}` },
      health: { status: 'active', needsReconnection: false, expiresAt: null },
    })
  })

  it('the token is left out of responses and encrypted in the database', async () => {
    const user = await connected()
    const signal = AbortSignal.timeout(MINUTE)
    const { accessToken } = (await context.credentials.get(user.userId, 'mastodon', { signal }))!
    const { connection } = context.database
    const stored = [
      await connection.collection('accounts').find({ userId: user.userId }).toArray(),
      await connection.collection('connectAttempts').find({ userId: user.userId }).toArray(),
    ]
    for (const text of [JSON.stringify(stored), (await user.find()).text, (await user.refresh()).text]) {
      expect(text).not.toContain(accessToken)
    }
  })

  it('a denied login stores nothing and calls nothing', async () => {
    const user = await someone()
    const before = await requestsTo('/oauth/token')
    expect(await user.connect(newAccount().id, 'deny')).toBe(AUTH_FAILED)
    expect(await requestsTo('/oauth/token')).toBe(before)
    expect(await user.stored()).toBeNull()
  })

  it('a code works only for its own attempt', async () => {
    const user = await someone()
    const [first, second] = [await consent(await user.authUrl(), newAccount().id), new URL(await user.authUrl())]
    const mixed = new URL(first)
    mixed.searchParams.set('state', second.searchParams.get('state')!)
    expect(await follow(mixed.href)).toBe(AUTH_FAILED)
    expect(await user.stored()).toBeNull()
  })

  it.each([
    ['the exchange', '/oauth/token', { status: 500, body: { error: 'Internal' } }, CONNECT_FAILED],
    ['the exchange, breaking off', '/oauth/token', { truncate: true }, CONNECT_FAILED],
    ['the exchange, losing its answer', '/oauth/token', { dropAfterAccept: true }, CONNECT_FAILED],
    [
      'the exchange, for too many requests',
      '/oauth/token',
      { status: 429, body: { error: 'Too many' } },
      CONNECT_FAILED,
    ],
    ['the exchange, hanging', '/oauth/token', { hang: true }, CONNECT_FAILED],
    ['the exchange, refusing us', '/oauth/token', { status: 401, body: { error: 'invalid_client' } }, AUTH_FAILED],
    [
      'the exchange, granting too little',
      '/oauth/token',
      { status: 200, body: { access_token: 'x', token_type: 'Bearer', scope: 'read:accounts', created_at: 1 } },
      AUTH_FAILED,
    ],
    ['the profile', '/api/v1/accounts/verify_credentials', { status: 503, body: { error: 'Later' } }, CONNECT_FAILED],
  ])('connect stores nothing when Mastodon fails on %s, and the state is used up', async (_, path, action, outcome) => {
    const user = await someone()
    const callback = await consent(await user.authUrl(), newAccount().id)
    await control.fault({ path, action })
    expect(await follow(callback)).toBe(outcome)
    await control.clearFaults()
    expect(await follow(callback)).toBe(STATE_INVALID)
    expect(await user.stored()).toBeNull()
  })

  it('twenty concurrent replays make a single exchange', async () => {
    const [user, account] = [await someone(), newAccount()]
    const callback = await consent(await user.authUrl(), account.id)
    const before = await requestsTo('/oauth/token')
    const answers = await Promise.all(Array.from({ length: 20 }, () => follow(callback)))
    expect(answers.toSorted()).toEqual([...Array<string>(19).fill(STATE_INVALID), CONNECTED])
    expect(await requestsTo('/oauth/token')).toBe(before + 1)
    expect(await user.stored()).toMatchObject({ platformId: account.id, version: 1 })
  })

  it('a reconnect does not revoke the only token that Mastodon has issued', async () => {
    const user = await connected()
    expect(await user.connect(user.account.id)).toBe(CONNECTED)
    expect(await user.refresh()).toMatchObject({ status: 200 })
  })

  it('a failed reconnect keeps the first connection valid', async () => {
    const user = await connected()
    const callback = await consent(await user.authUrl(), user.account.id)
    await control.fault({ path: '/api/v1/accounts/verify_credentials', times: 1, action: { status: 503, body: {} } })
    expect(await follow(callback)).toBe(CONNECT_FAILED)
    expect(await user.refresh()).toMatchObject({ status: 200 })
  })

  it('connecting another account ends the session of the first', async () => {
    const user = await connected()
    const signal = AbortSignal.timeout(MINUTE)
    const first = (await context.credentials.get(user.userId, 'mastodon', { signal }))!
    const second = newAccount()
    expect(await user.connect(second.id)).toBe(CONNECTED)
    expect(await user.stored()).toMatchObject({ platformId: second.id, version: 2 })
    await expect(context.platforms.find('mastodon')!.profile(first, { signal })).rejects.toMatchObject({
      class: 'unauthorized',
    })
  })
})

describe('a connected Mastodon account', () => {
  testConnections({
    platform: 'mastodon',
    async connected() {
      const user = await connected()
      return { ...user, login: user.account.id, accountId: user.account.id }
    },
    someone: () => someone(),
    control: () => control,
    profilePath: '/api/v1/accounts/verify_credentials',
  })

  it('disconnecting revokes the login at Mastodon', async () => {
    const user = await connected()
    const signal = AbortSignal.timeout(MINUTE)
    const used = (await context.credentials.get(user.userId, 'mastodon', { signal }))!
    expect(await user.disconnect()).toMatchObject({ status: 200, body: { data: { connected: false } } })
    await expect(context.platforms.find('mastodon')!.profile(used, { signal })).rejects.toMatchObject({
      class: 'unauthorized',
    })
    expect(await user.refresh()).toMatchObject({ status: 400, body: { code: 'PLATFORM_NOT_CONNECTED' } })
  })
})
