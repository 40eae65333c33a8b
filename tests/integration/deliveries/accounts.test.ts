import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startMastodon, type Mastodon, type MastodonOptions } from '../../../sandbox/platforms/mastodon.ts'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { poll, startDeliveryWorld, type DeliveryWorld, type PostStatusData } from '../../support/delivery-world.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { readCommands, runCommands } from '../../support/documented-commands.ts'
import { applyAll, importClient } from '../../support/imports.ts'
import { controlOf, type LedgerEntry } from '../../support/platform-control.ts'
import { testConfig, unique } from '../../support/servers.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Posts for several accounts of a platform: two on the real Bluesky server, and one on each of three Mastodon servers. */

const STATUSES = { method: 'POST', path: '/api/v1/statuses' }
const PUT_RECORD = { method: 'POST', path: '/xrpc/com.atproto.repo.putRecord' }

/** The configured server, one of another software that ignores idempotency keys and counts differently, and an older one. */
const SERVERS: MastodonOptions[] = [
  {},
  { honoursKeys: false, namesApplication: false, countsCodePoints: true, maxCharacters: 1_000 },
  { version: '4.2.1', showsSeveral: false },
]

let servers: Mastodon[]
let world: DeliveryWorld

beforeAll(async () => {
  servers = await Promise.all(SERVERS.map((options) => startMastodon(options)))
  const [home, ...others] = servers
  const redirectUris = [buildCallbackUrl(testConfig().PUBLIC_URL, 'mastodon')]
  const { clientId, clientSecret } = home!.createApp({ name: 'postonce', redirectUris })
  world = await startDeliveryWorld({
    MASTODON_INSTANCE_URL: home!.url,
    MASTODON_CLIENT_ID: clientId,
    MASTODON_CLIENT_SECRET: clientSecret,
    ALLOWED_PRIVATE_SERVERS: others.map(({ url }) => url).join(','),
    PUBLISH_TIMEOUT_MS: 1_500,
    UNANSWERED_CALL_SETTLE_MS: 4_000,
    PLAN_FREE_MAX_ACCOUNTS: 10,
  })
})
afterEach(async () => {
  await Promise.all(
    [world.control, ...servers.map(({ control }) => controlOf(control))].map((one) => one.clearFaults()),
  )
})
afterAll(async () => {
  await world?.stop()
  await Promise.all((servers ?? []).map((server) => server.stop()))
})

interface ConnectedAccount {
  /** Our id. */
  id: string
  idOnServer: string
  handle: string
  server: string | null
  published(): Promise<LedgerEntry[]>
}

async function newUser() {
  const user = await world.user()
  const list = async () => (await user.call('GET', '/api/platform/accounts')).body.data as Listed[]
  const find = async (handle: string) => (await list()).find(({ profile }) => profile.handle === handle)!

  async function describeAccount(handle: string, control: string): Promise<ConnectedAccount> {
    const { _id, platformId: idOnServer, server } = await find(handle)
    const published = async () => (await controlOf(control).ledger()).filter(({ account }) => account === handle)
    return { id: _id, idOnServer, handle, server, published }
  }

  async function connectNew(query: string): Promise<ConnectedAccount & { connect(): Promise<unknown> }> {
    const { handle, appPassword } = await world.bluesky.createAccount({
      handle: `${unique('b').replace('-', '')}.test`,
    })
    const login = { identifier: handle, appPassword }
    const connect = async () =>
      expect((await user.call('POST', `/api/platform/bluesky/connect${query}`, login)).status).toBe(200)
    await connect()
    return { ...(await describeAccount(handle, world.bluesky.control)), connect }
  }

  async function addMastodon(server: Mastodon): Promise<ConnectedAccount> {
    const { id, username } = server.createAccount({ username: unique('m').replace('-', '') })
    const { body } = await user.call('POST', '/api/platform/mastodon/connect?replace=false', { instance: server.url })
    const { pathname, search } = new URL(await consent(body.data.authUrl, id))
    const back = await world.app.inject({ url: `${pathname}${search}` })
    expect(back.headers.location).toContain('success=mastodon_connected')
    const isIt = ({ server: one, profile }: Listed) => one === server.url && profile.handle.startsWith(username)
    const account = (await list()).find(isIt)!
    // Ids of servers other than the configured one name the server.
    const suffix = server === servers[0] ? '' : `@${new URL(server.url).host}`
    const published = async () =>
      (await ledgerOf(server, username)).map((entry) => ({ ...entry, id: `${entry.id}${suffix}` }))
    return { ...(await describeAccount(account.profile.handle, server.control)), idOnServer: id, published }
  }

  return {
    ...user,
    list,
    /** The default account on Bluesky. */
    first: await describeAccount(user.account.handle, world.bluesky.control),
    connectNew,
    addBluesky: () => connectNew('?replace=false'),
    addMastodon,
    post: (fields: object) => user.create({ content: { text: 'News' }, selectedPlatforms: [], ...fields }),
  }
}

