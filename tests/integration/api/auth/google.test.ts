import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startIdentity, type IdentitySandbox } from '../../../../sandbox/services/identity.ts'
import { newSigningKey } from '../../../../sandbox/services/identity/state.ts'
import { systemClock } from '../../../../src/clock.ts'
import { identicon } from '../../../../src/domain/users/identicon.ts'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import { createIdentityProvider } from '../../../../src/integrations/openid/openid.ts'
import { createLogger } from '../../../../src/logger.ts'
import { apiWorld, createAccount, refreshCookieOf, type ApiWorld } from '../../../support/api.ts'
import { signInAtProvider } from '../../../support/identity.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { unique } from '../../../support/servers.ts'
import { USER_AGENT } from '../../../support/user-agent.ts'

const PUBLIC_URL = 'http://localhost:4000'
const LOGIN = 'http://localhost:3000/login'
const CALLBACK = `${PUBLIC_URL}/api/auth/google/callback`

let google: IdentitySandbox
let control: Control
let world: ApiWorld
let offsetMs = 0
const logged: string[] = []
/** Secrets that must not appear in any log. */
const secrets = new Set<string>()

beforeAll(async () => {
  google = await startIdentity()
  control = controlOf(google.control)
  const clock = { ...systemClock, now: () => new Date(Date.now() + offsetMs) }
  const logger = createLogger('trace', { write: (line) => void logged.push(line) })
  world = await apiWorld({ PUBLIC_URL, ...google.env(PUBLIC_URL) }, { clock, logger })
})
afterAll(async () => {
  await world?.close()
  await google?.stop()
})
beforeEach(async () => {
  offsetMs = 0
  await control.clearFaults()
})

function secret<T extends string>(text: T): T {
  secrets.add(text)
  return text
}

const newAddress = () => secret(`${unique('p')}@example.test`)
const userOf = (subject: string) => world.context.users.findBySubject(subject)
const exchanges = async () => (await control.requests()).filter(({ path }) => path === '/token').length

async function begin(app = world.app, query: Record<string, string> = {}) {
  const response = await app.inject({ url: '/api/auth/google', query })
  expect(response.statusCode).toBe(302)
  const binding = response.cookies.find(({ name }) => name === 'connectBinding')
  return { response, url: String(response.headers.location), binding: binding?.value }
}

/** Calls a callback in the browser that has this cookie. */
async function finish(callback: string, binding: string | undefined) {
  const { pathname, search, searchParams } = new URL(callback)
  for (const value of [...searchParams.values(), binding ?? ''])
    if (value.length > 20 && value !== google.url) secret(value)
  const response = await world.app.inject({
    url: `${pathname}${search}`,
    ...(binding !== undefined && { cookies: { connectBinding: binding } }),
  })
  expect(response.statusCode).toBe(302)
  expect(response.headers['cache-control']).toBe('no-store')
  return { response, location: String(response.headers.location), cookie: refreshCookieOf(response) }
}

/** Logs in through the page of the provider. */
async function logIn(choice: Parameters<typeof signInAtProvider>[1], query: Record<string, string> = {}) {
  const { url, binding } = await begin(world.app, query)
  return finish(await signInAtProvider(url, choice), binding)
}

const refused = (error: string) => ({ location: `${LOGIN}?error=${error}#`, cookie: null })

async function getMe(location: string) {
  const [page, token] = location.split('#accessToken=')
  expect(page).toBe('http://localhost:3000/auth/callback')
  const response = await world.app.inject({ url: '/api/auth/me', headers: { authorization: `Bearer ${token}` } })
  return response.json().data.user
}

