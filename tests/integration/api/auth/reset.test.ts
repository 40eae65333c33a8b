import { describe, expect, it } from 'vitest'
import { openSession } from '../../../../src/commands/users/open-session.ts'
import { registerPushDevice } from '../../../../src/commands/notifications/push-devices.ts'
import { MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { createAccount, PASSWORD, refreshCookieOf, signIn } from '../../../support/api.ts'
import { unique } from '../../../support/servers.ts'
import { shared } from '../../../support/shared-worlds.ts'
import { startUnsentMails, type UnsentMails } from '../../../support/unsent-mails.ts'

let world: UnsentMails
shared.beforeAll(({ api }) => void (world = api))

const NEW_PASSWORD = 'another horse, another staple'
const INVALID_LINK = { message: 'Invalid or expired reset link', statusCode: 400, code: 'RESET_TOKEN_INVALID' }

const sendMail = (email: string) => world.post('send-reset-email', { email })
const reset = (body: object) => world.post('reset-password', { password: NEW_PASSWORD, ...body })
const logIn = (email: string, password: string) => world.post('login', { email, password })

/** Returns the links that were sent to the address, oldest first. */
async function linksTo(address: string): Promise<URL[]> {
  const mails = await world.mailsTo(address)
  return mails.flatMap(({ text }) => /^http\S+reset-password\S+$/m.exec(text)?.[0] ?? []).map((link) => new URL(link))
}

/** Returns the parameters of the newest link. */
async function readNewestLink(email: string): Promise<{ token: string; email: string }> {
  expect((await sendMail(email)).statusCode).toBe(200)
  const { searchParams } = (await linksTo(email)).at(-1)!
  return { token: searchParams.get('token')!, email: searchParams.get('email')! }
}

const refresh = (cookie: string) =>
  world.app.inject({ method: 'POST', url: '/api/auth/refresh', cookies: { refreshToken: cookie } })

const me = (headers: { authorization: string }) => world.app.inject({ url: '/api/auth/me', headers })

describe('send-reset-email', () => {
  it('send-reset-email sends a link that is valid for ten minutes', async () => {
    const { email, _id } = await createAccount(world.context)
    const response = await sendMail(` ${email.toUpperCase()}`)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({
      success: true,
      message: 'If this address has an account, it will receive an email. Check your inbox.',
    })
    const [mail] = await world.mailsTo(email)
    expect(mail).toMatchObject({ kind: 'reset', userId: _id, subject: 'Reset your postonce password' })
    expect(mail!.expiresAt.getTime() - mail!.createdAt.getTime()).toBe(10 * MINUTE)
    const [link] = await linksTo(email)
    expect(link!.href).toMatch(/^http:\/\/localhost:3000\/reset-password\?token=[\w-]{43}&email=/)
    expect(link!.searchParams.get('email')).toBe(email)
    expect(mail!.html).toContain(`href="${link!.href.replace('&', '&amp;')}"`)
  })

  it('send-reset-email responds to an unknown address with the same steps and sends it nothing', async () => {
    const { email } = await createAccount(world.context)
    const unknown = world.newAddress()
    const before = (await world.stored()).length
    const answers = [await sendMail(email), await sendMail(unknown)]
    expect(answers[0]!.statusCode).toBe(answers[1]!.statusCode)
    expect(answers[0]!.json()).toEqual(answers[1]!.json())
    expect(Object.keys(answers[0]!.headers)).toEqual(Object.keys(answers[1]!.headers))
    const [one, other, ...more] = (await world.stored()).slice(before)
    expect(more).toEqual([])
    expect(Object.keys(one!)).toEqual(Object.keys(other!))
    expect(other).toMatchObject({ kind: 'nothing', userId: null })
    expect(await world.mailsTo(unknown)).toEqual([])
  })

  it('send-reset-email asks Google users to log in with Google and sends no reset link', async () => {
    const { email } = await createAccount(world.context, { auth: { provider: 'google' } })
    expect((await sendMail(email)).statusCode).toBe(200)
    const [mail] = await world.mailsTo(email)
    expect(mail).toMatchObject({ kind: 'resetElsewhere', text: expect.stringContaining('log in with Google') })
    expect(await linksTo(email)).toEqual([])
  })

  it('the third reset request per address and hour is 429, whether or not the address is known', async () => {
    const strict = await startUnsentMails({ RESET_MAILS_PER_HOUR: 2 })
    try {
      const known = await createAccount(strict.context)
      for (const email of [known.email, strict.newAddress()]) {
        const answers = []
        for (let count = 0; count < 3; count += 1) answers.push(await strict.post('send-reset-email', { email }))
        expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429])
        expect(answers[2]!.json()).toMatchObject({ code: 'RATE_LIMITED', bucket: 'reset_mail' })
      }
    } finally {
      await strict.close()
    }
  })
})

