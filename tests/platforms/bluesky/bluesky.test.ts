import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../sandbox/platforms/faults.ts'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import type { Published } from '../../../src/domain/posts/post.ts'
import type { Credentials, OutgoingPost, SearchOptions } from '../../../src/platforms/contract.ts'
import { deriveRecordKey } from '../../../src/platforms/bluesky/record-key.ts'
import {
  memoryMedia,
  newDelivery,
  newHandle,
  newPost,
  picture,
  platformErrorOf,
  postsOf,
  withVersion,
  xrpcOf,
} from '../shared/support.ts'
import { blueskyWorld, type BlueskyWorld } from './bluesky-support.ts'

const PUT = 'com.atproto.repo.putRecord'

let world: BlueskyWorld
let { bluesky, control, adapter, direct, owner, createClient } = {} as BlueskyWorld
let account: Credentials
const { media, add, opened } = memoryMedia()

const options = (): SearchOptions => ({
  signal: AbortSignal.timeout(20_000),
  calledAt: new Date(),
  wasAnswered: false,
  isRestored: false,
  isTaken: async () => false,
})

async function publish(post: OutgoingPost, delivery = newDelivery(), as = account): Promise<Published> {
  await adapter.prepare(post, as, delivery, options())
  return adapter.publish(post, as, delivery, options())
}

async function recordOf(published: Published) {
  return (await postsOf(bluesky.pdsUrl, owner)).find(({ uri }) => uri === published.platformPostId)!
}

async function requestsTo(method: string): Promise<number> {
  return (await control.requests()).filter(({ path }) => path.includes(method)).length
}

/** A server that forwards calls to the sandbox and records the refresh token of each session. */
async function startRecorder() {
  const refreshTokens: string[] = []
  async function forward({ method, url, headers }: IncomingMessage, body: Buffer, response: ServerResponse) {
    const { authorization, 'content-type': type, 'user-agent': agent } = headers
    const answer = await fetch(`${bluesky.url}${url}`, {
      method: method!,
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(type !== undefined && { 'content-type': type }),
        ...(agent !== undefined && { 'user-agent': agent }),
      },
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    })
    const text = await answer.text()
    if (url!.includes('createSession')) refreshTokens.push((JSON.parse(text) as { refreshJwt: string }).refreshJwt)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  }
  const server = createServer((request, response) => {
    void buffer(request).then((body) => forward(request, body, response))
  })
  return { url: await listenOnLoopback(server), refreshTokens, stop: () => closeServer(server) }
}

/** Requests new tokens of a session from the server itself. */
async function refreshAt(pdsUrl: string, token: string): Promise<{ status: number; error: string | undefined }> {
  const response = await fetch(`${pdsUrl}/xrpc/com.atproto.server.refreshSession`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: response.status, error: ((await response.json()) as { error?: string }).error }
}

beforeAll(async () => {
  world = await blueskyWorld(media, { accountHosts: ['.host.bsky.network'] })
  ;({ bluesky, control, adapter, direct, owner, createClient } = world)
  account = await world.logIn(owner)
})

afterAll(() => world?.stop())

beforeEach(() => control.clearFaults())

