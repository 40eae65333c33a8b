import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { FaultAction } from '../../../../sandbox/platforms/faults.ts'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { buildApp } from '../../../../src/api/app.ts'
import type { Config } from '../../../../src/config/schema.ts'
import type { Context } from '../../../../src/context.ts'
import { buildCallbackUrl } from '../../../../src/domain/accounts/platform-connect.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import { connecting } from '../../../support/connecting.ts'
import { hasPausedCalls } from '../../../support/paused-calls.ts'
import { controlOf, type Control } from '../../../support/platform-control.ts'
import { testConfig, testContext } from '../../../support/servers.ts'

/** An account at the simulator that a user can connect. */
export interface NewAccount {
  /** The id that the login page lists. */
  login: string
  /** The id of the connected account. */
  accountId: string
}

export interface Simulator<Account extends NewAccount> {
  /** The URLs of its control interfaces, that of the suite's platform first. */
  controls: [string, ...string[]]
  /** Registers the service as an application, and returns its settings. */
  register(callbackUrl: string): Partial<Config>
  newAccount(): Account
  stop(): Promise<void>
}

/** The differences between the platforms that users connect on a page of the platform. */
interface Description<Account extends NewAccount> {
  platform: Platform
  start(): Promise<Simulator<Account>>
  /** The page on which users log in, and some of its parameters. */
  page(callbackUrl: string, config: Config): { address: string; parameters: object }
  /** Some fields of the connected account in `GET /api/platform/find`. */
  fieldsOf(account: Account): object
  /** Parts of the paths of calls: the exchange of the callback, and the last call that connecting needs. */
  exchangePath: string
  lastPath: string
  /** Part of the path of the call that reads the account's profile later. */
  profilePath(account: Account): string
  /** The id with which the control interface ends the account's login. */
  revokedId(account: Account): string
  /** The responses with which the platform refuses this service, and asks it to slow down. */
  refusal: FaultAction
  rateLimit: FaultAction
  /** True when a rate limit of the exchange pauses the service's calls. */
  pausesExchanges: boolean
  /** Failures of further calls: what fails, part of the path, the response, and whether the platform refused the login. */
  failures: [what: string, path: string, action: FaultAction, end: 'auth_failed' | 'connect_failed'][]
}

/**
 * Tests the connections of a platform whose users connect on its own page, with the whole API. Callbacks that are refused,
 * denied, replayed or unanswered are tested for all platforms in `oauth-refusals.test.ts`.
 */