describe('a login with Google', () => {
  it('the login redirects the browser to the provider with everything that binds the response to it', async () => {
    const { response, url } = await begin()
    const query = Object.fromEntries(new URL(url).searchParams)
    expect(url.startsWith(`${google.url}/auth?`)).toBe(true)
    expect(query).toEqual({
      client_id: 'postonce',
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      prompt: 'select_account',
    })
    expect(response.headers['cache-control']).toBe('no-store')
    expect(response.cookies).toEqual([
      expect.objectContaining({
        name: 'connectBinding',
        path: '/api/auth/google/callback',
        httpOnly: true,
        sameSite: 'Lax',
        maxAge: 600,
      }),
    ])
    const stored = await world.context.database.connection.collection('loginAttempts').find().toArray()
    const storedJson = JSON.stringify(stored)
    for (const secret of [query['state']!, query['nonce']!, response.cookies[0]!.value]) {
      expect(storedJson).not.toContain(secret)
    }
  })

  it("the first login creates an account from the claims, and later logins find it by the provider's id", async () => {
    const email = newAddress()
    const picture = 'https://pictures.example.test/ann.png'
    const person = google.createPerson({ name: '  Ann Other ', email: email.toUpperCase(), picture })
    const first = await logIn({ account: person.id })
    expect(first.cookie).not.toBeNull()
    expect(await getMe(first.location)).toMatchObject({
      email,
      name: 'Ann Other',
      avatar: picture,
      auth: { provider: 'google' },
    })
    const user = (await userOf(person.id))!
    expect(user).toMatchObject({
      auth: { provider: 'google', subject: person.id },
      passwordHash: null,
      role: 'user',
      limits: world.context.planLimits.free,
    })
    const refreshed = await world.app.inject({
      method: 'POST',
      url: '/api/auth/refresh',
      cookies: { refreshToken: first.cookie! },
    })
    expect(refreshed.statusCode).toBe(200)

    google.changePerson({ ...person, email: newAddress(), name: 'Renamed' })
    offsetMs = MINUTE
    expect(await getMe((await logIn({ account: person.id })).location)).toMatchObject({
      id: user._id,
      email,
      name: 'Ann Other',
    })
    expect((await userOf(person.id))!.lastLogin!.getTime()).toBeGreaterThan(user.lastLogin!.getTime() + MINUTE / 2)
  })

  it.each([
    ['none', '', 'ann.other'],
    ['one letter', 'A', 'ann.other'],
    ['two lines', 'Ann\nOther', 'ann.other'],
    ['too long a name', 'x'.repeat(150), 'x'.repeat(100)],
  ])('a user with %s for a name gets a displayable name', async (_, name, shown) => {
    const person = google.createPerson({
      name,
      email: `ann.other@${unique('d')}.test`,
      picture: 'http://plain.test/a.png',
    })
    const user = await getMe((await logIn({ account: person.id })).location)
    expect(user).toMatchObject({ name: shown, avatar: identicon(user.id) })
  })

  it.each([
    ['Asia/Tokyo', 'Asia/Tokyo'],
    ['Mars/Olympus', 'UTC'],
  ])(
    'a first login in the timezone %s creates an account with %s, and later logins do not change it',
    async (timezone, has) => {
      const person = google.createPerson({ name: 'Ann', email: newAddress() })
      expect(await getMe((await logIn({ account: person.id }, { timezone })).location)).toMatchObject({ timezone: has })
      const later = await logIn({ account: person.id }, { timezone: 'Europe/Berlin' })
      expect(await getMe(later.location)).toMatchObject({ timezone: has })
    },
  )

  it('two concurrent first logins create a single account', async () => {
    const person = google.createPerson({ name: 'Ann', email: newAddress() })
    const begun = await Promise.all([begin(), begin(), begin()])
    const callbacks = await Promise.all(begun.map(({ url }) => signInAtProvider(url, { account: person.id })))
    const ends = await Promise.all(callbacks.map((callback, index) => finish(callback, begun[index]!.binding)))
    const users = await Promise.all(ends.map(({ location }) => getMe(location)))
    expect(new Set(users.map(({ id }) => id)).size).toBe(1)
  })
})

/** Returns the last refusal in the log. */
function lastRefusal(): Record<string, unknown> {
  const line = logged.findLast((text) => text.includes('google login refused'))
  return JSON.parse(line ?? '{}') as Record<string, unknown>
}

