import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startBluesky, type Bluesky, type BlueskyAccount } from '../../../sandbox/platforms/bluesky.ts'
import type { MediaItem, Published } from '../../../src/domain/posts/post.ts'
import type { CallOptions, Credentials, PlatformAdapter, SearchOptions } from '../../../src/platforms/contract.ts'
import { createPlatformRegistry, type PlatformRegistry } from '../../../src/platforms/registry.ts'
import { film } from '../../support/film.ts'
import {
  controlOf,
  memoryFacts,
  memoryMedia,
  newDelivery,
  newHandle,
  newPost,
  platformErrorOf,
  withVersion,
  xrpcOf,
} from '../shared/support.ts'
import { USER_AGENT } from '../../support/user-agent.ts'

const BLOB_LIMIT_BYTES = 100_000
const LARGE = 150_000

let bluesky: Bluesky
let control: ReturnType<typeof controlOf>
let registry: PlatformRegistry
let adapter: PlatformAdapter
let owner: BlueskyAccount
let account: Credentials
const { media, add, opened } = memoryMedia()

function registryWith(blobLimitBytes: number): PlatformRegistry {
  const { url } = bluesky
  const places = { entryUrl: url, accountHosts: [], videoUrl: url, appUrl: 'https://bsky.app' }
  return createPlatformRegistry({
    bluesky: { ...places, blobLimitBytes, processingWaitMs: 0 },
    mastodon: null,
    threads: null,
    tumblr: null,
    facebook: null,
    instagram: null,
    publishTimeoutMs: 5_000,
    userAgent: USER_AGENT,
    unansweredInFlightMs: 600_000,
    media,
    facts: memoryFacts(),
  })
}

beforeAll(async () => {
  bluesky = await startBluesky()
  control = controlOf(bluesky)
  registry = registryWith(BLOB_LIMIT_BYTES)
  adapter = registry.find('bluesky')!
  owner = await bluesky.createAccount({ handle: newHandle() })
  const direct = registry.direct('bluesky')!
  account = withVersion((await direct.connect(owner.handle, owner.appPassword, options())).credentials)
})

afterAll(async () => {
  await registry.close()
  await bluesky.stop()
})

beforeEach(async () => {
  await control.clearFaults()
  bluesky.video.processingMs = 0
  bluesky.video.failures.length = 0
})

const options = (): CallOptions => ({ signal: AbortSignal.timeout(20_000) })
const search = (): SearchOptions => ({
  ...options(),
  calledAt: new Date(),
  wasAnswered: false,
  isRestored: false,
  isTaken: async () => false,
})

let films = 0
/** Returns a video that differs from all others. */
const newFilm = (shape: Parameters<typeof film>[0] = {}, altText?: string): MediaItem =>
  add(film({ value: films++ % 250, bytes: 1_000 + films, ...shape }), 'video/mp4', altText)
const largeFilm = (altText?: string) => newFilm({ bytes: LARGE + films }, altText)

interface VideoRecord {
  embed: {
    $type: string
    video: { ref: { $link: string }; mimeType: string; size: number }
    alt: string
    aspectRatio?: object
  }
}

async function embedOf({ platformPostId }: Published): Promise<VideoRecord['embed']> {
  const [repo, collection, rkey] = platformPostId.replace('at://', '').split('/') as [string, string, string]
  const query = { repo, collection, rkey }
  const { body } = await xrpcOf(bluesky.pdsUrl)<{ value: VideoRecord }>('com.atproto.repo.getRecord', { query })
  return body.value.embed
}

async function publish(item: MediaItem, delivery = newDelivery(), by = adapter): Promise<Published> {
  const post = newPost('A film', [item])
  await by.prepare(post, account, delivery, options())
  return by.publish(post, account, delivery, options())
}

/** Returns the names of the methods called by `work`. */
async function calledDuring(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await control.requests()).length
  await work()
  return (await control.requests()).slice(before).map(({ path }) => /\/xrpc\/([\w.]+)/.exec(path)![1]!)
}