interface Listed {
  _id: string
  platformId: string
  server: string | null
  isDefault: boolean
  profile: { handle: string }
  health: { status: string }
}

async function ledgerOf({ control }: Mastodon, username: string): Promise<LedgerEntry[]> {
  return (await controlOf(control).ledger()).filter(({ account }) => account === username)
}

/** Returns the control of the server that the account is on. */
const controlFor = ({ server }: ConnectedAccount) => {
  const mastodon = servers.find(({ url }) => url === server)
  return mastodon ? controlOf(mastodon.control) : world.control
}

const textsOf = async (account: ConnectedAccount) => (await account.published()).map(({ text }) => text)
const inOneMinute = () => new Date(Date.now() + 60_000).toISOString()

describe('a post for several accounts', () => {
  it('each account has its own content, outcome and address', async () => {
    const user = await newUser()
    const [brand, home, other] = [
      await user.addBluesky(),
      await user.addMastodon(servers[0]!),
      await user.addMastodon(servers[1]!),
    ]
    const postId = await user.post({
      selectedPlatforms: ['bluesky', 'mastodon'],
      selectedAccounts: [brand.id, other.id],
      platformSpecificContent: { mastodon: { text: 'For Mastodon' } },
      accountSpecificContent: { [brand.id]: { text: 'For the brand' } },
    })
    const { status, platformStatuses } = await user.until(postId)
    expect(status).toBe('COMPLETED')
    const accounts = [user.first, home, brand, other]
    expect(platformStatuses.map(({ accountId, accountName, server }) => [accountId, accountName, server])).toEqual(
      accounts.map(({ id, handle, server }) => [id, handle, server]),
    )
    expect(await Promise.all(accounts.map(textsOf))).toEqual([
      ['News'],
      ['For Mastodon'],
      ['For the brand'],
      ['For Mastodon'],
    ])
    const records = await Promise.all(accounts.map(async ({ published }) => (await published())[0]!.id))
    expect(platformStatuses.map(({ platformPostId }) => platformPostId)).toEqual(records)
    const { body } = await user.call('GET', `/api/posts/${postId}/timeline`)
    const outcomes = (body.data.events as { type: string; accountId: string }[]).filter(
      ({ type }) => type === 'outcome',
    )
    expect(outcomes.map(({ accountId }) => accountId).toSorted()).toEqual(accounts.map(({ id }) => id).toSorted())
  })

  it.each([
    ['Bluesky', async (user: Someone) => [await user.addBluesky(), await user.addBluesky()]],
    [
      'a Mastodon server that ignores idempotency keys',
      async (user: Someone) => [await user.addMastodon(servers[1]!), await user.addMastodon(servers[1]!)],
    ],
    [
      'an older Mastodon server',
      async (user: Someone) => [await user.addMastodon(servers[2]!), await user.addMastodon(servers[2]!)],
    ],
  ])('equal texts to two accounts on %s stay two posts when both answers are lost', async (_, add) => {
    const user = await newUser()
    const accounts = await add(user)
    const control = controlFor(accounts[0]!)
    for (const call of [PUT_RECORD, STATUSES])
      await control.fault({ ...call, times: 2, action: { dropAfterAccept: true } })
    const { status, platformStatuses } = await user.until(
      await user.post({ selectedAccounts: accounts.map(({ id }) => id) }),
    )
    expect(status).toBe('COMPLETED')
    expect(await control.faults()).toHaveLength(1)
    const records = await Promise.all(accounts.map(({ published }) => published()))
    expect(records.map((one) => one.length)).toEqual([1, 1])
    expect(platformStatuses.map(({ platformPostId }) => platformPostId)).toEqual(records.map(([one]) => one!.id))
  })

  it('a post may have five accounts of a platform', async () => {
    const user = await newUser()
    const accounts = [user.first]
    while (accounts.length < 5) accounts.push(await user.addBluesky())
    const { status } = await user.until(await user.post({ selectedAccounts: accounts.map(({ id }) => id) }))
    expect(status).toBe('COMPLETED')
    expect(await Promise.all(accounts.map(textsOf))).toEqual(accounts.map(() => ['News']))
  })

  it('an account whose login ended fails alone, and a retry may name the accounts', async () => {
    const user = await newUser()
    const [brand, other, third] = [
      await user.addBluesky(),
      await user.addMastodon(servers[0]!),
      await user.addMastodon(servers[2]!),
    ]
    for (const account of [brand, third]) {
      const { control } = account === brand ? world.bluesky : servers[2]!
      await controlOf(control).revoke(account.idOnServer)
    }
    const accounts = [user.first, brand, other, third]
    const postId = await user.post({ selectedAccounts: accounts.map(({ id }) => id) })
    const { status, platformStatuses } = await user.until(postId)
    expect([status, ...platformStatuses.map((entry) => entry.status)]).toEqual([
      'PARTIAL_SUCCESS',
      'completed',
      'failed',
      'completed',
      'failed',
    ])
    const health = (await user.list()).map(({ _id, health: { status: one } }) => [_id, one])
    expect(Object.fromEntries(health)).toEqual({
      [user.first.id]: 'active',
      [brand.id]: 'expired',
      [other.id]: 'active',
      [third.id]: 'expired',
    })

    const retry = (...ids: string[]) => user.call('POST', `/api/posts/${postId}/retry`, { accounts: ids })
    expect((await retry(other.id)).body).toMatchObject({ code: 'NO_FAILED_PLATFORMS' })
    expect((await retry(brand.id)).body.data).toEqual({ postId, retryingPlatforms: ['bluesky'] })
    const after = await user.until(postId)
    const repeated = after.platformStatuses.filter(
      ({ attemptCount }, index) => attemptCount > platformStatuses[index]!.attemptCount,
    )
    expect(repeated.map(({ accountId }) => accountId)).toEqual([brand.id])
    expect(await textsOf(user.first)).toEqual(['News'])

    await brand.connect()
    expect((await user.list()).find(({ _id }) => _id === brand.id)?.health.status).toBe('active')
    await retry(brand.id)
    const { platformStatuses: ended } = await user.until(postId)
    expect(ended.map((entry) => entry.status)).toEqual(['completed', 'completed', 'completed', 'failed'])
    expect(await Promise.all(accounts.map(textsOf))).toEqual([['News'], ['News'], ['News'], []])
  })

  it.each([
    ['Bluesky', (user: Someone) => user.addBluesky()],
    ['Mastodon', (user: Someone) => user.addMastodon(servers[0]!)],
  ])('an account that has used up its allowance on %s waits alone', async (_, add) => {
    const user = await newUser()
    const [limited, other] = [await add(user), await add(user)]
    const control = controlFor(limited)
    const body = JSON.stringify({ error: 'RateLimitExceeded' })
    const action = { status: 429, headers: { 'retry-after': '2' }, body }
    for (const call of [PUT_RECORD, STATUSES]) await control.fault({ ...call, account: limited.idOnServer, action })
    const postId = await user.post({ selectedAccounts: [limited.id, other.id] })
    const { platformStatuses } = await poll(
      () => user.status(postId),
      (data) => data.platformStatuses[1]!.status === 'completed' && data.platformStatuses[0]!.nextAttemptAt !== null,
    )
    expect(platformStatuses[0]).toMatchObject({ status: 'pending', accountId: limited.id })
    await control.clearFaults()
    expect((await user.until(postId)).status).toBe('COMPLETED')
    expect(await Promise.all([limited, other].map(textsOf))).toEqual([['News'], ['News']])
  })

  it('an account that is disconnected while the post waits fails alone', async () => {
    const user = await newUser()
    const brand = await user.addBluesky()
    const scheduledAt = new Date(Date.now() + 15_000).toISOString()
    const postId = await user.post({ selectedPlatforms: ['bluesky'], selectedAccounts: [brand.id], scheduledAt })
    expect((await user.call('DELETE', `/api/platform/accounts/${brand.id}`)).status).toBe(200)
    const { platformStatuses } = await user.until(postId)
    expect(platformStatuses).toMatchObject([
      { accountId: user.first.id, status: 'completed' },
      { accountId: brand.id, accountName: brand.handle, status: 'failed', errorCode: 'PLATFORM_NOT_CONNECTED' },
    ])
    expect(await textsOf(brand)).toEqual([])
  })

  it('a waiting post stays on its account when another one becomes the default', async () => {
    const user = await newUser()
    const brand = await user.addBluesky()
    const scheduledAt = new Date(Date.now() + 15_000).toISOString()
    const postId = await user.post({ selectedPlatforms: ['bluesky'], scheduledAt })
    await user.call('PATCH', `/api/platform/accounts/${brand.id}`, { isDefault: true })
    await user.until(postId)
    expect([await textsOf(user.first), await textsOf(brand)]).toEqual([['News'], []])
    await user.until(await user.post({ selectedPlatforms: ['bluesky'], content: { text: 'Later' } }))
    expect(await textsOf(brand)).toEqual(['Later'])
  })

  it.each<[string, (user: Someone) => Promise<unknown>]>([
    ['disconnected', (user) => user.call('DELETE', '/api/platform/bluesky/disconnect')],
    ['replaced by a new login', async (user) => user.connectNew('')],
  ])('no post moves to another account when the default one is %s', async (_, lose) => {
    const user = await newUser()
    const other = await user.addBluesky()
    const imports = importClient(world.app, { headers: { authorization: `Bearer ${user.secrets.token}` } })
    const byDefault = { selectedPlatforms: ['bluesky'] }
    const later = { ...byDefault, scheduledAt: inOneMinute() }
    const [scheduled, patched, replaced] = [await user.post(later), await user.post(later), await user.post(later)]
    const [draft, original] = [await user.post({ ...byDefault, status: 'DRAFT' }), await user.post(later)]
    const planned = await imports.sendJson([{ content: { text: 'News' }, ...byDefault }])
    await lose(user)

    await user.call('POST', `/api/imports/${planned.body.data.id}/apply`)
    await applyAll(world.context, user.userId, planned.body.data.id)
    const imported = (await imports.rows(planned.body.data.id))[0]!.postId!
    const { data: copy } = (await user.call('POST', `/api/posts/${original}/duplicate`)).body
    const edit = (postId: string, fields: object, method: 'PATCH' | 'PUT' = 'PATCH') =>
      user.call(method, `/api/posts/${postId}`, fields)
    await edit(scheduled, { scheduledAt: null })
    await edit(patched, { content: { text: 'Corrected' }, scheduledAt: null })
    await edit(replaced, { content: { text: 'Corrected' }, ...byDefault, scheduledAt: null }, 'PUT')
    for (const postId of [draft, copy.postId]) await edit(postId, { status: 'PENDING' })
    const all = [scheduled, patched, replaced, draft, copy.postId, imported]
    const notConnected = { accountId: user.first.id, status: 'failed', errorCode: 'PLATFORM_NOT_CONNECTED' }
    for (const postId of all) expect(await user.until(postId)).toMatchObject({ platformStatuses: [notConnected] })
    await user.call('POST', `/api/posts/${scheduled}/retry`)
    expect(await user.until(scheduled)).toMatchObject({ platformStatuses: [notConnected] })

    const moved = await edit(original, { ...byDefault, scheduledAt: null })
    expect(moved.body.data.warnings).toMatchObject([{ code: 'ACCOUNT_CHANGED', platform: 'bluesky' }])
    const { platformStatuses } = await user.until(original)
    const [present] = (await user.list()).filter(({ isDefault }) => isDefault)
    expect(platformStatuses).toMatchObject([{ accountId: present!._id, status: 'completed' }])
    expect((await textsOf(other)).length).toBe(present!._id === other.id ? 1 : 0)
    expect(await textsOf(user.first)).toEqual([])
  })

  it('disconnecting an account lists its waiting posts, or moves them to the account that the user names', async () => {
    const user = await newUser()
    const [brand, other] = [await user.addBluesky(), await user.addBluesky()]
    const scheduledAt = new Date(Date.now() + DAY).toISOString()
    const named = await user.post({ selectedAccounts: [brand.id], scheduledAt })
    const draft = await user.post({ selectedAccounts: [brand.id], status: 'DRAFT' })
    const onBoth = await user.post({ selectedAccounts: [brand.id, other.id], scheduledAt })
    const disconnect = (id: string, query = '') => user.call('DELETE', `/api/platform/accounts/${id}${query}`)
    for (const id of ['x', brand.id])
      expect((await disconnect(brand.id, `?movePostsTo=${id}`)).body).toMatchObject({
        errors: [{ path: 'movePostsTo', code: 'ACCOUNT_NOT_FOUND' }],
      })
    const { body } = await disconnect(brand.id, `?movePostsTo=${other.id}`)
    expect(body.data).toEqual({
      connected: false,
      movedPosts: 2,
      waitingPosts: [{ postId: onBoth, status: 'SCHEDULED', scheduledAt }],
      waitingTotal: 1,
    })
    await user.call('PATCH', `/api/posts/${named}`, { scheduledAt: null })
    expect((await user.until(named)).platformStatuses).toMatchObject([{ accountId: other.id, status: 'completed' }])
    expect(await textsOf(other)).toEqual(['News'])

    const { data } = (await user.call('DELETE', '/api/platform/bluesky/disconnect')).body
    expect(data).toEqual({ connected: false, movedPosts: 0, waitingPosts: [], waitingTotal: 0 })
    expect((await disconnect(other.id)).body.data.waitingPosts.map(({ postId }: { postId: string }) => postId)).toEqual(
      [draft, onBoth],
    )
  })

  it('a server that is gone delays its account alone, and a slow one is awaited', async () => {
    const user = await newUser()
    const [slow, gone] = [await user.addMastodon(servers[0]!), await user.addMastodon(servers[2]!)]
    const control = controlOf(servers[2]!.control)
    await controlOf(servers[0]!.control).fault({ ...STATUSES, times: 1, action: { delayMs: 1_000 } })
    await control.fault({ action: { cut: true } })
    const postId = await user.post({ selectedAccounts: [gone.id, slow.id, user.first.id] })
    const ended = (count: number) => (data: PostStatusData) =>
      data.platformStatuses.filter(({ status }) => status === 'completed').length === count
    const { platformStatuses } = await poll(() => user.status(postId), ended(2))
    expect(platformStatuses[0]!.status).not.toBe('completed')
    await control.clearFaults()
    expect((await user.until(postId)).status).toBe('COMPLETED')
    expect(await Promise.all([gone, slow, user.first].map(textsOf))).toEqual([['News'], ['News'], ['News']])
  })
})

