import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { FaultAction } from '../../../../sandbox/platforms/faults.ts'
import { startMeta, type Meta } from '../../../../sandbox/platforms/meta.ts'
import { buildApp } from '../../../../src/api/app.ts'
import type { Context } from '../../../../src/context.ts'
import { buildCallbackUrl } from '../../../../src/domain/accounts/platform-connect.ts'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import { decide, SCOPES, uniqueName, type KeptBack } from '../../platforms/shared/meta-support.ts'
import { connecting } from '../../../support/connecting.ts'
import { hasPausedCalls } from '../../../support/paused-calls.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { testConfig, testContext } from '../../../support/servers.ts'

const CONNECTED = '?success=facebook_connected'
const AUTH_FAILED = '?error=facebook_auth_failed'
const CONNECT_FAILED = '?error=facebook_connect_failed'
const STATE_INVALID = '?error=facebook_state_invalid'

/** The error body of every Graph API response; a body without `message` and `type` comes from another server. */
const refusal = (code: number, error_subcode?: number) => ({
  error: { message: `(#${code}) Refused`, type: 'OAuthException', code, ...(error_subcode && { error_subcode }) },
})

const EXCHANGE = '/oauth/access_token'

let meta: Meta
let control: Control
let instagramControl: Control
let context: Context
let app: FastifyInstance
let { follow, someone: signedIn } = {} as ReturnType<typeof connecting>

beforeAll(async () => {
  meta = await startMeta()
  control = controlOf(meta.facebook.control)
  instagramControl = controlOf(meta.instagram.control)
  await startService()
})

/** Starts the service with an app of its own. */
async function startService(): Promise<void> {
  const { id, secret } = meta.createApp({
    name: 'postonce',
    redirectUris: [buildCallbackUrl(testConfig().PUBLIC_URL, 'facebook')],
  })
  context = await testContext({
    FACEBOOK_APP_ID: id,
    FACEBOOK_APP_SECRET: secret,
    FACEBOOK_DIALOG_URL: meta.facebook.url,
    FACEBOOK_GRAPH_URL: meta.facebook.url,
    INSTAGRAM_GRAPH_URL: meta.instagram.url,
  })
  app = await buildApp(context)
  ;({ follow, someone: signedIn } = connecting('facebook', context, app))
}

async function stopService(): Promise<void> {
  await app?.close()
  await context?.close()
}

afterEach(async () => {
  await control.clearFaults()
  await instagramControl.clearFaults()
  if (await hasPausedCalls(context)) {
    await stopService()
    await startService()
  }
})

afterAll(async () => {
  await stopService()
  await meta?.stop()
})

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
  return { person, page: pages[0]! }
}

async function someone() {
  const user = await signedIn()
  const tokenOf = async (platform: 'facebook' | 'instagram') => {
    const found = await context.credentials.get(user.userId, platform, { signal: AbortSignal.timeout(MINUTE) })
    return found!.accessToken
  }

  return {
    ...user,
    dialogUrl: user.authUrl,
    tokenOf,
    stored: async () => {
      const platforms = await context.accounts.connectedPlatforms(user.userId)
      return [platforms.has('facebook'), platforms.has('instagram')]
    },
    /** Opens the login page and presses a button. */
    connect: async (personId: string, keptBack?: KeptBack, decision?: 'allow' | 'deny') =>
      follow(await decide(await user.authUrl(), personId, keptBack, decision)),
  }
}

async function connected() {
  const [user, { person, page }] = [await someone(), newPerson()]
  expect(await user.connect(person.id)).toBe(CONNECTED)
  return { ...user, person, page }
}

const NOTHING = [false, false]
const BOTH = [true, true]

/** Counts calls that reached the Graph API. */
const requestsTo = async (path: string) => (await control.requests()).filter((one) => one.path.includes(path)).length