describe("a video within the limit of the account's own server", () => {
  it('a video is posted with its description and size', async () => {
    const published = await publish(newFilm({ width: 640, height: 360 }, 'A cat'))
    expect(await embedOf(published)).toMatchObject({
      $type: 'app.bsky.embed.video',
      video: { mimeType: 'video/mp4' },
      alt: 'A cat',
      aspectRatio: { width: 640, height: 360 },
    })
    const ledger = await control.ledger()
    expect(ledger.find(({ id }) => id === published.platformPostId)!.media).toEqual([
      { type: 'video/mp4', altText: 'A cat' },
    ])
  })

  it('a video is uploaded once, completely, and to one server', async () => {
    const delivery = newDelivery()
    const item = newFilm({ bytes: 50_000 })
    const called = await calledDuring(async () => {
      await publish(item, delivery)
      await publish(item, delivery)
    })
    expect(called).toEqual(['com.atproto.repo.uploadBlob', 'com.atproto.repo.putRecord', 'com.atproto.repo.putRecord'])
    expect(opened.filter((key) => key === item.storageKey)).toHaveLength(1)
  })

  it('a video has the size that its owner stated when the file contains none', async () => {
    const item = { ...newFilm({ width: 0, height: 0 }), width: 320, height: 240 }
    expect((await embedOf(await publish(item))).aspectRatio).toEqual({ width: 320, height: 240 })
    expect((await embedOf(await publish(newFilm({ width: 0, height: 0 })))).aspectRatio).toBeUndefined()
  })

  it('a video is sent through the video service when the server says that it is too large', async () => {
    const hopeful = registryWith(100_000_000)
    const called = await calledDuring(() =>
      publish(newFilm({ bytes: 53_000_000 }), newDelivery(), hopeful.find('bluesky')!),
    )
    await hopeful.close()
    const [{ id } = { id: '' }] = (await control.ledger()).toReversed()
    expect((await embedOf({ platformPostId: id, platformPostUrl: '' })).aspectRatio).toEqual({ width: 64, height: 36 })
    expect(called.slice(0, 4)).toEqual([
      'com.atproto.repo.uploadBlob',
      'com.atproto.server.describeServer',
      'com.atproto.server.getServiceAuth',
      'app.bsky.video.uploadVideo',
    ])
  })

  it('a video is uploaded again when the server has lost it', async () => {
    const delivery = newDelivery()
    const item = newFilm()
    const body = { error: 'BlobNotFound', message: 'Could not find blob' }
    await control.addFault({ path: 'putRecord', times: 1, action: { status: 400, body } })
    expect(await platformErrorOf(publish(item, delivery))).toMatchObject({ class: 'media_not_ready', certain: true })
    expect(await calledDuring(() => publish(item, delivery))).toContain('com.atproto.repo.uploadBlob')
  })

  it('a video post is found after a lost response', async () => {
    const delivery = newDelivery()
    const item = newFilm({}, 'Lost')
    await control.addFault({ path: 'putRecord', times: 1, action: { dropAfterAccept: true } })
    expect(await platformErrorOf(publish(item, delivery))).toMatchObject({ certain: false })
    const found = await adapter.reconcile(newPost('A film', [item]), account, delivery, search())
    expect(found).toMatchObject({ platformPostId: expect.stringContaining(owner.did) as string })
  })
})

