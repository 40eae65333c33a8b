interface FilmOptions {
  width?: number
  height?: number
  isTurned?: boolean
  /** Puts the header with the size first, as editors do. Cameras write it last. */
  headerFirst?: boolean
  /** Writes 64-bit lengths and times, as long films need. */
  isLong?: boolean
  /** The length of the picture and sound data. */
  bytes?: number
  /** The value of every byte of that data. */
  value?: number
  /** Seconds. */
  duration?: number
  /** The code of the picture track; none: the film has only sound. */
  codec?: string | null
}

/** 1.0 as a 16.16 fixed-point number. */
const ONE = 65_536

/** Builds an MP4 file with valid headers and meaningless picture data. */
export function film(options: FilmOptions = {}): Buffer<ArrayBuffer> {
  const { headerFirst = false, isLong = false, bytes = 1_000, value = 7, duration = 10, codec = 'avc1' } = options
  const mvhd = Buffer.alloc(100)
  mvhd.writeUInt32BE(1_000, 12)
  mvhd.writeUInt32BE(duration * 1_000, 16)
  const pictures = codec === null ? [] : [track(64, 36, options)]
  const moov = box('moov', box('mvhd', mvhd), track(0, 0, options), ...pictures)
  const mdat = longBox('mdat', Buffer.alloc(bytes, value), isLong)
  const ftyp = box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1'))
  return Buffer.concat(headerFirst ? [ftyp, moov, mdat] : [ftyp, mdat, moov])
}

function track(defaultWidth: number, defaultHeight: number, options: FilmOptions): Buffer {
  const { isTurned = false, isLong = false, codec = 'avc1' } = options
  const isSound = defaultWidth === 0
  const { width = defaultWidth, height = defaultHeight } = isSound ? { width: 0, height: 0 } : options
  const matrix = isTurned ? [0, ONE, 0, -ONE, 0, 0, 0, 0, 0] : [ONE, 0, 0, 0, ONE, 0, 0, 0, 0]
  const header = Buffer.concat([
    Buffer.from([isLong ? 1 : 0, 0, 0, 3]),
    Buffer.alloc(isLong ? 32 : 20),
    Buffer.alloc(16),
    ...matrix.map(int32),
    ...[width, height].map((side) => int32(side * ONE)),
  ])
  const handler = box('hdlr', Buffer.alloc(8), Buffer.from(isSound ? 'soun' : 'vide'), Buffer.alloc(13))
  const sample = box(isSound ? 'mp4a' : codec!, Buffer.alloc(78))
  const samples = box('stsd', Buffer.alloc(4), int32(1), sample)
  return box('trak', box('tkhd', header), box('mdia', handler, box('minf', box('stbl', samples))))
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
