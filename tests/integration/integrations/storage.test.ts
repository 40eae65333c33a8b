import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MediaUnavailableError } from '../../../src/domain/posts/failure.ts'
import type { MediaItem } from '../../../src/domain/posts/post.ts'
import { HOUR } from '../../../src/domain/shared/times.ts'
import { createMediaSource } from '../../../src/integrations/storage/media-source.ts'
import { createObjectStorage } from '../../../src/integrations/storage/storage.ts'
import { findObjectStorage } from '../../../sandbox/servers/object-storage.ts'
import { storedMedia } from '../../platforms/shared/support.ts'
import { film } from '../../support/film.ts'

const FRONTEND = 'https://app.example'
const { s3 } = inject('servers')
const bucket = `storage-${randomUUID()}`
const options = { ...s3, region: 'us-east-1', bucket, publicUrl: `${s3.endpoint}/${bucket}` }
const storage = createObjectStorage(options)
const media = createMediaSource(storage)

beforeAll(() => storage.ensureBucket([FRONTEND]))
afterAll(() => storage.close())

const newKey = (folder = 'posts/u1') => `${folder}/${randomUUID()}.png`
const image = (format: 'png' | 'jpeg' | 'webp', side = 4) =>
  sharp({ create: { width: side, height: side, channels: 3, background: 'teal' } })
    .toFormat(format)
    .toBuffer()

/** An image that hardly compresses. */
const noise = (format: 'png' | 'jpeg' | 'webp') =>
  sharp(randomBytes(200 * 200 * 3), { raw: { width: 200, height: 200, channels: 3 } })
    .toFormat(format)
    .toBuffer()