describe('connecting Facebook and Instagram', () => {
  it("connect opens Facebook's own page with the specified permissions", async () => {
    const user = await someone()
    const url = await user.dialogUrl()
    const { origin, pathname, searchParams } = new URL(url)
    expect(`${origin}${pathname}`).toBe(`${meta.facebook.url}/${context.config.GRAPH_API_VERSION}/dialog/oauth`)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      scope: SCOPES.join(','),
      state: expect.stringMatching(new RegExp(`^${user.userId}\\.`)),
      redirect_uri: buildCallbackUrl(context.config.PUBLIC_URL, 'facebook'),
    })
    expect((await fetch(url)).status).toBe(200)
  })

  it('connect lists both accounts with the specified fields', async () => {
    const { find, page } = await connected()
    const { facebook, instagram } = (await find()).body.data
    expect(facebook).toMatchObject({
      connected: true,
      platformId: page.id,
      profile: { displayName: page.name, handle: page.username, avatar: expect.stringMatching(/^http/) },
      health: { status: 'active', needsReconnection: false, expiresAt: null },
    })
    expect(instagram).toMatchObject({
      connected: true,
      platformId: page.instagramId,
      profile: { displayName: 'Ann of Instagram' },
      health: { status: 'active', expiresAt: expect.any(String) },
    })
    const days = (Date.parse(instagram.health.expiresAt) - Date.now()) / 86_400_000
    expect(days).toBeCloseTo(60, 1)
  })

  it('tokens are left out of responses and encrypted in the database', async () => {
    const user = await connected()
    const tokens = [await user.tokenOf('facebook'), await user.tokenOf('instagram')]
    expect(tokens[0]).not.toBe(tokens[1])
    const { connection } = context.database
    const stored = [
      await connection.collection('accounts').find({ userId: user.userId }).toArray(),
      await connection.collection('connectAttempts').find({ userId: user.userId }).toArray(),
    ]
    for (const text of [JSON.stringify(stored), (await user.find()).text, (await user.refresh()).text]) {
      for (const token of tokens) expect(text).not.toContain(token)
    }
  })

  it('a denied login stores nothing and calls nothing', async () => {
    const [user, { person }] = [await someone(), newPerson()]
    const before = await requestsTo(EXCHANGE)
    expect(await user.connect(person.id, {}, 'deny')).toBe(AUTH_FAILED)
    expect(await requestsTo(EXCHANGE)).toBe(before)
    expect(await user.stored()).toEqual(NOTHING)
  })

  it.each(['pages_manage_posts', 'pages_show_list', 'instagram_basic', 'instagram_content_publish'])(
    'connect stores nothing when %s is not granted',
    async (scope) => {
      const [user, { person }] = [await someone(), newPerson()]
      expect(await user.connect(person.id, { decline: [scope] })).toBe(AUTH_FAILED)
      expect(await user.stored()).toEqual(NOTHING)
    },
  )

  it('connect stores nothing without a page or with none chosen', async () => {
    const [user, { person, page }] = [await someone(), newPerson()]
    expect(await user.connect(person.id, { hide: [page.id] })).toBe(AUTH_FAILED)
    expect(await user.connect(meta.createPerson({ name: uniqueName('Nobody ') }).person.id)).toBe(AUTH_FAILED)
    expect(await user.stored()).toEqual(NOTHING)
  })

  it('connect stores only the page without a linked Instagram account', async () => {
    const [user, { person }] = [await someone(), newPerson({ instagram: false })]
    expect(await user.connect(person.id)).toBe(CONNECTED)
    expect(await user.stored()).toEqual([true, false])
    expect((await user.find()).body.data.instagram).toEqual({ connected: false })
  })

  it('a code works only for its own attempt', async () => {
    const [user, { person }] = [await someone(), newPerson()]
    const [first, second] = [new URL(await decide(await user.dialogUrl(), person.id)), new URL(await user.dialogUrl())]
    const code = first.searchParams.get('code')!
    expect(await follow(first.href)).toBe(CONNECTED)
    second.pathname = first.pathname
    second.search = new URLSearchParams({ code, state: second.searchParams.get('state')! }).toString()
    expect(await follow(second.href)).toBe(AUTH_FAILED)
  })

  it.each<[string, string, object, string]>([
    ['the exchange', EXCHANGE, { status: 500, body: {} }, CONNECT_FAILED],
    ['the exchange, breaking off', EXCHANGE, { truncate: true }, CONNECT_FAILED],
    ['the exchange, losing its answer', EXCHANGE, { dropAfterAccept: true }, CONNECT_FAILED],
    ['the exchange, hanging', EXCHANGE, { hang: true }, CONNECT_FAILED],
    ['the exchange, refusing us', EXCHANGE, { status: 400, body: refusal(101) }, AUTH_FAILED],
    ['the exchange, for too many calls', EXCHANGE, { status: 400, body: refusal(4) }, CONNECT_FAILED],
    ['what was allowed', '/me/permissions', { status: 500, body: {} }, CONNECT_FAILED],
    ['the pages', '/me/accounts', { status: 503, body: '<html>' }, CONNECT_FAILED],
    ['the Instagram account', '/17841', { status: 503, body: {} }, CONNECT_FAILED],
    ['the Instagram account, hanging', '/17841', { hang: true }, CONNECT_FAILED],
    ['the Instagram account, not showing it', '/17841', { status: 400, body: refusal(10) }, AUTH_FAILED],
  ])('connect stores nothing when Facebook fails on %s, and the state is used up', async (_, path, action, outcome) => {
    const [user, { person }] = [await someone(), newPerson()]
    const callback = await decide(await user.dialogUrl(), person.id)
    await control.fault({ path, action })
    expect(await follow(callback)).toBe(outcome)
    await control.clearFaults()
    expect(await follow(callback)).toBe(STATE_INVALID)
    expect(await user.stored()).toEqual(NOTHING)
  })

  it('twenty concurrent replays make a single exchange', async () => {
    const [user, { person }] = [await someone(), newPerson()]
    const callback = await decide(await user.dialogUrl(), person.id)
    const before = await requestsTo(EXCHANGE)
    const answers = await Promise.all(Array.from({ length: 20 }, () => follow(callback)))
    expect(answers.toSorted()).toEqual([...Array<string>(19).fill(STATE_INVALID), CONNECTED])
    // The code is exchanged for a token, and the token for a long-lived one.
    expect(await requestsTo(EXCHANGE)).toBe(before + 2)
    expect(await user.stored()).toEqual(BOTH)
  })

  it("a page of another user stores nothing and keeps the owner's connection valid", async () => {
    const [owner, other] = [await connected(), await someone()]
    expect(await other.connect(owner.person.id)).toBe(CONNECT_FAILED)
    expect(await other.stored()).toEqual(NOTHING)
    expect(await owner.refresh()).toMatchObject({ status: 200 })
    expect(await owner.stored()).toEqual(BOTH)
  })

  it('an Instagram account of another user stores nothing', async () => {
    const [owner, other, { person, page }] = [await connected(), await someone(), newPerson()]
    const { profile } = (await owner.find()).body.data.instagram
    meta.linkInstagram(page.id, { username: profile.handle })
    expect(await other.connect(person.id)).toBe(CONNECT_FAILED)
    expect(await other.stored()).toEqual(NOTHING)
    expect(await owner.stored()).toEqual(BOTH)
  })

  it('a failed reconnect keeps the earlier connection valid', async () => {
    const user = await connected()
    const callback = await decide(await user.dialogUrl(), user.person.id)
    await control.fault({ path: '/17841', times: 1, action: { status: 503, body: {} } })
    expect(await follow(callback)).toBe(CONNECT_FAILED)
    expect(await user.refresh()).toMatchObject({ status: 200 })
    expect(await user.stored()).toEqual(BOTH)
  })

  it('a reconnect without an Instagram account removes the earlier one', async () => {
    const user = await connected()
    meta.linkInstagram(user.page.id, null)
    expect(await user.connect(user.person.id)).toBe(CONNECTED)
    expect(await user.stored()).toEqual([true, false])
  })

  it('a reconnect stores the tokens of the new login', async () => {
    const user = await connected()
    const first = await user.tokenOf('instagram')
    expect(await user.connect(user.person.id)).toBe(CONNECTED)
    expect(await user.tokenOf('instagram')).not.toBe(first)
    expect(await user.refresh()).toMatchObject({ status: 200 })
  })
})

