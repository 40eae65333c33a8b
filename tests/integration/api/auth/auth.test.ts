import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY, MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { systemClock, type Clock } from '../../../../src/clock.ts'
import { buildApp } from '../../../../src/api/app.ts'
import { changeRole } from '../../../../src/commands/users/change-role.ts'
import { createContext } from '../../../../src/context.ts'
import { CLI_ACTOR } from '../../../../src/domain/users/audit.ts'
import { apiWorld, createAccount, PASSWORD, refreshCookieOf, signIn, type ApiWorld } from '../../../support/api.ts'
import { forge as forgeWith, type Forgery } from '../../../support/forged-tokens.ts'
import { unique } from '../../../support/servers.ts'

let world: ApiWorld
/** Milliseconds added to the system time; the clock of this file's context. */
let shiftMs = 0
const clock: Clock = {
  now: () => new Date(Date.now() + shiftMs),
  sleepUntil(instant, signal) {
    steps.push(instant.getTime())
    return systemClock.sleepUntil(new Date(instant.getTime() - shiftMs), signal)
  },
}
/** Delays that the service requested. */
const steps: number[] = []

beforeAll(async () => {
  world = await apiWorld({}, { clock })
})
afterAll(() => world.close())

let addresses = 0
/** Returns a new client address, because failed logins count per address. */
const newAddress = () => `10.1.${(addresses += 1) >> 8}.${addresses & 255}`

function logIn(body: object, { address = newAddress(), path = 'login' } = {}) {
  return world.app.inject({ method: 'POST', url: `/api/auth/${path}`, payload: body, remoteAddress: address })
}

const refresh = (cookie: string | null, headers: Record<string, string> = {}) =>
  world.app.inject({
    method: 'POST',
    url: '/api/auth/refresh',
    headers,
    ...(cookie === null ? {} : { cookies: { refreshToken: cookie } }),
  })

const me = (token: string) => world.app.inject({ url: '/api/auth/me', headers: { authorization: `Bearer ${token}` } })

const UNAUTHORIZED = { success: false, message: 'Unauthorized', statusCode: 401, code: 'UNAUTHORIZED' }

