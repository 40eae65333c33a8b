import type { InjectOptions } from 'fastify'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteAvatar } from '../../../../src/commands/media/delete-avatar.ts'
import { logIn as logInByPassword } from '../../../../src/commands/users/log-in.ts'
import { openSession } from '../../../../src/commands/users/open-session.ts'
import { replaceAvatar } from '../../../../src/commands/media/replace-avatar.ts'
import { updateAvatar } from '../../../../src/commands/media/update-avatar.ts'
import { identicon } from '../../../../src/domain/users/identicon.ts'
import { removedKey } from '../../../../src/domain/media/storage-keys.ts'
import { createAvatars } from '../../../../src/integrations/storage/avatars.ts'
import { newId } from '../../../../src/store/shared/schema.ts'
import { apiWorld, createAccount, PASSWORD, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { partial } from '../../../support/partial.ts'

let world: ApiWorld
let png: Buffer
beforeAll(async () => {
  world = await apiWorld({ LOGIN_FAILURES_PER_ACCOUNT: 3 })
  png = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
})
afterAll(() => world?.close())

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET'

async function call(who: SignedIn, method: Method, path: string, payload?: InjectOptions['payload']) {
  const response = await world.app.inject({
    method,
    url: `/api/profile${path}`,
    headers: who.headers,
    ...(payload === undefined ? {} : { payload }),
  })
  return { status: response.statusCode, body: response.json() }
}

const storedUser = async ({ user }: SignedIn) => (await world.context.users.findById(user._id))!
const isPublic = async (url: string) => (await fetch(url)).status === 200
const setAvatar = (who: SignedIn, imageUrl: string) => call(who, 'PUT', '/update-avatar', { imageUrl })

/** Uploads an image like a client and returns its URL. */
async function uploaded(who: SignedIn, body: Buffer = png, contentType = 'image/png'): Promise<string> {
  const { data } = (await call(who, 'POST', '/upload-url', { contentType })).body
  const answer = await fetch(data.uploadUrl, {
    method: 'PUT',
    headers: { 'content-type': contentType },
    body: new Uint8Array(body),
  })
  expect(answer.status).toBe(200)
  return data.storageUrl
}

describe('an avatar upload', () => {
  it.each([
    ['image/png', 'png'],
    ['image/jpeg', 'jpg'],
    ['image/jpg', 'jpg'],
    ['image/webp', 'webp'],
  ])('an upload URL for %s belongs to the user', async (contentType, extension) => {
    const who = await signIn(world.context)
    const { status, body } = await call(who, 'POST', '/upload-url', { contentType })
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      message: expect.any(String),
      data: { uploadUrl: expect.any(String), storageUrl: expect.any(String), contentType },
    })
    const key = world.context.storage.toKey(body.data.storageUrl)
    expect(key).toMatch(new RegExp(`^avatars/${who.user._id}/[0-9a-f-]{36}\\.${extension}$`))
    expect(body.data.uploadUrl).toContain(key)
  })

  it.each(['image/gif', 'image/svg+xml', 'video/mp4', 'text/html', 'IMAGE/PNG', ''])(
    'an upload of %j is refused',
    async (type) => {
      const { status, body } = await call(await signIn(world.context), 'POST', '/upload-url', { contentType: type })
      expect([status, body.code, body.message]).toEqual([400, 'INVALID_MEDIA_TYPE', 'Invalid media type'])
    },
  )

  it('an upload must have its announced size and at most 5 MB', async () => {
    const who = await signIn(world.context)
    const tooLarge = await call(who, 'POST', '/upload-url', { contentType: 'image/png', sizeBytes: 5_000_001 })
    expect([tooLarge.status, tooLarge.body.errors[0]]).toEqual([
      400,
      expect.objectContaining({ path: 'sizeBytes', code: 'MEDIA_TOO_LARGE' }),
    ])
    const { data } = (await call(who, 'POST', '/upload-url', { contentType: 'image/png', sizeBytes: png.length })).body
    const put = (bytes: Buffer, type = 'image/png') =>
      fetch(data.uploadUrl, { method: 'PUT', headers: { 'content-type': type }, body: new Uint8Array(bytes) })
    expect((await put(Buffer.concat([png, png]))).status).toBe(403)
    expect((await put(png, 'text/html')).status).toBe(403)
    expect((await put(png)).status).toBe(200)
    expect((await setAvatar(who, data.storageUrl)).status).toBe(200)
  })
})

