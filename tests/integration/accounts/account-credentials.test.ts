import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { createTokenCipher } from '../../../src/security/token-cipher.ts'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { gate, rotatingPlatform, shiftableClock, startProcess } from './world.ts'
import { CONNECT_OPTIONS } from '../../support/published.ts'

const signal = new AbortController().signal
const inMs = (ms: number) => new Date(Date.now() + ms)

/** A user with one connected account, used by two processes. */
async function connected(life?: Parameters<ReturnType<typeof rotatingPlatform>['login']>[1]) {
  const platform = rotatingPlatform()
  const [here, there] = await Promise.all([startProcess(platform.adapter), startProcess(platform.adapter)])
  const userId = newId()
  await here.connect(userId, platform.login(undefined, life))
  const stored = () => here.accounts.findDefault(userId, 'bluesky')
  const health = async () => (await stored())?.health
  const current = async (): Promise<Credentials> =>
    (await here.credentials.get(userId, 'bluesky', { signal, minLifeMs: -Infinity }))!
  return { platform, here, there, userId, stored, health, current }
}

/** Resolves when this process has found the lease taken by another one. */
function foundLeaseTaken({ accounts }: Awaited<ReturnType<typeof startProcess>>): Promise<void> {
  const { opened, open } = gate()
  const takeLease = accounts.takeLease
  vi.spyOn(accounts, 'takeLease').mockImplementation(async (...args) => {
    const taken = await takeLease(...args)
    if (!taken) open()
    return taken
  })
  return opened
}

describe('account credentials', () => {
  it('credentials are returned as they were connected', async () => {
    const { platform, here, userId } = await connected()
    const secrets = platform.login()
    await here.connect(userId, secrets)
    expect(await here.credentials.get(userId, 'bluesky', { signal })).toEqual({ ...secrets, userId, version: 2 })
    expect(platform.calls).toEqual([])
  })

  it('credentials are null for a platform that is not connected', async () => {
    const { here, userId } = await connected()
    expect(await here.credentials.get(newId(), 'bluesky', { signal })).toBeNull()
    expect(await here.credentials.get(userId, 'mastodon', { signal })).toBeNull()
    await here.disconnect(userId)
    expect(await here.credentials.get(userId, 'bluesky', { signal })).toBeNull()
  })

  it('credentials are sealed in the database', async () => {
    const { here, userId, current } = await connected()
    const { accessToken, refreshToken } = await current()
    const text = JSON.stringify(await here.raw(userId))
    expect(text).toContain('"accessToken":"v1.test.')
    expect(text).not.toContain(accessToken)
    expect(text).not.toContain(refreshToken)
  })

  it('credentials with less remaining life than requested are renewed first', async () => {
    const { platform, here, userId } = await connected({ expiresAt: inMs(11 * MINUTE) })
    expect((await here.credentials.get(userId, 'bluesky', { signal }))?.version).toBe(1)
    expect((await here.credentials.get(userId, 'bluesky', { signal, minLifeMs: 12 * MINUTE }))?.version).toBe(2)
    expect(platform.calls).toHaveLength(1)
  })

  it('credentials that cannot be renewed are used until they expire, then an error says so', async () => {
    const { platform, here, userId } = await connected({ expiresAt: inMs(5 * MINUTE) })
    platform.answerBy(() => {
      throw new PlatformError('transient', 'Bluesky is down', { certain: false })
    })
    expect((await here.credentials.get(userId, 'bluesky', { signal }))?.version).toBe(1)
    expect(platform.calls).toHaveLength(1)

    await here.connect(userId, platform.login(undefined, { expiresAt: inMs(-1) }))
    await expect(here.credentials.get(userId, 'bluesky', { signal })).rejects.toMatchObject({
      class: 'transient',
      certain: true,
      message: 'Bluesky is down',
    })
  })

  it.each([
    ['is missing', 'k1'],
    ['was replaced under the same id', 'test'],
  ])('credentials whose encryption key %s wait for it, and no account is marked', async (_, keyId) => {
    const { platform, here, userId, health } = await connected()
    const before = await health()
    const unreadable: string[] = []
    const keys = `${keyId}:${randomBytes(32).toString('base64')}`
    const otherKeys = createTokenCipher(keys, (id) => unreadable.push(id))
    const { credentials } = await startProcess(platform.adapter, { cipher: otherKeys })
    for (const read of [
      () => credentials.get(userId, 'bluesky', { signal }),
      async () =>
        credentials.renew(userId, 'bluesky', (await here.credentials.get(userId, 'bluesky', { signal }))!, { signal }),
    ]) {
      await expect(read()).rejects.toMatchObject({ name: 'CredentialsUnreadable', class: 'transient', certain: true })
    }
    expect(unreadable).toEqual(['test', 'test'])
    expect(await health()).toEqual(before)
    expect(await here.notifications.listOf(userId, 10)).toEqual([])
    expect((await here.credentials.get(userId, 'bluesky', { signal }))?.version).toBe(1)
  })

  it('credentials copied to another user cannot be opened', async () => {
    const { here, userId, stored } = await connected()
    const thief = newId()
    const { auth } = (await stored())!
    const copied = () => ({
      platformId: newId(),
      handle: 'thief.test',
      server: null,
      profile: { displayName: '', handle: 'thief.test', avatar: null },
      auth,
    })
    await here.accounts.connect(thief, { platform: 'bluesky', seal: copied }, CONNECT_OPTIONS)
    await expect(here.credentials.get(thief, 'bluesky', { signal })).rejects.toMatchObject({
      name: 'CredentialsUnreadable',
    })
    expect(await here.credentials.get(userId, 'bluesky', { signal })).not.toBeNull()
  })
})