export function connectSuite<Account extends NewAccount>(description: Description<Account>) {
  const {
    platform,
    page,
    fieldsOf,
    exchangePath,
    lastPath,
    profilePath,
    revokedId,
    refusal,
    rateLimit,
    pausesExchanges,
  } = description
  const CONNECTED = `?success=${platform}_connected`
  const CONNECT_FAILED = `?error=${platform}_connect_failed`
  const STATE_INVALID = `?error=${platform}_state_invalid`

  let simulator: Simulator<Account>
  let controls: Control[]
  let context: Context
  let app: FastifyInstance
  let { follow, newUser } = {} as ReturnType<typeof connecting>

  beforeAll(async () => {
    simulator = await description.start()
    controls = simulator.controls.map((url) => controlOf(url))
    await startService()
  })
  afterEach(async () => {
    for (const control of controls) await control.clearFaults()
    if (await hasPausedCalls(context)) {
      await stopService()
      await startService()
    }
  })
  afterAll(async () => {
    await stopService()
    await simulator?.stop()
  })

  const callbackUrl = () => buildCallbackUrl(testConfig().PUBLIC_URL, platform)

  /** Starts the service as an application of its own. */
  async function startService(): Promise<void> {
    context = await testContext(simulator.register(callbackUrl()))
    app = await buildApp(context)
    ;({ follow, newUser } = connecting(platform, context, app))
  }

  async function stopService(): Promise<void> {
    await app?.close()
    await context?.close()
  }

  const control = () => controls[0]!
  const signal = () => AbortSignal.timeout(MINUTE)

  /** Creates a user with a connected account. */
  async function connected() {
    const [user, account] = [await newUser(), simulator.newAccount()]
    expect(await user.connect(account.login)).toBe(CONNECTED)
    const credentials = async () => (await context.credentials.get(user.userId, platform, { signal: signal() }))!
    return { ...user, account, credentials }
  }

  /** The user's connected platforms: one login may connect several. */
  const platformsOf = async (userId: string) => [...(await context.accounts.connectedPlatforms(userId))]

  describe(`connecting ${platform}`, () => {
    it("the connect URL opens the platform's own page, and its callback carries the user's state", async () => {
      const user = await newUser()
      const url = await user.authUrl()
      const { origin, pathname, searchParams } = new URL(url)
      const { address, parameters } = page(callbackUrl(), context.config)
      expect(`${origin}${pathname}`).toBe(address)
      expect(Object.fromEntries(searchParams)).toMatchObject(parameters)
      expect((await fetch(url)).status).toBe(200)
      const callback = new URL(await consent(url, simulator.newAccount().login))
      expect(callback.searchParams.get('state')).toMatch(new RegExp(`^${user.userId}\\.`))
    })

    it('a connected account is listed with the specified fields', async () => {
      const { account, find } = await connected()
      expect((await find()).body.data[platform]).toMatchObject({
        connected: true,
        platformId: account.accountId,
        health: { status: 'active', needsReconnection: false },
        ...fieldsOf(account),
      })
    })

    it('tokens and secrets are left out of responses and encrypted in the database', async () => {
      const user = await connected()
      const requestToken = new URL(await user.authUrl()).searchParams.get('oauth_token')
      const secrets = requestToken === null ? [] : [requestToken]
      for (const one of await platformsOf(user.userId)) {
        const { accessToken, tokenSecret } = (await context.credentials.get(user.userId, one, { signal: signal() }))!
        secrets.push(accessToken, ...(tokenSecret === undefined ? [] : [tokenSecret]))
      }
      const { connection } = context.database
      const stored = [
        await connection.collection('accounts').find({ userId: user.userId }).toArray(),
        await connection.collection('connectAttempts').find({ userId: user.userId }).toArray(),
      ]
      expect(stored.map(({ length }) => length > 0)).toEqual([true, true])
      for (const text of [JSON.stringify(stored), (await user.find()).text, (await user.refresh()).text]) {
        for (const secret of secrets) expect(text).not.toContain(secret)
      }
    })

    it.each<[string, string, FaultAction, string]>([
      ['the exchange, breaking off', exchangePath, { truncate: 20 }, 'connect_failed'],
      ['the exchange, losing its response', exchangePath, { dropAfterAccept: true }, 'connect_failed'],
      ['the exchange, refusing the service', exchangePath, refusal, 'auth_failed'],
      ['the last call', lastPath, { status: 503, body: {} }, 'connect_failed'],
      ...description.failures,
    ])('nothing is stored when connecting fails at %s, and the attempt is used up', async (_, path, action, end) => {
      const user = await newUser()
      const callback = await consent(await user.authUrl(), simulator.newAccount().login)
      await control().fault({ path, action })
      expect(await follow(callback)).toBe(`?error=${platform}_${end}`)
      await control().clearFaults()
      expect(await follow(callback)).toBe(STATE_INVALID)
      expect(await platformsOf(user.userId)).toEqual([])
    })

    it('nothing is stored when the platform asks to slow down, and the attempt is used up', async () => {
      const user = await newUser()
      const callback = await consent(await user.authUrl(), simulator.newAccount().login)
      await control().fault({ path: exchangePath, action: rateLimit })
      expect(await follow(callback)).toBe(CONNECT_FAILED)
      expect(await follow(callback)).toBe(STATE_INVALID)
      expect(await platformsOf(user.userId)).toEqual([])
      // Later tests start a service without this pause, which is stored after the response.
      await expect.poll(() => hasPausedCalls(context)).toBe(pausesExchanges)
    })

    it("another user's account cannot be connected, and its owner's connection stays valid", async () => {
      const [owner, other] = [await connected(), await newUser()]
      const platforms = await platformsOf(owner.userId)
      expect(await other.connect(owner.account.login)).toBe(CONNECT_FAILED)
      expect(await platformsOf(other.userId)).toEqual([])
      expect(await owner.refresh()).toMatchObject({ status: 200 })
      expect(await platformsOf(owner.userId)).toEqual(platforms)
    })

    it('connecting another account replaces the first', async () => {
      const [user, second] = [await connected(), simulator.newAccount()]
      expect(await user.connect(second.login)).toBe(CONNECTED)
      expect(await user.stored()).toMatchObject({ platformId: second.accountId, version: 2 })
      expect(await user.refresh()).toMatchObject({ status: 200, body: { data: { platformId: second.accountId } } })
    })

    it('a reconnected account works', async () => {
      const user = await connected()
      expect(await user.connect(user.account.login)).toBe(CONNECTED)
      expect(await user.refresh()).toMatchObject({ status: 200 })
    })

    it('a failed reconnect keeps the first connection valid', async () => {
      const user = await connected()
      const platforms = await platformsOf(user.userId)
      const callback = await consent(await user.authUrl(), user.account.login)
      await control().fault({ path: lastPath, times: 1, action: { status: 503, body: {} } })
      expect(await follow(callback)).toBe(CONNECT_FAILED)
      expect(await user.refresh()).toMatchObject({ status: 200 })
      expect(await platformsOf(user.userId)).toEqual(platforms)
    })
  })

  describe(`a connected account on ${platform}`, () => {
    it('an account whose login was revoked requires a reconnect and works again afterwards', async () => {
      const user = await connected()
      await control().revoke(revokedId(user.account))
      expect(await user.refresh()).toMatchObject({ status: 409, body: { code: 'RECONNECT_REQUIRED' } })
      const { health } = (await user.find()).body.data[platform]
      expect(health).toMatchObject({ status: 'expired', needsReconnection: true })
      expect(await user.connect(user.account.login)).toBe(CONNECTED)
      expect(await user.refresh()).toMatchObject({ status: 200, body: { data: { health: { status: 'active' } } } })
    })

    it('an account keeps its profile while the platform is unavailable', async () => {
      const user = await connected()
      const before = (await user.find()).body.data[platform].profile
      await control().fault({ path: profilePath(user.account), action: { status: 503, body: {} } })
      expect(await user.refresh()).toMatchObject({ status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } })
      const after = (await user.find()).body.data[platform]
      expect(after).toMatchObject({ profile: before, health: { status: 'active' } })
    })

    it('disconnecting removes the account with its secrets', async () => {
      const user = await connected()
      expect(await user.disconnect()).toMatchObject({ status: 200, body: { data: { connected: false } } })
      const accounts = context.database.connection.collection('accounts')
      expect(await accounts.findOne({ userId: user.userId, platform })).toEqual({
        ...{ _id: expect.any(String), userId: user.userId, platform, connected: false },
        ...{ version: 1, isDefault: false, endings: [expect.any(Date)] },
      })
      expect(await platformsOf(user.userId)).toEqual([])
      expect((await user.find()).body.data[platform]).toEqual({ connected: false })
      expect(await user.refresh()).toMatchObject({ status: 400, body: { code: 'PLATFORM_NOT_CONNECTED' } })
    })

    it('another user can connect a disconnected account', async () => {
      const [user, other] = [await connected(), await newUser()]
      const platforms = await platformsOf(user.userId)
      await user.disconnect()
      expect(await other.connect(user.account.login)).toBe(CONNECTED)
      expect(await platformsOf(other.userId)).toEqual(platforms)
    })
  })

  /** For the cases of one platform. The service may restart between them, so they ask for its parts anew. */
  return {
    simulator: () => simulator,
    context: () => context,
    control,
    newUser: () => newUser(),
    follow: (location: string) => follow(location),
    connected,
    platformsOf,
    signal,
  }
}