describe('a larger video', () => {
  it('a larger video is sent through the video service with a token for that purpose only', async () => {
    const before = (await control.requests()).length
    const published = await publish(largeFilm('A long film'))
    const requests = (await control.requests()).slice(before)
    expect(requests.map(({ path }) => path.split('?')[0])).toEqual([
      '/xrpc/com.atproto.server.describeServer',
      '/xrpc/com.atproto.server.getServiceAuth',
      '/xrpc/app.bsky.video.uploadVideo',
      '/xrpc/app.bsky.video.getJobStatus',
      '/xrpc/com.atproto.repo.putRecord',
    ])
    const embed = await embedOf(published)
    expect(embed).toMatchObject({ $type: 'app.bsky.embed.video', alt: 'A long film' })
    expect(embed.aspectRatio).toEqual({ width: 64, height: 36 })
    // The service created a different file from it.
    expect(embed.video.size).toBeLessThan(LARGE)
  })

  it('processing is polled without another upload', async () => {
    bluesky.video.processingMs = 600
    const delivery = newDelivery()
    const item = largeFilm()
    expect(await platformErrorOf(publish(item, delivery))).toMatchObject({
      class: 'media_not_ready',
      certain: true,
      message: 'Bluesky is still processing an image or video',
    })
    await expect
      .poll(() => publish(item, delivery).then(embedOf, () => null), { timeout: 50_000 })
      .toMatchObject({ video: { mimeType: 'video/mp4' } })
    expect(opened.filter((key) => key === item.storageKey)).toHaveLength(1)
  })

  it('a repeated upload after a lost response creates no second post', async () => {
    bluesky.video.processingMs = 300
    const delivery = newDelivery()
    const item = largeFilm()
    await control.addFault({ path: 'uploadVideo', times: 1, action: { dropAfterAccept: true } })
    expect(await platformErrorOf(publish(item, delivery))).toMatchObject({ class: 'transient', certain: false })
    await expect.poll(() => publish(item, delivery).catch(() => null), { timeout: 50_000 }).not.toBeNull()
    const again = await calledDuring(() => publish(item, newDelivery()))
    expect(again).toContain('app.bsky.video.uploadVideo')
    const uploads = (await control.requests()).filter(({ path }) => path.includes('uploadVideo'))
    expect(uploads.slice(-2).map(({ status }) => status)).toEqual([409, 409])
  })

  it('the post uses the file that the service created', async () => {
    const delivery = newDelivery()
    const item = largeFilm()
    const first = await embedOf(await publish(item, delivery))
    expect(await embedOf(await publish(item, delivery))).toEqual(first)
  })

  it.each([
    ['validation_failure', 'validation', 'Bluesky does not accept the video'],
    ['encoding_failure', 'validation', 'Bluesky cannot read the video'],
    ['pds_upload_failure', 'transient', 'Bluesky could not store the video'],
    ['pds_upload_unsupported_blob_size', 'validation', "The video is larger than the account's server accepts"],
    ['generic_failure', 'transient', 'Bluesky could not process the video'],
    ['a_new_one', 'transient', 'Bluesky could not process the video'],
  ])('a video that fails with %s is a definite %s failure and is uploaded again', async (code, kind, message) => {
    bluesky.video.failures.push(code)
    const delivery = newDelivery()
    const item = largeFilm()
    expect(await platformErrorOf(publish(item, delivery))).toMatchObject({ class: kind, certain: true, message })
    await publish(item, delivery)
  })

  it('a video is uploaded again when the service has lost its job', async () => {
    const delivery = newDelivery()
    const item = largeFilm()
    const body = { error: 'InvalidRequest', message: 'Job not found' }
    await control.addFault({ path: 'getJobStatus', times: 1, action: { status: 400, body } })
    expect(await platformErrorOf(publish(item, delivery))).toMatchObject({ class: 'transient', certain: true })
    expect(await calledDuring(() => publish(item, delivery))).toContain('app.bsky.video.uploadVideo')
  })

  it.each(['uploadVideo', 'getJobStatus'])('a login is not ended when %s refuses the video', async (path) => {
    await control.addFault({ path, times: 1, action: { status: 401, body: { error: 'BadJwt', message: 'no' } } })
    expect(await platformErrorOf(publish(largeFilm()))).toMatchObject({
      class: 'permission',
      message: 'Bluesky does not let this account upload videos',
    })
  })

  it("an ended login is reported when the account's own server says so", async () => {
    const body = { error: 'ExpiredToken', message: 'Token has expired' }
    await control.addFault({ path: 'getServiceAuth', times: 1, action: { status: 400, body } })
    expect(await platformErrorOf(publish(largeFilm()))).toMatchObject({ class: 'unauthorized', certain: true })
  })

  it.each([
    ['uploadVideo', { status: 502, body: '<html>' }],
    ['uploadVideo', { status: 200, body: '<html>' }],
    ['getJobStatus', { status: 503 }],
    ['getJobStatus', { status: 200, body: { jobStatus: {} } }],
    ['describeServer', { status: 500 }],
  ])('trouble of %s is retried (%j)', async (path, action) => {
    const delivery = newDelivery()
    const item = largeFilm()
    await control.addFault({ path, times: 1, action })
    expect(await platformErrorOf(publish(item, delivery))).toMatchObject({ class: 'transient' })
    await publish(item, delivery)
  })

  it('a video larger than Bluesky accepts is refused before anything is sent', async () => {
    const item = newFilm()
    const real = media.open
    media.open = async (...args) => ({ ...(await real(...args)), sizeBytes: 300_000_001 })
    const called = await calledDuring(async () => {
      expect(await platformErrorOf(publish(item))).toMatchObject({
        class: 'validation',
        message: 'The video is larger than Bluesky accepts',
      })
    })
    media.open = real
    expect(called).toEqual([])
  })
})