describe('the log of refused Google logins', () => {
  it('a login that the user denied is logged with its OAuth error', async () => {
    expect(await logIn({ decision: 'deny' })).toMatchObject(refused('google_auth_failed'))
    expect(lastRefusal()).toMatchObject({ refusal: 'google_auth_failed', platformCode: 'access_denied' })
  })

  it.each([
    ['', { err: { message: 'The callback has no state' } }],
    ['?error=access_denied', { err: { message: 'The callback has no state' }, platformCode: 'access_denied' }],
    ['?state=x&state=y', { err: { message: 'A parameter of the callback comes twice' } }],
    ['?state=x', { err: { message: 'No login of this browser is open under this state' } }],
  ])('a callback with the query "%s" is logged with the reason', async (query, words) => {
    await finish(`${CALLBACK}${query}`, (await begin()).binding)
    expect(lastRefusal()).toMatchObject({ refusal: 'session_expired', ...words })
  })

  it('a refused code exchange is logged with the OAuth error and its sanitized description', async () => {
    const body = {
      error: 'invalid_client',
      error_description: '<b>Bad</b>\u202e secret\n\u0000 abc123def456ghi789jkl012',
    }
    await control.fault({ path: '/token', times: 1, action: { status: 401, body } })
    expect(await logIn({ name: 'Ann', email: newAddress() })).toMatchObject(refused('google_auth_failed'))
    expect(lastRefusal()).toMatchObject({ platformCode: 'invalid_client', platformText: 'Bad secret [hidden]' })
    expect(JSON.stringify(lastRefusal())).not.toMatch(/<b>|\u202e|abc123def456/)
  })

  it('an OAuth error that is not a plain word is left out of the log', async () => {
    const { url, binding } = await begin()
    const callback = new URL(await signInAtProvider(url, { decision: 'deny' }))
    callback.searchParams.set('error', `<script>${'x'.repeat(500)}</script>`)
    expect(await finish(callback.href, binding)).toMatchObject(refused('google_auth_failed'))
    expect(lastRefusal()).toMatchObject({ platformCode: null })
    expect(JSON.stringify(lastRefusal())).not.toContain('<script>')
  })
})

