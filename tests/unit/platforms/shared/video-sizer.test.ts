import { expect, it } from 'vitest'
import { createVideoSizer } from '../../../../src/platforms/shared/video-sizer.ts'
import { film } from '../../../support/film.ts'

/** The bytes per piece, as a stream may deliver them. */
async function sizeOf(file: Buffer, pieceLength: number) {
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
  for (const pieceLength of [1, 7, 100, 300, file.length]) expect(await sizeOf(file, pieceLength)).toEqual(SHAPE)
})

it('a rotated video has its width and height swapped', async () => {
  expect(await sizeOf(film({ ...SHAPE, isTurned: true }), 64)).toEqual({ width: 1_080, height: 1_920 })
})

it.each([
  ['is not there', film().subarray(0, 600)],
  ['says nothing', film({ width: 0, height: 0 })],
  ['is nonsense', Buffer.alloc(5_000, 0xff)],
  ['is of no length', Buffer.alloc(5_000)],
])('no size is reported where the header %s', async (_, file) => {
  for (const pieceLength of [1, 100, file.length]) expect(await sizeOf(file, pieceLength)).toBeNull()
})