describe('login', () => {
  it.each(['login', 'admin-login'])(
    '%s returns a token, the user and the refresh cookie, for any role',
    async (path) => {
      for (const role of ['user', 'admin'] as const) {
        const user = await createAccount(world.context, { role, withPassword: true })
        const response = await logIn({ email: user.email, password: PASSWORD }, { path })
        expect(response.statusCode).toBe(200)
        expect(response.json()).toEqual({
          success: true,
          message: 'Logged in',
          data: {
            accessToken: expect.any(String),
            user: {
              id: user._id,
              _id: user._id,
              email: user.email,
              name: 'Ann',
              role,
              avatar: user.avatar,
              timezone: 'UTC',
              holdSeconds: 0,
              auth: { provider: 'email' },
              subscription: user.subscription,
              usage: user.usage,
              limits: user.limits,
            },
          },
        })
        expect(await me(response.json().data.accessToken)).toMatchObject({ statusCode: 200 })
        expect(response.headers['cache-control']).toBe('no-store')
      }
    },
  )

  it('login sets an HttpOnly cookie for the auth routes only, for seven days', async () => {
    const user = await createAccount(world.context, { withPassword: true })
    const response = await logIn({ email: user.email, password: PASSWORD })
    const cookie = response.cookies.find(({ name }) => name === 'refreshToken')!
    expect(cookie).toMatchObject({ path: '/api/auth', httpOnly: true, sameSite: 'Lax' })
    expect(cookie).not.toHaveProperty('secure')
    const days = (cookie.expires!.getTime() - clock.now().getTime()) / DAY
    expect(days).toBeGreaterThan(6.99)
    expect(days).toBeLessThanOrEqual(7)
  })

  it('the login cookie is Secure behind https and has the configured attributes', async () => {
    const https = await apiWorld({
      PUBLIC_URL: 'https://api.example.test',
      REFRESH_COOKIE_SAME_SITE: 'strict',
      REFRESH_COOKIE_DOMAIN: 'example.test',
    })
    try {
      const user = await createAccount(https.context, { withPassword: true })
      const payload = { email: user.email, password: PASSWORD }
      const response = await https.app.inject({ method: 'POST', url: '/api/auth/login', payload })
      expect(response.cookies[0]).toMatchObject({ secure: true, sameSite: 'Strict', domain: 'example.test' })
    } finally {
      await https.close()
    }
  })

  it('login accepts the address in any case and with spaces, and the password in any Unicode composition', async () => {
    const user = await createAccount(world.context, {
      email: `${unique('zoë')}@example.test`,
      passwordHash: await world.context.passwords.hash('Motörhead forever'.normalize('NFKC'), ''),
    })
    const email = `  ${user.email.toUpperCase()} `
    expect(await logIn({ email, password: 'Motörhead forever'.normalize('NFD') })).toMatchObject({ statusCode: 200 })
  })

  it('login sets lastLogin', async () => {
    const user = await createAccount(world.context, { withPassword: true })
    await logIn({ email: user.email, password: PASSWORD })
    const { lastLogin } = (await world.context.users.findById(user._id))!
    expect(Math.abs(lastLogin!.getTime() - clock.now().getTime())).toBeLessThan(10 * SECOND)
  })

  it('login returns the same error for a wrong password, an unknown address and an account without password', async () => {
    const known = await createAccount(world.context, { withPassword: true })
    const google = await createAccount(world.context, { auth: { provider: 'google' } })
    for (const email of [known.email, google.email, `${unique('nobody')}@example.test`]) {
      const response = await logIn({ email, password: 'wrong password' })
      expect(response.statusCode).toBe(401)
      expect(response.json()).toEqual({
        success: false,
        message: 'Invalid email or password',
        statusCode: 401,
        code: 'INVALID_CREDENTIALS',
        requestId: expect.any(String),
      })
      expect(response.cookies).toEqual([])
    }
  })

  it('a failed login takes the same minimum time for known and unknown addresses', async () => {
    const known = await createAccount(world.context, { withPassword: true })
    for (const email of [known.email, `${unique('nobody')}@example.test`]) {
      const begin = Date.now()
      steps.length = 0
      await logIn({ email, password: 'wrong password' })
      expect(steps).toHaveLength(1)
      expect(steps[0]! - begin).toBeGreaterThanOrEqual(50)
      expect(Date.now()).toBeGreaterThanOrEqual(steps[0]!)
    }
  })

  it.each([
    ['an operator as address', { email: { $ne: null }, password: PASSWORD }],
    ['an operator as password', { email: 'ann@example.test', password: { $gt: '' } }],
    ['a pattern as address', { email: { $regex: '.*' }, password: PASSWORD }],
    ['a list of addresses', { email: ['ann@example.test'], password: PASSWORD }],
    ['a number as password', { email: 'ann@example.test', password: 12_345_678 }],
    ['a boolean as password', { email: 'ann@example.test', password: true }],
    ['nothing as password', { email: 'ann@example.test', password: null }],
    ['no password', { email: 'ann@example.test' }],
    ['no body at all', undefined],
    ['a list as body', []],
  ])('login with %s is 400 on both routes', async (_, body) => {
    for (const path of ['login', 'admin-login']) {
      const response = await logIn(body as object, { path })
      expect(response.statusCode).toBe(400)
      expect(response.json()).toMatchObject({ success: false, code: 'VALIDATION_FAILED' })
    }
  })

  it('login reports a disabled account only with the right password', async () => {
    const user = await createAccount(world.context, { isDisabled: true, withPassword: true })
    expect((await logIn({ email: user.email, password: 'wrong password' })).json()).toMatchObject({
      code: 'INVALID_CREDENTIALS',
    })
    const response = await logIn({ email: user.email, password: PASSWORD })
    expect(response.statusCode).toBe(403)
    expect(response.json()).toMatchObject({ message: 'Account is disabled', code: 'ACCOUNT_DISABLED' })
    expect(response.cookies).toEqual([])
  })

  it('login rejects an oversized password before hashing it', async () => {
    const user = await createAccount(world.context, { withPassword: true })
    const big = await logIn({ email: user.email, password: 'x'.repeat(60_000) })
    expect(big.statusCode).toBe(400)
    expect(big.json().errors).toEqual([expect.objectContaining({ path: 'password', code: 'TOO_LONG' })])
    expect(await logIn({ email: user.email, password: 'x'.repeat(70_000) })).toMatchObject({ statusCode: 413 })
  })

  it('login reports all problems of its body together', async () => {
    const response = await logIn({ email: 5 })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ success: false, statusCode: 400, code: 'VALIDATION_FAILED' })
    expect(response.json().errors).toEqual(
      expect.arrayContaining([
        { path: 'email', code: 'TYPE', message: 'email must be a text. Put it in quotes.' },
        { path: 'password', code: 'REQUIRED', message: 'password is missing. Add it to the request body.' },
      ]),
    )
  })

  it('concurrent logins of the same user all succeed', async () => {
    const user = await createAccount(world.context, { withPassword: true })
    const logins = await Promise.all(Array.from({ length: 20 }, () => logIn({ email: user.email, password: PASSWORD })))
    expect(logins.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 20 }, () => 200))
  })
})