describe('a refused Google login', () => {
  it.each([
    ['no address', {}],
    ['an unverified address', { email: 'someone@example.test', verified: false }],
    ['a malformed address', { email: 'Ann <ann@example.test>, bob@example.test' }],
  ])('a login of a user with %s is refused', async (_, fields) => {
    expect(await logIn({ name: 'Ann', ...fields })).toMatchObject(refused('no_email'))
  })

  it('a login is refused for the address of a password account, which stays unchanged', async () => {
    const user = await createAccount(world.context)
    const person = google.createPerson({ name: 'Thief', email: user.email })
    expect(await logIn({ account: person.id })).toMatchObject(refused('email_exists_different_provider'))
    expect(await world.context.users.findById(user._id)).toEqual(user)
    expect(await userOf(person.id)).toBeNull()
  })

  it('a login is refused for the address of another provider account', async () => {
    const email = newAddress()
    await logIn({ name: 'Ann', email })
    expect(await logIn({ name: 'Ann again', email })).toMatchObject(refused('email_exists_different_provider'))
  })

  it('a login is refused for a disabled account', async () => {
    const person = google.createPerson({ name: 'Ann', email: newAddress() })
    await logIn({ account: person.id })
    await world.context.database.connection
      .collection('users')
      .updateOne({ 'auth.subject': person.id }, { $set: { isDisabled: true } })
    expect(await logIn({ account: person.id })).toMatchObject(refused('google_auth_failed'))
  })

  it('a second login with the same state is refused', async () => {
    const { url, binding } = await begin()
    const callback = await signInAtProvider(url, { name: 'Ann', email: newAddress() })
    expect((await finish(callback, binding)).cookie).not.toBeNull()
    const before = await exchanges()
    expect(await finish(callback, binding)).toMatchObject(refused('session_expired'))
    expect(await exchanges()).toBe(before)
  })

  it('concurrent callbacks of the same attempt are refused except for the first', async () => {
    const { url, binding } = await begin()
    const callback = await signInAtProvider(url, { name: 'Ann', email: newAddress() })
    const ends = await Promise.all(Array.from({ length: 5 }, () => finish(callback, binding)))
    expect(ends.filter(({ cookie }) => cookie !== null)).toHaveLength(1)
  })

  it('a login is refused in another browser and stays open in the right one', async () => {
    const { url, binding } = await begin()
    const callback = await signInAtProvider(url, { name: 'Ann', email: newAddress() })
    const before = await exchanges()
    const other = (await begin()).binding
    for (const foreign of [undefined, '', other, `${binding}x`]) {
      expect(await finish(callback, foreign)).toMatchObject(refused('session_expired'))
    }
    expect(await exchanges()).toBe(before)
    expect((await finish(callback, binding)).cookie).not.toBeNull()
  })

  it('a login is refused after ten minutes', async () => {
    const { url, binding } = await begin()
    const callback = await signInAtProvider(url, { name: 'Ann', email: newAddress() })
    offsetMs = 10 * MINUTE + 1_000
    expect(await finish(callback, binding)).toMatchObject(refused('session_expired'))
  })

  it.each([
    '',
    '?code=x',
    '?state=x&code=x',
    '?state=x&state=y&code=x',
    '?error=access_denied',
    '?state[$ne]=x&code=x',
  ])('a login with the query %j is refused', async (query) => {
    const { binding } = await begin()
    expect(await finish(`${CALLBACK}${query}`, binding)).toMatchObject(refused('session_expired'))
  })

  it.each(['invented', 'of another login'])('a login with a code that is %s is refused', async (kind) => {
    const { url, binding } = await begin()
    const callback = new URL(await signInAtProvider(url, { name: 'Ann', email: newAddress() }))
    const other = new URL(await signInAtProvider((await begin()).url, { name: 'Bob', email: newAddress() }))
    callback.searchParams.set('code', kind === 'invented' ? 'x' : other.searchParams.get('code')!)
    expect(await finish(callback.href, binding)).toMatchObject(refused('google_auth_failed'))
  })

  const seconds = () => Math.floor(Date.now() / 1_000)
  it.each<[string, (claims: Record<string, unknown>) => Record<string, unknown>]>([
    ['another nonce', (claims) => ({ ...claims, nonce: 'another' })],
    ['no nonce', ({ nonce: _, ...claims }) => claims],
    ['another audience', (claims) => ({ ...claims, aud: 'another' })],
    ['another issuer', (claims) => ({ ...claims, iss: 'https://issuer.example.test' })],
    ['an expiry in the past', (claims) => ({ ...claims, iat: seconds() - 7_200, exp: seconds() - 3_600 })],
    ['no subject', ({ sub: _, ...claims }) => claims],
  ])('a login is refused when the ID token has %s', async (_, change) => {
    const email = newAddress()
    google.tamperNext({ claims: change })
    expect(await logIn({ name: 'Ann', email })).toMatchObject(refused('google_auth_failed'))
    expect(await world.context.users.findByEmail(email)).toBeNull()
    expect((await logIn({ name: 'Ann', email })).cookie).not.toBeNull()
  })

  it('a login is refused when another key signed the ID token', async () => {
    google.tamperNext({ key: newSigningKey() })
    expect(await logIn({ name: 'Ann', email: newAddress() })).toMatchObject(refused('google_auth_failed'))
  })

  it.each([
    ['is down', { status: 503 }],
    ['breaks off', { cut: true }],
    ['responds without JSON', { status: 200, body: '<html>' }],
    ['responds without end', { flood: 'body' as const }],
    ['redirects elsewhere', { status: 307, headers: { location: 'http://127.0.0.1:9/token' } }],
  ])('a login is refused while the code exchange %s, and succeeds afterwards', async (_, action) => {
    await control.fault({ path: '/token', action, times: 1 })
    const email = newAddress()
    expect(await logIn({ name: 'Ann', email })).toMatchObject(refused('google_auth_failed'))
    expect((await logIn({ name: 'Ann', email })).cookie).not.toBeNull()
  })

  it('a login is refused without a Google configuration', async () => {
    const without = await apiWorld({ GOOGLE_CLIENT_ID: '' })
    for (const path of ['/api/auth/google', '/api/auth/google/callback?state=x&code=x']) {
      const response = await without.app.inject({ url: path })
      expect([response.statusCode, response.headers.location]).toEqual([302, `${LOGIN}?error=google_auth_failed#`])
    }
    await without.close()
  })
})

