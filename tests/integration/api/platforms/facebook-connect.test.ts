import { describe, expect, it } from 'vitest'
import type { FaultAction } from '../../../../sandbox/platforms/faults.ts'
import { startMeta, type Meta } from '../../../../sandbox/platforms/meta.ts'
import type { ConnectAttempt } from '../../../../src/store/accounts/connect-attempts.ts'
import { decide, SCOPES, uniqueName, type DeclinedGrants } from '../../../platforms/shared/meta-support.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { connectSuite } from './connect-suite.ts'

const CONNECTED = '?success=facebook_connected'
const AUTH_FAILED = '?error=facebook_auth_failed'
const CONNECT_FAILED = '?error=facebook_connect_failed'

/** The error body of every Graph API response; a body without `message` and `type` comes from another server. */
const refusal = (code: number, error_subcode?: number) => ({
  status: 400,
  body: {
    error: { message: `(#${code}) Refused`, type: 'OAuthException', code, ...(error_subcode && { error_subcode }) },
  },
})

const EXCHANGE = '/oauth/access_token'

let meta: Meta
let instagramControl: Control

/** Creates a Facebook user with a page and, by default, a linked Instagram account. */
function newPerson({ instagram = true } = {}) {
  const { person, pages } = meta.createPerson({
    name: uniqueName('Ann '),
    pages: [
      {
        name: uniqueName('Page '),
        username: uniqueName('page'),
        ...(instagram && { instagram: { username: uniqueName('ig'), name: 'Ann of Instagram' } }),
      },
    ],
  })
  const page = pages[0]!
  return { person, page, login: person.id, accountId: page.id }
}

const suite = connectSuite({
  platform: 'facebook',
  async start() {
    meta = await startMeta()
    instagramControl = controlOf(meta.instagram.control)
    return {
      controls: [meta.facebook.control, meta.instagram.control],
      register(callbackUrl) {
        const { id, secret } = meta.createApp({ name: 'postonce', redirectUris: [callbackUrl] })
        return {
          FACEBOOK_APP_ID: id,
          FACEBOOK_APP_SECRET: secret,
          FACEBOOK_DIALOG_URL: meta.facebook.url,
          FACEBOOK_GRAPH_URL: meta.facebook.url,
          INSTAGRAM_GRAPH_URL: meta.instagram.url,
        }
      },
      newAccount: () => newPerson(),
      stop: () => meta.stop(),
    }
  },
  page: (callbackUrl, { GRAPH_API_VERSION }) => ({
    address: `${meta.facebook.url}/${GRAPH_API_VERSION}/dialog/oauth`,
    parameters: { response_type: 'code', scope: SCOPES.join(','), redirect_uri: callbackUrl },
  }),
  fieldsOf: ({ page }) => ({
    profile: { displayName: page.name, handle: page.username, avatar: expect.stringMatching(/^http/) },
    health: { status: 'active', needsReconnection: false, expiresAt: null },
  }),
  exchangePath: EXCHANGE,
  lastPath: '/me/accounts',
  profilePath: ({ page }) => page.id,
  revokedId: ({ person }) => person.id,
  refusal: refusal(101),
  rateLimit: refusal(4),
  pausesExchanges: true,
  failures: [['the granted permissions', '/me/permissions', { status: 500, body: {} }, 'connect_failed']],
})
const { control, follow } = suite

/** Adds to a user of the suite what only tests of pages need. */
function withPages<User extends Awaited<ReturnType<typeof suite.newUser>>>(user: User) {
  return {
    ...user,
    tokenOf: async (platform: 'facebook' | 'instagram') =>
      (await suite.context().credentials.get(user.userId, platform, { signal: suite.signal() }))!.accessToken,
    stored: async () => {
      const platforms = await suite.platformsOf(user.userId)
      return [platforms.includes('facebook'), platforms.includes('instagram')]
    },
    /** Opens the login page and allows without some permissions or pages. */
    connect: async (personId: string, declined?: DeclinedGrants, query = '') =>
      follow(await decide(await user.authUrl(query), personId, declined)),
    /** The sorted ids of the connected accounts on their platforms. */
    listIds: async () =>
      (await suite.context().accounts.listConnected(user.userId)).map(({ platformId }) => platformId).toSorted(byText),
  }
}