describe('failed logins', () => {
  it('failed logins are limited to 10 per account and address, even if the last password is right', async () => {
    const [user, other] = [
      await createAccount(world.context, { withPassword: true }),
      await createAccount(world.context, { withPassword: true }),
    ]
    const address = newAddress()
    for (let count = 0; count < 10; count += 1) {
      expect(await logIn({ email: user.email, password: 'wrong' }, { address })).toMatchObject({ statusCode: 401 })
    }
    const refused = await logIn({ email: user.email.toUpperCase(), password: PASSWORD }, { address })
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toMatchObject({ success: false, code: 'RATE_LIMITED', bucket: 'login' })
    const wait = Number(refused.headers['retry-after'])
    expect(wait).toBeGreaterThan(14 * 60)
    expect(wait).toBeLessThanOrEqual(15 * 60)

    expect(await logIn({ email: user.email, password: PASSWORD })).toMatchObject({ statusCode: 200 })
    expect(await logIn({ email: other.email, password: PASSWORD }, { address })).toMatchObject({ statusCode: 200 })
  })

  it('concurrent failed logins are all counted', async () => {
    const user = await createAccount(world.context, { withPassword: true })
    const address = newAddress()
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => logIn({ email: user.email, password: 'wrong' }, { address })),
    )
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(10)
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(15)
  })

  it('failed logins are limited to 50 per address over all accounts', async () => {
    const address = newAddress()
    for (let count = 0; count < 50; count += 1) {
      expect(await logIn({ email: `${count}@example.test`, password: 'wrong' }, { address })).toMatchObject({
        statusCode: 401,
      })
    }
    expect(await logIn({ email: 'one-more@example.test', password: 'wrong' }, { address })).toMatchObject({
      statusCode: 429,
    })
  })

  it('only failed logins count against the limit', async () => {
    const user = await createAccount(world.context, { withPassword: true })
    const address = newAddress()
    for (let count = 0; count < 12; count += 1) {
      expect(await logIn({ email: user.email, password: PASSWORD }, { address })).toMatchObject({ statusCode: 200 })
    }
  })

  it('failed logins are counted across processes', async () => {
    const user = await createAccount(world.context, { withPassword: true })
    const address = newAddress()
    for (let count = 0; count < 10; count += 1) await logIn({ email: user.email, password: 'wrong' }, { address })
    const context = await createContext(world.context.config)
    const app = await buildApp(context)
    try {
      const payload = { email: user.email, password: PASSWORD }
      const response = await app.inject({ method: 'POST', url: '/api/auth/login', payload, remoteAddress: address })
      expect(response.statusCode).toBe(429)
    } finally {
      await app.close()
      await context.close()
    }
  })
})

