import pino from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../../src/api/app.ts'
import { createPost } from '../../../../src/commands/posts/create-post.ts'
import { MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { createConnectStates } from '../../../../src/security/connect-states.ts'
import type { ConnectAttempt } from '../../../../src/store/accounts/connect-attempts.ts'
import { shiftableClock } from '../../accounts/world.ts'
import { apiWorld, signIn, type ApiWorld } from '../../../support/api.ts'
import { startOAuthPlatform } from '../../../support/oauth-platform.ts'
import { readOutcome } from '../../../support/connecting.ts'

type OAuthPlatform = Awaited<ReturnType<typeof startOAuthPlatform>>

/** Headers of a browser for the call of the frontend and for the redirect from the platform. */
const FROM_FRONTEND = { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }
const NAVIGATION = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }

const CONNECTED = '?success=mastodon_connected'
const AUTH_FAILED = '?error=mastodon_auth_failed'
const CONNECT_FAILED = '?error=mastodon_connect_failed'
const STATE_INVALID = '?error=mastodon_state_invalid'

let platform: OAuthPlatform
let world: ApiWorld
const clock = shiftableClock()
const logged: string[] = []

beforeAll(async () => {
  platform = await startOAuthPlatform()
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  world = await apiWorld({}, { platforms: platform.registry, clock, logger })
})

afterEach(() => {
  platform.behave('correct')
  platform.reuseTokens(false)
  platform.nameAttemptsBy(undefined)
})

afterAll(async () => {
  await world?.close()
  await platform?.stop()
})

type Query = Record<string, string> | string

interface Callback {
  cookie?: string | undefined
  headers?: Record<string, string>
  app?: ApiWorld['app']
}