describe('renewing credentials', () => {
  it('twenty callers in two processes with one expired rotating token cause one renewal', async () => {
    const { platform, here, there, userId } = await connected({ expiresAt: inMs(-MINUTE) })
    const { opened, open } = gate()
    platform.answerBy(async (rotate) => {
      await opened
      return rotate()
    })
    const waiting = Promise.race([foundLeaseTaken(here), foundLeaseTaken(there)])
    const callers = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? here : there).credentials.get(userId, 'bluesky', { signal }),
    )
    await waiting
    open()
    const got = await Promise.all(callers)
    expect(platform.calls).toHaveLength(1)
    expect(new Set(got.map((credentials) => credentials?.version))).toEqual(new Set([2]))
    expect(new Set(got.map((credentials) => credentials?.accessToken)).size).toBe(1)
  })

  it('the same version reported as refused twice in a row causes one renewal', async () => {
    const { platform, here, there, userId, current } = await connected()
    const refused = await current()
    const first = await here.credentials.renew(userId, 'bluesky', refused, { signal })
    const second = await there.credentials.renew(userId, 'bluesky', refused, { signal })
    const third = await here.credentials.renew(userId, 'bluesky', refused, { signal })
    expect(platform.calls).toHaveLength(1)
    expect([first.version, second.version, third.version]).toEqual([2, 2, 2])
    expect(first.accessToken).not.toBe(refused.accessToken)
    expect(second).toEqual(first)
    expect(third).toEqual(first)
  })

  it('many rotations cause one renewal per version', async () => {
    const { platform, here, there, userId, current } = await connected()
    for (let rotation = 1; rotation <= 5; rotation += 1) {
      const refused = await current()
      await Promise.all(
        [here, there, here, there].map(({ credentials }) => credentials.renew(userId, 'bluesky', refused, { signal })),
      )
      expect(platform.calls).toHaveLength(rotation)
    }
    expect((await current()).version).toBe(6)
  })

  it('a renewal continues and is saved after its caller gives up', async () => {
    const { platform, here, userId, current } = await connected()
    const { opened, open } = gate()
    const renewalStarted = gate()
    platform.answerBy(async (rotate) => {
      renewalStarted.open()
      await opened
      return rotate()
    })
    const giveUp = new AbortController()
    const refused = await current()
    const impatient = here.credentials.renew(userId, 'bluesky', refused, { signal: giveUp.signal })
    await renewalStarted.opened
    giveUp.abort(new Error('Too late'))
    await expect(impatient).rejects.toThrow('Too late')
    const patient = here.credentials.renew(userId, 'bluesky', refused, { signal })
    open()
    expect((await patient).version).toBe(2)
    expect((await current()).version).toBe(2)
    expect(platform.calls).toHaveLength(1)
  })

  it('a refused renewal marks the connection expired and notifies the user once', async () => {
    const { platform, here, there, userId, current, stored } = await connected()
    const refused = await current()
    platform.answerBy(() => {
      throw new PlatformError('unauthorized', 'Bluesky asks for a new login', { certain: true })
    })
    const callers = [here, there, here, there].map(({ credentials }) =>
      credentials.renew(userId, 'bluesky', refused, { signal }),
    )
    for (const result of await Promise.allSettled(callers)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { class: 'unauthorized' } })
    }
    expect(platform.calls).toHaveLength(1)
    expect(await stored()).toMatchObject({
      health: { status: 'expired', lastError: 'Bluesky asks for a new login' },
      version: 1,
    })
    expect(await here.notifications.listOf(userId, 10)).toMatchObject([
      { type: 'warning', reference: { id: 'bluesky' } },
    ])

    await expect(there.credentials.get(userId, 'bluesky', { signal })).rejects.toMatchObject({ class: 'unauthorized' })
    await expect(there.credentials.renew(userId, 'bluesky', refused, { signal })).rejects.toMatchObject({
      class: 'unauthorized',
    })
    expect(platform.calls).toHaveLength(1)
  })

  it('a refused connection without renewable logins is marked expired, with one notification', async () => {
    const { renew: _, ...adapter } = rotatingPlatform().adapter
    const here = await startProcess(adapter)
    const userId = newId()
    await here.connect(userId, rotatingPlatform().login())
    const refused = (await here.credentials.get(userId, 'bluesky', { signal }))!
    for (let call = 0; call < 2; call++) {
      await expect(here.credentials.renew(userId, 'bluesky', refused, { signal })).rejects.toMatchObject({
        class: 'unauthorized',
      })
    }
    expect((await here.accounts.findDefault(userId, 'bluesky'))?.health.status).toBe('expired')
    expect(await here.notifications.listOf(userId, 10)).toHaveLength(1)
  })

  it.each([
    ['a 5xx', () => new PlatformError('transient', 'Bluesky is down', { certain: false }), 'transient'],
    ['a 429', () => new PlatformError('rate_limited', 'Wait', { certain: true, retryAfterMs: 1 }), 'rate_limited'],
    ['missing rights', () => new PlatformError('permission', 'Not allowed', { certain: true }), 'permission'],
  ])('a renewal leaves health unchanged on %s', async (_case, failure, errorClass) => {
    const { platform, here, userId, current, health } = await connected()
    platform.answerBy(() => {
      throw failure()
    })
    const before = await health()
    await expect(here.credentials.renew(userId, 'bluesky', await current(), { signal })).rejects.toMatchObject({
      class: errorClass,
      certain: true,
    })
    expect(await health()).toEqual(before)
    expect(await here.notifications.listOf(userId, 10)).toEqual([])
  })

  it('a hanging renewal ends at its deadline and leaves health unchanged', async () => {
    const { platform, userId, current, health } = await connected()
    const { credentials } = await startProcess(platform.adapter, { renewalTimeoutMs: 200 })
    platform.answerBy(() => new Promise(() => {}))
    const refused = await current()
    await expect(credentials.renew(userId, 'bluesky', refused, { signal })).rejects.toMatchObject({
      class: 'transient',
      certain: true,
    })
    expect(await health()).toMatchObject({ status: 'active' })
  })

  it('callers that waited for a failed renewal do not retry it', async () => {
    const { platform, here, there, userId, current } = await connected()
    const refused = await current()
    const { opened, open } = gate()
    const renewalStarted = gate()
    platform.answerBy(async () => {
      renewalStarted.open()
      await opened
      throw new PlatformError('transient', 'Bluesky is down', { certain: false })
    })
    const holder = here.credentials.renew(userId, 'bluesky', refused, { signal })
    await renewalStarted.opened
    const waits = foundLeaseTaken(there)
    const waiter = there.credentials.renew(userId, 'bluesky', refused, { signal })
    await waits
    open()
    const results = await Promise.allSettled([holder, waiter])
    expect(results).toMatchObject([
      { reason: { class: 'transient' } },
      { reason: { class: 'transient', certain: true } },
    ])
    expect(platform.calls).toHaveLength(1)
  })

  it('every process respects the wait that the platform stated', async () => {
    const { platform, userId, current } = await connected()
    const clock = shiftableClock()
    const [here, there] = [
      await startProcess(platform.adapter, { clock }),
      await startProcess(platform.adapter, { clock }),
    ]
    const refused = await current()
    platform.answerBy(() => {
      throw new PlatformError('rate_limited', 'Wait', { certain: true, retryAfterMs: 5 * MINUTE })
    })
    await expect(here.credentials.renew(userId, 'bluesky', refused, { signal })).rejects.toMatchObject({
      retryAfterMs: 5 * MINUTE,
    })
    platform.answerBy((rotate) => rotate())
    const otherResult = await there.credentials
      .renew(userId, 'bluesky', refused, { signal })
      .catch((error: PlatformError) => error)
    expect((otherResult as PlatformError).retryAfterMs).toBeGreaterThan(4 * MINUTE)
    expect(platform.calls).toHaveLength(1)
    clock.forward(5 * MINUTE + 1)
    expect((await there.credentials.renew(userId, 'bluesky', refused, { signal })).version).toBe(2)
  })

  it('a renewal whose response was lost is repeated with the old token', async () => {
    const { platform, userId, current } = await connected()
    const clock = shiftableClock()
    const { credentials } = await startProcess(platform.adapter, { clock })
    const refused = await current()
    platform.answerBy(() => {
      throw new PlatformError('transient', 'The connection was closed', { certain: false })
    })
    await expect(credentials.renew(userId, 'bluesky', refused, { signal })).rejects.toMatchObject({
      class: 'transient',
    })
    platform.answerBy((rotate) => rotate())
    clock.forward(1_000)
    expect((await credentials.renew(userId, 'bluesky', refused, { signal })).version).toBe(2)
    expect(platform.calls).toEqual([refused.refreshToken, refused.refreshToken])
  })

  it('a renewal is taken over after its process died, once the lease has expired', async () => {
    const { platform, here, userId, current, stored } = await connected()
    const refused = await current()
    expect(await here.accounts.takeLease({ userId, platform: 'bluesky', version: 1 }, 'died', inMs(20_000))).toBe(true)
    const clock = shiftableClock()
    const there = await startProcess(platform.adapter, { clock })
    const waits = foundLeaseTaken(there)
    const waiter = there.credentials.renew(userId, 'bluesky', refused, { signal })
    await waits
    clock.forward(20_000)
    await expect(waiter).rejects.toMatchObject({ class: 'transient', certain: true })
    expect(platform.calls).toEqual([])
    expect((await there.credentials.renew(userId, 'bluesky', refused, { signal })).version).toBe(2)
    expect((await stored())?.refreshLease).toBeNull()
  })

  it('a renewal loses against a disconnect and ends the session it created', async () => {
    const { platform, here, there, userId, current } = await connected()
    platform.answerBy(async (rotate) => {
      const renewed = rotate()
      await there.disconnect(userId)
      return renewed
    })
    await expect(here.credentials.renew(userId, 'bluesky', await current(), { signal })).rejects.toMatchObject({
      class: 'unauthorized',
    })
    expect(await here.raw(userId)).toMatchObject([{ connected: false, version: 1, endings: [expect.any(Date)] }])
    expect(platform.revoked).toHaveLength(1)
    expect(platform.revoked[0]).toMatch(/-1$/)
  })

  it('a renewal loses against a new connection, whose credentials all callers get', async () => {
    const { platform, here, there, userId, current, health } = await connected()
    const anew = gate()
    platform.answerBy(async () => {
      await there.connect(userId, platform.login())
      anew.open()
      throw new PlatformError('unauthorized', 'Bluesky asks for a new login', { certain: true })
    })
    const refused = await current()
    await expect(here.credentials.renew(userId, 'bluesky', refused, { signal })).rejects.toMatchObject({
      class: 'unauthorized',
    })
    await anew.opened
    expect(await health()).toMatchObject({ status: 'active' })
    const renewed = await here.credentials.renew(userId, 'bluesky', refused, { signal })
    expect(renewed).toEqual(await current())
    expect(renewed.version).toBe(2)
    expect(await here.notifications.listOf(userId, 10)).toEqual([])
  })

  it('a late renewal does not overwrite a new connection', async () => {
    const { platform, here, there, userId, current } = await connected()
    const accountId = `did:plc:${newId()}`
    platform.answerBy(async (rotate) => {
      const renewed = rotate()
      await there.connect(userId, platform.login(accountId))
      return renewed
    })
    const got = await here.credentials.renew(userId, 'bluesky', await current(), { signal })
    expect(got.accountId).toBe(accountId)
    expect(got).toEqual(await current())
    expect(platform.revoked).toEqual([])
  })
})