describe('connect', () => {
  it.each([(handle: string) => handle, (handle: string) => ` @${handle.toUpperCase()}\u202c`])(
    'a login accepts a handle in any notation (%#)',
    async (write) => {
      const { credentials, profile } = await direct.connect(write(owner.handle), owner.appPassword, options())
      expect(credentials).toMatchObject({ accountId: owner.did, handle: owner.handle, serviceUrl: bluesky.url })
      expect(credentials.expiresAt!.getTime() - Date.now()).toBeGreaterThan(110 * 60_000)
      expect(credentials.endsAt!.getTime() - Date.now()).toBeGreaterThan(80 * 86_400_000)
      expect(profile).toEqual({ displayName: owner.handle, handle: owner.handle, avatar: null })
    },
  )

  it.each([
    ['a wrong app password', () => direct.connect(owner.handle, 'aaaa-bbbb-cccc-dddd', options())],
    ['an unknown handle', () => direct.connect('nobody-here.test', owner.appPassword, options())],
    ['a handle that is none', () => direct.connect('\u0000', owner.appPassword, options())],
    ['an empty one', () => direct.connect('', '', options())],
  ])('a login is refused with %s', async (_, connect) => {
    expect(await platformErrorOf(connect())).toMatchObject({ class: 'unauthorized', certain: true })
  })

  it('the main password is refused, and the server ends its session', async () => {
    const recorder = await startRecorder()
    const recorded = createClient({ entryUrl: recorder.url })
    const connect = (password: string) => recorded.direct.connect(owner.handle, password, options())
    try {
      expect(await platformErrorOf(connect(owner.password))).toMatchObject({
        class: 'permission',
        certain: true,
        message: expect.stringMatching(
          /^This is the main password .+ Create an app password in Bluesky under Settings/,
        ),
      })
      await connect(owner.appPassword)
      const [refused, connectedOne] = recorder.refreshTokens
      expect(await refreshAt(bluesky.pdsUrl, refused!)).toEqual({ status: 400, error: 'ExpiredToken' })
      expect(await refreshAt(bluesky.pdsUrl, connectedOne!)).toMatchObject({ status: 200 })
    } finally {
      await recorded.close()
      await recorder.stop()
    }
  })

  it('trouble of the server is not reported as wrong credentials', async () => {
    await control.addFault({ path: 'createSession', action: { status: 502, body: '<html>Bad gateway</html>' } })
    const error = await platformErrorOf(direct.connect(owner.handle, owner.appPassword, options()))
    expect(error).toMatchObject({ class: 'transient', message: 'Bluesky has a temporary problem' })
  })

  it('an account connects even if its profile cannot be read', async () => {
    await control.addFault({ path: 'getProfile', action: { status: 500 } })
    const { profile } = await direct.connect(owner.handle, owner.appPassword, options())
    expect(profile).toEqual({ displayName: owner.handle, handle: owner.handle, avatar: null })
  })

  it.each(['http://169.254.169.254', 'https://evil.test', 'https://x.host.bsky.network:8443', 'file:///etc/passwd'])(
    'a DID document is not followed to %s',
    async (serviceEndpoint) => {
      const didDoc = {
        id: owner.did,
        service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint }],
      }
      const { did, handle } = owner
      const session = { did, handle, accessJwt: 'a', refreshJwt: 'b', didDoc }
      await control.addFault({ path: 'createSession', times: 1, action: { status: 200, body: session } })
      const { credentials } = await direct.connect(owner.handle, owner.appPassword, options())
      expect(credentials.serviceUrl).toBe(bluesky.url)
    },
  )

  it('a DID document is followed to the hosts of Bluesky', async () => {
    const serviceEndpoint = 'https://morel.us-east.host.bsky.network'
    const didDoc = {
      id: owner.did,
      service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint }],
    }
    const session = { did: owner.did, handle: owner.handle, accessJwt: 'a', refreshJwt: 'b', didDoc }
    await control.addFault({ path: 'createSession', times: 1, action: { status: 200, body: session } })
    const signal = AbortSignal.timeout(20_000)
    const { credentials } = await direct.connect(owner.handle, owner.appPassword, { signal })
    expect(credentials.serviceUrl).toBe(serviceEndpoint)
  })
})

