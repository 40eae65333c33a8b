import { describe, expect, it } from 'vitest'
import { openSession } from '../../../../src/commands/users/open-session.ts'
import { MINUTE, DAY } from '../../../../src/domain/shared/times.ts'
import { newId } from '../../../../src/store/shared/schema.ts'
import { signIn, type SignedIn } from '../../../support/api.ts'
import { shared } from '../../../support/shared-worlds.ts'
import type { UnsentMails } from '../../../support/unsent-mails.ts'

let world: UnsentMails
shared.beforeAll(({ api }) => void (world = api))

const devicesOf = ({ headers }: Pick<SignedIn, 'headers'>) => world.app.inject({ url: '/api/auth/devices', headers })

const remove = ({ headers }: Pick<SignedIn, 'headers'>, tokenId: string) =>
  world.app.inject({ method: 'DELETE', url: `/api/auth/devices/${tokenId}`, headers })

/** Opens another session of the same user. */
async function onAnotherDevice(who: SignedIn, userAgent = 'Phone'): Promise<SignedIn & { tokenId: string }> {
  const tokens = await openSession(world.context, who.user, { ipAddress: '10.0.0.7', userAgent })
  const { sessionId } = world.context.accessTokens.verify(tokens.accessToken)!
  return { ...who, ...tokens, headers: { authorization: `Bearer ${tokens.accessToken}` }, tokenId: sessionId }
}

const refresh = (cookie: string) =>
  world.app.inject({ method: 'POST', url: '/api/auth/refresh', cookies: { refreshToken: cookie } })

describe('the list of devices', () => {
  it('the list has every session of the user and no others, most recently used first', async () => {
    const who = await signIn(world.context)
    await signIn(world.context)
    const phone = await world.later(MINUTE, () => onAnotherDevice(who))
    const response = await devicesOf(who)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({
      success: true,
      message: 'Devices found',
      data: [
        {
          tokenId: phone.tokenId,
          ipAddress: '10.0.0.7',
          userAgent: 'Phone',
          createdAt: expect.any(String),
          lastActive: expect.any(String),
          isCurrent: false,
        },
        expect.objectContaining({ ipAddress: '127.0.0.1', userAgent: 'test', isCurrent: true }),
      ],
    })
    const current = (await devicesOf(phone)).json().data.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent)
    expect(current).toMatchObject([{ tokenId: phone.tokenId }])
  })

  it('a refresh moves a device to the top of the list', async () => {
    const who = await signIn(world.context)
    const phone = await world.later(MINUTE, () => onAnotherDevice(who))
    await world.later(10 * MINUTE, async () => {
      expect((await refresh(who.refreshCookie)).statusCode).toBe(200)
      const [first, second] = (await devicesOf(who)).json().data
      expect(first.isCurrent).toBe(true)
      expect(second.tokenId).toBe(phone.tokenId)
      const since = Date.parse(first.lastActive) - Date.parse(first.createdAt)
      expect(since).toBeGreaterThanOrEqual(10 * MINUTE)
    })
  })

  it('the list omits ended sessions', async () => {
    const who = await signIn(world.context)
    await world.later(8 * DAY, async () => {
      const now = await onAnotherDevice(who)
      expect((await devicesOf(now)).json().data).toMatchObject([{ tokenId: now.tokenId }])
    })
  })

  it('the list contains no token and no hash', async () => {
    const who = await signIn(world.context)
    const { body } = await devicesOf(who)
    const { tokenHash } = (await world.context.sessions.find(who.refreshCookie.split('.')[0]!))!
    expect(body).not.toContain(tokenHash)
    expect(body).not.toContain(who.refreshCookie.split('.')[1])
  })
})

describe('removing a device', () => {
  it('a removed device is logged out immediately, including its access token', async () => {
    const who = await signIn(world.context)
    const phone = await onAnotherDevice(who)
    expect((await devicesOf(phone)).statusCode).toBe(200)
    const response = await remove(who, phone.tokenId)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ success: true, message: 'Device logged out' })
    expect(response.cookies).toEqual([])
    expect((await devicesOf(phone)).statusCode).toBe(401)
    expect((await refresh(phone.refreshCookie)).statusCode).toBe(401)
    expect((await devicesOf(who)).json().data).toHaveLength(1)
  })

  it('a device that removes itself loses its cookie', async () => {
    const who = await onAnotherDevice(await signIn(world.context))
    const response = await remove(who, who.tokenId)
    expect(response.statusCode).toBe(200)
    expect(response.cookies[0]).toMatchObject({ name: 'refreshToken', value: '', path: '/api/auth', maxAge: 0 })
    expect((await devicesOf(who)).statusCode).toBe(401)
  })

  it('an ended, unknown or foreign device is 404', async () => {
    const [who, other] = [await signIn(world.context), await signIn(world.context)]
    const phone = await onAnotherDevice(who)
    const foreign = await onAnotherDevice(other)
    await remove(who, phone.tokenId)
    for (const tokenId of [phone.tokenId, newId(), foreign.tokenId, 'x']) {
      const response = await remove(who, tokenId)
      expect(response.statusCode).toBe(404)
      expect(response.json()).toMatchObject({ message: 'Device not found', code: 'NOT_FOUND' })
    }
    expect((await devicesOf(foreign)).statusCode).toBe(200)
  })
})
