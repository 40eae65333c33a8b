import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bluesky, BlueskyAccount } from '../../../../sandbox/platforms/bluesky.ts'
import { startMastodon, type Mastodon } from '../../../../sandbox/platforms/mastodon.ts'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { buildCallbackUrl } from '../../../../src/domain/accounts/platform-connect.ts'
import { apiWorld, signIn, type ApiWorld } from '../../../support/api.ts'
import { readOutcome } from '../../../support/connecting.ts'
import { testConfig, unique } from '../../../support/servers.ts'
import { workerBluesky } from '../../../support/worker-bluesky.ts'

/** Several accounts of one user on a platform, on the real Bluesky server and two Mastodon servers. */

const LIMIT = 6

let bluesky: Bluesky
let home: Mastodon
let other: Mastodon
let world: ApiWorld

beforeAll(async () => {
  ;[bluesky, home, other] = await Promise.all([
    workerBluesky(),
    startMastodon(),
    startMastodon({ version: '4.2.1', maxCharacters: 5_000 }),
  ])
  const redirectUris = [buildCallbackUrl(testConfig().PUBLIC_URL, 'mastodon')]
  const { clientId, clientSecret } = home.createApp({ name: 'postonce', redirectUris })
  world = await apiWorld({
    BLUESKY_ENTRY_URL: bluesky.url,
    BLUESKY_DIRECTORY_URL: bluesky.directoryUrl,
    MASTODON_INSTANCE_URL: home.url,
    MASTODON_CLIENT_ID: clientId,
    MASTODON_CLIENT_SECRET: clientSecret,
    ALLOWED_PRIVATE_SERVERS: other.url,
    PLAN_FREE_MAX_ACCOUNTS: LIMIT,
  })
})
afterAll(async () => {
  await world?.close()
  await Promise.all([bluesky?.reset(), home?.stop(), other?.stop()])
})

async function newUser() {
  const { user, headers } = await signIn(world.context)

  async function call(method: NonNullable<InjectOptions['method']>, path: string, payload?: object) {
    const url = `/api/platform${path}`
    const response = await world.app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: response.statusCode, body: response.json() }
  }

  /** Connects a new Bluesky account and returns it. */
  async function connect(query = ''): Promise<BlueskyAccount> {
    const account = await bluesky.createAccount({ handle: `${unique('a').replace('-', '')}.test` })
    expect((await log(account, query)).status).toBe(200)
    return account
  }
  const log = ({ handle, appPassword }: BlueskyAccount, query = '') =>
    call('POST', `/bluesky/connect${query}`, { identifier: handle, appPassword })

  /** Connects an account on the page of a Mastodon server, and returns the query of the settings page. */
  async function connectOn(server: Mastodon, begun: Promise<{ body: { data: { authUrl: string } } }>) {
    const { id } = server.createAccount({ username: unique('m').replace('-', ''), displayName: 'Ann' })
    const { pathname, search } = new URL(await consent((await begun).body.data.authUrl, id))
    const response = await world.app.inject({ url: `${pathname}${search}` })
    return readOutcome(String(response.headers.location))
  }

  const list = async () => (await call('GET', '/accounts')).body.data as AccountView[]
  const find = async () => (await call('GET', '/find')).body.data
  return { userId: user._id, call, connect, log, connectOn, list, find }
}

interface AccountView {
  _id: string
  platform: string
  platformId: string
  server: string | null
  isDefault: boolean
  label: string | null
  health: { status: string }
}

const ADD = '?replace=false'