/** Sends a callback and returns the query of the settings page. */
async function callBack(query: Query, { cookie, headers = {}, app = world.app }: Callback = {}): Promise<string> {
  const response = await app.inject({
    url: `/api/platform/mastodon/callback?${typeof query === 'string' ? query : new URLSearchParams(query).toString()}`,
    headers,
    ...(cookie !== undefined && { cookies: { connectBinding: cookie } }),
  })
  expect(response.statusCode).toBe(302)
  expect(response.headers['cache-control']).toBe('no-store')
  const location = String(response.headers.location)
  expect(location).toMatch(/^http:\/\/localhost:3000\/settings\?/)
  expect(location).toMatch(/#$/)
  return readOutcome(location)
}

/** A user of `app`, whose access token has the issuer of the app's own configuration. */
async function newUser(app = world.app, config = world.context.config) {
  const who = await signIn({ ...world.context, config })
  const userId = who.user._id
  const call = (method: 'GET' | 'DELETE', path: string, headers = {}) =>
    app.inject({ method, url: `/api/platform${path}`, headers: { ...who.headers, ...headers } })

  /** Starts an attempt, as an API client by default. */
  async function begin(headers: Record<string, string> = {}) {
    const response = await call('GET', '/mastodon/connect', headers)
    expect(response.statusCode, response.body).toBe(200)
    return {
      page: response.json().data.authUrl as string,
      cookie: response.cookies.find(({ name }) => name === 'connectBinding')?.value,
    }
  }

  return {
    userId,
    who,
    call,
    begin,
    stored: () => world.context.accounts.findDefault(userId, 'mastodon'),
    found: async () => (await call('GET', '/find')).json().data.mastodon,
    /** Connects an account from start to end. */
    async connect(accountId?: string) {
      const { page } = await begin()
      const { accountId: connected, ...query } = platform.consent(page, accountId)
      expect(await callBack(query)).toBe(CONNECTED)
      return connected
    },
  }
}

const queryOf = ({ code, state }: { code: string; state: string }) => ({ code, state })
const attempts = () => world.context.database.connection.collection<ConnectAttempt>('connectAttempts')
const nonceOf = (state: string) => state.split('.')[1]!

/** Expects that the service called no platform and stored nothing. */
async function expectUntouched(
  user: Awaited<ReturnType<typeof newUser>>,
  callback: () => Promise<string>,
  outcome = STATE_INVALID,
): Promise<void> {
  const before = platform.tokenCalls()
  expect(await callback()).toBe(outcome)
  expect(platform.tokenCalls()).toBe(before)
  expect(await user.stored()).toBeNull()
}

describe('GET /api/platform/mastodon/connect', () => {
  it('connect returns the page of the platform with a state that starts with the user id', async () => {
    const user = await newUser()
    const response = await user.call('GET', '/mastodon/connect')
    expect(response.json()).toEqual({
      success: true,
      message: 'Continue on the page of Mastodon',
      data: { authUrl: expect.stringContaining(`${platform.url}/authorize?`) },
    })
    expect(response.headers['cache-control']).toBe('no-store')
    const { searchParams } = new URL(response.json().data.authUrl)
    expect(searchParams.get('state')!.split('.')[0]).toBe(user.userId)
    expect(searchParams.get('redirect_uri')).toBe('http://localhost:4000/api/platform/mastodon/callback')
  })

  it('an attempt is stored hashed or encrypted for ten minutes', async () => {
    const user = await newUser()
    const { page, cookie } = await user.begin(FROM_FRONTEND)
    const row = (await attempts().findOne({ userId: user.userId }))!
    const text = JSON.stringify(row)
    expect(text).not.toContain(nonceOf(new URL(page).searchParams.get('state')!))
    expect(text).not.toContain(cookie!)
    expect(text).not.toContain('verifier')
    expect(row).toMatchObject({ secrets: expect.stringMatching(/^v1\.test\./), consumedAt: null })
    const leftMs = row.expiresAt.getTime() - clock.now().getTime()
    expect(leftMs).toBeGreaterThan(10 * MINUTE - 5 * SECOND)
    expect(leftMs).toBeLessThanOrEqual(10 * MINUTE)
  })

  it.each([
    ['Origin', { origin: FROM_FRONTEND.origin }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin' }],
  ])('a browser attempt, detected by %s, is bound with a cookie for the callback only', async (_, headers) => {
    const user = await newUser()
    const response = await user.call('GET', '/mastodon/connect', headers)
    expect(response.cookies).toMatchObject([
      {
        name: 'connectBinding',
        value: expect.stringMatching(/^[\w-]{43}$/),
        path: '/api/platform/mastodon/callback',
        httpOnly: true,
        sameSite: 'Lax',
        maxAge: 600,
      },
    ])
    expect(response.cookies[0]).not.toHaveProperty('secure')
  })

  it('the binding cookie is Secure behind https', async () => {
    const config = { ...world.context.config, PUBLIC_URL: 'https://api.test/postonce' }
    const app = await buildApp({ ...world.context, config })
    try {
      const response = await (await newUser(app, config)).call('GET', '/mastodon/connect', FROM_FRONTEND)
      expect(response.cookies).toMatchObject([{ secure: true, path: '/postonce/api/platform/mastodon/callback' }])
    } finally {
      await app.close()
    }
  })

  it('an API client gets no binding cookie', async () => {
    const response = await (await newUser()).call('GET', '/mastodon/connect')
    expect(response.headers).not.toHaveProperty('set-cookie')
  })

  it('connect is 400 for a platform that is not supported', async () => {
    const nowhere = { ...platform.registry, redirect: () => null }
    const app = await buildApp({ ...world.context, platforms: nowhere })
    try {
      const response = await (await newUser(app)).call('GET', '/mastodon/connect')
      expect(response.statusCode).toBe(400)
      expect(response.json()).toMatchObject({
        code: 'PLATFORM_NOT_SUPPORTED',
        message: 'Mastodon cannot be connected here',
      })
      expect(await callBack({ code: 'x', state: 'y' }, { app })).toBe(STATE_INVALID)
    } finally {
      await app.close()
    }
  })
})

describe('GET /api/platform/mastodon/callback', () => {
  it('the callback connects the account of the user who started the attempt', async () => {
    const user = await newUser()
    const accountId = await user.connect()
    expect(await user.found()).toEqual({
      connected: true,
      _id: expect.any(String),
      platformId: accountId,
      accountId,
      instanceUrl: platform.url,
      profile: { displayName: accountId, handle: `${accountId}@example.test`, avatar: null },
      health: {
        status: 'active',
        needsReconnection: false,
        lastError: null,
        checkedAt: expect.stringMatching(/Z$/),
        expiresAt: null,
      },
      connectedAt: expect.stringMatching(/Z$/),
    })
    const { accessToken } = (await user.stored())!.auth
    expect(accessToken).toMatch(/^v1\.test\./)
    const secrets = await world.context.credentials.get(user.userId, 'mastodon', {
      signal: AbortSignal.timeout(MINUTE),
    })
    expect(secrets?.accessToken).toMatch(/^token-/)
  })

  it('the callback connects in the browser that started the attempt and clears the cookie', async () => {
    const user = await newUser()
    const { page, cookie } = await user.begin(FROM_FRONTEND)
    const response = await world.app.inject({
      url: '/api/platform/mastodon/callback',
      query: queryOf(platform.consent(page)),
      headers: NAVIGATION,
      cookies: { connectBinding: cookie! },
    })
    expect(response.headers.location).toBe(`http://localhost:3000/settings${CONNECTED}#`)
    expect(response.cookies).toMatchObject([{ name: 'connectBinding', value: '' }])
  })

  it('a used attempt leaves no secrets behind', async () => {
    const user = await newUser()
    await user.connect()
    expect(await attempts().findOne({ userId: user.userId })).toMatchObject({
      secrets: null,
      consumedAt: expect.any(Date),
    })
  })

  it('codes and states never appear in the log', async () => {
    const user = await newUser()
    const canaries: string[] = []
    for (const behaviour of ['correct', 401, 500] as const) {
      platform.behave(behaviour)
      const { code, state } = platform.consent((await user.begin()).page)
      canaries.push(code, state)
      await callBack({ code, state })
      await callBack({ code, state })
    }
    const text = logged.join('')
    expect(text).toContain('/api/platform/mastodon/callback')
    for (const canary of canaries) expect(text).not.toContain(canary)
  })

  describe('the reason of a failed connection', () => {
    async function reasonOf(change: object, answer?: Parameters<OAuthPlatform['behave']>[0]): Promise<string | null> {
      const { page, cookie } = await (await newUser()).begin(FROM_FRONTEND)
      if (answer !== undefined) platform.behave(answer)
      const query = { ...queryOf(platform.consent(page)), ...change }
      const response = await world.app.inject({
        url: `/api/platform/mastodon/callback?${new URLSearchParams(query).toString()}`,
        headers: NAVIGATION,
        cookies: { connectBinding: cookie! },
      })
      expect(response.headers.location).toMatch(/&reason=[A-Z_]+#$/)
      return new URL(String(response.headers.location)).searchParams.get('reason')
    }

    it.each<[string, Parameters<typeof reasonOf>, string]>([
      ['a forged state', [{ state: 'forged' }], 'ATTEMPT_INVALID'],
      ['a refused login', [{}, 401], 'LOGIN_REFUSED'],
      ['a missing permission', [{}, 403], 'MISSING_PERMISSION'],
      ['a platform in trouble', [{}, 503], 'PLATFORM_UNAVAILABLE'],
    ])('the settings URL names the reason of %s', async (_case, given, reason) => {
      expect(await reasonOf(...given)).toBe(reason)
    })

    const lastFailure = () =>
      JSON.parse(logged.findLast((line) => line.includes('account connection failed')) ?? '{}') as object

    it('a denied login is named in the settings URL and the log', async () => {
      expect(await reasonOf({ error: 'access_denied', error_description: 'The user declined.' })).toBe('DENIED')
      expect(lastFailure()).toMatchObject({
        platform: 'mastodon',
        reason: 'DENIED',
        platformCode: 'access_denied',
        platformText: 'The user declined.',
      })
    })

    it('an error of the application is logged with its sanitized description', async () => {
      const text = '<b>Bad</b>\u202e scope\r\n abc123def456ghi789jkl012'
      expect(await reasonOf({ error: 'invalid_scope', error_description: text })).toBe('LOGIN_REFUSED')
      expect(lastFailure()).toMatchObject({ platformCode: 'invalid_scope', platformText: 'Bad scope [hidden]' })
    })

    it('an error that is not an OAuth error code is not logged', async () => {
      const error = `<script>${'x'.repeat(500)}</script>`
      expect(await reasonOf({ error })).toBe('LOGIN_REFUSED')
      expect(lastFailure()).not.toMatchObject({ platformCode: expect.any(String) })
    })

    it('an account that another user has connected is named as the reason', async () => {
      const accountId = await (await newUser()).connect()
      const { page } = await (await newUser()).begin()
      const { state, code } = platform.consent(page, accountId)
      const query = new URLSearchParams({ state, code }).toString()
      const response = await world.app.inject({ url: `/api/platform/mastodon/callback?${query}` })
      expect(response.headers.location).toContain('?error=mastodon_connect_failed&reason=ACCOUNT_ALREADY_CONNECTED#')
    })
  })

  describe('callbacks that change nothing', () => {
    it('a callback without a state changes nothing', async () => {
      const user = await newUser()
      const { code } = platform.consent((await user.begin()).page)
      await expectUntouched(user, () => callBack({ code }))
      await expectUntouched(user, () => callBack({ code, state: '' }))
      await expectUntouched(user, () => callBack(''))
    })

    it.each<[string, (state: string) => string]>([
      ['cut off', (state) => state.slice(0, -1)],
      ['with a changed MAC', (state) => state.slice(0, -43) + 'A'.repeat(43)],
      ['with another user in it', (state) => `${'a'.repeat(24)}${state.slice(24)}`],
      ['with a later end', (state) => state.replace(/\.(\d{10})\./, (_, end: string) => `.${Number(end) + 60}.`)],
      ['that is the user id alone', (state) => state.slice(0, 24)],
      ['with a NUL character', (state) => `${state}\0`],
    ])('a callback with a state %s changes nothing', async (_, change) => {
      const user = await newUser()
      const { code, state } = platform.consent((await user.begin()).page)
      await expectUntouched(user, () => callBack({ code, state: change(state) }))
    })

    it.each(['state', 'code', 'error'])('a callback with %s twice changes nothing', async (name) => {
      const user = await newUser()
      const query = new URLSearchParams({ error: '', ...queryOf(platform.consent((await user.begin()).page)) })
      query.append(name, query.get(name)!)
      await expectUntouched(user, () => callBack(query.toString()))
    })

    it.each<[string, { secret?: string; platform?: 'threads'; redirectUri?: string }]>([
      ['another key', { secret: 'x'.repeat(32) }],
      ['another platform', { platform: 'threads' }],
      ['another redirect URI', { redirectUri: 'https://elsewhere.test/callback' }],
      ['an attempt that there never was', {}],
    ])('a callback with a foreign state, created for %s, changes nothing', async (_, { secret, ...change }) => {
      const user = await newUser()
      const { code } = platform.consent((await user.begin()).page)
      const purpose = {
        platform: 'mastodon' as const,
        redirectUri: 'http://localhost:4000/api/platform/mastodon/callback',
        ...change,
      }
      const states = createConnectStates(secret ?? world.context.config.OAUTH_STATE_SECRET)
      const { state } = states.issue(purpose, user.userId, new Date(clock.now().getTime() + MINUTE))
      await expectUntouched(user, () => callBack({ code, state }))
    })

    it('a callback for an attempt on another platform changes nothing, whatever its state', async () => {
      const user = await newUser()
      const { code, state } = platform.consent((await user.begin()).page)
      await attempts().updateOne({ userId: user.userId }, { $set: { platform: 'threads' } })
      await expectUntouched(user, () => callBack({ code, state }))
    })

    it('a callback after ten minutes changes nothing', async () => {
      const user = await newUser()
      const { code, state } = platform.consent((await user.begin()).page)
      clock.forward(10 * MINUTE + SECOND)
      await expectUntouched(user, () => callBack({ code, state }))
    })

    it('a callback with a used state changes nothing', async () => {
      const user = await newUser()
      const { page } = await user.begin()
      const first = platform.consent(page)
      expect(await callBack(queryOf(first))).toBe(CONNECTED)
      const calls = platform.tokenCalls()
      expect(await callBack(queryOf(platform.consent(page)))).toBe(STATE_INVALID)
      expect(platform.tokenCalls()).toBe(calls)
      expect((await user.stored())?.platformId).toBe(first.accountId)
    })

    it.each<[string, (own: string, other: string) => Callback]>([
      ['no cookie', () => ({ headers: NAVIGATION })],
      ['no cookie, by an API client', () => ({})],
      ['the cookie of another attempt', (_, other) => ({ headers: NAVIGATION, cookie: other })],
      ['a cookie that was changed', (own) => ({ headers: NAVIGATION, cookie: `${own.slice(0, -2)}AA` })],
      ['an empty cookie', () => ({ headers: NAVIGATION, cookie: '' })],
    ])(
      'a callback in a browser with %s changes nothing and leaves the attempt to the right browser',
      async (_, callbackOf) => {
        const [user, attacker] = [await newUser(), await newUser()]
        const { page, cookie } = await user.begin(FROM_FRONTEND)
        const other = await attacker.begin(FROM_FRONTEND)
        const query = queryOf(platform.consent(page))
        await expectUntouched(user, () => callBack(query, callbackOf(cookie!, other.cookie!)))
        expect(await callBack(query, { headers: NAVIGATION, cookie })).toBe(CONNECTED)
      },
    )

    it('a browser cannot finish the attempt of an API client, whatever its cookie', async () => {
      const [attacker, victim] = [await newUser(), await newUser()]
      const query = queryOf(platform.consent((await attacker.begin()).page))
      const { cookie } = await victim.begin(FROM_FRONTEND)
      await expectUntouched(attacker, () => callBack(query, { headers: NAVIGATION }))
      await expectUntouched(attacker, () => callBack(query, { headers: NAVIGATION, cookie }))
    })

    it('a callback without the cookie changes nothing when the configuration always requires it', async () => {
      const config = { ...world.context.config, CONNECT_COOKIE: 'always' as const }
      const app = await buildApp({ ...world.context, config })
      try {
        const user = await newUser(app)
        const { page, cookie } = await user.begin()
        const query = queryOf(platform.consent(page))
        await expectUntouched(user, () => callBack(query, { app }))
        expect(await callBack(query, { app, cookie })).toBe(CONNECTED)

        const begunBefore = await newUser()
        const unbound = queryOf(platform.consent((await begunBefore.begin()).page))
        await expectUntouched(begunBefore, () => callBack(unbound, { app }))
      } finally {
        await app.close()
      }
    })

    it.each<[string, (user: Awaited<ReturnType<typeof newUser>>) => Promise<unknown>]>([
      [
        'the user logged out',
        ({ who }) => world.app.inject({ method: 'DELETE', url: '/api/auth/logout', headers: who.headers }),
      ],
      [
        'the account was disabled',
        ({ userId }) =>
          world.context.database.connection
            .collection<{ _id: string }>('users')
            .updateOne({ _id: userId }, { $set: { isDisabled: true } }),
      ],
    ])('a callback after %s changes nothing', async (_, change) => {
      const user = await newUser()
      const query = queryOf(platform.consent((await user.begin()).page))
      await change(user)
      await expectUntouched(user, () => callBack(query))
    })

    it('a denied login changes nothing and requires a new attempt', async () => {
      const user = await newUser()
      const { page } = await user.begin()
      const { code, state } = platform.consent(page)
      await expectUntouched(user, () => callBack({ error: 'access_denied', state }), AUTH_FAILED)
      await expectUntouched(user, () => callBack({ code, state }), STATE_INVALID)
    })

    it('a callback with both an error and a code changes nothing', async () => {
      const user = await newUser()
      const query = queryOf(platform.consent((await user.begin()).page))
      await expectUntouched(user, () => callBack({ ...query, error: 'access_denied' }), AUTH_FAILED)
    })

    it('a callback without a code changes nothing', async () => {
      const user = await newUser()
      const { state } = platform.consent((await user.begin()).page)
      await expectUntouched(user, () => callBack({ state }), AUTH_FAILED)
    })

    it('a HEAD request changes nothing and leaves the attempt open', async () => {
      const user = await newUser()
      const query = queryOf(platform.consent((await user.begin()).page))
      const before = platform.tokenCalls()
      const url = `/api/platform/mastodon/callback?${new URLSearchParams(query).toString()}`
      expect((await world.app.inject({ method: 'HEAD', url })).statusCode).toBe(405)
      expect(platform.tokenCalls()).toBe(before)
      expect(await callBack(query)).toBe(CONNECTED)
    })
  })

  it.each([
    ['refuses the code', 400, AUTH_FAILED],
    ['does not know the client', 401, AUTH_FAILED],
    ['granted too little', 403, AUTH_FAILED],
    ['answers 500', 500, CONNECT_FAILED],
    ['answers 429', 429, CONNECT_FAILED],
  ] as const)(
    'a callback stores nothing when the platform %s, and the state is used up',
    async (_, behaviour, outcome) => {
      const user = await newUser()
      const query = queryOf(platform.consent((await user.begin()).page))
      platform.behave(behaviour)
      expect(await callBack(query)).toBe(outcome)
      platform.behave('correct')
      await expectUntouched(user, () => callBack(query))
    },
  )

  it('a callback ends within its deadline when the platform hangs, and stores nothing', async () => {
    const user = await newUser()
    const query = queryOf(platform.consent((await user.begin()).page))
    platform.behave('hang')
    expect(await callBack(query)).toBe(CONNECT_FAILED)
    expect(await user.stored()).toBeNull()
  })

  it('a callback redirects even while the service is unavailable', async () => {
    const readiness = { ...world.context.readiness, hasBeenReady: async () => false }
    const app = await buildApp({ ...world.context, readiness })
    try {
      expect(await callBack({ code: 'x', state: 'y' }, { app })).toBe(CONNECT_FAILED)
    } finally {
      await app.close()
    }
  })

  it('a callback redirects when the database fails midway', async () => {
    const user = await newUser()
    const query = queryOf(platform.consent((await user.begin()).page))
    const accounts = { ...world.context.accounts, connect: () => Promise.reject(new Error('no database')) }
    const app = await buildApp({ ...world.context, accounts })
    try {
      expect(await callBack(query, { app })).toBe(CONNECT_FAILED)
    } finally {
      await app.close()
    }
    expect(await user.stored()).toBeNull()
  })
})

describe('connecting an account', () => {
  it('another account replaces the first, ends its session and invalidates prepared posts', async () => {
    const user = await newUser()
    await user.connect()
    const signal = AbortSignal.timeout(MINUTE)
    const first = await world.context.credentials.get(user.userId, 'mastodon', { signal })
    const { data } = await createPost(world.context, {
      userId: user.userId,
      input: { content: { text: 'Hello', mediaItems: [] }, selectedPlatforms: ['mastodon'] },
      metadata: { source: 'api', client: 'api' },
      idempotency: null,
    })
    const before = (await world.context.posts.find(data.postId))!
    const second = await user.connect()
    expect(platform.revoked).toContain(first!.accessToken)
    expect(await user.stored()).toMatchObject({ platformId: second, version: 2 })
    expect((await world.context.posts.find(data.postId))!.contentVersion).toBe(before.contentVersion + 1)
  })

  it('reconnecting the same account does not revoke its only token', async () => {
    platform.reuseTokens(true)
    const user = await newUser()
    const accountId = await user.connect()
    await user.connect(accountId)
    expect((await user.stored())?.version).toBe(2)
    expect(platform.revoked).not.toContain(`token-of-${accountId}`)
  })

  it("an account of another user fails, ends the new session and keeps the owner's", async () => {
    const [owner, other] = [await newUser(), await newUser()]
    const accountId = await owner.connect()
    const ended = platform.revoked.length
    expect(await callBack(queryOf(platform.consent((await other.begin()).page, accountId)))).toBe(CONNECT_FAILED)
    expect(await other.stored()).toBeNull()
    expect(await owner.stored()).toMatchObject({ platformId: accountId, version: 1 })
    expect(platform.revoked).toHaveLength(ended + 1)
    const signal = AbortSignal.timeout(MINUTE)
    const stored = await world.context.credentials.get(owner.userId, 'mastodon', { signal })
    expect(platform.revoked).not.toContain(stored!.accessToken)
  })

  it('an account of another user does not revoke the token that it shares with its owner', async () => {
    platform.reuseTokens(true)
    const [owner, other] = [await newUser(), await newUser()]
    const accountId = await owner.connect()
    expect(await callBack(queryOf(platform.consent((await other.begin()).page, accountId)))).toBe(CONNECT_FAILED)
    expect(platform.revoked).not.toContain(`token-of-${accountId}`)

    await owner.call('DELETE', '/mastodon/disconnect')
    expect(platform.revoked).toContain(`token-of-${accountId}`)
  })

  it('a user who refreshes an account without end makes ten calls to its platform, and gets the stored profile', async () => {
    const user = await newUser()
    await user.connect()
    const before = platform.profilesRead()
    for (let time = 0; time < 15; time += 1) {
      expect((await user.call('GET', '/mastodon/refresh')).json()).toMatchObject({ data: { connected: true } })
    }
    expect(platform.profilesRead() - before).toBe(10)
    const other = await newUser()
    await other.connect()
    await other.call('GET', '/mastodon/refresh')
    expect(platform.profilesRead() - before).toBe(11)
  })

  it('a connected account can be refreshed and disconnected', async () => {
    const user = await newUser()
    const accountId = await user.connect()
    const refreshed = await user.call('GET', '/mastodon/refresh')
    expect(refreshed.json()).toMatchObject({
      message: 'Mastodon refreshed',
      data: { connected: true, accountId, profile: { displayName: `${accountId} again` } },
    })
    const ended = platform.revoked.length
    const disconnected = await user.call('DELETE', '/mastodon/disconnect')
    expect(disconnected.json()).toMatchObject({ message: 'Mastodon disconnected', data: { connected: false } })
    expect(platform.revoked).toHaveLength(ended + 1)
    expect(await user.found()).toEqual({ connected: false })
    expect((await user.call('GET', '/mastodon/refresh')).statusCode).toBe(400)
  })
})

describe('a platform with its own attempt ids', () => {
  async function attemptOf(user: Awaited<ReturnType<typeof newUser>>) {
    platform.nameAttemptsBy('oauth_token')
    const { page } = await user.begin()
    return { ...queryOf(platform.consent(page)), oauth_token: new URL(page).searchParams.get('lookup')! }
  }

  it.each([
    ['without a state', ({ code, oauth_token }: Record<string, string>) => ({ code, oauth_token })],
    ['with the state as well', (query: Record<string, string>) => query],
  ])('an attempt is found by its id %s', async (_, pick) => {
    const user = await newUser()
    expect(await callBack(pick(await attemptOf(user)) as Query)).toBe(CONNECTED)
    expect(await user.stored()).not.toBeNull()
  })

  it('an attempt is not found by its id after ten minutes', async () => {
    const user = await newUser()
    const { code, oauth_token } = await attemptOf(user)
    clock.forward(10 * MINUTE + SECOND)
    await expectUntouched(user, () => callBack({ code, oauth_token }))
  })

  it.each<[string, (query: Record<string, string>, other: Record<string, string>) => object]>([
    ['another id', (query) => ({ ...query, oauth_token: 'another' })],
    ['another id and no state', ({ code }) => ({ code, oauth_token: 'another' })],
    ['the state alone', ({ code, state }) => ({ code, state })],
    ['the state of another attempt', (query, { state }) => ({ ...query, state })],
    ['a malformed state', (query) => ({ ...query, state: 'x' })],
  ])('an attempt is not found with %s', async (_, change) => {
    const [user, other] = [await newUser(), await newUser()]
    const query = change(await attemptOf(user), await attemptOf(other)) as Query
    await expectUntouched(user, () => callBack(query))
  })
})
