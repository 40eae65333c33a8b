import { describe, expect, it } from 'vitest'
import sharp from 'sharp'
import { buildApp } from '../../../../src/api/app.ts'
import { identicon } from '../../../../src/domain/users/identicon.ts'
import { MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { createAvatars } from '../../../../src/integrations/storage/avatars.ts'
import { createAccount, PASSWORD, refreshCookieOf } from '../../../support/api.ts'
import { shared } from '../../../support/shared-worlds.ts'
import { codeFor, startUnsentMails, type UnsentMails } from '../../../support/unsent-mails.ts'

let world: UnsentMails
shared.beforeAll(({ api }) => void (world = api))

const INVALID_CODE = { success: false, message: 'Invalid or expired code', statusCode: 400, code: 'OTP_INVALID' }
const NOT_VERIFIED = { message: 'Verify this address with a code first', statusCode: 400, code: 'ADDRESS_NOT_VERIFIED' }

const requestOtp = (email: string) => world.post('request-otp', { email })
const verifyOtp = (email: string, otp: string) => world.post('verify-otp', { email, otp })
const signUp = (email: string, changes: object = {}, headers: Record<string, string> = {}) =>
  world.post('signup', { email, name: 'Ann', password: PASSWORD, confirmPassword: PASSWORD, ...changes }, headers)

/** @returns the code that the service sent */
async function requested(email: string): Promise<string> {
  expect((await requestOtp(email)).statusCode).toBe(201)
  return codeFor(world, email)
}

/** @returns the verification token as the header for the sign-up */
async function verified(email: string): Promise<Record<string, string>> {
  const response = await verifyOtp(email, await requested(email))
  expect(response.statusCode).toBe(200)
  return { 'x-verification-token': response.json().data.verificationToken }
}

const codes = () => world.context.database.connection.collection<{ _id: string; triesLeft: number }>('addressCodes')

const wrongFor = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

describe('request-otp', () => {
  it('request-otp sends six digits that are valid for five minutes', async () => {
    const email = world.newAddress()
    const response = await requestOtp(email)
    expect(response.statusCode).toBe(201)
    expect(response.json()).toEqual({
      success: true,
      message: 'An email is on its way to this address. Check your inbox.',
    })
    expect(response.headers['cache-control']).toBe('no-store')
    const [mail] = await world.mailsTo(email)
    expect(mail).toMatchObject({ kind: 'code', userId: null, subject: 'Your code for postonce' })
    const code = await codeFor(world, email)
    expect(mail!.html).toContain(`<b>${code}</b>`)
    expect(mail!.expiresAt.getTime() - mail!.createdAt.getTime()).toBe(300 * SECOND)
  })

  it('request-otp responds the same for an address with an account, and mails its owner that it has one', async () => {
    const { email, _id } = await createAccount(world.context)
    const [known, unknown] = [await requestOtp(` ${email.toUpperCase()} `), await requestOtp(world.newAddress())]
    expect(known.statusCode).toBe(unknown.statusCode)
    expect(known.json()).toEqual(unknown.json())
    expect(namesOf(known.headers)).toEqual(namesOf(unknown.headers))
    const mails = await world.mailsTo(email)
    expect(mails).toMatchObject([{ kind: 'addressKnown', userId: _id, to: email }])
    expect(mails[0]!.text).not.toMatch(/\d{6}/)
    expect(mails[0]!.text).toContain('http://localhost:3000/login')
  })

  it('request-otp stores the same records for known and unknown addresses, apart from the mail text', async () => {
    const { email: known } = await createAccount(world.context)
    const unknown = world.newAddress()
    await requestOtp(known)
    await requestOtp(unknown)
    const keyOf = world.context.oneTimeCodes.addressKey
    const [one, other] = await Promise.all([known, unknown].map((email) => codes().findOne({ _id: keyOf(email) })))
    expect(Object.keys(one!)).toEqual(Object.keys(other!))
  })

  it.each([
    ['', 'INVALID'],
    ['ann', 'INVALID'],
    ['ann@example', 'INVALID'],
    ['ann@@example.test', 'INVALID'],
    ['ann bob@example.test', 'INVALID'],
    ['ann@example.test\r\nBcc: bob@example.test', 'INVALID'],
    ['ann@example.test, bob@example.test', 'INVALID'],
    ['Ann <ann@example.test>', 'INVALID'],
    ['"ann"@example.test', 'INVALID'],
    [`${'a'.repeat(65)}@example.test`, 'INVALID'],
    [`a@${'b.'.repeat(200)}test`, 'TOO_LONG'],
  ])('request-otp rejects %j because no mail can be sent to it', async (email, code) => {
    const response = await requestOtp(email)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ code: 'VALIDATION_FAILED' })
    expect(response.json().errors).toContainEqual(expect.objectContaining({ path: 'email', code }))
  })

  it.each(['zoë@exämple.test', "o'neil+tag@sub.example.test", 'a_b.c-d@xn--exmple-cua.test'])(
    'request-otp accepts %s',
    async (email) => expect((await requestOtp(email)).statusCode).toBe(201),
  )
})

