/** The properties that an MP4 or QuickTime file states in its boxes (ISO/IEC 14496-12:2022, sections 4.2, 8.2.2, 8.4.2, 8.4.3, 8.5.2 and 8.6.1). */
export interface Film {
  /** Seconds; 0 if the file does not state it. */
  duration: number
  /** The four-letter codes of its picture tracks, such as `avc1`. */
  pictureCodecs: string[]
  soundCodecs: string[]
  /** Pixels of the stored frames of the last picture track; 0 if the file does not state them. */
  width: number
  height: number
  /** Frames a second of that track on average, as the file's table of times states them; 0 without that table. */
  frameRate: number
  isIndexFirst: boolean
}

const emptyFilm = (): Film => ({
  ...{ duration: 0, pictureCodecs: [], soundCodecs: [], width: 0, height: 0, frameRate: 0 },
  isIndexFirst: false,
})

const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
/** H.264 and HEVC, which Threads, Instagram and Facebook document. */
const PLAYABLE = new Set(['avc1', 'avc3', 'hvc1', 'hev1'])

/**
 * Reads a file, or null if it has no index (`moov`) or a box is cut off. Of a long file only the beginning may be there:
 * it is taken for a film if its first boxes fit, since the index may come last.
 * @param size of the whole file, bytes
 */
export function readFilm(bytes: Buffer, size: number): Film | null {
  const film = emptyFilm()
  let [hasIndex, hasPictures, isCut, kind, unitsPerSecond] = [false, false, false, '', 0]
  read(0, bytes.length, size)
  if (isCut) return null
  if (hasIndex) return film
  return size > bytes.length ? { ...emptyFilm(), duration: 10, pictureCodecs: ['avc1'] } : null

  function read(start: number, there: number, end: number): void {
    for (let at = start; at + 8 <= Math.min(there, end);) {
      const isLong = bytes.readUInt32BE(at) === 1
      if (isLong && at + 16 > there) return
      const stated = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : bytes.readUInt32BE(at)
      const length = stated === 0 ? end - at : stated
      const header = isLong ? 16 : 8
      if (length < header || at + length > end) {
        isCut = true
        return
      }
      const type = bytes.toString('latin1', at + 4, at + 8)
      if (type === 'mdat') hasPictures = true
      if (type === 'moov') {
        hasIndex = true
        film.isIndexFirst = !hasPictures
      }
      if (CONTAINERS.has(type)) read(at + header, there, at + length)
      else if (at + length <= there) readFields(type, bytes.subarray(at + header, at + length))
      at += length
    }
  }

  function readFields(type: string, box: Buffer): void {
    if (type === 'mvhd' && box.length >= 32) {
      const isLong = box[0] === 1
      const scale = box.readUInt32BE(isLong ? 20 : 12)
      const units = isLong ? Number(box.readBigUInt64BE(24)) : box.readUInt32BE(16)
      film.duration = scale === 0 ? 0 : units / scale
    }
    if (type === 'mdhd' && box.length >= 24) unitsPerSecond = box.readUInt32BE(box[0] === 1 ? 20 : 12)
    if (type === 'hdlr' && box.length >= 12) kind = box.toString('latin1', 8, 12)
    if (type === 'stsd' && box.length >= 16) {
      const codec = box.toString('latin1', 12, 16)
      if (kind === 'vide') film.pictureCodecs.push(codec)
      if (kind === 'vide' && box.length >= 44) {
        film.width = box.readUInt16BE(40)
        film.height = box.readUInt16BE(42)
      }
      if (kind === 'soun') film.soundCodecs.push(codec)
    }
    if (type === 'stts' && kind === 'vide') film.frameRate = readFrameRate(box, unitsPerSecond)
  }
}

/** Each row of the table is a number of frames with the time that each of them is shown. */
function readFrameRate(box: Buffer, unitsPerSecond: number): number {
  let [frames, units] = [0, 0]
  for (let at = 8; at + 8 <= box.length; at += 8) {
    const count = box.readUInt32BE(at)
    frames += count
    units += count * box.readUInt32BE(at + 4)
  }
  return units === 0 ? 0 : (frames * unitsPerSecond) / units
}

/** Whether Meta's platforms can show a film, and why not. Its length is their own rule. */
export function hasPicture(film: Film | null): film is Film {
  return film !== null && film.pictureCodecs.length > 0 && film.pictureCodecs.every((codec) => PLAYABLE.has(codec))
}

/**
 * The published rules of Threads and Instagram: "MOV or MP4 (MPEG-4 Part 14), no edit lists, moov atom at the front of the file" and
 * "Frame rate: 23-60 FPS" and "Maximum columns (horizontal pixels): 1920". A film that states no frame rate passes.
 */
export const CONTAINER_RULES = {
  isIndexFirst: ({ isIndexFirst }: Film) => isIndexFirst,
  hasFrameRate: ({ frameRate }: Film) => frameRate === 0 || (frameRate >= 23 && frameRate < 61),
  hasWidth: ({ width }: Film) => width <= 1_920,
}