it('the log contains no codes, states, cookies or addresses', () => {
  const all = logged.join('')
  expect(all).toContain('google login refused')
  expect(all).toContain('unexpected JWT')
  expect(secrets.size).toBeGreaterThan(50)
  for (const text of secrets) expect(all).not.toContain(text)
})

describe('the OpenID provider', () => {
  const requests = { redirectUri: CALLBACK, state: 's'.repeat(43), nonce: 'n'.repeat(43), verifier: 'v'.repeat(43) }
  const client = (changes: Partial<Parameters<typeof createIdentityProvider>[0]> = {}) =>
    createIdentityProvider({
      issuerUrl: google.url,
      clientId: 'postonce',
      clientSecret: 'secret',
      userAgent: USER_AGENT,
      timeoutMs: 5_000,
      ...changes,
    })

  it('discovery is repeated until it succeeds, and then cached', async () => {
    const provider = client()
    await control.fault({ path: '/.well-known', action: { status: 503 } })
    await expect(provider.begin(requests)).rejects.toThrow()
    await expect(provider.begin(requests)).rejects.toThrow()
    await control.clearFaults()
    const countDiscoveries = async () =>
      (await control.requests()).filter(({ path }) => path.startsWith('/.well-known')).length
    const before = await countDiscoveries()
    await Promise.all([provider.begin(requests), provider.begin(requests)])
    await provider.begin(requests)
    expect(await countDiscoveries()).toBe(before + 1)
  })

  it('an unavailable provider redirects to the login page with an error until it is back', async () => {
    const later = await apiWorld({ PUBLIC_URL, ...google.env(PUBLIC_URL) })
    await control.fault({ path: '/.well-known', action: { cut: true } })
    expect((await begin(later.app)).url).toBe(`${LOGIN}?error=google_auth_failed#`)
    await control.clearFaults()
    expect((await begin(later.app)).url).toContain(google.url)
    await later.close()
  })

  it('every call to the provider names the service', async () => {
    const before = (await control.requests()).length
    await client().begin(requests)
    await expect(
      client().complete({ iss: google.url, state: requests.state, code: 'unknown' }, requests),
    ).rejects.toThrow()
    const made = (await control.requests()).slice(before)
    expect(made.map(({ path }) => path)).toContain('/token')
    expect(new Set(made.map(({ userAgent }) => userAgent))).toEqual(new Set([USER_AGENT]))
  })

  it('every call to the provider has a deadline', async () => {
    await control.fault({ path: '/.well-known', action: { hang: true } })
    await expect(client({ timeoutMs: 200 }).begin(requests)).rejects.toThrow()
  })

  it('the provider must use https, except on this machine', () => {
    expect(() => client({ issuerUrl: 'http://issuer.example.test' })).toThrow('https')
    for (const issuerUrl of [
      'https://issuer.example.test',
      'http://localhost:1',
      'http://127.0.0.1:1',
      'http://[::1]:1',
    ]) {
      expect(() => client({ issuerUrl })).not.toThrow()
    }
  })

  it('the simulated provider keeps its accounts, keys and address over restarts', async () => {
    const dir = temporaryFolder()
    const first = await startIdentity({ dir })
    const person = first.createPerson({ name: 'Ann', email: newAddress() })
    const env = first.env(PUBLIC_URL)
    await first.stop()
    const again = await startIdentity({ dir })
    expect([again.url, again.env(PUBLIC_URL), again.people()]).toEqual([first.url, env, [person]])
    await again.stop()
  })
})