it('the commands of the guide connect three brands and publish on all of them', async () => {
  const api = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const user = await world.user({ connected: false })
  const commands = readCommands('guide/connecting-accounts.md', 'An agency with three brands')
  expect(commands.trim().split('\n').length).toBeLessThanOrEqual(12)
  const env = { TOKEN: user.secrets.token, CONTROL: world.bluesky.control }
  await runCommands(commands.replace('http://localhost:4000', api), env, temporaryFolder())
  const [{ _id: postId }] = (await user.call('GET', '/api/posts')).body.data.posts
  expect((await user.until(postId)).status).toBe('COMPLETED')
  const ledger = await world.control.ledger()
  const published = ledger.filter(({ account }) => /^(north|south|west)\./.test(account))
  expect(Object.fromEntries(published.map(({ account, text }) => [account, text]))).toEqual({
    'north.test': 'We are open on Sunday',
    'south.test': 'We are open on Sunday',
    'west.test': 'We are open on Monday',
  })
})

describe('choosing accounts', () => {
  it('a scheduled post can be changed to other accounts', async () => {
    const user = await newUser()
    const [brand, other] = [await user.addBluesky(), await user.addBluesky()]
    const postId = await user.post({ selectedAccounts: [brand.id], scheduledAt: inOneMinute() })
    const edit = (body: object) => user.call('PATCH', `/api/posts/${postId}`, body)
    expect((await edit({ selectedAccounts: [] })).body).toMatchObject({ errors: [{ path: 'selectedPlatforms' }] })
    expect((await edit({ selectedAccounts: [other.id], scheduledAt: null })).status).toBe(200)
    const { platformStatuses } = await user.until(postId)
    expect(platformStatuses).toMatchObject([{ accountId: other.id, status: 'completed' }])
    expect([await textsOf(brand), await textsOf(other)]).toEqual([[], ['News']])
  })

  it('a post for a group is published once on each account that the group had when the post was stored', async () => {
    const user = await newUser()
    const [brand, other] = [await user.addBluesky(), await user.addBluesky()]
    const created = await user.call('POST', '/api/groups', { name: 'North', accountIds: [user.first.id, brand.id] })
    const { id } = created.body.data
    const postId = await user.post({
      ...{ selectedPlatforms: ['bluesky'], selectedAccounts: [brand.id], selectedGroups: ['north', id] },
      scheduledAt: new Date(Date.now() + 3_000),
    })
    const change = { name: 'South', accountIds: [other.id] }
    expect((await user.call('PATCH', `/api/groups/${id}`, change)).status).toBe(200)
    expect((await user.until(postId)).status).toBe('COMPLETED')
    expect([await textsOf(user.first), await textsOf(brand), await textsOf(other)]).toEqual([['News'], ['News'], []])
    expect((await user.call('GET', `/api/posts/${postId}`)).body.data.post).toMatchObject({
      selectedGroups: [id],
      groups: [{ id, name: 'North', accountIds: [user.first.id, brand.id] }],
    })
  })

  it('accounts of other users and unknown ones are refused', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const create = (body: object) =>
      user.call('POST', '/api/posts', { content: { text: 'News' }, selectedPlatforms: ['bluesky'], ...body })
    for (const id of [other.first.id, 'f'.repeat(24), 'x']) {
      expect(await create({ selectedAccounts: [id] })).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'selectedAccounts.0', code: 'ACCOUNT_NOT_FOUND' }] },
      })
    }
    expect((await create({ selectedPlatforms: [] })).body).toMatchObject({
      errors: [{ path: 'selectedPlatforms', code: 'TOO_SHORT' }],
    })
  })

  it('a text is measured with the limits of the server of each account', async () => {
    const user = await newUser()
    const [home, large] = [await user.addMastodon(servers[0]!), await user.addMastodon(servers[1]!)]
    const { body } = await user.call('POST', '/api/posts/validate', {
      content: { text: 'a'.repeat(700) },
      selectedPlatforms: ['mastodon'],
      selectedAccounts: [large.id],
    })
    expect(body.data).toMatchObject({
      valid: false,
      errors: [{ path: 'content.text', code: 'TEXT_TOO_LONG', platform: 'mastodon' }],
      platforms: { mastodon: { length: 700, limit: 500 } },
      accounts: { [large.id]: { length: 700, limit: 1_000 } },
    })
    expect(home.server).toBe(servers[0]!.url)
  })
})

type Someone = Awaited<ReturnType<typeof newUser>>
