import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { listFronts, startPlatforms } from '../../../../sandbox/platforms/all.ts'
import type { FaultAction } from '../../../../sandbox/platforms/faults.ts'
import type { RunningPlatform, UserApi } from '../../../../sandbox/platforms/sandbox-platform.ts'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { REDIRECT_PLATFORMS } from '../../../../src/api/platforms/redirect-platforms.ts'
import { buildApp } from '../../../../src/api/app.ts'
import type { Context } from '../../../../src/context.ts'
import { createLogger } from '../../../../src/logger.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import { MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { shiftableClock } from '../../accounts/world.ts'
import { signIn } from '../../../support/api.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { testConfig, testContext } from '../../../support/servers.ts'
import { readOutcome } from '../../../support/connecting.ts'
import { workerBluesky } from '../../../support/worker-bluesky.ts'

/** The calls that exchange the parameters of a callback for tokens. */
const TOKEN_CALLS: Partial<Record<Platform, RegExp>> = {
  mastodon: /^\/oauth\/token/,
  threads: /^\/(v[\d.]+\/)?(oauth\/)?access_token/,
  facebook: /^\/(v[\d.]+\/)?oauth\/access_token/,
  tumblr: /^\/oauth\/access_token/,
}
/** The number of those calls per exchange: short-lived token, then long-lived. */
const CALLS_OF_ONE: Partial<Record<Platform, number>> = { mastodon: 1, threads: 2, facebook: 2, tumblr: 1 }
const LATER_MS = 10 * MINUTE + SECOND
const NAVIGATION = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
const FROM_FRONTEND = { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }

const clock = shiftableClock()
const dir = mkdtempSync(join(tmpdir(), 'postonce-test-'))
const controls = new Map<Platform, Control>()
const logged: string[] = []
let running: RunningPlatform[]
let context: Context
let app: Awaited<ReturnType<typeof buildApp>>

beforeAll(async () => {
  running = await startPlatforms(dir, { bluesky: await workerBluesky() })
  for (const [platform, { control }] of listFronts(running)) controls.set(platform, controlOf(control))
  const { PUBLIC_URL } = testConfig()
  const limits = { RATE_LIMIT_PER_ADDRESS: 1_000_000, RATE_LIMIT_PER_USER: 1_000_000 }
  const settings = Object.assign({}, ...running.map((platform) => platform.env(PUBLIC_URL)))
  const logger = createLogger('warn', { write: (line) => void logged.push(line) })
  context = await testContext({ ...limits, ...settings }, { clock, logger })
  app = await buildApp(context)
})

afterEach(async () => {
  for (const control of controls.values()) await control.clearFaults()
})

afterAll(async () => {
  await app?.close()
  await context?.close()
  await Promise.all((running ?? []).map(({ stop }) => stop()))
  rmSync(dir, { recursive: true, force: true })
})

interface Query {
  [name: string]: string
}

/** A user who starts attempts, and the result of each callback. */
async function newUser(platform: Platform) {
  const who = await signIn(context)
  const userId = who.user._id
  const control = controls.get(platform)!

  async function begin(headers: Record<string, string> = {}) {
    const response = await app.inject({
      url: `/api/platform/${platform}/connect`,
      headers: { ...who.headers, ...headers },
    })
    expect(response.statusCode, response.body).toBe(200)
    const { authUrl, url } = response.json().data
    return { page: (authUrl ?? url) as string, cookie: response.cookies[0]?.value }
  }

  return {
    userId,
    who,
    begin,

    /** Completes the login page and returns the query of the callback. */
    async granted(
      decision: 'allow' | 'deny' = 'allow',
      headers = {},
    ): Promise<{ query: Query; cookie: string | undefined }> {
      const { page, cookie } = await begin(headers)
      const location = await consent(page, await readOfferedAccount(page), decision)
      return { query: Object.fromEntries(new URL(location).searchParams), cookie }
    },

    /** Returns the query of the settings page. */
    async callBack(query: Query | string, options: { headers?: Record<string, string>; cookie?: string } = {}) {
      const response = await app.inject({
        url: `/api/platform/${platform}/callback?${new URLSearchParams(query).toString()}`,
        headers: options.headers ?? {},
        ...(options.cookie !== undefined && { cookies: { connectBinding: options.cookie } }),
      })
      expect(response.statusCode).toBe(302)
      const location = String(response.headers.location)
      const { origin, pathname } = new URL(location)
      expect(`${origin}${pathname}`).toBe('http://localhost:3000/settings')
      return readOutcome(location)
    },

    stored: async () => (await context.accounts.connectedPlatforms(userId)).size,

    /** Counts token calls that reached the platform. */
    tokenCalls: async () => (await control.requests()).filter(({ path }) => TOKEN_CALLS[platform]!.test(path)).length,
  }
}

