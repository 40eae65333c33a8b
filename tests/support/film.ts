interface FilmOptions {
  width?: number
  height?: number
  isTurned?: boolean
  /** Puts the index first, as editors do; false: last, as cameras do. */
  indexFirst?: boolean
  /** Writes 64-bit lengths and times, as long films need. */
  isLong?: boolean
  /** The length of the picture and sound data; more if there are more frames. */
  bytes?: number
  /** The value of every byte of that data. */
  value?: number
  /** Seconds. */
  duration?: number
  /** Frames a second, a whole number. */
  frameRate?: number
  /** The code of the picture track; none: the film has only sound. */
  codec?: string | null
  /** The major brand. */
  brand?: string
}

/** 1.0 as a 16.16 and as a 2.30 fixed-point number. */
const ONE = 65_536
const ONE_OF_30 = 1_073_741_824
const UPRIGHT = [ONE, 0, 0, 0, ONE, 0, 0, 0, ONE_OF_30]
const TURNED = [0, ONE, 0, -ONE, 0, 0, 0, 0, ONE_OF_30]
const UNITS_PER_SECOND = 1_000
/** The time that each frame is shown, in units of its track. */
const FRAME_UNITS = 100
const DEFAULT = { bytes: 1_000, duration: 10, frameRate: 30 }

/** Builds an MP4 file with valid headers and meaningless picture data. */
export function film(options: FilmOptions = {}): Buffer<ArrayBuffer> {
  const { indexFirst = true, isLong = false, value = 7, brand = 'isom' } = options
  const bytes = Math.max(options.bytes ?? DEFAULT.bytes, countFrames(options))
  const ftyp = box('ftyp', Buffer.from(`${brand}\0\0\x02\0isomiso2mp41`, 'latin1'))
  const mdat = longBox('mdat', Buffer.alloc(bytes, value), isLong)
  const build = (indexLength: number) => index(ftyp.length + indexLength + mdat.length, options)
  const moov = build(indexFirst ? build(0).length : 0)
  return Buffer.concat(indexFirst ? [ftyp, moov, mdat] : [ftyp, mdat, moov])
}

/** @param dataEnd where the picture data ends in the file */
function index(dataEnd: number, options: FilmOptions): Buffer {
  const { duration = DEFAULT.duration, codec = 'avc1' } = options
  const mvhd = Buffer.alloc(100)
  mvhd.writeUInt32BE(UNITS_PER_SECOND, 12)
  mvhd.writeUInt32BE(duration * UNITS_PER_SECOND, 16)
  Buffer.concat(UPRIGHT.map(int32)).copy(mvhd, 36)
  const pictures = codec === null ? [] : [track(1, dataEnd, options)]
  return box('moov', box('mvhd', mvhd), track(2, dataEnd, { ...options, codec: null }), ...pictures)
}

/** @param options.codec none: a sound track */
function track(id: number, dataEnd: number, options: FilmOptions): Buffer {
  const { isTurned = false, isLong = false, codec = 'avc1' } = options
  const { width = 64, height = 36 } = codec === null ? { width: 0, height: 0 } : options
  const header = Buffer.concat([
    Buffer.from([isLong ? 1 : 0, 0, 0, 3]),
    Buffer.alloc(isLong ? 16 : 8),
    int32(id),
    Buffer.alloc(isLong ? 12 : 8),
    Buffer.alloc(16),
    ...(isTurned ? TURNED : UPRIGHT).map(int32),
    ...[width, height].map((side) => int32(side * ONE)),
  ])
  const unitsPerSecond = (options.frameRate ?? DEFAULT.frameRate) * FRAME_UNITS
  const frames = countFrames(options)
  const mdhd = box('mdhd', Buffer.alloc(12), int32(unitsPerSecond), int32(frames * FRAME_UNITS), Buffer.alloc(4))
  const handler = box('hdlr', Buffer.alloc(8), Buffer.from(codec === null ? 'soun' : 'vide'), Buffer.alloc(13))
  const entry = Buffer.alloc(78)
  if (codec !== null) [width, height].forEach((side, index) => entry.writeUInt16BE(side, 24 + 2 * index))
  const table = (name: string, ...values: number[]) => box(name, Buffer.alloc(4), ...values.map(int32))
  const tables = [
    box('stsd', Buffer.alloc(4), int32(1), box(codec ?? 'mp4a', entry)),
    table('stts', 1, frames, FRAME_UNITS),
    table('stsc', 1, 1, frames, 1),
    // Each frame is one of the last bytes of the data.
    table('stsz', 1, frames),
    table('stco', 1, dataEnd - frames),
  ]
  return box('trak', box('tkhd', header), box('mdia', mdhd, handler, box('minf', box('stbl', ...tables))))
}

function countFrames({ duration = DEFAULT.duration, frameRate = DEFAULT.frameRate }: FilmOptions): number {
  return Math.max(1, duration * frameRate)
}

function box(type: string, ...content: Buffer[]): Buffer {
  const inside = Buffer.concat(content)
  return Buffer.concat([int32(8 + inside.length), Buffer.from(type), inside])
}

function longBox(type: string, content: Buffer, isLong: boolean): Buffer {
  if (!isLong) return box(type, content)
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(16 + content.length))
  return Buffer.concat([int32(1), Buffer.from(type), length, content])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