const newUser = async () => withPages(await suite.newUser())

async function connected() {
  const { account, ...user } = await suite.connected()
  return { ...withPages(user), ...account }
}

const NOTHING = [false, false]
const BOTH = [true, true]

describe('Facebook with Instagram', () => {
  it('a login connects the linked Instagram account for sixty days', async () => {
    const { find, page } = await connected()
    const { instagram } = (await find()).body.data
    expect(instagram).toMatchObject({
      connected: true,
      platformId: page.instagramId,
      profile: { displayName: 'Ann of Instagram' },
      health: { status: 'active', expiresAt: expect.any(String) },
    })
    const days = (Date.parse(instagram.health.expiresAt) - Date.now()) / 86_400_000
    expect(days).toBeCloseTo(60, 1)
  })

  it.each(['pages_manage_posts', 'pages_show_list'])('connect stores nothing when %s is not granted', async (scope) => {
    const [user, { person }] = [await newUser(), newPerson()]
    expect(await user.connect(person.id, { decline: [scope] })).toBe(AUTH_FAILED)
    expect(await user.stored()).toEqual(NOTHING)
  })

  it('connect stores nothing without a page or with none chosen', async () => {
    const [user, { person, page }] = [await newUser(), newPerson()]
    expect(await user.connect(person.id, { hide: [page.id] })).toBe(AUTH_FAILED)
    expect(await user.connect(meta.createPerson({ name: uniqueName('Nobody ') }).person.id)).toBe(AUTH_FAILED)
    expect(await user.stored()).toEqual(NOTHING)
  })

  it('connect stores only the page without a linked Instagram account', async () => {
    const [user, { person }] = [await newUser(), newPerson({ instagram: false })]
    expect(await user.connect(person.id)).toBe(CONNECTED)
    expect(await user.stored()).toEqual([true, false])
    expect((await user.find()).body.data.instagram).toEqual({ connected: false })
  })

  it('a used code is refused in another attempt', async () => {
    const [user, { person }] = [await newUser(), newPerson()]
    const [first, second] = [new URL(await decide(await user.authUrl(), person.id)), new URL(await user.authUrl())]
    const code = first.searchParams.get('code')!
    expect(await follow(first.href)).toBe(CONNECTED)
    second.pathname = first.pathname
    second.search = new URLSearchParams({ code, state: second.searchParams.get('state')! }).toString()
    expect(await follow(second.href)).toBe(AUTH_FAILED)
  })

  it('an Instagram account of another user stores nothing', async () => {
    const [owner, other, { person, page }] = [await connected(), await newUser(), newPerson()]
    const { profile } = (await owner.find()).body.data.instagram
    meta.linkInstagram(page.id, { username: profile.handle })
    expect(await other.connect(person.id)).toBe(CONNECT_FAILED)
    expect(await other.stored()).toEqual(NOTHING)
    expect(await owner.stored()).toEqual(BOTH)
  })

  it('a reconnect without an Instagram account removes the earlier one', async () => {
    const user = await connected()
    meta.linkInstagram(user.page.id, null)
    expect(await user.connect(user.person.id)).toBe(CONNECTED)
    expect(await user.stored()).toEqual([true, false])
  })

  it.each(['/facebook/disconnect', '/accounts/:page'])(
    'disconnecting Facebook with DELETE %s also clears the Instagram credentials',
    async (path) => {
      const user = await connected()
      const { accounts, database } = suite.context()
      const { _id } = (await accounts.findDefault(user.userId, 'facebook'))!
      expect((await user.call('DELETE', path.replace(':page', _id))).status).toBe(200)
      const { facebook, instagram } = (await user.find()).body.data
      expect([facebook, instagram]).toEqual([{ connected: false }, { connected: false }])
      const records = await database.connection.collection('accounts').find({ userId: user.userId }).toArray()
      expect(records.map(({ auth }) => auth)).toEqual([undefined, undefined])
    },
  )

  it('a reconnect stores the tokens of the new login', async () => {
    const user = await connected()
    const first = await user.tokenOf('instagram')
    expect(await user.connect(user.person.id)).toBe(CONNECTED)
    expect(await user.tokenOf('instagram')).not.toBe(first)
    expect(await user.refresh()).toMatchObject({ status: 200 })
  })
})