describe('repeated request-otp calls', () => {
  it('the third code request per address and hour is 429, whatever its spelling and whether or not it is known', async () => {
    const strict = await startUnsentMails({ OTP_PER_HOUR: 2 })
    try {
      const known = await createAccount(strict.context)
      for (const email of [known.email, strict.newAddress()]) {
        const answers = []
        for (const spelling of [email, email.toUpperCase(), ` ${email}`]) {
          answers.push(await strict.post('request-otp', { email: spelling }))
        }
        expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 429])
        expect(answers[2]!.json()).toMatchObject({
          message: expect.stringMatching(/^Too many mails were requested\. Try again in \d+ minutes\.$/),
          code: 'RATE_LIMITED',
          bucket: 'otp',
        })
        expect(Number(answers[2]!.headers['retry-after'])).toBeGreaterThan(3_000)
        expect(await strict.mailsTo(email)).toHaveLength(2)
      }
    } finally {
      await strict.close()
    }
  })
})

describe('verify-otp', () => {
  it('verify-otp accepts a code once, with the address in any spelling', async () => {
    const email = world.newAddress()
    const code = await requested(email)
    const response = await verifyOtp(` ${email.toUpperCase()} `, code)
    expect(response.statusCode).toBe(200)
    const verificationToken = expect.stringMatching(/^[\w-]{43}$/)
    expect(response.json()).toEqual({ success: true, message: 'Address verified', data: { email, verificationToken } })
    expect(response.cookies).toMatchObject([
      { name: 'verificationToken', value: verificationToken, path: '/api/auth', httpOnly: true, sameSite: 'Lax' },
    ])
    expect(JSON.stringify(await codes().find().toArray())).not.toContain(response.json().data.verificationToken)
    const again = await verifyOtp(email, code)
    expect(again.statusCode).toBe(400)
    expect(again.json()).toMatchObject(INVALID_CODE)
  })

  it('verify-otp returns the same error for a wrong code, an unknown address and one with an account', async () => {
    const email = world.newAddress()
    const code = await requested(email)
    const { email: known } = await createAccount(world.context)
    await requestOtp(known)
    const answers = [
      await verifyOtp(email, wrongFor(code)),
      await verifyOtp(world.newAddress(), code),
      await verifyOtp(known, code),
      await verifyOtp(email, 'abc'),
    ]
    for (const answer of answers) {
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toEqual({ ...INVALID_CODE, requestId: expect.any(String) })
      expect(namesOf(answer.headers)).toEqual(namesOf(answers[0]!.headers))
    }
  })

  it('verify-otp rejects the code of another address', async () => {
    const [email, other] = [world.newAddress(), world.newAddress()]
    const code = await requested(email)
    await requested(other)
    expect((await verifyOtp(other, code)).statusCode).toBe(400)
  })

  it('the fifth wrong guess invalidates the code', async () => {
    const email = world.newAddress()
    const code = await requested(email)
    for (let tries = 0; tries < 4; tries += 1) await verifyOtp(email, wrongFor(code))
    expect((await verifyOtp(email, code)).statusCode).toBe(200)
    const next = await requested(email)
    for (let tries = 0; tries < 5; tries += 1) await verifyOtp(email, wrongFor(next))
    expect((await verifyOtp(email, next)).json()).toMatchObject(INVALID_CODE)
  })

  it('concurrent guesses get no additional tries', async () => {
    const email = world.newAddress()
    const code = Number(await requested(email))
    // Sends forty different codes, the right one last; the service checks only five.
    const guesses = Array.from({ length: 40 }, (_, index) => String((code + 39 - index) % 1_000_000).padStart(6, '0'))
    const answers = await Promise.all(guesses.slice(0, -1).map((guess) => verifyOtp(email, guess)))
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([400]))
    expect((await verifyOtp(email, guesses.at(-1)!)).statusCode).toBe(400)
    const { codes } = (await world.context.database.connection
      .collection<{ _id: string; codes: { senders: { triesLeft: number }[] }[] }>('addressCodes')
      .findOne({ _id: world.context.oneTimeCodes.addressKey(email) }))!
    expect(codes.flatMap(({ senders }) => senders.map(({ triesLeft }) => triesLeft))).toEqual([0])
  })

  it('verify-otp rejects a code after 300 seconds, and a code that a newer one replaced', async () => {
    const email = world.newAddress()
    const first = await requested(email)
    await world.later(299 * SECOND, async () => expect((await verifyOtp(email, first)).statusCode).toBe(200))
    const second = await requested(email)
    await world.later(301 * SECOND, async () => expect((await verifyOtp(email, second)).statusCode).toBe(400))
    const third = await requested(email)
    if (third !== second) expect((await verifyOtp(email, second)).statusCode).toBe(400)
    expect((await verifyOtp(email, third)).statusCode).toBe(200)
  })
})