describe('several accounts of a user', () => {
  it('the default comes first, and is the one that a frontend for one account per platform sees', async () => {
    const { connect, list, find, call } = await newUser()
    const [first, second] = [await connect(), await connect(ADD)]
    expect((await list()).map(({ platformId, isDefault }) => [platformId, isDefault])).toEqual([
      [first.did, true],
      [second.did, false],
    ])
    expect((await find()).bluesky).toMatchObject({ did: first.did })
    const { _id } = (await list())[1]!
    const changed = await call('PATCH', `/accounts/${_id}`, { isDefault: true, label: ' Second ' })
    expect(changed).toMatchObject({ status: 200, body: { data: { _id, isDefault: true, label: 'Second' } } })
    expect((await list()).map(({ platformId, isDefault }) => [platformId, isDefault])).toEqual([
      [second.did, true],
      [first.did, false],
    ])
    expect((await find()).bluesky).toMatchObject({ did: second.did })
    expect((await call('PATCH', `/accounts/${_id}`, { label: null })).body.data.label).toBeNull()
  })

  it('a connect without replace=false takes the place of the default account alone', async () => {
    const { connect, list } = await newUser()
    await connect()
    const [second, third] = [await connect(ADD), await connect()]
    expect((await list()).map(({ platformId }) => platformId)).toEqual([third.did, second.did])
  })

  it('connecting a connected account again changes no other account', async () => {
    const { connect, log, list } = await newUser()
    await connect()
    const second = await connect(ADD)
    const before = await list()
    for (const query of ['', ADD]) expect((await log(second, query)).status).toBe(200)
    expect((await list()).map(({ _id, isDefault }) => [_id, isDefault])).toEqual(
      before.map(({ _id, isDefault }) => [_id, isDefault]),
    )
  })

  it('an account that its platform logged out is refreshed in vain, and the other one with success', async () => {
    const { connect, list, call } = await newUser()
    const [first] = [await connect(), await connect(ADD)]
    await fetch(`${bluesky.control}/accounts/${encodeURIComponent(first.did)}/revoke`, { method: 'POST' })
    const [one, two] = await list()
    expect(await call('POST', `/accounts/${one!._id}/refresh`)).toMatchObject({
      status: 409,
      body: { code: 'RECONNECT_REQUIRED' },
    })
    expect(await call('POST', `/accounts/${two!._id}/refresh`)).toMatchObject({
      status: 200,
      body: { data: { _id: two!._id, health: { status: 'active' } } },
    })
    expect((await list()).map(({ health }) => health.status)).toEqual(['expired', 'active'])
  })

  it('disconnecting the default account makes the other one the default, whose login still works', async () => {
    const { connect, list, call } = await newUser()
    await connect()
    const second = await connect(ADD)
    const [{ _id } = { _id: '' }] = await list()
    expect(await call('DELETE', `/accounts/${_id}`)).toMatchObject({
      status: 200,
      body: { data: { connected: false } },
    })
    expect(await list()).toMatchObject([{ platformId: second.did, isDefault: true }])
    expect((await call('GET', '/bluesky/refresh')).status).toBe(200)
    expect((await call('DELETE', `/accounts/${_id}`)).status).toBe(404)
  })

  it('accounts on two Mastodon servers have their own server and limits', async () => {
    const { connectOn, call, list } = await newUser()
    expect(await connectOn(home, call('GET', '/mastodon/connect'))).toBe('?success=mastodon_connected')
    const begun = call('POST', `/mastodon/connect${ADD}`, { instance: other.url })
    expect(await connectOn(other, begun)).toBe('?success=mastodon_connected')
    const accounts = await list()
    expect(accounts.map(({ server, isDefault }) => [server, isDefault])).toEqual([
      [home.url, true],
      [other.url, false],
    ])
    for (const { _id } of accounts) expect((await call('POST', `/accounts/${_id}/refresh`)).status).toBe(200)
    const lengthOn = async (query = '') => (await call('GET', `/limits${query}`)).body.data.mastodon.text[0].max
    const [first, second] = accounts.map(({ _id }) => _id)
    expect([await lengthOn(), await lengthOn(`?account=${second}`)]).toEqual([500, 5_000])
    await call('PATCH', `/accounts/${second}`, { isDefault: true })
    expect([await lengthOn(), await lengthOn(`?account=${first}`)]).toEqual([5_000, 500])
    expect((await (await newUser()).call('GET', `/limits?account=${first}`)).status).toBe(404)
  })

  it('more accounts than the plan allows are refused, also when they are connected concurrently', async () => {
    const { connect, log, list, connectOn, call } = await newUser()
    for (let count = 2; count < LIMIT; count++) await connect(ADD)
    const accounts = await Promise.all(
      Array.from({ length: 4 }, () => bluesky.createAccount({ handle: `${unique('a').replace('-', '')}.test` })),
    )
    const results = await Promise.all(accounts.map((account) => log(account, ADD)))
    expect(results.map(({ status }) => status).toSorted((one, two) => one - two)).toEqual([200, 200, 403, 403])
    expect(results.find(({ status }) => status === 403)!.body).toMatchObject({
      code: 'ACCOUNT_LIMIT_REACHED',
      message: `Your plan allows ${LIMIT} connected accounts. Disconnect one, or upgrade your plan.`,
    })
    expect(await connectOn(home, call('GET', '/mastodon/connect'))).toBe('?error=mastodon_connect_failed')
    expect(await list()).toHaveLength(LIMIT)
  })
})
