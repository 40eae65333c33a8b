import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { loadImage } from '../../src/platforms/shared/image-files.ts'
import { prepareImage } from '../../src/platforms/shared/images.ts'
import type { MediaItem } from '../../src/domain/posts/post.ts'
import type { MediaSource } from '../../src/platforms/contract.ts'
import { platformErrorOf } from '../platforms/shared/support.ts'

const LIMITS = { maxBytes: 2_000_000 }
const call = { signal: new AbortController().signal }

const toBuffer = vi.spyOn(sharp.prototype, 'toBuffer')
/** Passes over an image's pixels since the last call. */
const passes = () => {
  const { length } = toBuffer.mock.calls
  toBuffer.mockClear()
  return length
}

/** A PNG that declares its size but has no pixels, so that decoding it fails. */
function emptyPng(width: number, height: number): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const ends = [Buffer.alloc(4), Buffer.alloc(4)] as const
    ends[0].writeUInt32BE(data.length)
    ends[1].writeUInt32BE(crc32(body))
    return Buffer.concat([ends[0], body, ends[1]])
  }
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', Buffer.alloc(0)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const plain = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: { r: 9, g: 90, b: 9, alpha: 0.5 } } })
/** Adds metadata that must not be published, so that the image is always converted. */
const withNotes = (image: Sharp) => image.withExif({ IFD0: { Copyright: 'Owner' } }).toBuffer()

/** Files in memory under the names of their users. */
function memoryFiles() {
  const files = new Map<string, Uint8Array<ArrayBuffer>>()
  const media: MediaSource = {
    async open({ storageKey, mimeType }) {
      const bytes = files.get(storageKey)!
      return { stream: new Blob([bytes]).stream(), sizeBytes: bytes.length, mimeType }
    },
    publicUrl: () => Promise.reject(new Error('not public')),
    storeCopy: () => Promise.reject(new Error('not public')),
  }
  const add = (user: string, bytes: Buffer): MediaItem => {
    const storageKey = `posts/${user}/${randomUUID()}.jpg`
    files.set(storageKey, new Uint8Array(bytes))
    return { storageKey, storageUrl: '', mimeType: 'image/jpeg' }
  }
  return { media, add, files }
}

describe('an image bomb', () => {
  beforeEach(() => void passes())

  it.each([
    [10_000, 10_000, '100 megapixels'],
    [60_000, 60_000, '3600 megapixels'],
    [6_325, 6_325, '41 megapixels'],
  ])('an image of %i by %i pixels is refused before it is decoded', async (width, height, size) => {
    const error = await platformErrorOf(prepareImage(emptyPng(width, height), LIMITS, 'bomb.png'))
    expect(error).toMatchObject({ class: 'validation', certain: true })
    expect(error.message).toContain(size)
    expect(error.message).toContain('upload it in a smaller size')
    expect(passes()).toBe(0)
  })

  it('an animation of more than 40 megapixels over all frames is refused', async () => {
    const frames = await Promise.all(
      ['red', 'blue', 'red'].map((background) =>
        sharp({ create: { width: 4_000, height: 3_500, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    )
    const animation = await sharp(frames, { join: { animated: true } })
      .webp({ effort: 0, quality: 10 })
      .toBuffer()
    passes()
    const error = await platformErrorOf(prepareImage(animation, LIMITS, 'bomb.webp'))
    expect(error).toMatchObject({ class: 'validation', message: expect.stringContaining('42 megapixels') })
    expect(passes()).toBe(0)
  })

  it('an image at the limit is decoded once and encoded at most four times, even if no result is small enough', async () => {
    const source = await withNotes(plain(6_300, 6_300, 4).webp({ lossless: true, effort: 0 }))
    passes()
    await expect(prepareImage(source, { maxBytes: 10 }, 'bomb.webp')).rejects.toThrow('bomb.webp cannot be read')
    expect(passes()).toBe(5)
  })

  it('an image within the limits is not encoded again', async () => {
    const source = await withNotes(plain(6_300, 6_300).webp({ lossless: true, effort: 0 }))
    passes()
    expect(await prepareImage(source, LIMITS, 'large.webp')).toMatchObject({ width: 4_000, mimeType: 'image/jpeg' })
    expect(passes()).toBe(2)
  })
})

describe('a converted image', () => {
  it('an image is converted once for platforms with equal limits and for later attempts', async () => {
    const { media, add, files } = memoryFiles()
    const item = add('ann', await withNotes(plain(500, 400).jpeg()))
    passes()
    const copies = await Promise.all([0, 1, 2].map(() => loadImage(media, item, { ...LIMITS }, call)))
    copies.push(await loadImage(media, item, { ...LIMITS }, call))
    expect(passes()).toBe(2)
    expect(new Set(copies.map(({ bytes }) => bytes)).size).toBe(1)
    expect(copies.every(({ isAsStored }) => !isAsStored)).toBe(true)

    await loadImage(media, item, { maxBytes: 1_000_000 }, call)
    expect(passes()).toBe(2)
    files.set(item.storageKey, new Uint8Array(await withNotes(plain(300, 200).jpeg())))
    passes()
    expect(await loadImage(media, item, { ...LIMITS }, call)).toMatchObject({ width: 300 })
    expect(passes()).toBe(2)
  })
})

it('an image that decoders show with a warning is converted', async () => {
  const jpeg = await withNotes(plain(500, 400).jpeg())
  const endOfFirstSegment = 4 + jpeg.readUInt16BE(4)
  const odd = [jpeg.subarray(0, endOfFirstSegment), Buffer.from([1, 2, 3]), jpeg.subarray(endOfFirstSegment)]
  expect(await prepareImage(Buffer.concat(odd), LIMITS, 'odd.jpg')).toMatchObject({
    width: 500,
    mimeType: 'image/jpeg',
  })
})

describe('many large images of a user', () => {
  it('large images of a user do not delay images of another user, which take a free slot', async () => {
    const { media, add } = memoryFiles()
    const bytes = await withNotes(plain(100, 80).jpeg())
    const opened: string[] = []
    const isDone = Promise.withResolvers<void>()
    const held: MediaSource = {
      ...media,
      async open(item, options) {
        opened.push(item.storageKey.split('/')[1]!)
        if (opened.at(-1) === 'many') await isDone.promise
        return media.open(item, options)
      },
    }
    const many = Array.from({ length: 15 }, () => loadImage(held, add('many', bytes), LIMITS, call))
    await loadImage(held, add('one', bytes), LIMITS, call)
    expect(opened.toSorted()).toEqual(['many', 'one'])
    isDone.resolve()
    await Promise.all(many)
  })

  it('images beyond the queue are refused temporarily, and the post retries', async () => {
    const { media, add } = memoryFiles()
    const bytes = await withNotes(plain(100, 80).jpeg())
    const all = await Promise.allSettled(
      Array.from({ length: 30 }, () => loadImage(media, add('many', bytes), LIMITS, call)),
    )
    const refused = all.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(refused).toHaveLength(9)
    expect(refused[0]).toMatchObject({ class: 'media_not_ready', certain: true, retryAfterMs: 5_000 })
  })
})