describe('update-avatar', () => {
  it('update-avatar shows the uploaded image everywhere and deletes the previous upload', async () => {
    const who = await signIn(world.context)
    const [first, second] = [await uploaded(who), await uploaded(who)]
    expect(await setAvatar(who, first)).toEqual({
      status: 200,
      body: { success: true, message: expect.any(String), data: { imageUrl: first } },
    })
    expect((await storedUser(who)).avatar).toBe(first)
    await setAvatar(who, second)
    expect((await storedUser(who)).avatar).toBe(second)
    expect(await Promise.all([first, second].map(isPublic))).toEqual([false, true])
    const me = await world.app.inject({ url: '/api/auth/me', headers: who.headers })
    expect(me.json().data.user.avatar).toBe(second)
  })

  it('update-avatar with the current avatar keeps it', async () => {
    const who = await signIn(world.context)
    const avatar = await uploaded(who)
    await setAvatar(who, avatar)
    expect((await setAvatar(who, avatar)).status).toBe(200)
    expect(await isPublic(avatar)).toBe(true)
  })

  it('update-avatar keeps a previous image that is stored elsewhere or belongs to another user', async () => {
    const other = await signIn(world.context)
    const foreign = await uploaded(other)
    for (const avatar of ['https://example.test/picture.png', foreign, null]) {
      const who = await signIn(world.context, { avatar })
      expect((await setAvatar(who, await uploaded(who))).status).toBe(200)
    }
    expect(await isPublic(foreign)).toBe(true)
  })

  /** URLs that look like an avatar of the user, derived from a real one. */
  const SIMILAR_URLS: [name: string, make: (url: string, around: { userId: string; base: string }) => string][] = [
    ['an external address', () => 'https://example.test/avatar.png'],
    ['no address', () => 'avatar.png'],
    ['nothing', () => ''],
    ['a script', () => 'javascript:alert(1)'],
    ['a data address', () => identicon(newId())],
    ['the key alone', (url, { base }) => url.slice(base.length + 1)],
    ['another host', (url) => url.replace('127.0.0.1', 'example.test')],
    ['our host as a subdomain of another', (url) => url.replace('127.0.0.1', '127.0.0.1.example.test')],
    ['our host as a user name', (url) => url.replace('http://127.0.0.1', 'http://127.0.0.1@example.test')],
    ['a user name before our host', (url) => url.replace('http://', 'http://me@')],
    ['another scheme', (url) => url.replace('http:', 'https:')],
    ['no scheme', (url) => url.replace('http:', '')],
    ['an upper-case scheme', (url) => url.replace('http:', 'HTTP:')],
    ['another spelling of the host', (url) => url.replace('127.0.0.1', '127.1')],
    ['a host with a dot at its end', (url) => url.replace('127.0.0.1', '127.0.0.1.')],
    ['another port', (url) => url.replace(/:(\d+)\//, ':1$1/')],
    ['a port with a zero in front', (url) => url.replace(/:(\d+)\//, ':0$1/')],
    ['backslashes', (url) => url.replaceAll('/', '\\')],
    ['one slash after the scheme', (url) => url.replace('http://', 'http:/')],
    ['three slashes after the scheme', (url) => url.replace('http://', 'http:///')],
    ['a tab inside', (url) => url.replace('avatars', 'ava\ttars')],
    ['a line break at its end', (url) => `${url}\n`],
    ['a blank before it', (url) => ` ${url}`],
    ['a query', (url) => `${url}?x=1`],
    ['an empty query', (url) => `${url}?`],
    ['a fragment', (url) => `${url}#x`],
    ['another bucket', (url, { base }) => url.replace(base, `${base}2`)],
    ['dot segments', (url) => url.replace('/avatars/', '/avatars/../avatars/')],
    ['encoded dot segments', (url) => url.replace('/avatars/', '/avatars/%2e%2e/avatars/')],
    ['an encoded slash', (url) => url.replace('/avatars/', '/avatars%2f')],
    ['an encoded letter', (url) => url.replace('/avatars/', '/%61vatars/')],
    ['a doubled slash', (url) => url.replace('/avatars/', '//avatars/')],
    ['another folder', (url) => url.replace('/avatars/', '/posts/')],
    ['what was removed', (url) => url.replace('/avatars/', '/removed/avatars/')],
    ['the folder alone', (url) => url.replace(/[^/]+$/, '')],
    ['a folder below', (url) => url.replace(/([^/]+)$/, 'x/$1')],
    ['no random name', (url) => url.replace(/[^/]+$/, 'me.png')],
    ['another type', (url) => url.replace('.png', '.svg')],
    ['an upper-case name', (url) => url.replace(/[^/]+$/, (name) => name.toUpperCase())],
    ['another user', (url, { userId }) => url.replace(userId, newId())],
    ['NUL', (url) => `${url}\0`],
    ['letters of another alphabet', (url) => url.replace('avatars', 'аvatars')],
  ]

  it('update-avatar refuses every URL that only looks like an avatar of the user', async () => {
    const who = await signIn(world.context)
    const url = await uploaded(who)
    const base = world.context.config.S3_PUBLIC_URL
    for (const [name, make] of SIMILAR_URLS) {
      const imageUrl = make(url, { userId: who.user._id, base })
      expect(imageUrl, name).not.toBe(url)
      const { status, body } = await setAvatar(who, imageUrl)
      expect([status, body.code], name).toEqual([400, 'VALIDATION_FAILED'])
    }
    expect((await storedUser(who)).avatar).toBe(identicon(who.user._id))
    expect((await setAvatar(who, url)).status).toBe(200)
  })

  it("update-avatar refuses another user's avatar and leaves it in place", async () => {
    const [owner, thief] = [await signIn(world.context), await signIn(world.context)]
    const avatar = await uploaded(owner)
    await setAvatar(owner, avatar)
    expect((await setAvatar(thief, avatar)).status).toBe(400)
    await call(thief, 'DELETE', '/delete-avatar')
    expect(await isPublic(avatar)).toBe(true)
  })

  it('update-avatar refuses uploads that are missing, empty, too large, or not an image of their type', async () => {
    const who = await signIn(world.context)
    const jpeg = await sharp(png).jpeg().toBuffer()
    const { data } = (await call(who, 'POST', '/upload-url', { contentType: 'image/png' })).body
    const refused: [string, string][] = [
      [data.storageUrl, 'never uploaded'],
      [await uploaded(who, Buffer.alloc(0)), 'is empty'],
      [await uploaded(who, Buffer.concat([png, Buffer.alloc(5_000_001 - png.length)])), 'too large'],
      [await uploaded(who, Buffer.from('<svg onload="alert(1)"/>')), 'is not image/png'],
      [await uploaded(who, jpeg), 'is image/jpeg'],
    ]
    for (const [imageUrl, reason] of refused) {
      const { status, body } = await setAvatar(who, imageUrl)
      expect([status, body.errors[0]], reason).toEqual([
        400,
        { path: 'imageUrl', code: 'AVATAR_NOT_ALLOWED', message: expect.stringContaining(reason) },
      ])
    }
    expect((await storedUser(who)).avatar).toBe(identicon(who.user._id))
    for (const type of ['image/jpeg', 'image/jpg']) {
      expect((await setAvatar(who, await uploaded(who, jpeg, type))).status).toBe(200)
    }
  })

  it('concurrent updates leave exactly one existing avatar', async () => {
    const who = await signIn(world.context)
    const urls = await Promise.all(Array.from({ length: 4 }, () => uploaded(who)))
    const answers = await Promise.all(urls.map((url) => setAvatar(who, url)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { avatar } = await storedUser(who)
    const there = await Promise.all(urls.map(isPublic))
    expect(urls.filter((_, index) => there[index])).toEqual([avatar])
    // Alternates between two images: a just-replaced one may be missing for a moment and is refused then.
    const two = [await uploaded(who), await uploaded(who)]
    const again = await Promise.all([...two, ...two, ...two].map((url) => setAvatar(who, url)))
    for (const { status } of again) expect([200, 400]).toContain(status)
    const last = (await storedUser(who)).avatar!
    expect(two).toContain(last)
    expect(await isPublic(last)).toBe(true)
  })

  it('an avatar that is set again during its removal is restored', async () => {
    const who = await signIn(world.context)
    const userId = who.user._id
    const { avatars, storage } = world.context
    const [url, other] = [await uploaded(who), await uploaded(who)]
    await setAvatar(who, url)
    // It is set again after its successor was stored and before it was deleted.
    const slow = {
      ...avatars,
      async remove(owner: string, address: string) {
        await updateAvatar(world.context, { userId, imageUrl: url })
        return avatars.remove(owner, address)
      },
    }
    await replaceAvatar({ ...world.context, avatars: slow }, userId, other)
    expect([(await storedUser(who)).avatar, await isPublic(url)]).toEqual([url, true])
    // It disappears after the check and before the store.
    const late = {
      ...avatars,
      async findProblem(owner: string, address: string) {
        const problem = await avatars.findProblem(owner, address)
        await replaceAvatar(world.context, userId, other)
        return problem
      },
    }
    await storage.put({ key: storage.toKey(other)!, body: png, contentType: 'image/png' })
    await updateAvatar({ ...world.context, avatars: late }, { userId, imageUrl: url })
    expect([(await storedUser(who)).avatar, await isPublic(url)]).toEqual([url, true])
  })
})

it('update-avatar keeps the avatar and reports an error while object storage is unavailable, and delete-avatar still works', async () => {
  const who = await signIn(world.context)
  const userId = who.user._id
  const avatar = await uploaded(who)
  await setAvatar(who, avatar)
  const failToConnect = async () => Promise.reject(new Error('connect ECONNREFUSED'))
  const { toKey: keyOf, publicUrl } = world.context.storage
  const avatars = createAvatars({
    storage: partial({
      toKey: keyOf,
      publicUrl,
      put: failToConnect,
      readHead: failToConnect,
      storedAt: failToConnect,
      move: failToConnect,
    }),
    timeoutMs: 1_000,
  })
  const context = { ...world.context, avatars }
  await expect(updateAvatar(context, { userId, imageUrl: avatar })).rejects.toMatchObject({ statusCode: 503 })
  expect((await storedUser(who)).avatar).toBe(avatar)
  await deleteAvatar(context, userId)
  expect((await storedUser(who)).avatar).toBe(identicon(userId))
})

describe('delete-avatar', () => {
  it('delete-avatar restores the generated image and deletes the upload', async () => {
    const who = await signIn(world.context)
    const avatar = await uploaded(who)
    await setAvatar(who, avatar)
    const { status, body } = await call(who, 'DELETE', '/delete-avatar')
    expect([status, body]).toEqual([200, { success: true, message: expect.any(String) }])
    expect((await storedUser(who)).avatar).toBe(identicon(who.user._id))
    expect(await isPublic(avatar)).toBe(false)
    expect(await world.context.storage.storedAt(removedKey(world.context.storage.toKey(avatar)!))).not.toBeNull()
    expect((await call(who, 'DELETE', '/delete-avatar')).status).toBe(200)
  })

  it('every user has a different generated image', async () => {
    const [one, other] = [newId(), newId()]
    expect(identicon(one)).toMatch(/^data:image\/svg\+xml,%3Csvg/)
    expect(identicon(one)).toBe(identicon(one))
    expect(identicon(one)).not.toBe(identicon(other))
    const svg = Buffer.from(decodeURIComponent(identicon(one).split(',')[1]!))
    expect((await sharp(svg).metadata()).format).toBe('svg')
  })
})

describe('change-name', () => {
  it.each([
    ['  Ann Other\t', 'Ann Other'],
    ['李四', '李四'],
    ['x'.repeat(100), 'x'.repeat(100)],
    ['😀'.repeat(100), '😀'.repeat(100)],
  ])('change-name accepts %j', async (name, stored) => {
    const who = await signIn(world.context)
    const { status, body } = await call(who, 'PATCH', '/change-name', { name, role: 'admin', isDisabled: true })
    expect([status, body]).toEqual([200, { success: true, message: expect.any(String) }])
    expect(await storedUser(who)).toMatchObject({ name: stored, role: 'user', isDisabled: false })
  })

  it.each(['', 'x', '  x  ', 'x'.repeat(101), 'a\nb', 'a\u0007b', 5, null, ['Ann'], { $ne: '' }, undefined])(
    'change-name rejects %j',
    async (name) => {
      const who = await signIn(world.context)
      const { status, body } = await call(who, 'PATCH', '/change-name', { name })
      expect([status, body.code, body.errors[0].path]).toEqual([400, 'VALIDATION_FAILED', 'name'])
      expect((await storedUser(who)).name).toBe('Ann')
    },
  )
})

describe('change-timezone', () => {
  it.each(['Europe/Berlin', 'UTC', 'Asia/Calcutta', 'America/Argentina/Buenos_Aires'])(
    'change-timezone accepts %s',
    async (timezone) => {
      const who = await signIn(world.context)
      const { status, body } = await call(who, 'PUT', '/change-timezone', { timezone })
      expect([status, body]).toEqual([200, { success: true, message: expect.any(String) }])
      expect((await storedUser(who)).timezone).toBe(timezone)
    },
  )

  it.each(['+02:00', 'Mars/Olympus', 'europe/berlin', '', ' UTC', 0, null, undefined])(
    'change-timezone rejects %j',
    async (timezone) => {
      const who = await signIn(world.context)
      const { status, body } = await call(who, 'PUT', '/change-timezone', { timezone })
      expect([status, body.code, body.errors[0].path]).toEqual([400, 'VALIDATION_FAILED', 'timezone'])
      expect((await storedUser(who)).timezone).toBe('UTC')
    },
  )
})

describe('change-password', () => {
  const NEW_PASSWORD = 'another horse, another staple'
  const change = (who: SignedIn, currentPassword: unknown, newPassword: unknown = NEW_PASSWORD) =>
    call(who, 'PATCH', '/change-password', { currentPassword, newPassword })
  const logIn = async ({ user }: SignedIn, password: string) =>
    (
      await world.app.inject({
        method: 'POST',
        url: '/api/auth/login',
        payload: { email: user.email, password },
      })
    ).statusCode
  const getMe = async (headers: { authorization: string }) =>
    (await world.app.inject({ url: '/api/auth/me', headers })).statusCode

  const signInByPassword = async () => {
    const { passwordHash } = await createAccount(world.context, { withPassword: true })
    return signIn(world.context, { passwordHash })
  }

  it('change-password accepts only the new password afterwards and ends all other sessions', async () => {
    const who = await signInByPassword()
    const elsewhere = await openSession(world.context, who.user, { ipAddress: '', userAgent: '' })
    const headers = { authorization: `Bearer ${elsewhere.accessToken}` }
    expect(await getMe(headers)).toBe(200)
    const { status, body } = await change(who, PASSWORD)
    expect([status, body]).toEqual([200, { success: true, message: expect.any(String) }])
    expect([await getMe(who.headers), await getMe(headers)]).toEqual([200, 401])
    const refreshed = await world.app.inject({
      method: 'POST',
      url: '/api/auth/refresh',
      cookies: { refreshToken: elsewhere.refreshCookie },
    })
    expect(refreshed.statusCode).toBe(401)
    expect([await logIn(who, PASSWORD), await logIn(who, NEW_PASSWORD)]).toEqual([401, 200])
  })

  it('a login with the old password that runs during the change gets no session', async () => {
    const who = await signInByPassword()
    const { passwords } = world.context
    const slow = {
      ...passwords,
      async verify(hash: string | null, password: string, whose: string) {
        const isRight = await passwords.verify(hash, password, whose)
        expect((await change(who, PASSWORD)).status).toBe(200)
        return isRight
      },
    }
    const late = logInByPassword(
      { ...world.context, passwords: slow },
      { email: who.user.email, password: PASSWORD, ipAddress: '192.0.2.1', userAgent: '' },
    )
    await expect(late).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' })
    const sessions = world.context.database.connection.collection('sessions')
    expect(await sessions.countDocuments({ userId: who.user._id })).toBe(1)
  })

  it.each([
    ['no body', undefined],
    ['no new password', { currentPassword: PASSWORD }],
    ['no current password', { newPassword: NEW_PASSWORD }],
    ['one that is too short', { currentPassword: PASSWORD, newPassword: 'x'.repeat(7) }],
    ['one that is too long', { currentPassword: PASSWORD, newPassword: 'x'.repeat(1_025) }],
    ['a number', { currentPassword: PASSWORD, newPassword: 12_345_678 }],
    ['an operator', { currentPassword: { $ne: null }, newPassword: NEW_PASSWORD }],
    ['an empty current one', { currentPassword: '', newPassword: NEW_PASSWORD }],
    ['half a character', { currentPassword: PASSWORD, newPassword: '\ud800 is half a character' }],
  ])('change-password refuses %s as invalid data', async (_, payload) => {
    const who = await signIn(world.context)
    const { status, body } = await call(who, 'PATCH', '/change-password', payload)
    expect(status).toBe(400)
    expect(body).toEqual({
      success: false,
      message: 'Invalid password data',
      statusCode: 400,
      code: 'VALIDATION_FAILED',
      requestId: expect.any(String),
      errors: expect.any(Array),
    })
  })

  it('a wrong current password is refused and changes neither password nor sessions', async () => {
    const who = await signInByPassword()
    const { status, body } = await change(who, 'wrong')
    expect(status).toBe(400)
    expect(body).toEqual({
      success: false,
      message: 'Incorrect current password',
      statusCode: 400,
      code: 'INCORRECT_PASSWORD',
      requestId: expect.any(String),
    })
    expect([await getMe(who.headers), await logIn(who, PASSWORD)]).toEqual([200, 200])
  })

  it('accounts of an identity provider cannot change a password', async () => {
    const who = await signIn(world.context, { auth: { provider: 'google' } })
    const { status, body } = await change(who, PASSWORD)
    expect(status).toBe(400)
    expect(body).toEqual({
      success: false,
      message: 'Password change not supported for this account',
      statusCode: 400,
      code: 'PASSWORD_NOT_SUPPORTED',
      requestId: expect.any(String),
    })
  })

  it('wrong current passwords are limited per session and do not block logins of other devices', async () => {
    const who = await signInByPassword()
    for (let round = 0; round < 4; round += 1) expect((await change(who, PASSWORD, PASSWORD)).status).toBe(200)
    for (let round = 0; round < 3; round += 1) expect((await change(who, 'wrong')).status).toBe(400)
    expect(await change(who, PASSWORD)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', bucket: 'login' } })
    expect(await logIn(who, PASSWORD)).toBe(200)
  })

  it('one of two concurrent password changes succeeds', async () => {
    const who = await signInByPassword()
    const passwords = ['the first of two', 'the second of two']
    const answers = await Promise.all(passwords.map((password) => change(who, PASSWORD, password)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400])
    const winner = passwords[answers.findIndex(({ status }) => status === 200)]!
    expect(await logIn(who, winner)).toBe(200)
  })
})