describe('a connected page', () => {
  it('a page requires a reconnect after its login was revoked, and works again afterwards', async () => {
    const user = await connected()
    await control.revoke(user.person.id)
    expect(await user.refresh()).toMatchObject({ status: 409, body: { code: 'RECONNECT_REQUIRED' } })
    const { facebook } = (await user.find()).body.data
    expect(facebook.health).toMatchObject({ status: 'expired', needsReconnection: true })
    expect(await user.connect(user.person.id)).toBe(CONNECTED)
    expect(await user.refresh()).toMatchObject({ status: 200, body: { data: { health: { status: 'active' } } } })
  })

  it('a page keeps its profile while Facebook is unavailable', async () => {
    const user = await connected()
    await control.fault({ path: user.page.id, action: { status: 503, body: {} } })
    expect(await user.refresh()).toMatchObject({ status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } })
    expect((await user.find()).body.data.facebook).toMatchObject({
      profile: { displayName: user.page.name },
      health: { status: 'active' },
    })
  })

  it('a page that is no longer visible is reported as missing', async () => {
    const user = await connected()
    await control.fault({
      path: user.page.id,
      action: { status: 400, body: refusal(100, 33) },
    })
    expect(await user.refresh()).toMatchObject({ status: 409 })
    expect((await user.find()).body.data.facebook.health).toMatchObject({ status: 'error', needsReconnection: true })
  })

  it('disconnecting a page also disconnects its Instagram account', async () => {
    const user = await connected()
    expect(await user.disconnect()).toMatchObject({ status: 200, body: { data: { connected: false } } })
    expect(await user.stored()).toEqual(NOTHING)
    expect((await user.find()).body.data).toMatchObject({
      facebook: { connected: false },
      instagram: { connected: false },
    })
    expect(await user.refresh()).toMatchObject({ status: 400, body: { code: 'PLATFORM_NOT_CONNECTED' } })
  })

  it('another user can connect a disconnected page', async () => {
    const [user, other] = [await connected(), await someone()]
    await user.disconnect()
    expect(await other.connect(user.person.id)).toBe(CONNECTED)
    expect(await other.stored()).toEqual(BOTH)
  })

  it('disconnecting a page keeps the other connections of its person', async () => {
    const { person, pages } = meta.createPerson({
      name: uniqueName('Ann '),
      pages: [{ name: uniqueName('Page ') }, { name: uniqueName('Page ') }],
    })
    const [first, second] = [await someone(), await someone()]
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
    (await context.notifications.listOf(userId, 100))
      .filter(({ type }) => type === 'warning')
      .map(({ message }) => message)

  it('a refresh updates both profiles', async () => {
    const user = await connected()
    const page = { id: user.page.id, name: 'Page anew', username: 'page_anew' }
    await control.fault({ path: user.page.id, times: 1, action: { status: 200, body: page } })
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
    ['asks to slow down', { status: 400, body: refusal(4) }],
  ])('an account is refreshed normally even when the other %s', async (_, action) => {
    const user = await connected()
    await instagramControl.fault({ path: user.page.instagramId!, action })
    expect(await user.refresh()).toMatchObject({ status: 200 })
    expect(healthOf(await user.find())).toEqual(['active', 'active'])
    await instagramControl.clearFaults()
    await control.fault({ path: user.page.id, action })
    expect(await user.refresh()).toMatchObject({ status: 502 })
    expect(healthOf(await user.find())).toEqual(['active', 'active'])
  })

  it('an expired login of the person keeps the page working and causes a single warning for Instagram', async () => {
    const user = await connected()
    await control.expire(user.person.id)
    for (let time = 0; time < 2; time++) expect(await user.refresh()).toMatchObject({ status: 200 })
    expect(healthOf(await user.find())).toEqual(['active', 'expired'])
    expect(await warningsOf(user.userId)).toEqual([expect.stringContaining('Instagram')])
  })

  it('a person without access to the page keeps Instagram working and causes a single warning for Facebook', async () => {
    const user = await connected()
    await control.revoke(user.page.id)
    expect(await user.refresh()).toMatchObject({ status: 409, body: { code: 'RECONNECT_REQUIRED' } })
    expect(healthOf(await user.find())).toEqual(['expired', 'active'])
    expect(await warningsOf(user.userId)).toEqual([expect.stringContaining('Facebook')])
  })

  it('a removed app requires a reconnect of both, and a single connect repairs both', async () => {
    const user = await connected()
    await control.revoke(user.person.id)
    await user.refresh()
    expect(healthOf(await user.find())).toEqual(['expired', 'expired'])
    expect(await user.connect(user.person.id)).toBe(CONNECTED)
    expect(healthOf(await user.find())).toEqual(['active', 'active'])
  })
})