describe('session', () => {
  it('a profile is read as its owner wrote it', async () => {
    const other = await bluesky.createAccount({ handle: newHandle() })
    const as = await world.logIn(other)
    const record = { $type: 'app.bsky.actor.profile', displayName: 'Ödön', description: 'Sees 🌍' }
    const body = { repo: other.did, collection: 'app.bsky.actor.profile', rkey: 'self', record }
    await xrpcOf(bluesky.pdsUrl)(PUT, { body, token: as.accessToken })
    expect(await adapter.profile(as, options())).toEqual({
      displayName: 'Ödön',
      handle: other.handle,
      avatar: null,
      description: 'Sees 🌍',
    })
  })

  it('renewal replaces both tokens, and works again with the old one after a lost response', async () => {
    const as = await world.logIn(owner)
    await control.addFault({ path: 'refreshSession', times: 1, action: { dropAfterAccept: true } })
    expect(await platformErrorOf(adapter.renew(as, options()))).toMatchObject({ class: 'transient', certain: false })
    const renewed = await adapter.renew(as, options())
    expect(renewed.refreshToken).not.toBe(as.refreshToken)
    expect(renewed).toMatchObject({ accountId: owner.did, handle: owner.handle, serviceUrl: bluesky.url })
    await publish(newPost('with a renewed token'), newDelivery(), withVersion(renewed))
  })

  it.each([429, 500, 403])('a session does not end because a renewal got a %i', async (status) => {
    await control.addFault({ path: 'refreshSession', times: 1, action: { status } })
    expect((await platformErrorOf(adapter.renew(account, options()))).class).not.toBe('unauthorized')
  })

  it('revoking ends the session at the platform', async () => {
    const as = await world.logIn(owner)
    await adapter.revoke(as, options())
    expect(await platformErrorOf(adapter.renew(as, options()))).toMatchObject({ class: 'unauthorized', certain: true })
  })

  it('a revoked account is reported as an ended login, and a new login works', async () => {
    const other = await bluesky.createAccount({ handle: newHandle() })
    const as = await world.logIn(other)
    await control.revoke(other.handle)
    const refused = await platformErrorOf(publish(newPost('too late'), newDelivery(), as))
    expect(refused).toMatchObject({ class: 'unauthorized', certain: true, message: 'The Bluesky login has expired' })
    expect(await platformErrorOf(adapter.renew(as, options()))).toMatchObject({ class: 'unauthorized', certain: true })
    await publish(newPost('back again'), newDelivery(), await world.logIn(other))
    expect((await postsOf(bluesky.pdsUrl, other)).map(({ value }) => value.text)).toEqual(['back again'])
  })

  it.each([
    [400, 'ExpiredToken'],
    [400, 'InvalidToken'],
    [400, 'InvalidRequest'],
    [401, 'AuthMissing'],
    [401, 'AccountTakedown'],
    [401, 'SomethingNew'],
  ])('a %i %s means an ended login', async (status, error) => {
    await control.addFault({ path: 'refreshSession', times: 1, action: { status, body: { error, message: 'no' } } })
    expect(await platformErrorOf(adapter.renew(account, options()))).toMatchObject({
      class: 'unauthorized',
      certain: true,
    })
  })
})