const byText = (one: string, other: string) => (one < other ? -1 : 1)

/** Creates a person with several pages, each with an Instagram account. */
function newPersonWithPages(count = 2) {
  const wanted = Array.from({ length: count }, () => ({
    name: uniqueName('Page '),
    instagram: { username: uniqueName('ig') },
  }))
  const { person, pages } = meta.createPerson({ name: uniqueName('Ann '), pages: wanted })
  return { person, pages, idsOf: (page: number) => [pages[page]!.id, pages[page]!.instagramId!].toSorted(byText) }
}

describe('a login with several pages', () => {
  it('a renewed login keeps the page that was connected before and its Instagram account, in any order of pages', async () => {
    const [user, { person, pages, idsOf }] = [await newUser(), newPersonWithPages()]
    await user.connect(person.id, { hide: [pages[0]!.id] })
    await user.connect(person.id)
    expect(await user.listIds()).toEqual(idsOf(1))
  })

  it('a login that adds an account brings a page that is not connected, until all are', async () => {
    const [user, { person, idsOf }] = [await newUser(), newPersonWithPages()]
    for (const [query, ids] of [
      ['', idsOf(0)],
      ['?replace=false', [...idsOf(0), ...idsOf(1)]],
      ['?replace=false', [...idsOf(0), ...idsOf(1)]],
    ] as const) {
      await user.connect(person.id, {}, query)
      expect(await user.listIds()).toEqual(ids.toSorted(byText))
    }
  })

  it('a disconnect of the default page ends its own Instagram account, and that of another login stays', async () => {
    const user = await newUser()
    const [first, second] = [newPersonWithPages(1), newPersonWithPages(1)]
    await user.connect(first.person.id)
    await user.connect(second.person.id, {}, '?replace=false')
    const { accounts } = suite.context()
    const page = (await accounts.listConnected(user.userId)).find(
      ({ platformId }) => platformId === second.pages[0]!.id,
    )!
    await accounts.updateOwn(user.userId, page._id, { isDefault: true })
    expect((await user.refresh()).status).toBe(200)
    await user.disconnect()
    expect(await user.listIds()).toEqual(first.idsOf(0))
  })

  it('the pages of a login are offered for ten minutes, and its user connects some of them', async () => {
    const [user, other, { person, pages, idsOf }] = [await newUser(), await newUser(), newPersonWithPages(3)]
    const outcome = new URLSearchParams(await user.connect(person.id))
    expect(outcome.get('success')).toBe('facebook_connected')
    const path = `/offers/${outcome.get('offer')}`
    const listOffer = async () =>
      (await user.call('GET', path)).body.data.accounts.map((one: { platformId: string; connected: boolean }) => [
        one.platformId,
        one.connected,
      ])
    expect(await listOffer()).toEqual(pages.map(({ id }, index) => [id, index === 0]))
    const choose = (platformIds: string[], replace = false) => user.call('POST', path, { platformIds, replace })
    expect((await choose([pages[1]!.id, 'x'])).body).toMatchObject({
      errors: [{ path: 'platformIds.1', code: 'ACCOUNT_NOT_FOUND' }],
    })
    expect(await user.listIds()).toEqual(idsOf(0))
    expect((await choose([pages[1]!.id])).body.data).toMatchObject([{ platformId: pages[1]!.id, isDefault: false }])
    expect((await choose([pages[2]!.id], true)).body.data).toMatchObject([
      { platformId: pages[2]!.id, isDefault: true },
    ])
    expect(await user.listIds()).toEqual([...idsOf(1), ...idsOf(2)].toSorted(byText))

    for (const method of ['GET', 'POST'] as const)
      expect((await other.call(method, path, method === 'POST' ? { platformIds: ['x'] } : undefined)).status).toBe(404)
    const attempts = suite.context().database.connection.collection<ConnectAttempt>('connectAttempts')
    const { offer, expiresAt } = (await attempts.findOne({ _id: outcome.get('offer')! }))!
    expect(expiresAt.getTime() - Date.now()).toBeGreaterThan(9 * 60_000)
    expect(offer).not.toContain(pages[0]!.name)
    await attempts.updateOne({ _id: outcome.get('offer')! }, { $set: { expiresAt: new Date() } })
    expect((await user.call('GET', path)).status).toBe(404)
  })

  it('a page of another user does not hide the other pages of the login', async () => {
    const [owner, user, { person, pages }] = [await newUser(), await newUser(), newPersonWithPages()]
    await owner.connect(person.id, { hide: [pages[1]!.id] })
    const outcome = new URLSearchParams(await user.connect(person.id))
    expect(outcome.get('error')).toBe('facebook_connect_failed')
    const chosen = await user.call('POST', `/offers/${outcome.get('offer')}`, { platformIds: [pages[1]!.id] })
    expect(chosen.body.data).toMatchObject([{ platformId: pages[1]!.id, isDefault: true }])
  })

  it('unusable pages of a login are shown with their reason, and neither prevent nor replace the usable one', async () => {
    const [user, { person }] = [await newUser(), newPerson()]
    const [watched, closed, usable] = [uniqueName('1'), uniqueName('2'), uniqueName('3')]
    const data = [
      { name: 'Without an id' },
      { id: watched, name: 'Analysts', access_token: 'token', tasks: ['ANALYZE'] },
      { id: closed, name: 'Without a token' },
      null,
      { id: usable, name: 7, picture: 'odd', access_token: 'token', tasks: ['CREATE_CONTENT'] },
    ]
    await control().fault({ path: '/me/accounts', action: { status: 200, body: { data } } })
    const outcome = new URLSearchParams(await user.connect(person.id))
    expect(outcome.get('success')).toBe('facebook_connected')
    expect(await user.listIds()).toEqual([usable])
    const path = `/offers/${outcome.get('offer')}`
    expect((await user.call('GET', path)).body.data.accounts).toMatchObject([
      { platformId: watched, problem: expect.stringContaining('does not allow posts') },
      { platformId: usable, problem: null, connected: true },
      { platformId: closed, problem: expect.stringContaining('gives no access') },
    ])
    expect((await user.call('POST', path, { platformIds: [closed] })).body).toMatchObject({
      errors: [{ path: 'platformIds.0', code: 'ACCOUNT_UNUSABLE' }],
    })
  })

  it('a page that was connected before stays with its reason when the role on it no longer allows posts', async () => {
    const [user, { person }] = [await newUser(), newPerson()]
    const [before, other] = [uniqueName('1'), uniqueName('2')]
    const listing = (tasks: string[]) => ({
      status: 200,
      body: {
        data: [
          { id: before, name: 'Before', access_token: 'token', tasks },
          { id: other, name: 'Other', access_token: 'token' },
        ],
      },
    })
    for (const tasks of [['MANAGE'], ['ANALYZE']]) {
      await control().fault({ path: '/me/accounts', times: 1, action: listing(tasks) })
      await user.connect(person.id)
    }
    expect(await user.listIds()).toEqual([before])
    expect((await user.find()).body.data.facebook.health).toMatchObject({
      status: 'error',
      lastError: expect.stringContaining('does not allow posts'),
    })
  })

  it('an Instagram account that the login no longer shows is marked, and one that it may not name stays', async () => {
    const user = await connected()
    const healthOf = async () => (await user.find()).body.data.instagram.health
    await user.connect(user.person.id, { decline: ['instagram_basic'] })
    expect([await user.stored(), await healthOf()]).toMatchObject([BOTH, { status: 'active' }])
    await control().fault({ path: user.page.instagramId!, times: 1, action: refusal(100, 33) })
    expect(await user.connect(user.person.id)).toBe(CONNECTED)
    expect(await healthOf()).toMatchObject({ status: 'error', needsReconnection: true })
  })

  it('a page on which the person may not post, or that has no token, is not connected', async () => {
    const [user, { person }] = [await newUser(), newPerson()]
    const data = [
      { id: '1', name: 'Without a token', tasks: ['CREATE_CONTENT'] },
      { id: '2', name: 'Analysts', access_token: 'token', tasks: ['ANALYZE'] },
    ]
    await control().fault({ path: '/me/accounts', action: { status: 200, body: { data } } })
    expect(await user.connect(person.id)).toBe(AUTH_FAILED)
    expect(await user.stored()).toEqual(NOTHING)
  })
})