const REFUSED = { message: 'Refused', platformReason: null }

describe('marking a connection expired', () => {
  it('marking a connection expired changes it and notifies the user once', async () => {
    const { here, there, userId, current, health } = await connected()
    const used = await current()
    const marks = [here, there, here].map(({ credentials }) =>
      credentials.markExpired(userId, 'bluesky', used, REFUSED),
    )
    expect((await Promise.all(marks)).filter(Boolean)).toHaveLength(1)
    expect(await health()).toMatchObject({ status: 'expired', lastError: 'Refused' })
    expect(await here.notifications.listOf(userId, 10)).toHaveLength(1)
  })

  it('a process that dies before notifying the user leaves the connection unchanged', async () => {
    const { here, there, userId, current, health } = await connected()
    const used = await current()
    vi.spyOn(here.notifications, 'insert').mockRejectedValueOnce(new Error('it ended'))
    await expect(here.credentials.markExpired(userId, 'bluesky', used, REFUSED)).rejects.toThrow('it ended')
    expect(await health()).toMatchObject({ status: 'active' })
    expect(await there.credentials.markExpired(userId, 'bluesky', used, REFUSED)).toBe(true)
    expect(await there.notifications.listOf(userId, 10)).toHaveLength(1)
  })

  it('marking expired never touches an account that was renewed, reconnected or disconnected since', async () => {
    const { platform, here, there, userId, current, health } = await connected()
    const used = await current()
    await there.credentials.renew(userId, 'bluesky', used, { signal })
    expect(await here.credentials.markExpired(userId, 'bluesky', used, REFUSED)).toBe(false)
    expect(await health()).toMatchObject({ status: 'active' })

    const renewed = await current()
    await there.connect(userId, platform.login())
    expect(await here.credentials.markExpired(userId, 'bluesky', renewed, REFUSED)).toBe(false)
    expect(await health()).toMatchObject({ status: 'active' })

    const anew = await current()
    await there.disconnect(userId)
    expect(await here.credentials.markExpired(userId, 'bluesky', anew, REFUSED)).toBe(false)
    expect((await here.raw(userId)).map(({ connected: isConnected }) => isConnected)).not.toContain(true)
    expect(await here.notifications.listOf(userId, 10)).toEqual([])
  })

  it('reconnecting clears the expired state', async () => {
    const { platform, here, userId, current, health } = await connected()
    await here.credentials.markExpired(userId, 'bluesky', await current(), REFUSED)
    await here.connect(userId, platform.login())
    expect(await health()).toMatchObject({ status: 'active', lastError: null })
    expect((await here.credentials.get(userId, 'bluesky', { signal }))?.version).toBe(2)
  })
})