describe('posts', () => {
  it('posts have links, mentions and hashtags at their byte positions', async () => {
    const mentioned = await bluesky.createAccount({ handle: newHandle() })
    const text = `café ☕ hi @${mentioned.handle} see https://example.test/a?b=1 #naïve`
    const published = await publish(newPost(text))
    const { value, uri } = await recordOf(published)
    expect(value.text).toBe(text)
    const mentionEnd = 13 + 1 + mentioned.handle.length
    expect(value.facets!.map(({ index, features: [feature] }) => [index.byteStart, index.byteEnd, feature])).toEqual([
      [13, mentionEnd, { $type: 'app.bsky.richtext.facet#mention', did: mentioned.did }],
      [mentionEnd + 5, mentionEnd + 31, { $type: 'app.bsky.richtext.facet#link', uri: 'https://example.test/a?b=1' }],
      [mentionEnd + 32, mentionEnd + 39, { $type: 'app.bsky.richtext.facet#tag', tag: 'naïve' }],
    ])
    const rkey = uri.split('/').at(-1)
    expect(published).toEqual({
      platformPostId: uri,
      platformPostUrl: `https://bsky.app/profile/${owner.did}/post/${rkey}`,
    })
  })

  it('unknown handles stay plain text', async () => {
    const published = await publish(newPost('hi @an-unused-name.test and @neither.example.com'))
    expect((await recordOf(published)).value.facets).toBeUndefined()
  })

  it('a post waits when a handle cannot be resolved now', async () => {
    await control.addFault({ path: 'resolveHandle', times: 1, action: { status: 503 } })
    const delivery = newDelivery()
    const post = newPost(`hi @${owner.handle}`)
    expect(await platformErrorOf(publish(post, delivery))).toMatchObject({ class: 'transient' })
    const published = await publish(post, delivery)
    expect((await recordOf(published)).value.facets).toHaveLength(1)
  })

  it('a post is published with a plain mention when its handle cannot be resolved for long', async () => {
    await control.addFault({ path: 'resolveHandle', times: 3, action: { status: 502 } })
    const delivery = newDelivery()
    const post = newPost(`hi @${owner.handle} https://example.com`)
    for (const _ of [1, 2]) expect(await platformErrorOf(publish(post, delivery))).toMatchObject({ class: 'transient' })
    const { value } = await recordOf(await publish(post, delivery))
    expect(value.text).toBe(post.content.text)
    expect(value.facets!.map(({ features }) => features[0]!['uri'])).toEqual(['https://example.com'])
  })

  it('a hashtag that the server would refuse is left out', async () => {
    const published = await publish(newPost(`#${`e${'\u0301'.repeat(10)}`.repeat(40)} fine #ok`))
    expect((await recordOf(published)).value.facets!.map(({ features }) => features[0]!['tag'])).toEqual(['ok'])
  })

  it('a post has the time at which it was due', async () => {
    const delivery = { ...newDelivery(), dueAt: new Date('2026-03-04T05:06:07.089Z') }
    const { value, uri } = await recordOf(await publish(newPost('then'), delivery))
    expect(value.createdAt).toBe('2026-03-04T05:06:07.089Z')
    expect(uri.endsWith(deriveRecordKey(delivery.key, delivery.dueAt))).toBe(true)
  })

  it('the server refuses posts that are too long', async () => {
    const error = await platformErrorOf(publish(newPost('x'.repeat(301))))
    expect(error).toMatchObject({ class: 'validation', certain: true })
    expect(error.platformReason!.text).toMatch(/text/)
    await publish(newPost('👨‍👩‍👧‍👦'.repeat(119)))
  })

  it('a repeated delivery creates one post, immediately or later', async () => {
    const delivery = newDelivery()
    const post = newPost(`only once ${delivery.key}`)
    const first = await publish(post, delivery)
    const again = await Promise.all([1, 2, 3].map(() => adapter.publish(post, account, delivery, options())))
    expect(again).toEqual([first, first, first])
    const found = (await postsOf(bluesky.pdsUrl, owner)).filter(({ value }) => value.text === post.content.text)
    expect(found).toHaveLength(1)
  })

  it('a prepared post with a mention needs a single call', async () => {
    const delivery = newDelivery()
    const post = newPost(`@${owner.handle}`)
    await adapter.prepare(post, account, delivery, options())
    const before = (await control.requests()).length
    await adapter.publish(post, account, delivery, options())
    const after = (await control.requests()).slice(before)
    expect(after.map(({ path }) => path)).toEqual([`/xrpc/${PUT}`])
  })
})