describe('an access token', () => {
  it('an access token has exactly the specified claims, its own type and ten minutes of life', async () => {
    const { accessToken, user } = await signIn(world.context)
    const [header, payload] = accessToken
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    expect(header).toEqual({ alg: 'HS256', typ: 'at+jwt' })
    expect(payload).toEqual({
      sub: user._id,
      role: 'user',
      sid: expect.stringMatching(/^[0-9a-f]{24}$/),
      iat: expect.any(Number),
      exp: payload.iat + 600,
      jti: expect.any(String),
      iss: 'http://localhost:4000',
      aud: 'http://localhost:4000',
      ver: 0,
    })
  })

  it.each([
    '',
    'Bearer',
    'Bearer ',
    'Bearer x',
    'Bearer a.b.c',
    'Basic dXNlcjpwYXNz',
    'Bearer \u0000',
    `Bearer ${'a'.repeat(9_000)}`,
  ])('the API requires a valid access token and rejects %j', async (authorization) => {
    const response = await world.app.inject({ url: '/api/auth/me', headers: { authorization } })
    expect(response.statusCode).toBe(401)
    expect(response.json()).toMatchObject(UNAUTHORIZED)
  })

  it('an access token of another user does not open this session', async () => {
    const [ann, bob] = [await signIn(world.context), await signIn(world.context)]
    const { sub } = claimsOf(bob.accessToken)
    expect(await me(forge(ann.accessToken, { payload: { sub } }))).toMatchObject({ statusCode: 401 })
  })

  it('an access token of a disabled account is 403 immediately', async () => {
    const { accessToken, user } = await signIn(world.context)
    await change(user._id, { isDisabled: true })
    const response = await me(accessToken)
    expect(response.statusCode).toBe(403)
    expect(response.json()).toMatchObject({ message: 'Account is disabled', code: 'ACCOUNT_DISABLED' })
  })

  it('the role comes from the user record, not from the access token', async () => {
    const { accessToken, user } = await signIn(world.context)
    await changeRole(world.context, CLI_ACTOR, user._id, 'admin')
    expect((await me(accessToken)).json().data.user.role).toBe('admin')
  })

  it('an access token stops working when its session is removed', async () => {
    const { accessToken } = await signIn(world.context)
    await later(7 * DAY + MINUTE, async () => expect(await me(accessToken)).toMatchObject({ statusCode: 401 }))
  })

  it('an access token stops working when its session expires', async () => {
    const { accessToken, refreshCookie } = await signIn(world.context)
    await world.context.sessions.remove(refreshCookie.split('.', 1)[0]!)
    expect(await me(accessToken)).toMatchObject({ statusCode: 401 })
  })
})