describe('signup', () => {
  it('signup creates an account for a verified address and logs it in', async () => {
    const email = world.newAddress()
    const proof = await verified(email)
    const response = await signUp(email.toUpperCase(), { name: '  Ann Example ' }, proof)
    expect(response.statusCode, response.body).toBe(201)
    const { data, ...envelope } = response.json()
    expect(envelope).toEqual({ success: true, message: 'Account created' })
    const { free } = world.context.planLimits
    expect(data.user).toMatchObject({ email, name: 'Ann Example', role: 'user', timezone: 'UTC', limits: free })
    expect(data.user).toMatchObject({
      auth: { provider: 'email' },
      id: data.user._id,
      avatar: identicon(data.user._id),
    })
    expect(response.body).not.toContain('argon2')
    expect(refreshCookieOf(response)).toMatch(/^[0-9a-f]{24}\./)
    expect(response.cookies[0]).toMatchObject({ path: '/api/auth', httpOnly: true, sameSite: 'Lax' })
    const me = { url: '/api/auth/me', headers: { authorization: `Bearer ${data.accessToken}` } }
    expect((await world.app.inject(me)).json().data.user).toEqual(data.user)
    expect((await world.context.users.findById(data.user._id))!.lastLogin).toBeInstanceOf(Date)
    expect((await world.post('login', { email, password: PASSWORD })).statusCode).toBe(200)
  })

  it('signup requires a verified address and reveals nothing about it before', async () => {
    const { email: known } = await createAccount(world.context)
    const pending = world.newAddress()
    await requested(pending)
    for (const email of [known, pending, world.newAddress()]) {
      const response = await signUp(email)
      expect(response.statusCode).toBe(400)
      expect(response.json()).toMatchObject(NOT_VERIFIED)
      expect(response.cookies).toEqual([])
    }
  })

  it('a verification is valid for 15 minutes, even when another code is requested', async () => {
    const email = world.newAddress()
    const proof = await verified(email)
    await requestOtp(email)
    await world.later(15 * MINUTE + SECOND, async () =>
      expect((await signUp(email, {}, proof)).json()).toMatchObject(NOT_VERIFIED),
    )
    await world.later(14 * MINUTE, async () => expect((await signUp(email, {}, proof)).statusCode).toBe(201))
  })

  it('a verification is used up: ten concurrent signups create a single account', async () => {
    const email = world.newAddress()
    const proof = await verified(email)
    const answers = await Promise.all(Array.from({ length: 10 }, () => signUp(email, {}, proof)))
    const made = answers.filter(({ statusCode }) => statusCode === 201)
    expect(made).toHaveLength(1)
    for (const answer of answers) if (answer !== made[0]) expect(answer.json()).toMatchObject(NOT_VERIFIED)
    expect((await signUp(email, {}, proof)).json()).toMatchObject(NOT_VERIFIED)
  })

  it('a verification stays valid when the account cannot be created', async () => {
    const email = world.newAddress()
    const proof = await verified(email)
    expect((await signUp(email, { password: 'password', confirmPassword: 'password' }, proof)).statusCode).toBe(400)
    await createAccount(world.context, { email })
    const taken = await signUp(email, {}, proof)
    expect(taken.statusCode).toBe(409)
    expect(taken.json()).toMatchObject({ message: 'This address already has an account', code: 'ADDRESS_TAKEN' })
    await world.context.database.connection.collection('users').deleteOne({ email })
    expect((await signUp(email, {}, proof)).statusCode).toBe(201)
  })

  it.each([
    ['a short password', { password: 'abc' }, 'password', 'PASSWORD_NOT_ALLOWED'],
    ['a common password', { password: 'PassWord1' }, 'password', 'PASSWORD_NOT_ALLOWED'],
    ['another confirmation', { confirmPassword: 'another one' }, 'confirmPassword', 'DIFFERS'],
    ['a name of one character', { name: ' A ' }, 'name', 'NAME_NOT_ALLOWED'],
    ['a name of 101 characters', { name: 'a'.repeat(101) }, 'name', 'NAME_NOT_ALLOWED'],
    ['a name of two lines', { name: 'Ann\nBcc: x' }, 'name', 'NAME_NOT_ALLOWED'],
    ['a number for a name', { name: 7 }, 'name', 'TYPE'],
    ['no name', { name: undefined }, 'name', 'REQUIRED'],
    ['operators', { password: { $ne: null } }, 'password', 'TYPE'],
    ['an avatar that is an address', { avatar: 'https://example.test/a.png' }, 'avatar', 'AVATAR_NOT_ALLOWED'],
    ['an avatar in SVG', { avatar: dataUrl('image/svg+xml', Buffer.from('<svg/>')) }, 'avatar', 'AVATAR_NOT_ALLOWED'],
    [
      'an avatar that is no picture',
      { avatar: dataUrl('image/png', Buffer.from('hello')) },
      'avatar',
      'AVATAR_NOT_ALLOWED',
    ],
    ['an empty avatar', { avatar: 'data:image/png;base64,' }, 'avatar', 'AVATAR_NOT_ALLOWED'],
    [
      'an avatar with something besides base64',
      { avatar: 'data:image/png;base64,a!bc' },
      'avatar',
      'AVATAR_NOT_ALLOWED',
    ],
  ])('signup rejects %s', async (_, changes, path, code) => {
    const response = await signUp(world.newAddress(), changes)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ code: 'VALIDATION_FAILED' })
    expect(response.json().errors).toContainEqual(expect.objectContaining({ path, code }))
  })

  it.each([
    ['Asia/Tokyo', 'Asia/Tokyo'],
    ['Mars/Olympus', 'UTC'],
  ])('signup with the timezone %s creates an account with %s', async (timezone, has) => {
    const email = world.newAddress()
    const response = await signUp(email, { timezone }, await verified(email))
    expect(response.json().data.user.timezone).toBe(has)
  })

  it('signup reports all problems together', async () => {
    const response = await signUp(world.newAddress(), { name: 'A', password: 'abc', avatar: 'x' })
    expect(response.json().errors.map(({ path }: { path: string }) => path)).toEqual([
      'password',
      'name',
      'confirmPassword',
      'avatar',
    ])
  })

  it('signup works without a confirmation and drops fields that clients must not set', async () => {
    const email = world.newAddress()
    const proof = await verified(email)
    const changes = {
      confirmPassword: undefined,
      avatar: null,
      role: 'admin',
      limits: { maxPosts: 1e9 },
      isDisabled: true,
      _id: 'x',
    }
    const response = await signUp(email, changes, proof)
    expect(response.statusCode).toBe(201)
    expect(response.json().data.user).toMatchObject({ role: 'user', limits: world.context.planLimits.free })
  })

  it.each(['png', 'jpeg', 'webp'] as const)('signup stores an avatar in %s under the new user', async (format) => {
    const email = world.newAddress()
    const proof = await verified(email)
    const bytes = await picture(format)
    const { user } = (await signUp(email, { avatar: dataUrl(`image/${format}`, bytes) }, proof)).json().data
    const key = world.context.storage.toKey(user.avatar)
    const extension = format === 'jpeg' ? 'jpg' : format
    expect(key).toMatch(new RegExp(`^avatars/${user._id}/[0-9a-f-]{36}\\.${extension}$`))
    const head = await world.context.storage.readHead(key!, 10_000)
    expect(head).toMatchObject({ contentType: `image/${format}`, sizeBytes: bytes.length })
  })

  it('signup accepts an avatar of 5 MB, no larger one, and no body above 8 MiB', async () => {
    const email = world.newAddress()
    const png = await picture('png')
    const sized = (bytes: number) => dataUrl('image/png', Buffer.concat([png, Buffer.alloc(bytes - png.length)]))
    const proof = await verified(email)
    const tooLarge = await signUp(email, { avatar: sized(5_000_001) }, proof)
    expect(tooLarge.statusCode).toBe(400)
    expect(tooLarge.json().errors).toMatchObject([{ path: 'avatar', code: 'AVATAR_NOT_ALLOWED' }])
    expect((await signUp(email, { avatar: 'x'.repeat(8 * 1024 * 1024) }, proof)).statusCode).toBe(413)
    expect((await signUp(email, { avatar: sized(5_000_000) }, proof)).statusCode).toBe(201)
    expect((await world.post('login', { email, password: 'x'.repeat(65_536) })).statusCode).toBe(413)
  })

  it('signup creates the account without its avatar while object storage is unavailable', async () => {
    const down = async () => Promise.reject(new Error('connect ECONNREFUSED'))
    const { storage, config } = world.context
    const avatars = createAvatars({ storage: { ...storage, put: down }, timeoutMs: 1_000 })
    const unproven = { ...config, SIGNUP_EMAIL_VERIFICATION: 'off' as const }
    const app = await buildApp({ ...world.context, avatars, config: unproven })
    const png = await picture('png')
    const payload = { email: world.newAddress(), name: 'Ann', password: PASSWORD, avatar: dataUrl('image/png', png) }
    const response = await app.inject({ method: 'POST', url: '/api/auth/signup', payload })
    expect(response.statusCode).toBe(201)
    const { user } = response.json().data
    expect(user.avatar).toBe(identicon(user._id))
    // Without verification, no client may send a large body.
    const large = { ...payload, avatar: dataUrl('image/png', Buffer.alloc(65_536)) }
    const headers = await verified(world.newAddress())
    const refused = await app.inject({ method: 'POST', url: '/api/auth/signup', payload: large, headers })
    expect(refused.statusCode).toBe(413)
    // Without verification, the response must reveal that an address is taken.
    const again = await app.inject({ method: 'POST', url: '/api/auth/signup', payload })
    expect(again.json()).toMatchObject({ statusCode: 409, code: 'ADDRESS_TAKEN' })
    await app.close()
  })
})

function picture(format: 'png' | 'jpeg' | 'webp'): Promise<Buffer> {
  const image = sharp({ create: { width: 8, height: 8, channels: 3, background: '#f00' } })
  return image.toFormat(format).toBuffer()
}

function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}

/** Response headers that differ between responses anyway: length and date. */
function namesOf(headers: object): string[] {
  return Object.keys(headers).toSorted()
}
