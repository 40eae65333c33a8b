import { describe, expect, it } from 'vitest'
import { readVideo } from '../../../../src/integrations/storage/read-video.ts'
import { hasIndexFirst, SNIFF_BYTES } from '../../../../src/integrations/storage/stored-files.ts'
import type { MediaFacts } from '../../../../src/domain/posts/media-files.ts'
import { film } from '../../../support/film.ts'

const SHAPE = { width: 1_920, height: 1_080 }

/** Reads a file, and returns the result with the number of bytes that it took. */
async function read(file: Uint8Array, sizeBytes = file.length, waitMs = 20_000) {
  let taken = 0
  const part = async (start: number, end: number) => {
    taken += end - start
    const bytes = new Uint8Array(end - start)
    bytes.set(file.subarray(start, end))
    return bytes
  }
  const facts = { mimeType: 'video/mp4', sizeBytes }
  const result = await readVideo({ sizeBytes, read: part }, facts, AbortSignal.timeout(waitMs))
  return { ...result, taken }
}

const box = (type: string, ...content: Uint8Array[]) => {
  const inside = Buffer.concat(content)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + inside.length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, inside])
}

it.each([
  ['at its end', { indexFirst: false }],
  ['at its beginning', {}],
  ['with long lengths', { isLong: true }],
])('size, length and codec of a video are read from its index %s', async (_, options) => {
  expect(await read(film({ ...SHAPE, duration: 61, ...options }))).toMatchObject({
    state: 'readable',
    facts: { mimeType: 'video/mp4', ...SHAPE, duration: 61, codec: 'avc' },
  })
})

it('a rotated video has its width and height swapped', async () => {
  expect(await read(film({ ...SHAPE, isTurned: true }))).toMatchObject({ facts: { width: 1_080, height: 1_920 } })
})

it.each([
  ['first', film(), true],
  ['last', film({ indexFirst: false }), false],
  ['last, after long lengths', film({ indexFirst: false, isLong: true }), false],
  [
    'first, after padding',
    Buffer.concat([film().subarray(0, 28), box('free', Buffer.alloc(500)), film().subarray(28)]),
    true,
  ],
  ['beyond the beginning', Buffer.concat([box('free', Buffer.alloc(9_000)), film()]), null],
  ['nowhere', Buffer.alloc(100), null],
])('the beginning of a file shows whether its index comes first: %s', (_, file, expected) => {
  expect(hasIndexFirst(file.subarray(0, SNIFF_BYTES))).toBe(expected)
})

it.each([25, 60, 240])('a video of %i frames a second is read as such', async (frameRate) => {
  const { facts } = (await read(film({ ...SHAPE, frameRate, duration: 400 }))) as { facts?: MediaFacts }
  expect(facts?.frameRate).toBeCloseTo(frameRate, 6)
  expect(facts?.pixels).toBe(SHAPE.width * SHAPE.height)
})

it('a codec without a name is called by its code', async () => {
  expect(await read(film({ codec: 'zzzz' }))).toMatchObject({ facts: { codec: 'zzzz' } })
})

it('a video of any size takes a few small reads', async () => {
  const { state, taken } = await read(film({ bytes: 50_000_000 }))
  expect(state).toBe('readable')
  expect(taken).toBeLessThan(1_000_000)
})

it.each([
  ['has no index', film({ indexFirst: false }).subarray(0, 900), 'has no index'],
  ['has a cut index', film({ indexFirst: false }).subarray(0, -50), 'has no index'],
  ['has only sound', film({ codec: null }), 'has sound but no picture'],
  ['ends before its last picture', film().subarray(0, -20), 'is cut off'],
])('a video that %s is refused with the reason', async (_, file, problem) => {
  expect(await read(file)).toMatchObject({ state: 'unusable', problem: expect.stringContaining(problem) as string })
})

describe('a hostile video', () => {
  const ftyp = film().subarray(0, 28)
  /** Each key has the length zero, so that reading them never gets further. */
  const endless = box(
    'moov',
    box('meta', Buffer.alloc(4), box('keys', Buffer.alloc(4), Buffer.alloc(4, 0xff), Buffer.alloc(64))),
  )

  it.each([
    ['endless small boxes', Buffer.concat([ftyp, Buffer.alloc(30_000_000, box('free'))])],
    ['an index of 30 MB', Buffer.concat([ftyp, box('moov', Buffer.alloc(30_000_000))])],
    [
      'boxes in boxes',
      Buffer.concat([ftyp, box('moov', Buffer.alloc(1_000_000, Buffer.from('\0\x0f\0\0mdia', 'latin1')))]),
    ],
    ['zeros', Buffer.concat([ftyp, Buffer.alloc(100_000)])],
  ])('a video of %s ends within bounds', async (_, file) => {
    const { taken } = await read(file)
    expect(taken).toBeLessThan(17_000_000)
  })

  it('a video that keeps its reader busy is given up in time, while the process works on', async () => {
    const startedAt = performance.now()
    const result = await read(Buffer.concat([ftyp, endless]), undefined, 1_500).catch((error: Error) => error.name)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(result === 'TimeoutError' || (result as { isPartial?: boolean }).isPartial).toBe(true)
  })
})