describe('token refresh', () => {
  it('a refresh exchanges the cookie for its successor and an access token of the same session', async () => {
    const { accessToken, refreshCookie } = await signIn(world.context)
    const response = await refresh(refreshCookie)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({
      success: true,
      message: 'Session refreshed',
      data: { accessToken: expect.any(String) },
    })
    expect(refreshCookieOf(response)).not.toBe(refreshCookie)
    expect(claimsOf(response.json().data.accessToken).sid).toBe(claimsOf(accessToken).sid)
    expect(await refresh(refreshCookieOf(response))).toMatchObject({ statusCode: 200 })
  })

  it('a refresh works without a body under a JSON content type', async () => {
    const { refreshCookie } = await signIn(world.context)
    expect(await refresh(refreshCookie, { 'content-type': 'application/json' })).toMatchObject({ statusCode: 200 })
  })

  it('a repeated refresh within 30 s returns the identical cookie, even after the successor was used', async () => {
    const { refreshCookie } = await signIn(world.context)
    const first = await refresh(refreshCookie)
    const second = await refresh(refreshCookieOf(first))
    expect(second.statusCode).toBe(200)
    const repeat = await refresh(refreshCookie)
    expect(repeat.statusCode).toBe(200)
    expect(refreshCookieOf(repeat)).toBe(refreshCookieOf(first))
    expect(await refresh(refreshCookieOf(repeat))).toMatchObject({ statusCode: 200 })
  })

  it('concurrent refreshes of browser tabs return the identical cookie header', async () => {
    const { refreshCookie } = await signIn(world.context)
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(refreshCookie)))
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ headers }) => String(headers['set-cookie']))).size).toBe(1)
  })

  it('reuse of a spent refresh cookie counts as theft and ends the session', async () => {
    const { refreshCookie } = await signIn(world.context)
    let last = refreshCookie
    let answer = await refresh(last)
    for (let count = 0; count < 3; count += 1) {
      last = refreshCookieOf(answer)!
      answer = await refresh(last)
    }
    await later(31 * SECOND, async () => {
      const stolen = await refresh(refreshCookie)
      expect(stolen.statusCode).toBe(401)
      expect(stolen.json()).toMatchObject(UNAUTHORIZED)
      expect(await refresh(refreshCookieOf(answer))).toMatchObject({ statusCode: 401 })
      expect(await me(answer.json().data.accessToken)).toMatchObject({ statusCode: 401 })
    })
  })

  it('an unknown refresh cookie does not end the session', async () => {
    const { refreshCookie } = await signIn(world.context)
    const [sessionId] = refreshCookie.split('.', 1)
    const guess = `${sessionId}.${randomBytes(32).toString('base64url')}`
    expect(await refresh(guess)).toMatchObject({ statusCode: 401 })
    expect(await refresh(refreshCookie)).toMatchObject({ statusCode: 200 })
  })

  it.each([null, '', 'x', '.', `${'0'.repeat(24)}.${'a'.repeat(43)}`, 'a'.repeat(5_000)])(
    'a refresh with the cookie %j is rejected',
    async (cookie) => {
      const response = await refresh(cookie)
      expect(response.statusCode).toBe(401)
      expect(response.json()).toMatchObject(UNAUTHORIZED)
    },
  )

  it('a refresh extends the session by seven days, at most to thirty days from the login', async () => {
    const { refreshCookie } = await signIn(world.context)
    const loggedInAt = clock.now().getTime()
    let cookie = refreshCookie
    let ends = 0
    for (const day of [6, 12, 18, 24, 29]) {
      await later(day * DAY, async () => {
        const response = await refresh(cookie)
        expect(response.statusCode).toBe(200)
        cookie = refreshCookieOf(response)!
        ends = response.cookies[0]!.expires!.getTime()
        const expected = Math.min(loggedInAt + (day + 7) * DAY, loggedInAt + 30 * DAY)
        expect(Math.abs(ends - expected)).toBeLessThan(MINUTE)
      })
    }
    await later(30 * DAY + MINUTE, async () => expect(await refresh(cookie)).toMatchObject({ statusCode: 401 }))
  })

  it('a session that is unused for seven days cannot be refreshed', async () => {
    const { refreshCookie } = await signIn(world.context)
    await later(7 * DAY + MINUTE, async () => expect(await refresh(refreshCookie)).toMatchObject({ statusCode: 401 }))
  })

  it('a refresh for a disabled account is rejected and does not spend the cookie', async () => {
    const { refreshCookie, user } = await signIn(world.context)
    await change(user._id, { isDisabled: true })
    expect(await refresh(refreshCookie)).toMatchObject({ statusCode: 403 })
    await change(user._id, { isDisabled: false })
    expect(await refresh(refreshCookie)).toMatchObject({ statusCode: 200 })
  })

  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['an origin that resembles the own one', { origin: 'http://localhost:3000.evil.example' }],
    ['another site that hides its origin', { 'sec-fetch-site': 'cross-site' }],
  ])('a refresh is rejected for %s, with or without a cookie', async (_, headers) => {
    const { refreshCookie } = await signIn(world.context)
    const response = await refresh(refreshCookie, headers)
    expect(response.statusCode).toBe(403)
    expect(response.cookies).toEqual([])
    expect(await refresh(refreshCookie, { origin: 'http://localhost:3000' })).toMatchObject({ statusCode: 200 })
  })

  it('refresh tokens are stored only as hashes', async () => {
    const { refreshCookie } = await signIn(world.context)
    await refresh(refreshCookie)
    const [sessionId, token] = refreshCookie.split('.')
    const stored = JSON.stringify(await world.context.sessions.find(sessionId!))
    expect(stored).toContain('tokenHash')
    expect(stored).not.toContain(token)
  })
})