describe('images', () => {
  it('images are posted with their descriptions and sizes', async () => {
    const items = [
      add(await bytesOf(picture(300, 200).jpeg()), 'image/jpeg', 'A teal field'),
      add(await bytesOf(picture(64, 128).png()), 'image/png'),
      add(await bytesOf(picture(50, 50).webp()), 'image/webp', 'ü'.repeat(3_000)),
      add(await bytesOf(picture(10, 20, 'red').png()), 'image/png', ''),
    ]
    const published = await publish(newPost('four', items))
    const { images } = (await recordOf(published)).value.embed!
    expect(images.map(({ image }) => image.mimeType)).toEqual(['image/jpeg', 'image/png', 'image/webp', 'image/png'])
    expect(images.map(({ alt }) => alt.slice(0, 20))).toEqual(['A teal field', '', 'ü'.repeat(20), ''])
    expect([...images[2]!.alt]).toHaveLength(2_000)
    expect(images.map(({ aspectRatio }) => aspectRatio)).toEqual([
      { width: 300, height: 200 },
      { width: 64, height: 128 },
      { width: 50, height: 50 },
      { width: 10, height: 20 },
    ])
    const ledger = await control.ledger()
    expect(ledger.find(({ id }) => id === published.platformPostId)).toMatchObject({
      account: owner.handle,
      text: 'four',
      media: [{ type: 'image/jpeg', altText: 'A teal field' }, { type: 'image/png' }, { type: 'image/webp' }, {}],
    })
  })

  it.each([
    ['on its side', 6, { width: 200, height: 300 }],
    ['upright', 1, { width: 300, height: 200 }],
  ])("images lose the camera's metadata and are upright, taken %s", async (_, orientation, shape) => {
    const noted = picture(300, 200)
      .jpeg()
      .withExif({ IFD0: { Copyright: 'SECRET OWNER' } })
    const source = await bytesOf(noted.withMetadata({ orientation }))
    expect(source.includes('SECRET OWNER')).toBe(true)
    const published = await publish(newPost('', [add(source, 'image/jpeg')]))
    const { image, aspectRatio } = (await recordOf(published)).value.embed!.images[0]!
    expect(aspectRatio).toEqual(shape)
    const stored = await blobOf(image.ref.$link)
    expect(stored.includes('SECRET OWNER')).toBe(false)
    expect(await sharp(stored).metadata()).toMatchObject(shape)
  })

  it('images that qualify stay unchanged, byte for byte', async () => {
    const source = await bytesOf(picture(40, 30).jpeg({ quality: 33 }))
    const published = await publish(newPost('', [add(source, 'image/jpeg')]))
    const { image } = (await recordOf(published)).value.embed!.images[0]!
    expect((await blobOf(image.ref.$link)).equals(source)).toBe(true)
  })

  it('large images are reduced', async () => {
    const noise = sharp({
      create: {
        width: 1_200,
        height: 900,
        channels: 3,
        background: 'grey',
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
      },
    })
    const source = await bytesOf(noise.png())
    expect(source.length).toBeGreaterThan(2_000_000)
    const published = await publish(newPost('', [add(source, 'image/png')]))
    const { image } = (await recordOf(published)).value.embed!.images[0]!
    expect(image.size).toBeLessThanOrEqual(2_000_000)
    expect(image.mimeType).toBe('image/jpeg')
  })

  it('invalid images are refused before anything is sent', async () => {
    const uploads = await requestsTo('uploadBlob')
    const item = { ...add(Buffer.from('not an image'), 'image/png'), originalFilename: 'me.png' }
    await expect(publish(newPost('', [item]))).rejects.toThrow('The file “me.png” cannot be read as an image')
    expect(await requestsTo('uploadBlob')).toBe(uploads)
  })

  it('images are uploaded once, however often the post is prepared', async () => {
    const items = [
      add(await bytesOf(picture(20, 20, 'red').png()), 'image/png'),
      add(await bytesOf(picture(20, 20, 'blue').png()), 'image/png'),
    ]
    const delivery = newDelivery()
    const post = newPost('', items)
    const before = await requestsTo('uploadBlob')
    await control.addFault({ path: 'uploadBlob', times: 1, action: { dropAfterAccept: true } })
    expect(await platformErrorOf(adapter.prepare(post, account, delivery, options()))).toMatchObject({
      class: 'transient',
    })
    await adapter.prepare(post, account, delivery, options())
    await adapter.prepare(post, account, delivery, options())
    expect((await requestsTo('uploadBlob')) - before).toBe(3)
    expect(opened.filter((key) => key === items[1]!.storageKey)).toHaveLength(1)
  })

  it('images that the server lost are uploaded again', async () => {
    const delivery = newDelivery()
    const post = newPost('', [add(await bytesOf(picture(30, 30, 'green').png()), 'image/png')])
    await adapter.prepare(post, account, delivery, options())
    const known = JSON.parse(delivery.handles.get('media.0')!)
    known.blob.ref.$link = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
    delivery.handles.set('media.0', JSON.stringify(known))
    const error = await platformErrorOf(adapter.publish(post, account, delivery, options()))
    expect(error).toMatchObject({ class: 'media_not_ready', certain: true })
    const published = await publish(post, delivery)
    expect((await recordOf(published)).value.embed!.images).toHaveLength(1)
  })

  it('images uploaded long ago are uploaded again', async () => {
    const delivery = newDelivery()
    const post = newPost('', [add(await bytesOf(picture(31, 31, 'green').png()), 'image/png')])
    await adapter.prepare(post, account, delivery, options())
    const known = JSON.parse(delivery.handles.get('media.0')!)
    delivery.handles.set('media.0', JSON.stringify({ ...known, uploadedAt: Date.now() - 31 * 60_000 }))
    const before = await requestsTo('uploadBlob')
    await adapter.prepare(post, account, delivery, options())
    expect((await requestsTo('uploadBlob')) - before).toBe(1)
  })

  async function blobOf(cid: string): Promise<Buffer> {
    const query = new URLSearchParams({ did: owner.did, cid })
    return Buffer.from(await (await fetch(`${bluesky.pdsUrl}/xrpc/com.atproto.sync.getBlob?${query}`)).arrayBuffer())
  }

  async function bytesOf(image: Sharp): Promise<Buffer<ArrayBuffer>> {
    return Buffer.from(await image.toBuffer())
  }
})