/** Returns the id of the only account that the login page offers. */
async function readOfferedAccount(page: string): Promise<string> {
  const html = await (await fetch(page)).text()
  return /<option value="([^"]+)"/.exec(html)?.[1] ?? ''
}

/** Creates an API client for the user of these headers. */
function apiOf(headers: Record<string, string>): UserApi {
  return {
    async call<T>(method: 'GET' | 'POST' | 'DELETE', url: string, body?: object) {
      const response = await app.inject({ method, url, headers, ...(body && { payload: body }) })
      if (response.statusCode >= 300) throw new Error(`${method} ${url} answered ${response.body}`)
      return response.json().data as T
    },
    async follow(address) {
      const { pathname, search } = new URL(address)
      return String((await app.inject({ url: `${pathname}${search}` })).headers.location)
    },
  }
}

describe.each(REDIRECT_PLATFORMS)('connecting $platform', ({ platform }) => {
  let owner: Awaited<ReturnType<typeof newUser>>

  const stateInvalid = `?error=${platform}_state_invalid`

  beforeAll(async () => {
    owner = await newUser(platform)
    const server = running.find(({ fronts }) => fronts[platform])!
    await server.connect(`u${randomBytes(4).toString('hex')}`, apiOf(owner.who.headers))
  })

  type Someone = Awaited<ReturnType<typeof newUser>>
  const refused: [string, why: RegExp, (user: Someone) => Promise<string>][] = [
    [
      'nothing that names the attempt',
      /has no (state|oauth_token)$/,
      async (user) => {
        const { state: _, oauth_token: __, ...query } = (await user.granted()).query
        return user.callBack(query)
      },
    ],
    [
      'a garbled state',
      /^The state is not valid, or has expired$/,
      async (user) => {
        const { query } = await user.granted()
        return user.callBack({ ...query, state: `${query['state']!.slice(0, -4)}AAAA` })
      },
    ],
    [
      "another user's state",
      /^The state is not valid, or has expired$/,
      async (user) => {
        const { query } = await user.granted()
        const other = await (await newUser(platform)).granted()
        return user.callBack({ ...query, state: other.query['state']!.replace(/^[^.]+/, user.userId) })
      },
    ],
    [
      'a state for another platform',
      /^The state is not valid, or has expired$/,
      async (user) => {
        const { query } = await user.granted()
        const elsewhere = REDIRECT_PLATFORMS.find((one) => one.platform !== platform)
        if (!elsewhere) return user.callBack({ ...query, state: 'x' })
        const { page } = await (await newUser(elsewhere.platform)).begin()
        const foreign = new URL(page).searchParams.get('state') ?? 'x'
        return user.callBack({ ...query, state: foreign })
      },
    ],
    [
      'an attempt that took too long',
      /has expired$/,
      async (user) => {
        const { query } = await user.granted()
        clock.forward(LATER_MS)
        return user.callBack(query).finally(() => clock.forward(-LATER_MS))
      },
    ],
    [
      'another browser',
      /^No attempt of this browser is open/,
      async (user) => {
        const { query } = await user.granted('allow', FROM_FRONTEND)
        return user.callBack(query, { headers: NAVIGATION, cookie: 'x'.repeat(43) })
      },
    ],
    [
      'a browser without its cookie',
      /^The browser sent no cookie/,
      async (user) => {
        const { query } = await user.granted('allow', FROM_FRONTEND)
        return user.callBack(query, { headers: NAVIGATION })
      },
    ],
    [
      'a browser for an attempt of an API client',
      /^The browser sent no cookie/,
      async (user) => {
        const { query } = await user.granted()
        return user.callBack(query, { headers: NAVIGATION })
      },
    ],
    [
      'a user who logged out meanwhile',
      /^The session of the attempt has ended$/,
      async (user) => {
        const { query } = await user.granted()
        await app.inject({ method: 'DELETE', url: '/api/auth/logout/all', headers: user.who.headers })
        return user.callBack(query)
      },
    ],
    [
      'a parameter that comes twice',
      /comes twice$/,
      async (user) => {
        const { query } = await user.granted()
        const [name, value] = Object.entries(query)[0]!
        return user.callBack(`${new URLSearchParams(query).toString()}&${name}=${encodeURIComponent(value)}`)
      },
    ],
  ]

  it.each(refused)('a callback with %s calls nothing, stores nothing and logs the reason', async (_, why, attempt) => {
    const user = await newUser(platform)
    const before = await user.tokenCalls()
    expect(await attempt(user)).toBe(stateInvalid)
    const message = expect.stringMatching(why) as string
    expect(lastFailure()).toMatchObject({ platform, reason: 'ATTEMPT_INVALID', err: { message } })
    expect(await user.tokenCalls()).toBe(before)
    expect(await user.stored()).toBe(0)
  })

  it('a callback with an error and without a state logs the error of the platform', async () => {
    const user = await newUser(platform)
    const query = { error: 'server_error', error_description: 'The app is <b>not</b> set up' }
    expect(await user.callBack(query)).toBe(stateInvalid)
    const words = { platformCode: 'server_error', platformText: 'The app is not set up' }
    expect(lastFailure()).toMatchObject({ platform, reason: 'ATTEMPT_INVALID', ...words })
  })

  it('twenty callbacks of the same attempt make a single exchange', async () => {
    const { query } = await owner.granted()
    const before = await owner.tokenCalls()
    const { version } = (await context.accounts.findDefault(owner.userId, platform))!
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => owner.callBack(query)))
    expect(outcomes.filter((outcome) => outcome === `?success=${platform}_connected`)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === stateInvalid)).toHaveLength(19)
    expect((await owner.tokenCalls()) - before).toBe(CALLS_OF_ONE[platform])
    expect(await owner.callBack(query)).toBe(stateInvalid)
    expect(await context.accounts.findDefault(owner.userId, platform)).toMatchObject({ version: version + 1 })
  })

  it('a denied login is reported without a token call', async () => {
    const user = await newUser(platform)
    const before = await user.tokenCalls()
    expect(await user.callBack((await user.granted('deny')).query)).toBe(`?error=${platform}_auth_failed`)
    expect(await user.tokenCalls()).toBe(before)
    expect(await user.stored()).toBe(0)
    expect(lastFailure()).toMatchObject({ platform, reason: 'DENIED' })
    // OAuth 1.0a has no error code for it.
    if (platform !== 'tumblr') expect(lastFailure()).toMatchObject({ platformCode: 'access_denied' })
  })

  it.each<[string, FaultAction]>([
    ['breaks down', { status: 500, body: 'Sorry' }],
    ['responds without JSON', { status: 200, body: '<html></html>' }],
  ])('a callback stores nothing and uses up its attempt when the platform %s', async (_, action) =>
    expectNothingSaved(platform, action),
  )
})

