const CONTAINERS = new Set(['moov', 'trak'])
const HEADER_BYTES = 8
const LONG_HEADER_BYTES = 16
/** Longer than any track header. */
const LONGEST_TRACK_HEADER = 256
const FIXED_POINT = 65_536

interface Size {
  width: number
  height: number
}

/**
 * Reads the picture size of an MP4 or QuickTime file while it streams through. At most one track header is in memory
 * (ISO/IEC 14496-12, sections 4.2 and 8.3.2).
 */
export function createVideoSizer() {
  let buffered: Buffer = Buffer.alloc(0)
  let toSkip = 0
  let size: Size | null = null

  function consume(chunk: Uint8Array): void {
    let rest = chunk
    while (rest.length > 0 && size === null) {
      const skipped = Math.min(toSkip, rest.length)
      toSkip -= skipped
      rest = rest.subarray(skipped)
      if (rest.length === 0) return
      const free = LONGEST_TRACK_HEADER - buffered.length
      buffered = Buffer.concat([buffered, rest.subarray(0, free)])
      rest = rest.subarray(free)
      readBoxes()
    }
  }

  /** Reads the boxes in the buffered bytes. */
  function readBoxes(): void {
    while (buffered.length >= HEADER_BYTES && size === null && toSkip === 0) {
      const box = readHeader(buffered)
      if (!box) return
      if (box.type === 'tkhd' && box.length <= LONGEST_TRACK_HEADER) {
        if (buffered.length < box.length) return
        size = readTrackSize(buffered.subarray(box.headerLength, box.length))
      }
      skip(CONTAINERS.has(box.type) ? box.headerLength : box.length)
    }
  }

  function skip(bytes: number): void {
    toSkip = Math.max(0, bytes - buffered.length)
    buffered = buffered.subarray(bytes - toSkip)
  }

  return {
    /** Yields the chunks unchanged while it reads the size. */
    async *readThrough(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of source) {
        consume(chunk)
        yield chunk
      }
    },
    /** The displayed size after rotation; `null` when the file does not contain it. */
    size: (): Size | null => size,
  }
}

interface Box {
  type: string
  headerLength: number
  length: number
}

function readHeader(bytes: Buffer): Box | null {
  const type = bytes.toString('latin1', 4, HEADER_BYTES)
  const length = bytes.readUInt32BE(0)
  // The last box may extend to the end of the file.
  if (length === 0) return { type, headerLength: HEADER_BYTES, length: Infinity }
  if (length !== 1) return { type, headerLength: HEADER_BYTES, length: Math.max(length, HEADER_BYTES) }
  if (bytes.length < LONG_HEADER_BYTES) return null
  const long = Number(bytes.readBigUInt64BE(HEADER_BYTES))
  return { type, headerLength: LONG_HEADER_BYTES, length: Math.max(long, LONG_HEADER_BYTES) }
}

/** Returns `null` for audio tracks, which have no size. */
function readTrackSize(header: Buffer): Size | null {
  const isLong = header[0] === 1
  const matrix = isLong ? 52 : 40
  const end = matrix + 36
  if (header.length < end + 8) return null
  const width = Math.round(header.readUInt32BE(end) / FIXED_POINT)
  const height = Math.round(header.readUInt32BE(end + 4) / FIXED_POINT)
  if (width === 0 || height === 0) return null
  const isTurned = header.readInt32BE(matrix) === 0 && header.readInt32BE(matrix + 16) === 0
  return isTurned ? { width: height, height: width } : { width, height }
}
