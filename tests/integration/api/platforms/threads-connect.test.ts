import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { startThreads, type Threads } from '../../../../sandbox/platforms/threads.ts'
import { buildApp } from '../../../../src/api/app.ts'
import type { Context } from '../../../../src/context.ts'
import { buildCallbackUrl } from '../../../../src/domain/accounts/platform-connect.ts'
import { DAY, MINUTE } from '../../../../src/domain/shared/times.ts'
import { connecting, testConnections } from '../../../support/connecting.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { testConfig, testContext } from '../../../support/servers.ts'

const CONNECTED = '?success=threads_connected'
const AUTH_FAILED = '?error=threads_auth_failed'
const CONNECT_FAILED = '?error=threads_connect_failed'

const SHORT_TOKEN = '/oauth/access_token'
const LONG_TOKEN = 'th_exchange_token'
const PROFILE = '/v1.0/me'
const ALLOWANCE = 'threads_publishing_limit'

let threads: Threads
let control: Control
let context: Context
let app: FastifyInstance
let { follow, someone } = {} as ReturnType<typeof connecting>

beforeAll(async () => {
  threads = await startThreads()
  control = controlOf(threads.control)
  const redirectUris = [buildCallbackUrl(testConfig().PUBLIC_URL, 'threads')]
  const { id, secret } = threads.createApp({ name: 'postonce', redirectUris })
  context = await testContext({
    THREADS_APP_ID: id,
    THREADS_APP_SECRET: secret,
    THREADS_AUTHORIZE_URL: threads.url,
    THREADS_GRAPH_URL: threads.url,
  })
  app = await buildApp(context)
  ;({ follow, someone } = connecting('threads', context, app))
})

afterEach(() => control.clearFaults())

afterAll(async () => {
  await app?.close()
  await context?.close()
  await threads?.stop()
})

const newAccount = () => threads.createAccount({ username: `t${randomBytes(6).toString('hex')}`, name: 'Ann' })
const signal = () => AbortSignal.timeout(MINUTE)

async function connected() {
  const [user, account] = [await someone(), newAccount()]
  expect(await user.connect(account.id)).toBe(CONNECTED)
  const tokenOf = async () => (await context.credentials.get(user.userId, 'threads', { signal: signal() }))!.accessToken
  return { ...user, account, tokenOf }
}

describe('connecting a Threads account', () => {
  it('connect lists the account with the specified fields', async () => {
    const { account, find } = await connected()
    const { data } = (await find()).body
    expect(data.threads).toMatchObject({
      connected: true,
      platformId: account.id,
      profile: { displayName: 'Ann', handle: account.username },
      health: { status: 'active', needsReconnection: false },
    })
    const daysLeft = (Date.parse(data.threads.health.expiresAt) - Date.now()) / DAY
    expect(daysLeft).toBeCloseTo(60, 0)
  })

  it('the token is left out of responses and encrypted in the database', async () => {
    const user = await connected()
    const token = await user.tokenOf()
    const stored = await context.database.connection.collection('accounts').find({ userId: user.userId }).toArray()
    for (const text of [JSON.stringify(stored), (await user.find()).text, (await user.refresh()).text]) {
      expect(text).not.toContain(token)
    }
  })

  it('a denied login stores nothing and calls nothing', async () => {
    const user = await someone()
    const before = (await control.requests()).length
    expect(await user.connect(newAccount().id, 'deny')).toBe(AUTH_FAILED)
    const since = (await control.requests()).slice(before)
    expect(since.filter(({ path }) => !path.startsWith('/oauth/authorize'))).toEqual([])
    expect(await user.stored()).toBeNull()
  })

  it('connect stores nothing without the permission to publish', async () => {
    const user = await someone()
    const body = new URLSearchParams({
      account: newAccount().id,
      decision: 'allow',
      decline: 'threads_content_publish',
    })
    const answer = await fetch(await user.authUrl(), { method: 'POST', body, redirect: 'manual' })
    expect(await follow(answer.headers.get('location')!)).toBe(AUTH_FAILED)
    expect(await user.stored()).toBeNull()
  })

  it.each([SHORT_TOKEN, LONG_TOKEN, PROFILE, ALLOWANCE])('connect stores nothing when %s fails', async (path) => {
    const user = await someone()
    const callback = await consent(await user.authUrl(), newAccount().id)
    await control.fault({ path, times: 1, action: { status: 500 } })
    expect(await follow(callback)).toBe(CONNECT_FAILED)
    expect(await user.stored()).toBeNull()
  })
})

describe('a connected Threads account', () => {
  testConnections({
    platform: 'threads',
    async connected() {
      const user = await connected()
      return { ...user, login: user.account.id, accountId: user.account.id }
    },
    someone: () => someone(),
    control: () => control,
    profilePath: PROFILE,
  })

  it('a refresh updates the profile and keeps the token', async () => {
    const user = await connected()
    const token = await user.tokenOf()
    const name = { id: user.account.id, username: user.account.username, name: 'Ann the Second' }
    await control.fault({ path: PROFILE, times: 1, action: { status: 200, body: name } })
    const { status, body } = await user.refresh()
    expect(status).toBe(200)
    expect(body.data.profile.displayName).toBe('Ann the Second')
    expect(await user.tokenOf()).toBe(token)
  })

  it('another user can connect a disconnected account', async () => {
    const [user, other] = [await connected(), await someone()]
    expect((await user.disconnect()).status).toBe(200)
    expect((await user.find()).body.data.threads).toEqual({ connected: false })
    expect(await other.connect(user.account.id)).toBe(CONNECTED)
  })
})
