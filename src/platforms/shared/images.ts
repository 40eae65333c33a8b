import sharp, { type Metadata, type Sharp } from 'sharp'
import { MediaUnavailableError } from '../../domain/failure.ts'

export interface PreparedImage {
  bytes: Uint8Array
  mimeType: string
  width: number
  height: number
}

/** A picture of more pixels than this could fill our memory when unpacked. */
const MAX_PIXELS = 100_000_000
/** Longest side in pixels and quality, tried in this order until the picture is small enough. */
const ATTEMPTS = [
  { side: 4_000, quality: 90 },
  { side: 4_000, quality: 80 },
  { side: 3_000, quality: 80 },
  { side: 2_000, quality: 75 },
  { side: 1_500, quality: 70 },
  { side: 1_000, quality: 60 },
] as const

const FORMATS: Record<string, string> = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' }

/**
 * Makes a picture ready for everybody's eyes: upright, without the camera's notes about place and owner, and at most `maxBytes` long.
 * One that is so already stays as it is, byte for byte; the same picture always comes out the same.
 * @throws MediaUnavailableError when the bytes are no picture
 */
export async function prepareImage(source: Uint8Array, maxBytes: number, name: string): Promise<PreparedImage> {
  try {
    return await prepare(source, maxBytes)
  } catch {
    throw new MediaUnavailableError(`The file ${name} cannot be read as an image`)
  }
}

async function prepare(source: Uint8Array, maxBytes: number): Promise<PreparedImage> {
  const open = () => sharp(source, { limitInputPixels: MAX_PIXELS })
  const found = await open().metadata()
  const mimeType = FORMATS[found.format]
  const isUpright = (found.orientation ?? 1) === 1
  if (mimeType && isUpright && !hasNotes(found) && source.length <= maxBytes) {
    return { bytes: source, mimeType, width: found.width, height: found.height }
  }
  const upright = () => open().autoOrient()
  if (source.length <= maxBytes && (found.format === 'png' || found.format === 'webp')) {
    const lossless = await toImage(found.format === 'png' ? upright().png() : upright().webp({ lossless: true }))
    if (lossless.bytes.length <= maxBytes) return lossless
  }
  return shrink(upright, found.hasAlpha, maxBytes)
}

async function shrink(upright: () => Sharp, hasAlpha: boolean, maxBytes: number): Promise<PreparedImage> {
  for (const { side, quality } of ATTEMPTS) {
    const resized = upright().resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    const image = await toImage(hasAlpha ? resized.webp({ quality }) : resized.jpeg({ quality }))
    if (image.bytes.length <= maxBytes) return image
  }
  throw new Error('still too large at the smallest size')
}

async function toImage(pipeline: Sharp): Promise<PreparedImage> {
  const { data, info } = await pipeline.toBuffer({ resolveWithObject: true })
  return { bytes: data, mimeType: FORMATS[info.format]!, width: info.width, height: info.height }
}

function hasNotes({ exif, xmp, iptc, comments }: Metadata): boolean {
  return Boolean(exif ?? xmp ?? iptc ?? (comments && comments.length > 0))
}
