import { expect, it } from 'vitest'
import { createVideoSizer } from '../../../../src/platforms/shared/video-sizer.ts'
import { film } from '../../../support/film.ts'

/** Streams a file in pieces of this length, and returns the size that the sizer found. */
async function readSize(file: Buffer, pieceLength: number) {
  const { readThrough, size } = createVideoSizer()
  async function* pieces() {
    for (let at = 0; at < file.length; at += pieceLength) yield file.subarray(at, at + pieceLength)
  }
  const passed: Uint8Array[] = []
  for await (const piece of readThrough(pieces())) passed.push(piece)
  expect(Buffer.concat(passed).equals(file)).toBe(true)
  return size()
}

const SHAPE = { width: 1_920, height: 1_080 }

it.each([
  ['at its end', film(SHAPE)],
  ['at its beginning', film({ ...SHAPE, headerFirst: true })],
  ['with long lengths', film({ ...SHAPE, isLong: true })],
])('the size of a video is read from its header %s, in pieces of any length', async (_, file) => {
  for (const pieceLength of [1, 7, 100, 300, file.length]) expect(await readSize(file, pieceLength)).toEqual(SHAPE)
})

it('a rotated video has its width and height swapped', async () => {
  expect(await readSize(film({ ...SHAPE, isTurned: true }), 64)).toEqual({ width: 1_080, height: 1_920 })
})

it.each([
  ['is missing', film().subarray(0, 600)],
  ['has no size', film({ width: 0, height: 0 })],
  ['is invalid', Buffer.alloc(5_000, 0xff)],
  ['has length zero', Buffer.alloc(5_000)],
])('no size is reported when the header of a video %s', async (_, file) => {
  for (const pieceLength of [1, 100, file.length]) expect(await readSize(file, pieceLength)).toBeNull()
})