describe('a lost response', () => {
  it.each([
    ['cut off before it begins', { truncate: 0 }] as [string, Fault['action']],
    ['without an address', { status: 200, body: { cid: 'x' } }],
    ['that leads elsewhere', { status: 307, headers: { location: 'https://example.com/' } }],
    ['that reports an internal error', { status: 500, body: { error: 'InternalServerError' } }],
  ])('the outcome is unknown after a response %s', async (_, action) => {
    await control.addFault({ path: PUT, times: 1, action })
    expect(await platformErrorOf(publish(newPost('open')))).toMatchObject({ class: 'transient', certain: false })
  })

  it.each([
    ['hangs', { hang: true }],
    ['is slow', { delayMs: 10_000 }],
    ['trickles in', { trickleBytesPerSecond: 10 }],
  ])('the deadline ends the wait for a response that %s', async (_, action) => {
    const hasty = createClient({ publishTimeoutMs: 1_000 })
    await control.addFault({ path: PUT, times: 1, action })
    const error = await platformErrorOf(hasty.adapter.publish(newPost('slow'), account, newDelivery(), options()))
    expect(error).toMatchObject({ class: 'transient', certain: false, message: 'Bluesky did not answer in time' })
    await hasty.close()
  })

  it('an aborted attempt does not wait for the response', async () => {
    await control.addFault({ path: PUT, times: 1, action: { hang: true } })
    const delivery = newDelivery()
    const post = newPost('called off')
    await adapter.prepare(post, account, delivery, options())
    const before = await requestsTo(PUT)
    const attempt = new AbortController()
    const patient = createClient({ publishTimeoutMs: 60_000 })
    const failing = platformErrorOf(patient.adapter.publish(post, account, delivery, { signal: attempt.signal }))
    await expect.poll(() => requestsTo(PUT), { timeout: 50_000 }).toBe(before + 1)
    attempt.abort(new Error('called off'))
    expect(await failing).toMatchObject({
      class: 'transient',
      certain: false,
      message: 'Bluesky did not answer before the attempt ended',
    })
    await patient.close()
  })
})

describe('a definite failure', () => {
  it.each([
    [400, 'InvalidRequest', 'validation'],
    [401, 'AuthenticationRequired', 'unauthorized'],
    [400, 'ExpiredToken', 'unauthorized'],
    [403, 'Forbidden', 'permission'],
    [413, 'PayloadTooLarge', 'validation'],
    [415, 'UnsupportedMediaType', 'validation'],
  ])('%i %s is certain, with class %s', async (status, error, errorClass) => {
    const secret = 'LEAK-ME-NOT'
    await control.addFault({ path: PUT, times: 1, action: { status, body: { error, message: secret } } })
    const found = await platformErrorOf(publish(newPost('refused')))
    expect(found).toMatchObject({ class: errorClass, certain: true })
    expect(found.message).not.toContain(secret)
  })

  it.each([
    ['seconds', () => ({ 'retry-after': '7' }), 7_000, 7_000],
    ['a date', () => ({ 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }), 3_500_000, 3_600_000],
    ['a reset', () => ({ 'ratelimit-reset': `${Math.ceil(Date.now() / 1_000) + 3_600}` }), 3_500_000, 3_602_000],
  ])('429 with %s states the wait', async (_, toHeaders, least, most) => {
    const body = { error: 'RateLimitExceeded', message: 'Rate Limit Exceeded' }
    await control.addFault({ path: PUT, times: 1, action: { status: 429, headers: toHeaders(), body } })
    const error = await platformErrorOf(publish(newPost('slow down')))
    expect(error).toMatchObject({ class: 'rate_limited', certain: true })
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(least)
    expect(error.retryAfterMs).toBeLessThanOrEqual(most)
  })
})

