import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { startTumblr, type Tumblr } from '../../../../sandbox/platforms/tumblr.ts'
import { connectSuite } from './connect-suite.ts'

const AUTH_FAILED = '?error=tumblr_auth_failed'
const STATE_INVALID = '?error=tumblr_state_invalid'

const REQUEST_TOKEN = '/oauth/request_token'
const ACCESS_TOKEN = '/oauth/access_token'
const USER_INFO = '/v2/user/info'

let tumblr: Tumblr

const { newUser, follow, platformsOf, simulator, context, control } = connectSuite({
  platform: 'tumblr',
  async start() {
    tumblr = await startTumblr()
    return {
      controls: [tumblr.control],
      register(callbackUrl) {
        const { consumerKey, consumerSecret } = tumblr.createApp({ name: 'postonce', callbackUrl })
        return {
          TUMBLR_CONSUMER_KEY: consumerKey,
          TUMBLR_CONSUMER_SECRET: consumerSecret,
          TUMBLR_AUTHORIZE_URL: tumblr.url,
          TUMBLR_API_URL: tumblr.url,
        }
      },
      newAccount() {
        const name = `b${randomBytes(6).toString('hex')}`
        const { loginId, uuid } = tumblr.createAccount({ name, title: 'Ann' })
        return { login: loginId, accountId: uuid, name }
      },
      stop: () => tumblr.stop(),
    }
  },
  page: () => ({ address: `${tumblr.url}/oauth/authorize`, parameters: { oauth_token: expect.any(String) } }),
  fieldsOf: ({ name }) => ({
    blogHostname: `${name}.tumblr.com`,
    profile: { displayName: 'Ann', handle: name, avatar: expect.stringContaining(`/v2/blog/${name}`) },
    health: { status: 'active', needsReconnection: false, expiresAt: null },
  }),
  exchangePath: ACCESS_TOKEN,
  lastPath: USER_INFO,
  profilePath: () => USER_INFO,
  revokedId: ({ accountId }) => accountId,
  refusal: { status: 401, body: 'no' },
  rateLimit: { status: 429, body: 'Too many' },
  pausesExchanges: false,
  failures: [
    [
      'the profile, with no blog',
      USER_INFO,
      { status: 200, body: { response: { user: { blogs: [] } } } },
      'auth_failed',
    ],
  ],
})

describe('Tumblr alone', () => {
  const exchanges = async () => (await control().requests()).filter(({ path }) => path === ACCESS_TOKEN).length

  /** Allows the login and returns the callback with changed parameters. */
  async function callbackOf(
    user: { authUrl(): Promise<string> },
    change: (query: URLSearchParams) => void = () => undefined,
  ): Promise<string> {
    const callback = new URL(await consent(await user.authUrl(), simulator().newAccount().login))
    change(callback.searchParams)
    return callback.href
  }

  it('a renewed login keeps the blog that was connected before, and the other blog is offered', async () => {
    const user = await newUser()
    const [name, otherBlog] = [1, 2].map(() => `b${randomBytes(6).toString('hex')}`) as [string, string]
    const { loginId } = tumblr.createAccount({ name, otherBlog })
    const outcome = new URLSearchParams(await user.connect(loginId))
    expect((await user.stored())?.handle).toBe(name)
    const path = `/offers/${outcome.get('offer')}`
    const { accounts } = (await user.call('GET', path)).body.data
    expect(accounts.map(({ profile }: { profile: { handle: string } }) => profile.handle)).toEqual([name, otherBlog])
    await user.call('POST', path, { platformIds: [accounts[1].platformId], replace: true })
    expect((await user.stored())?.handle).toBe(otherBlog)
    await user.connect(loginId)
    expect((await user.stored())?.handle).toBe(otherBlog)
    expect((await user.refresh()).status).toBe(200)
  })

  it('connect works when Tumblr does not return the state', async () => {
    const user = await newUser()
    expect(await follow(await callbackOf(user, (query) => query.delete('state')))).toBe('?success=tumblr_connected')
  })

  it.each<[string, (query: URLSearchParams) => void, string]>([
    ['a forged token', (query) => query.set('oauth_token', 'forged'), STATE_INVALID],
    ['no token', (query) => query.delete('oauth_token'), STATE_INVALID],
    ['a malformed state', (query) => query.set('state', 'malformed'), STATE_INVALID],
    ['a token that came twice', (query) => query.append('oauth_token', 'another'), STATE_INVALID],
    ['no verifier', (query) => query.delete('oauth_verifier'), AUTH_FAILED],
  ])('a callback from Tumblr with %s is refused without a call', async (_, change, outcome) => {
    const user = await newUser()
    const before = await exchanges()
    expect(await follow(await callbackOf(user, change))).toBe(outcome)
    expect(await exchanges()).toBe(before)
    expect(await platformsOf(user.userId)).toEqual([])
  })

  it("an attempt's request token works only with the state of that attempt", async () => {
    const [user, other] = [await newUser(), await newUser()]
    const foreign = new URL(await callbackOf(other)).searchParams.get('state')!
    const before = await exchanges()
    expect(await follow(await callbackOf(user, (query) => query.set('state', foreign)))).toBe(STATE_INVALID)
    expect(await exchanges()).toBe(before)
  })

  it('an invented verifier is refused and uses up the attempt', async () => {
    const user = await newUser()
    const callback = await callbackOf(user)
    const forged = new URL(callback)
    forged.searchParams.set('oauth_verifier', 'invented')
    expect(await follow(forged.href)).toBe(AUTH_FAILED)
    expect(await follow(callback)).toBe(STATE_INVALID)
    expect(await platformsOf(user.userId)).toEqual([])
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
    const user = await newUser()
    await control().fault({ path: REQUEST_TOKEN, times: 1, action })
    expect(await user.begin()).toMatchObject({ status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } })
    const attempts = context().database.connection.collection('connectAttempts')
    expect(await attempts.countDocuments({ userId: user.userId })).toBe(0)
  })
})