/** Adds the chunk that makes a PNG an animation, of one frame (https://www.w3.org/TR/png-3/#acTL-chunk). */
function animatedPng(png: Buffer): Buffer {
  const endOfHeader = 33
  const body = Buffer.from('acTL\0\0\0\x01\0\0\0\0', 'latin1')
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(body.length - 4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([png.subarray(0, endOfHeader), length, body, check, png.subarray(endOfHeader)])
}

async function put(url: string, body: Buffer, contentType = 'image/png') {
  return fetch(url, { method: 'PUT', headers: { 'content-type': contentType }, body: new Uint8Array(body) })
}

async function stored(body: Buffer, mimeType = 'image/png'): Promise<MediaItem> {
  const storageKey = newKey()
  const answer = await put(await storage.presignPut({ key: storageKey, contentType: mimeType }), body, mimeType)
  expect(answer.status).toBe(200)
  return { storageKey, storageUrl: storage.publicUrl(storageKey), mimeType }
}

describe('pre-signed upload', () => {
  it('a pre-signed upload accepts its file, which is then public at its address', async () => {
    const key = newKey()
    const body = await image('png')
    const url = await storage.presignPut({ key, contentType: 'image/png', sizeBytes: body.length })
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('900')
    expect((await put(url, body)).status).toBe(200)

    const read = await fetch(storage.publicUrl(key))
    expect([read.status, read.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await read.arrayBuffer())).toEqual(body)
  })

  it('a pre-signed upload rejects a type other than the signed one', async () => {
    const url = await storage.presignPut({ key: newKey(), contentType: 'image/png' })
    expect((await put(url, await image('png'), 'text/html')).status).toBe(403)
  })

  it('a pre-signed upload rejects another length than the signed one, and accepts any length when none was signed', async () => {
    const body = await image('png')
    const sized = await storage.presignPut({ key: newKey(), contentType: 'image/png', sizeBytes: body.length + 1 })
    expect((await put(sized, body)).status).toBe(403)
    const unsized = await storage.presignPut({ key: newKey(), contentType: 'image/png' })
    expect((await put(unsized, body)).status).toBe(200)
  })

  it('a pre-signed upload rejects a key other than the signed one', async () => {
    const url = new URL(await storage.presignPut({ key: newKey(), contentType: 'image/png' }))
    url.pathname = url.pathname.replace('/u1/', '/u2/')
    expect((await put(url.href, await image('png'))).status).toBe(403)
  })

  it('a pre-signed upload is permitted from the frontend and from no other page', async () => {
    const preflight = async (origin: string) => {
      const url = await storage.presignPut({ key: newKey(), contentType: 'image/png' })
      const headers = {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type',
      }
      return fetch(url, { method: 'OPTIONS', headers })
    }
    expect((await preflight(FRONTEND)).headers.get('access-control-allow-origin')).toBe(FRONTEND)
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('bucket', () => {
  it('the bucket setup can be repeated', async () => {
    const item = await stored(await image('png'))
    await storage.ensureBucket([FRONTEND])
    expect((await fetch(item.storageUrl)).status).toBe(200)
  })

  it('the bucket exposes only media of posts, copies and avatars, and no listing', async () => {
    const body = await image('png')
    const status = async (key: string) => {
      await put(await storage.presignPut({ key, contentType: 'image/png' }), body)
      return (await fetch(storage.publicUrl(key))).status
    }
    expect(await status(newKey('avatars/u1'))).toBe(200)
    expect(await status(newKey('copies/u1'))).toBe(200)
    expect(await status(newKey('private'))).toBe(403)
    expect((await fetch(options.publicUrl)).status).toBe(403)
    expect((await fetch(storage.publicUrl(newKey()), { method: 'PUT', body: 'x' })).status).toBe(403)
  })

  it('a ping succeeds for an existing bucket and fails for a missing one', async () => {
    await expect(storage.ping()).resolves.toBeUndefined()
    const missing = createObjectStorage({ ...options, bucket: `missing-${randomUUID()}` })
    await expect(missing.ping()).rejects.toThrow()
    missing.close()
  })
})

describe('publicUrl', () => {
  it('publicUrl escapes special characters and ignores a trailing slash of the base', () => {
    const { publicUrl } = createObjectStorage({ ...options, publicUrl: 'https://cdn.example/media/' })
    expect(publicUrl('posts/u1/a b%2e#?.png')).toBe('https://cdn.example/media/posts/u1/a%20b%252e%23%3F.png')
  })
})

describe('open', () => {
  it('open returns null for a missing object', async () => {
    expect(await storage.open(newKey())).toBeNull()
  })

  it('open aborts with its signal', async () => {
    const item = await stored(Buffer.alloc(8_000_000))
    const controller = new AbortController()
    const object = await storage.open(item.storageKey, { signal: controller.signal })
    controller.abort()
    await expect(new Response(object!.stream).arrayBuffer()).rejects.toThrow()
  })
})

describe('media source', () => {
  it.each(['png', 'jpeg', 'webp'] as const)(
    'the media source streams a whole %s, including its beginning',
    async (format) => {
      const body = await image(format, 300)
      const opened = await media.open(await stored(body, `image/${format}`))
      expect([opened.sizeBytes, opened.mimeType]).toEqual([body.length, `image/${format}`])
      expect(Buffer.from(await new Response(opened.stream).arrayBuffer())).toEqual(body)
    },
  )

  it('the media source streams a file longer than one read', async () => {
    const body = Buffer.concat([await image('png'), Buffer.alloc(3_000_000, 7)])
    const opened = await media.open(await stored(body))
    expect(Buffer.from(await new Response(opened.stream).arrayBuffer()).equals(body)).toBe(true)
  })

  it('the media source passes a file on as what it is, whatever its name and its record say', async () => {
    const found = async (body: Buffer, declared: string) => {
      const { stream, mimeType } = await media.open(await stored(body, declared))
      await stream.cancel()
      return mimeType
    }
    expect(await found(film(), 'video/mp4')).toBe('video/mp4')
    expect(await found(film({ brand: 'qt  ' }), 'video/mp4')).toBe('video/quicktime')
    expect(await found(film(), 'video/quicktime')).toBe('video/mp4')
    expect(await found(await image('webp'), 'image/jpeg')).toBe('image/webp')
  })

  it('an animated PNG is a PNG', async () => {
    const item = await stored(animatedPng(await image('png')))
    expect(await media.readFile(item)).toMatchObject({ facts: { mimeType: 'image/png', isAnimated: true } })
    expect(await media.readFile(await stored(await image('png')))).toMatchObject({ facts: { isAnimated: false } })
  })

  it('an animated WebP is reported as such, with the pixels of all frames', async () => {
    const frames = [await image('png', 20), await image('png', 10)]
    const animation = await sharp(frames, { join: { animated: true } })
      .webp()
      .toBuffer()
    const item = await stored(animation, 'image/webp')
    expect(await media.readFile(item)).toMatchObject({ facts: { isAnimated: true, pixels: 800 } })
  })

  it('an image that decoders show with a warning is accepted', async () => {
    const jpeg = await image('jpeg', 300)
    const endOfFirstSegment = 4 + jpeg.readUInt16BE(4)
    const odd = Buffer.concat([
      jpeg.subarray(0, endOfFirstSegment),
      Buffer.from([1, 2, 3]),
      jpeg.subarray(endOfFirstSegment),
    ])
    await expect(sharp(odd, { failOn: 'warning' }).raw().toBuffer()).rejects.toThrow('extraneous')
    expect(await media.readFile(await stored(odd, 'image/jpeg'))).toMatchObject({ state: 'readable' })
  })

  it('the media source treats image/jpg as image/jpeg', async () => {
    const opened = await media.open(await stored(await image('jpeg'), 'image/jpg'))
    await opened.stream.cancel()
    expect(opened.mimeType).toBe('image/jpeg')
  })

  const refused: [string, () => Promise<MediaItem>][] = [
    ['was never uploaded, or is gone', async () => ({ storageKey: newKey(), storageUrl: '', mimeType: 'image/png' })],
    ['is video/mp4, not image/png as declared', async () => stored(film())],
    [
      'is image/gif. Save it as JPEG',
      async () =>
        stored(
          await sharp(await image('png'))
            .gif()
            .toBuffer(),
        ),
    ],
    [
      'is image/avif. Save it as JPEG',
      async () =>
        stored(
          await sharp(await image('png'))
            .avif()
            .toBuffer(),
          'image/jpeg',
        ),
    ],
    ['is no image or video', async () => stored(Buffer.from('<script>alert(1)</script>'))],
    ['is empty', async () => stored(Buffer.alloc(0))],
    [
      'is too large: 10000001 of at most 10000000 bytes',
      async () => stored(Buffer.concat([await image('png'), Buffer.alloc(10_000_000)], 10_000_001)),
    ],
    ...(['png', 'jpeg', 'webp'] as const).map((format): [string, () => Promise<MediaItem>] => [
      'is cut off or damaged',
      async () => {
        const whole = await noise(format)
        return stored(whole.subarray(0, Math.round(whole.length * 0.8)), `image/${format}`)
      },
    ]),
    ['is video/x-m4v. Convert it to MP4', async () => stored(film({ brand: 'M4V ' }), 'video/mp4')],
    ['is video/3gpp. Convert it to MP4', async () => stored(film({ brand: '3gp5' }), 'video/mp4')],
    ['has no index (moov)', async () => stored(film({ indexFirst: false }).subarray(0, 900), 'video/mp4')],
    ['has sound but no picture', async () => stored(film({ codec: null }), 'video/mp4')],
  ]

  it.each(refused)('the media source rejects a file that %s', async (words, make) => {
    const item = { ...(await make()), originalFilename: 'cat.png' }
    for (const ask of [media.open, media.publicUrl]) {
      const error = await ask(item).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(MediaUnavailableError)
      expect((error as Error).message).toContain(`The file “cat.png” ${words}`)
    }
  })

  it('a file is read once, until its bytes change', async () => {
    const item = await stored(await image('png', 300))
    const reads: string[] = []
    const watched = createMediaSource({
      ...storage,
      async readRange(...args) {
        reads.push(args[0])
        return storage.readRange(...args)
      },
    })
    for (let repeat = 0; repeat < 3; repeat += 1) await watched.publicUrl(item)
    const sizes = [await image('png', 300), await noise('png')].map(({ length }) => length)
    expect(reads).toHaveLength(sizes[0]! > 4_100 ? 1 : 0)
    await storage.put({ key: item.storageKey, body: await noise('png'), contentType: 'image/png' })
    expect(await watched.readFile(item)).toMatchObject({ facts: { sizeBytes: sizes[1], width: 200 } })
    const before = reads.length
    await watched.readFile(item)
    expect(reads).toHaveLength(before)
  })

  it('files of one user that are slow to read do not delay the files of another user', async () => {
    const released = Promise.withResolvers<void>()
    const slow = createMediaSource({
      ...storage,
      async readHead(key, ...args) {
        if (key.startsWith('posts/many/')) await released.promise
        return storage.readHead(key, ...args)
      },
    })
    const of = async (user: string): Promise<MediaItem> => {
      const storageKey = newKey(`posts/${user}`)
      await storage.put({ key: storageKey, body: await image('png'), contentType: 'image/png' })
      return { storageKey, storageUrl: '', mimeType: 'image/png' }
    }
    const many = await Promise.all(Array.from({ length: 20 }, () => of('many')))
    const reading = many.map((item) => slow.readFile(item))
    expect(await slow.readFile(await of('one'))).toMatchObject({ state: 'readable' })
    released.resolve()
    expect((await Promise.all(reading)).every(({ state }) => state === 'readable')).toBe(true)
  })

  it('the media source serves a file with its standard content type', async () => {
    const item = { ...(await stored(await image('jpeg'), 'image/jpg')), mimeType: 'image/jpeg' }
    const typeOf = async (address: string) => (await fetch(address)).headers.get('content-type')
    expect(await typeOf(item.storageUrl)).toBe('image/jpg')
    const address = await media.publicUrl(item)
    expect(address).toBe(item.storageUrl)
    expect(await typeOf(address)).toBe('image/jpeg')
  })
})

describe('copies', () => {
  const copyOf = async (background: string) => ({
    bytes: await sharp({ create: { width: 4, height: 4, channels: 3, background } })
      .jpeg()
      .toBuffer(),
    mimeType: 'image/jpeg' as const,
  })
  /** Counts uploads and reports every stored object as this old. */
  const counting = (ageMs = 0) => {
    const put: string[] = []
    const source = createMediaSource({
      ...storage,
      async put(object) {
        put.push(object.key)
        await storage.put(object)
      },
      async storedAt(key) {
        const at = await storage.storedAt(key)
        return at && new Date(at.getTime() - ageMs)
      },
    })
    return { put, source }
  }

  it('copies are stored under the owner of their source and are public', async () => {
    const { media: source, add, copies: puts, close } = await storedMedia()
    const item = await add(await image('webp'), 'image/webp')
    const copy = await copyOf('teal')
    const address = await source.storeCopy(item, copy, { signal: AbortSignal.timeout(10_000) })
    close()
    expect(puts).toEqual([address])
    const owner = item.storageKey.split('/')[1]!
    expect(new URL(address).pathname.split('/').slice(2, 4)).toEqual(['copies', owner])
    expect(address).toMatch(/\/[0-9a-f]{64}\.jpg$/)
    const read = await fetch(address)
    expect([read.status, read.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    expect(Buffer.from(await read.arrayBuffer())).toEqual(copy.bytes)
  })

  it('copies with equal bytes share one address and are uploaded once', async () => {
    const item = await stored(await image('webp'), 'image/webp')
    const { put, source } = counting()
    const first = await source.storeCopy(item, await copyOf('red'))
    expect(await source.storeCopy(item, await copyOf('red'))).toBe(first)
    expect(await source.storeCopy(item, await copyOf('blue'))).not.toBe(first)
    expect(put.length).toBe(2)
  })

  it('copies that may soon be deleted are stored again', async () => {
    const item = await stored(await image('webp'), 'image/webp')
    const { put, source } = counting(13 * HOUR)
    const first = await source.storeCopy(item, await copyOf('green'))
    expect(await source.storeCopy(item, await copyOf('green'))).toBe(first)
    expect(put.length).toBe(2)
  })
})

describe('the access key of the service (deploy/storage-user.sh)', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'postonce-storage-user-'))
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))
  beforeAll(async () => symlinkSync(await findObjectStorage(), join(scratch, 'versitygw')))

  function makeKey(own: { accessKeyId: string; secretAccessKey: string; bucket: string }) {
    const script = fileURLToPath(new URL('../../../deploy/storage-user.sh', import.meta.url))
    const env = {
      PATH: `${scratch}:${process.env['PATH']}`,
      ADMIN_ENDPOINT_URL: s3.endpoint,
      ADMIN_ACCESS_KEY_ID: s3.accessKeyId,
      ADMIN_SECRET_ACCESS_KEY: s3.secretAccessKey,
      S3_ACCESS_KEY_ID: own.accessKeyId,
      S3_SECRET_ACCESS_KEY: own.secretAccessKey,
      S3_BUCKET: own.bucket,
    }
    execFileSync('sh', [script], { env, stdio: 'pipe' })
    return createObjectStorage({ ...options, ...own, publicUrl: `${s3.endpoint}/${own.bucket}` })
  }
  const newOwn = () => ({ accessKeyId: randomUUID(), secretAccessKey: randomUUID(), bucket: `own-${randomUUID()}` })

  it('the service key can set up and use its bucket, and reaches no other bucket', async () => {
    const own = newOwn()
    const service = makeKey(own)
    await service.ensureBucket([FRONTEND])
    const object = { key: newKey(), body: await image('png'), contentType: 'image/png' }
    await service.put(object)
    expect((await fetch(service.publicUrl(object.key))).status).toBe(200)
    await service.remove(object.key)
    const elsewhere = createObjectStorage({ ...options, ...own, bucket })
    await expect(elsewhere.put(object)).rejects.toMatchObject({ name: 'AccessDenied' })
    for (const client of [service, elsewhere]) client.close()
  })

  it('the service key can be recreated with another secret, and takes over a bucket that the root key used', async () => {
    const own = newOwn()
    const before = createObjectStorage({ ...options, bucket: own.bucket, publicUrl: `${s3.endpoint}/${own.bucket}` })
    await before.ensureBucket([FRONTEND])
    const key = newKey()
    await before.put({ key, body: await image('png'), contentType: 'image/png' })
    makeKey(own).close()
    const service = makeKey({ ...own, secretAccessKey: randomUUID() })
    await service.ensureBucket([FRONTEND])
    expect(await service.storedAt(key)).not.toBeNull()
    expect(await service.move(key, `removed/${key}`)).toBe(true)
    for (const client of [before, service]) client.close()
  })
})
