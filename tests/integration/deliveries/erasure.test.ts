import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { queueMail } from '../../../src/commands/notifications/queue-mail.ts'
import { PLATFORMS } from '../../../src/domain/shared/platforms.ts'
import { HOUR } from '../../../src/domain/shared/times.ts'
import { readHistories } from '../../faults/gather.ts'
import { ALL_QUEUES, poll } from '../../support/delivery-world.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'
import { unique } from '../../support/servers.ts'
import { allKeys, recordsByCollection } from '../../support/traces.ts'

// Exports and then erases a user with all kinds of data in unique texts, while a post is being sent.

let world: PlatformsWorld
let user: Awaited<ReturnType<PlatformsWorld['user']>>
let exported: { status: number; headers: Record<string, unknown>; text: string }
let erasureResponse: { status: number }
const deviceToken = unique('device-token')
const inFlight = unique('in-flight')
const waiting = unique('never-published')
/** Unique texts that the user may read and that must not remain after the erasure. */
const canaries = {
  name: unique('name'),
  text: unique('text'),
  draft: unique('draft'),
  altText: unique('alt'),
  filename: unique('file'),
  media: unique('media'),
  avatar: unique('avatar'),
  userAgent: unique('browser'),
  ipAddress: '203.0.113.77',
  inFlight,
  waiting,
}
/** Values that must not appear even in the user's own export, except the email address. */
let secrets: Record<string, string>

beforeAll(async () => {
  world = await startPlatformsWorld(ALL_QUEUES)
  user = await world.user()
  secrets = { ...user.secrets, ...(await platformTokens()), deviceToken }
  await fill()
  exported = await exportData()
  erasureResponse = await eraseWhilePosting()
  await poll(
    () => world.context.erasures.find(user.userId),
    (erasure) => erasure?.erasedAt instanceof Date,
  )
})
afterAll(() => world?.stop())

async function platformTokens(): Promise<Record<string, string>> {
  const tokens = PLATFORMS.map(async (platform) => {
    const account = await world.context.credentials.get(user.userId, platform, { signal: AbortSignal.timeout(60_000) })
    return [`${platform} token`, account!.accessToken] as const
  })
  return Object.fromEntries(await Promise.all(tokens))
}