it.each<[Platform, object, object]>([
  [
    'mastodon',
    { error: 'invalid_client', error_description: 'Client authentication failed.' },
    { platformCode: 'invalid_client', platformText: 'Client authentication failed.' },
  ],
  [
    'mastodon',
    { error: 'invalid_grant', error_description: 'The grant is <b>invalid</b>.' },
    { platformCode: 'invalid_grant', platformText: 'The grant is invalid .' },
  ],
  [
    'facebook',
    { error: { message: 'Error validating client secret.', type: 'OAuthException', code: 1 } },
    { platformCode: '1', platformText: 'Error validating client secret.' },
  ],
  [
    'threads',
    { error: { message: 'Invalid authorization code', type: 'OAuthException', code: 100 } },
    { platformCode: '100', platformText: 'Invalid authorization code' },
  ],
])('the log names the error with which %s refuses a code exchange: %j', async (platform, body, words) => {
  const user = await newUser(platform)
  const { query } = await user.granted()
  const status = JSON.stringify(body).includes('invalid_client') ? 401 : 400
  for (const path of ['access_token', 'oauth/token'])
    await controls.get(platform)!.fault({ path, action: { status, body } })
  expect(await user.callBack(query)).toBe(`?error=${platform}_auth_failed`)
  expect(lastFailure()).toMatchObject({ platform, reason: 'LOGIN_REFUSED', ...words })
})

function lastFailure(): object {
  return JSON.parse(logged.findLast((line) => line.includes('account connection failed')) ?? '{}') as object
}

/** Tests all platforms concurrently, because each callback waits until its deadline. */
it('a callback stores nothing and uses up its attempt when platforms do not respond', async () => {
  await Promise.all(REDIRECT_PLATFORMS.map(({ platform }) => expectNothingSaved(platform, { hang: true })))
})

async function expectNothingSaved(platform: Platform, action: FaultAction): Promise<void> {
  const user = await newUser(platform)
  const { query } = await user.granted()
  for (const path of ['access_token', 'oauth/token']) await controls.get(platform)!.fault({ path, action })
  expect(await user.callBack(query)).toBe(`?error=${platform}_connect_failed`)
  await controls.get(platform)!.clearFaults()
  expect(await user.callBack(query)).toBe(`?error=${platform}_state_invalid`)
  expect(await user.stored()).toBe(0)
}