describe('a connected page', () => {
  it('a page that is no longer visible is reported as missing', async () => {
    const user = await connected()
    await control().fault({
      path: user.page.id,
      action: refusal(100, 33),
    })
    expect(await user.refresh()).toMatchObject({ status: 409 })
    expect((await user.find()).body.data.facebook.health).toMatchObject({ status: 'error', needsReconnection: true })
  })

  it('disconnecting a page keeps the other connections of its person', async () => {
    const { person, pages } = meta.createPerson({
      name: uniqueName('Ann '),
      pages: [{ name: uniqueName('Page ') }, { name: uniqueName('Page ') }],
    })
    const [first, second] = [await newUser(), await newUser()]
    expect(await first.connect(person.id, { hide: [pages[1]!.id] })).toBe(CONNECTED)
    expect(await second.connect(person.id, { hide: [pages[0]!.id] })).toBe(CONNECTED)
    await first.disconnect()
    expect(await second.refresh()).toMatchObject({ status: 200 })
  })
})

describe('refreshing a page and its Instagram account together', () => {
  const healthOf = ({ body }: { body: { data: Record<string, { health: { status: string } }> } }) => [
    body.data['facebook']!.health.status,
    body.data['instagram']!.health.status,
  ]
  const warningsOf = async (userId: string) =>
    (await suite.context().notifications.listOf(userId, 100))
      .filter(({ type }) => type === 'warning')
      .map(({ message }) => message)

  it('a refresh updates the profiles of a page and its Instagram account', async () => {
    const user = await connected()
    const page = { id: user.page.id, name: 'Page anew', username: 'page_anew' }
    await control().fault({ path: user.page.id, times: 1, action: { status: 200, body: page } })
    const account = { id: user.page.instagramId, name: 'Ann anew', username: 'ann_anew' }
    await instagramControl.fault({ path: user.page.instagramId!, times: 1, action: { status: 200, body: account } })
    expect(await user.refresh()).toMatchObject({
      status: 200,
      body: { data: { profile: { displayName: 'Page anew' } } },
    })
    expect((await user.find()).body.data).toMatchObject({
      facebook: { profile: { displayName: 'Page anew', handle: 'page_anew' } },
      instagram: { profile: { displayName: 'Ann anew', handle: 'ann_anew' } },
    })
  })

  it.each<[string, FaultAction]>([
    ['is away', { status: 503, body: {} }],
    ['hangs', { hang: true }],
    ['asks to slow down', refusal(4)],
  ])('an account is refreshed normally even when the other %s', async (_, action) => {
    const user = await connected()
    await instagramControl.fault({ path: user.page.instagramId!, action })
    expect(await user.refresh()).toMatchObject({ status: 200 })
    expect(healthOf(await user.find())).toEqual(['active', 'active'])
    await instagramControl.clearFaults()
    await control().fault({ path: user.page.id, action })
    expect(await user.refresh()).toMatchObject({ status: 502 })
    expect(healthOf(await user.find())).toEqual(['active', 'active'])
  })

  it('an expired login of the person keeps the page working and causes a single warning for Instagram', async () => {
    const user = await connected()
    await control().expire(user.person.id)
    for (let time = 0; time < 2; time++) expect(await user.refresh()).toMatchObject({ status: 200 })
    expect(healthOf(await user.find())).toEqual(['active', 'expired'])
    expect(await warningsOf(user.userId)).toEqual([expect.stringContaining('Instagram')])
  })

  it('a person without access to the page keeps Instagram working and causes a single warning for Facebook', async () => {
    const user = await connected()
    await control().revoke(user.page.id)
    expect(await user.refresh()).toMatchObject({ status: 409, body: { code: 'RECONNECT_REQUIRED' } })
    expect(healthOf(await user.find())).toEqual(['expired', 'active'])
    expect(await warningsOf(user.userId)).toEqual([expect.stringContaining('Facebook')])
  })

  it('a removed app requires a reconnect of both, and a single connect repairs both', async () => {
    const user = await connected()
    await control().revoke(user.person.id)
    await user.refresh()
    expect(healthOf(await user.find())).toEqual(['expired', 'expired'])
    expect(await user.connect(user.person.id)).toBe(CONNECTED)
    expect(healthOf(await user.find())).toEqual(['active', 'active'])
  })
})