/** An image with text in its last bytes, which image decoders ignore. */
async function imageWith(words: string): Promise<Uint8Array<ArrayBuffer>> {
  const image = await sharp({ create: { width: 400, height: 400, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  return new Uint8Array(Buffer.concat([image, Buffer.from(words)]))
}

async function expectOk(response: Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>) {
  const { status, body } = await response
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body.data
}

async function fill(): Promise<void> {
  await expectOk(user.call('PATCH', '/api/profile/change-name', { name: canaries.name }))
  const { uploadUrl, storageUrl } = await expectOk(
    user.call('POST', '/api/profile/upload-url', { contentType: 'image/png' }),
  )
  const bytes = await imageWith(canaries.avatar)
  await fetch(uploadUrl, { method: 'PUT', body: bytes, headers: { 'content-type': 'image/png' } })
  await expectOk(user.call('PUT', '/api/profile/update-avatar', { imageUrl: storageUrl }))
  await world.app.inject({
    method: 'POST',
    url: '/api/auth/login',
    headers: { 'user-agent': canaries.userAgent },
    remoteAddress: canaries.ipAddress,
    payload: { email: user.secrets.email, password: user.secrets.password },
  })
  const upload = await user.upload(await imageWith(canaries.media), 'image/png', canaries.altText)
  const media = { ...upload, originalFilename: `${canaries.filename}.png` }
  const postId = await user.create({
    content: { text: canaries.text, mediaItems: [media] },
    selectedPlatforms: PLATFORMS,
  })
  await user.create({ content: { text: canaries.draft }, selectedPlatforms: ['bluesky'], status: 'DRAFT' })
  await user.create({
    content: { text: waiting, mediaItems: [media] },
    selectedPlatforms: ['tumblr'],
    scheduledAt: new Date(Date.now() + HOUR).toISOString(),
  })
  const { email } = user.secrets
  const words = { subject: 'Subject', text: canaries.text, html: '' }
  await queueMail(world.context, { kind: 'code', userId: user.userId, lifeMs: HOUR, to: email, ...words })
  await user.call('GET', '/api/platform/mastodon/connect')
  await expectOk(user.call('POST', '/api/notifications/devices', { token: deviceToken, platform: 'web' }))
  expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
}

async function exportData() {
  const response = await world.app.inject({
    url: '/api/profile/export',
    headers: { authorization: `Bearer ${user.secrets.token}` },
  })
  return { status: response.statusCode, headers: response.headers, text: response.body }
}

/** Erases the user while a visible call is in progress; the platform accepts the post and responds during the erasure. */
async function eraseWhilePosting() {
  const { control, calls } = world.find('bluesky')
  await control.fault({ ...calls.publish, times: 1, action: { delayMs: 3_000 } })
  const before = (await user.visibleCalls('bluesky')).length
  await user.create({ content: { text: inFlight }, selectedPlatforms: ['bluesky'] })
  await poll(
    () => user.visibleCalls('bluesky'),
    (calls) => calls.length > before,
  )
  return user.call('DELETE', '/api/profile', { password: user.secrets.password })
}

describe('the export', () => {
  it('the export is a download of all stored data of the user', async () => {
    expect(exported.status).toBe(200)
    expect(exported.headers['content-disposition']).toMatch(/^attachment; filename="postonce-\d{4}-\d\d-\d\d\.json"$/)
    const { success, data } = JSON.parse(exported.text)
    expect(success).toBe(true)
    expect(data.user).toMatchObject({ email: user.secrets.email, name: canaries.name, auth: { provider: 'email' } })
    expect(Object.keys(data.platforms)).toEqual(expect.arrayContaining([...PLATFORMS]))
    for (const platform of PLATFORMS) expect(data.platforms[platform]).toMatchObject({ connected: true })
    const listed = (data.accounts as { platform: string; isDefault: boolean }[]).filter(({ isDefault }) => isDefault)
    expect(listed.map(({ platform }) => platform).toSorted()).toEqual(PLATFORMS.toSorted())
    expect(data.posts).toHaveLength(3)
    expect(data.posts.map(({ status }: { status: string }) => status).toSorted()).toEqual([
      'COMPLETED',
      'DRAFT',
      'SCHEDULED',
    ])
    expect(data.notifications.length).toBeGreaterThanOrEqual(PLATFORMS.length + 2)
    expect(data.sessions.map(({ userAgent }: { userAgent: string }) => userAgent)).toContain(canaries.userAgent)
    expect(data.devices).toEqual([{ platform: 'web', createdAt: expect.any(String), lastSeen: expect.any(String) }])
    expect(data.mails).toMatchObject([{ kind: 'code' }])
    const addresses = (data.media as { storageUrl: string }[]).map(({ storageUrl }) => storageUrl)
    expect(addresses).toContain(data.user.avatar)
    expect(addresses).toEqual(expect.arrayContaining([data.posts.at(-1).content.mediaItems[0].storageUrl]))
    for (const name of ['text', 'draft', 'altText', 'filename', 'ipAddress', 'waiting'] as const) {
      expect(exported.text, name).toContain(canaries[name])
    }
  })

  it('the export contains no secret', () => {
    for (const [name, secret] of Object.entries(secrets)) {
      if (name !== 'email') expect(exported.text.includes(secret), name).toBe(false)
    }
    expect(exported.text).not.toMatch(/argon2|passwordHash|tokenHash|"v1\.|leaseUntil|requestHash/)
  })
})

describe('after the erasure', () => {
  const words = () => ({ ...canaries, email: user.secrets.email, ...accountNames() })
  const accountNames = () =>
    Object.fromEntries(PLATFORMS.map((platform) => [`${platform} account`, user.accountOn(platform).account]))

  function expectNone(where: string, extra: Record<string, string> = {}): void {
    for (const [name, word] of Object.entries({ ...words(), ...secrets, ...extra })) {
      expect(where.includes(word), name).toBe(false)
    }
  }

  it('after the erasure the post that was being sent is published, and the waiting post is not', async () => {
    expect(erasureResponse.status).toBe(202)
    const texts = (await user.published('bluesky')).map(({ text }) => text)
    expect(texts.toSorted()).toEqual([canaries.text, inFlight].toSorted())
    expect(JSON.stringify(await world.find('tumblr').control.ledger())).not.toContain(waiting)
  })

  it('after the erasure the database contains only a tombstone of the user', async () => {
    for (const { name, records } of await recordsByCollection(world.context)) {
      const mayNameIds = name === 'erasures' || name === 'auditLog'
      expectNone(JSON.stringify(records), mayNameIds ? {} : { [`id in ${name}`]: user.userId })
    }
    expect(await world.context.erasures.find(user.userId)).toMatchObject({ erasedAt: expect.any(Date) })
  })

  it('after the erasure object storage contains no file name or content of the user', async () => {
    const keys = await allKeys(world.context)
    expectNone(keys.join('\n'), { id: user.userId })
    for (const key of keys) {
      const object = await world.context.storage.open(key)
      expectNone(Buffer.from(await new Response(object!.stream).arrayBuffer()).toString('latin1'))
    }
  })

  it('after the erasure Temporal contains no text of the user', async () => {
    const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
    const { text } = await readHistories(address, namespace)
    expect(text).toContain('runErasureStep')
    expectNone(text)
  })

  it('the erasure revokes the logins at the platforms that support it', async () => {
    const requests = await world.find('mastodon').control.requests()
    expect(requests.some(({ path, status }) => path.includes('/oauth/revoke') && status === 200)).toBe(true)
  })
})

it('the erasure workflow repeats all steps once and ends', async () => {
  const { erasures } = world.context
  const begin = erasures.begin.bind(erasures)
  // MongoDB may have the transaction repeated.
  const spy = vi
    .spyOn(erasures, 'begin')
    .mockImplementation((id, at, session) => begin(id, new Date(at.getTime() - HOUR), session))
  const other = await world.user()
  expect((await other.call('DELETE', '/api/profile', { password: other.secrets.password })).status).toBe(202)
  spy.mockRestore()
  await poll(
    () => erasures.find(other.userId),
    (erasure) => erasure?.isOpen === false,
  )
})