describe('logout', () => {
  const logOut = (options: { cookie?: string; token?: string; origin?: string; path?: string }) =>
    world.app.inject({
      method: 'DELETE',
      url: `/api/auth/${options.path ?? 'logout'}`,
      headers: {
        ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
        ...(options.origin ? { origin: options.origin } : {}),
      },
      ...(options.cookie ? { cookies: { refreshToken: options.cookie } } : {}),
    })

  it('logout by cookie ends the session and its tokens and clears the cookie', async () => {
    const { accessToken, refreshCookie } = await signIn(world.context)
    const response = await logOut({ cookie: refreshCookie })
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ success: true, message: 'Logged out' })
    expect(response.cookies[0]).toMatchObject({ name: 'refreshToken', value: '', path: '/api/auth', maxAge: 0 })
    expect(await me(accessToken)).toMatchObject({ statusCode: 401 })
    expect(await refresh(refreshCookie)).toMatchObject({ statusCode: 401 })
  })

  it('logout works with an expired access token and is harmless without credentials', async () => {
    const { accessToken, refreshCookie } = await signIn(world.context)
    const bystander = await signIn(world.context)
    const expired = forge(accessToken, { payload: { exp: Math.floor(Date.now() / 1_000) - 60 } })
    expect(await logOut({ token: expired })).toMatchObject({ statusCode: 200 })
    expect(await refresh(refreshCookie)).toMatchObject({ statusCode: 401 })
    expect(await logOut({})).toMatchObject({ statusCode: 200 })
    expect(await me(bystander.accessToken)).toMatchObject({ statusCode: 200 })
  })

  it('logout with a forged cookie or token ends nothing', async () => {
    const { accessToken, refreshCookie } = await signIn(world.context)
    const [sessionId] = refreshCookie.split('.', 1)
    await logOut({ cookie: `${sessionId}.${'a'.repeat(43)}` })
    await logOut({ token: forge(accessToken, { secret: randomBytes(32).toString('base64') }) })
    expect(await me(accessToken)).toMatchObject({ statusCode: 200 })
  })

  it('logout is rejected for other sites', async () => {
    const { refreshCookie } = await signIn(world.context)
    expect(await logOut({ cookie: refreshCookie, origin: 'https://evil.example' })).toMatchObject({ statusCode: 403 })
    expect(await refresh(refreshCookie)).toMatchObject({ statusCode: 200 })
  })

  it('logout/all ends every session and token of the user, and no others', async () => {
    const here = await signIn(world.context)
    const there = await logInAgain(here.user.email)
    const bystander = await signIn(world.context)
    expect(await logOut({ path: 'logout/all', cookie: here.refreshCookie })).toMatchObject({ statusCode: 401 })
    expect(await logOut({ path: 'logout/all', token: here.accessToken })).toMatchObject({ statusCode: 200 })
    for (const token of [here.accessToken, there]) expect(await me(token)).toMatchObject({ statusCode: 401 })
    expect(await refresh(here.refreshCookie)).toMatchObject({ statusCode: 401 })
    expect(await me(bystander.accessToken)).toMatchObject({ statusCode: 200 })
  })

  async function logInAgain(email: string): Promise<string> {
    await world.context.database.connection
      .collection('users')
      .updateOne({ email }, { $set: { passwordHash: await world.context.passwords.hash(PASSWORD, '') } })
    return (await logIn({ email, password: PASSWORD })).json().data.accessToken
  }
})

const forge = (token: string, forgery: Forgery) => forgeWith(token, world.context.config.JWT_SECRET, forgery)

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
}

async function later(ms: number, act: () => Promise<unknown>): Promise<void> {
  shiftMs = ms
  try {
    await act()
  } finally {
    shiftMs = 0
  }
}

async function change(userId: string, fields: object): Promise<void> {
  const users = world.context.database.connection.collection<{ _id: string }>('users')
  await users.updateOne({ _id: userId }, { $set: fields })
}