describe("the server's own 404", () => {
  const body = { error: 'NotFound', message: 'Not Found' }

  it('a post that was written all the same is found', async () => {
    const delivery = newDelivery()
    await control.addFault({ path: PUT, times: 1, action: { statusAfterAccept: 404, body } })
    const { platformPostId } = await publish(newPost('written all the same'), delivery)
    expect(platformPostId.endsWith(deriveRecordKey(delivery.key, delivery.dueAt))).toBe(true)
  })

  it('a post that was not written is refused with certainty', async () => {
    await control.addFault({ path: PUT, times: 1, action: { status: 404, body } })
    expect(await platformErrorOf(publish(newPost('not written')))).toMatchObject({ class: 'not_found', certain: true })
  })

  it('the outcome is unknown while the record cannot be read', async () => {
    await control.addFault({ path: PUT, times: 1, action: { status: 404, body } })
    await control.addFault({ path: 'getRecord', times: 1, action: { status: 503 } })
    expect(await platformErrorOf(publish(newPost('cannot be read')))).toMatchObject({
      class: 'transient',
      certain: false,
    })
  })
})

describe('reconcile', () => {
  it.each([true, false])('a post that an equal one has taken is absent, restored: %s', async (isRestored) => {
    const delivery = newDelivery()
    const post = newPost(`equal posts, restored: ${isRestored}`)
    const { platformPostId } = await publish(post, delivery)
    const isTaken = async (uri: string) => uri === platformPostId
    expect(await adapter.reconcile(post, account, delivery, { ...options(), isTaken, isRestored })).toBe('absent')
  })

  async function plant(rkey: string, record: Record<string, unknown>): Promise<void> {
    const body = {
      repo: owner.did,
      collection: 'app.bsky.feed.post',
      rkey,
      record: { $type: 'app.bsky.feed.post', ...record },
    }
    expect((await xrpcOf(bluesky.pdsUrl)(PUT, { body, token: account.accessToken })).status).toBe(200)
  }

  it('another record under its key refuses the post, and is found as the post', async () => {
    const delivery = newDelivery()
    const post = newPost('as it is after a restore')
    const rkey = deriveRecordKey(delivery.key, delivery.dueAt)
    await plant(rkey, { text: 'as it was edited', createdAt: '2020-01-01T00:00:00.000Z' })
    expect(await platformErrorOf(publish(post, delivery))).toMatchObject({ class: 'duplicate', certain: false })
    const found = await adapter.reconcile(post, account, delivery, options())
    expect(found).toMatchObject({ platformPostId: `at://${owner.did}/app.bsky.feed.post/${rkey}` })
  })

  it('a deleted post is not reported as published', async () => {
    const delivery = newDelivery()
    const post = newPost('to be deleted')
    const { platformPostId } = await publish(post, delivery)
    await control.deletePost(platformPostId)
    expect(await adapter.reconcile(post, account, delivery, options())).toBe('absent')
  })

  it('a post is found even after the login has ended', async () => {
    const delivery = newDelivery()
    const post = newPost('still found')
    const published = await publish(post, delivery)
    const expired = { ...account, accessToken: 'worthless' }
    expect(await adapter.reconcile(post, expired, delivery, options())).toEqual(published)
  })

  it('a search that the server refuses as invalid is undecidable', async () => {
    const delivery = newDelivery()
    await control.addFault({ path: 'getRecord', times: 1, action: { status: 400, body: { error: 'InvalidRequest' } } })
    expect(await adapter.reconcile(newPost('?'), account, delivery, options())).toBe('undecidable')
  })
})