describe('reset-password', () => {
  it('a reset sets the new password, ends every session and token, and forgets known devices', async () => {
    const who = await signIn(world.context, { passwordHash: await world.context.passwords.hash(PASSWORD, '') })
    const { email } = who.user
    const elsewhere = refreshCookieOf(await logIn(email, PASSWORD))!
    await registerPushDevice(world.context, { userId: who.user._id, token: unique('device'), platform: 'ios' })
    const response = await reset(await readNewestLink(email))
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ success: true, message: 'Password changed. Log in with the new password.' })
    expect((await me(who.headers)).statusCode).toBe(401)
    expect(await world.context.pushTokens.listOf(who.user._id)).toEqual([])
    for (const cookie of [who.refreshCookie, elsewhere]) expect((await refresh(cookie)).statusCode).toBe(401)
    expect((await logIn(email, PASSWORD)).statusCode).toBe(401)
    expect((await logIn(email, NEW_PASSWORD)).statusCode).toBe(200)
  })

  it('a link from before a password change is refused, and the change forgets known devices', async () => {
    const who = await signIn(world.context, { passwordHash: await world.context.passwords.hash(PASSWORD, 'test') })
    const link = await readNewestLink(who.user.email)
    await registerPushDevice(world.context, { userId: who.user._id, token: unique('device'), platform: 'ios' })
    const payload = { currentPassword: PASSWORD, newPassword: 'a third horse, a third staple' }
    const { headers } = who
    const changed = await world.app.inject({ method: 'PATCH', url: '/api/profile/change-password', payload, headers })
    expect(changed.statusCode).toBe(200)
    expect((await reset(link)).json()).toMatchObject(INVALID_LINK)
    expect(await world.context.pushTokens.listOf(who.user._id)).toEqual([])
    expect((await me(headers)).statusCode).toBe(200)
  })

  it('a login with the old password that runs during a reset gets no session', async () => {
    const { user } = await signIn(world.context)
    const link = await readNewestLink(user.email)
    const stale = (await world.context.users.findById(user._id))!
    await reset(link)
    // The login read its record before the reset and stores its session afterwards.
    const { refreshCookie, accessToken } = await openSession(world.context, stale, { ipAddress: '::1', userAgent: '' })
    expect((await refresh(refreshCookie)).statusCode).toBe(401)
    expect((await me({ authorization: `Bearer ${accessToken}` })).statusCode).toBe(401)
  })

  it('a link works once, even with twenty concurrent uses', async () => {
    const { email } = await createAccount(world.context)
    const link = await readNewestLink(email)
    const answers = await Promise.all(Array.from({ length: 20 }, () => reset(link)))
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    const refused = await reset(link)
    expect(refused.statusCode).toBe(400)
    expect(refused.json()).toMatchObject(INVALID_LINK)
  })

  it('either of two links works, and using it invalidates both', async () => {
    const { email } = await createAccount(world.context)
    const [first, second] = [await readNewestLink(email), await readNewestLink(email)]
    expect((await reset(first)).statusCode).toBe(200)
    expect((await reset(second)).json()).toMatchObject(INVALID_LINK)
  })

  it('a link is valid for ten minutes', async () => {
    const { email } = await createAccount(world.context)
    const link = await readNewestLink(email)
    await world.later(10 * MINUTE + SECOND, async () => expect((await reset(link)).json()).toMatchObject(INVALID_LINK))
    await world.later(9 * MINUTE, async () => expect((await reset(link)).statusCode).toBe(200))
  })

  it('an unknown token, a token of another address, and one without a user are refused', async () => {
    const { email } = await createAccount(world.context)
    const { email: other } = await createAccount(world.context)
    const link = await readNewestLink(email)
    await readNewestLink(other)
    for (const wrong of [
      { token: 'x' },
      { token: `${link.token}x` },
      { email: other },
      { email: world.newAddress() },
    ]) {
      const response = await reset({ ...link, ...wrong })
      expect(response.statusCode).toBe(400)
      expect(response.json()).toEqual({ success: false, ...INVALID_LINK, requestId: expect.any(String) })
    }
    expect((await reset(link)).statusCode).toBe(200)
  })

  it('a password that is not allowed is refused, and the link stays valid', async () => {
    const { email } = await createAccount(world.context)
    const link = await readNewestLink(email)
    for (const password of ['short', 'password']) {
      const response = await reset({ ...link, password })
      expect(response.statusCode).toBe(400)
      expect(response.json().errors).toMatchObject([{ path: 'password', code: 'PASSWORD_NOT_ALLOWED' }])
    }
    expect((await reset(link)).statusCode).toBe(200)
  })

  it('a link sets no password for an account that has since switched to Google', async () => {
    const { email, _id } = await createAccount(world.context)
    const link = await readNewestLink(email)
    const users = world.context.database.connection.collection<{ _id: string }>('users')
    await users.updateOne({ _id }, { $set: { 'auth.provider': 'google' } })
    expect((await reset(link)).json()).toMatchObject(INVALID_LINK)
  })

  it('a reset does not log a disabled account in', async () => {
    const { email } = await createAccount(world.context, { isDisabled: true })
    expect((await reset(await readNewestLink(email))).statusCode).toBe(200)
    expect((await logIn(email, NEW_PASSWORD)).statusCode).toBe(403)
  })

  it('reset tokens are stored only as hashes', async () => {
    const { email } = await createAccount(world.context)
    const { token } = await readNewestLink(email)
    const { db } = world.context.database.connection
    const dump = await Promise.all((await db!.collections()).map((collection) => collection.find().toArray()))
    expect(JSON.stringify(dump)).not.toContain(token)
  })
})