it('a video of another type, or with other media, is not sent', async () => {
  const movie = add(film(), 'video/quicktime')
  expect(await platformErrorOf(publish(movie))).toMatchObject({ class: 'validation', certain: true })
  const both = newPost('', [newFilm(), newFilm()])
  expect(await platformErrorOf(adapter.prepare(both, account, newDelivery(), options()))).toMatchObject({
    class: 'validation',
    message: 'Bluesky accepts a video only without other media',
  })
})

describe('the video service of the sandbox', () => {
  const METHOD = 'com.atproto.repo.uploadBlob'
  const HOUR_S = 3_600
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds
  let serverDid: string

  beforeAll(async () => {
    const { body } = await xrpcOf(bluesky.url)<{ did: string }>('com.atproto.server.describeServer')
    serverDid = body.did
  })

  async function tokenFor(query: Record<string, string>): Promise<string> {
    const call = xrpcOf(bluesky.url)<{ token: string }>
    return (await call('com.atproto.server.getServiceAuth', { query, token: account.accessToken })).body.token
  }

  async function upload(token: string, change: { did?: string; name?: string; type?: string } = {}) {
    const { did = owner.did, name = 'a.mp4', type = 'video/mp4' } = change
    const response = await fetch(
      `${bluesky.url}/xrpc/app.bsky.video.uploadVideo?${new URLSearchParams({ did, ...(name && { name }) })}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body: film({ value: films++ % 250, bytes: 2_000 + films }),
      },
    )
    const body = (await response.json()) as { error?: string; jobStatus?: { jobId: string } }
    return { status: response.status, ...body }
  }

  it("the simulated service accepts only a token for the upload to the account's own server", async () => {
    const good = { aud: serverDid, lxm: METHOD, exp: String(inSeconds(HOUR_S - 60)) }
    expect(await upload(await tokenFor(good))).toMatchObject({ status: 200 })
    expect(await upload(account.accessToken)).toMatchObject({ status: 401 })
    expect(await upload('')).toMatchObject({ status: 401, error: 'BadJwt' })
    const elsewhere = await tokenFor({ ...good, aud: 'did:web:video.example' })
    expect(await upload(elsewhere)).toMatchObject({ status: 401, error: 'BadJwtAudience' })
    const another = await tokenFor({ ...good, lxm: 'app.bsky.video.getUploadLimits' })
    expect(await upload(another)).toMatchObject({ status: 401, error: 'BadJwtLexiconMethod' })
    expect(await upload(await tokenFor(good), { did: 'did:plc:someone' })).toMatchObject({ status: 401 })
  })

  it('the simulated service leaves forged tokens to the server, which refuses them', async () => {
    const [head, payload] = (await tokenFor({ aud: serverDid, lxm: METHOD })).split('.') as [string, string]
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    const forge = (change: object) =>
      [head, Buffer.from(JSON.stringify({ ...claims, ...change })).toString('base64url'), 'c2ln'].join('.')
    expect(await upload(forge({ exp: inSeconds(HOUR_S + 60) }))).toMatchObject({ status: 401, error: 'BadJwt' })
    expect(await upload(forge({ exp: inSeconds(-1) }))).toMatchObject({ status: 401, error: 'JwtExpired' })
    const { jobStatus } = await upload(forge({}))
    const query = { jobId: jobStatus!.jobId }
    const { body } = await xrpcOf(bluesky.url)<{ jobStatus: object }>('app.bsky.video.getJobStatus', { query })
    expect(body.jobStatus).toMatchObject({ state: 'JOB_STATE_FAILED', failureCode: 'pds_upload_failure' })
  })

  it('the simulated service requires a name and the type of an MP4 file', async () => {
    const token = await tokenFor({ aud: serverDid, lxm: METHOD })
    expect(await upload(token, { name: '' })).toMatchObject({ status: 400 })
    expect(await upload(token, { type: 'video/quicktime' })).toMatchObject({ status: 400 })
  })

  it('the simulated service reports each stage of a job and knows only its own jobs', async () => {
    bluesky.video.processingMs = 60_000
    const { jobStatus } = await upload(await tokenFor({ aud: serverDid, lxm: METHOD }))
    expect(jobStatus).toMatchObject({ state: 'JOB_STATE_CREATED' })
    const call = xrpcOf(bluesky.url)
    expect(await call('app.bsky.video.getJobStatus', { query: { jobId: 'nobody' } })).toMatchObject({ status: 400 })
    expect(await call('app.bsky.video.getUploadLimits')).toMatchObject({ status: 501 })
  })
})