describe('an endless response', () => {
  it.each([
    ['plain', {}, Buffer.alloc(64 * 1_024, 0x20)],
    ['compressed', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(50 * 1_048_576, 0x20))],
  ])('an endless response is cut off: %s', async (_, headers, piece) => {
    let sent = 0
    function* pieces() {
      for (; sent < 1_073_741_824; sent += piece.length) yield piece
    }
    const endless = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      pipeline(pieces, response).catch(() => undefined)
    })
    const elsewhere = createClient({ entryUrl: await listenOnLoopback(endless) })
    const delivery = newDelivery()
    const post = newPost('endless')
    await adapter.prepare(post, account, delivery, options())
    const error = await platformErrorOf(elsewhere.adapter.publish(post, account, delivery, options()))
    expect(error).toMatchObject({
      class: 'transient',
      certain: false,
      message: 'Bluesky sent an unreadable response',
    })
    expect(sent).toBeLessThan(16 * 1_048_576)
    await elsewhere.close()
    await closeServer(endless)
  })
})

describe('options of a post', () => {
  const listGates = async () => (await listRecords('app.bsky.feed.threadgate')).map(({ value }) => value)

  async function listRecords(collection: string) {
    const query = new URLSearchParams({ repo: owner.did, collection, limit: '100' })
    const response = await fetch(`${bluesky.pdsUrl}/xrpc/com.atproto.repo.listRecords?${query}`)
    return ((await response.json()) as { records: { uri: string; value: Record<string, unknown> }[] }).records
  }

  it('a post has its languages, content warnings and quoted post, beside its images', async () => {
    const quoted = await publish(newPost('worth quoting'))
    const [, , did, , key] = quoted.platformPostId.split('/')
    const image = add(await picture(20, 10).png().toBuffer(), 'image/png')
    const languages = ['de', 'en-GB']
    for (const quoteUrl of [quoted.platformPostId, `https://bsky.app/profile/${did}/post/${key}`]) {
      const post = {
        ...newPost(`quoting ${quoteUrl}`, [image]),
        options: { bluesky: { languages, labels: ['nudity' as const], quoteUrl } },
      }
      const { value } = await recordOf(await publish(post))
      expect(value).toMatchObject({
        langs: languages,
        labels: { $type: 'com.atproto.label.defs#selfLabels', values: [{ val: 'nudity' }] },
        embed: {
          $type: 'app.bsky.embed.recordWithMedia',
          record: { record: { uri: quoted.platformPostId } },
          media: { $type: 'app.bsky.embed.images' },
        },
      })
    }
  })

  it('a quoted post that does not exist refuses the post for certain', async () => {
    const quoteUrl = `https://bsky.app/profile/${owner.handle}/post/3kaaaaaaaaaaa`
    const error = await platformErrorOf(publish({ ...newPost('quoting nothing'), options: { bluesky: { quoteUrl } } }))
    expect(error).toMatchObject({ class: 'validation', certain: true })
  })

  it('a post says who may reply before it is published, once', async () => {
    const post = {
      ...newPost('closed'),
      options: { bluesky: { replyGate: ['mentioned' as const, 'followers' as const] } },
    }
    const delivery = newDelivery()
    await control.addFault({ path: PUT, times: 1, action: { dropAfterAccept: true } })
    expect(await platformErrorOf(publish(post, delivery))).toMatchObject({ class: 'transient', certain: true })
    expect((await listRecords('app.bsky.feed.post')).some(({ value }) => value['text'] === 'closed')).toBe(false)
    const { platformPostId } = await publish(post, delivery)
    await publish(post, delivery)
    expect((await listGates()).filter((gate) => gate['post'] === platformPostId)).toMatchObject([
      {
        allow: [{ $type: 'app.bsky.feed.threadgate#mentionRule' }, { $type: 'app.bsky.feed.threadgate#followerRule' }],
      },
    ])
  })
})
