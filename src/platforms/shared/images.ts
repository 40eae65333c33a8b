import sharp, { type Metadata, type Sharp } from 'sharp'
import { MediaUnavailableError } from '../../domain/failure.ts'

/** What a platform takes. */
export interface ImageLimits {
  maxBytes: number
  /** In all, when unpacked. */
  maxPixels?: number
  /** Without it every type that we store. */
  types?: readonly string[]
}

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
 * Makes a picture ready for everybody's eyes: upright, without the camera's notes about place and owner, and within the limits.
 * One that is so already stays as it is, byte for byte; the same picture always comes out the same.
 * @throws MediaUnavailableError when the bytes are no picture
 */
export async function prepareImage(source: Uint8Array, limits: ImageLimits, name: string): Promise<PreparedImage> {
  try {
    return await prepare(source, limits)
  } catch {
    throw new MediaUnavailableError(`The file ${name} cannot be read as an image`)
  }
}

async function prepare(source: Uint8Array, limits: ImageLimits): Promise<PreparedImage> {
  const open = () => sharp(source, { limitInputPixels: MAX_PIXELS })
  const found = await open().metadata()
  const isUpright = (found.orientation ?? 1) === 1
  const asItIs = { bytes: source, mimeType: FORMATS[found.format] ?? '', width: found.width, height: found.height }
  if (isUpright && !hasNotes(found) && fits(asItIs, limits)) return asItIs
  const upright = () => open().autoOrient()
  if (source.length <= limits.maxBytes && (found.format === 'png' || found.format === 'webp')) {
    const lossless = await toImage(found.format === 'png' ? upright().png() : upright().webp({ lossless: true }))
    if (fits(lossless, limits)) return lossless
  }
  return shrink(upright, found.hasAlpha, limits)
}

async function shrink(upright: () => Sharp, hasAlpha: boolean, limits: ImageLimits): Promise<PreparedImage> {
  for (const { side, quality } of ATTEMPTS) {
    const resized = upright().resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    const image = await toImage(encode(resized, hasAlpha, quality, limits))
    if (fits(image, limits)) return image
  }
  throw new Error('still too large at the smallest size')
}

function encode(image: Sharp, hasAlpha: boolean, quality: number, { types }: ImageLimits): Sharp {
  const takes = (type: string) => types?.includes(type) ?? true
  if (!hasAlpha && takes('image/jpeg')) return image.jpeg({ quality })
  return takes('image/webp') ? image.webp({ quality }) : image.png()
}

function fits({ bytes, mimeType, width, height }: PreparedImage, limits: ImageLimits): boolean {
  const { maxBytes, maxPixels = Infinity, types = Object.values(FORMATS) } = limits
  return bytes.length <= maxBytes && width * height <= maxPixels && types.includes(mimeType)
}

async function toImage(pipeline: Sharp): Promise<PreparedImage> {
  const { data, info } = await pipeline.toBuffer({ resolveWithObject: true })
  return { bytes: data, mimeType: FORMATS[info.format]!, width: info.width, height: info.height }
}

function hasNotes({ exif, xmp, iptc, comments }: Metadata): boolean {
  return Boolean(exif ?? xmp ?? iptc ?? (comments && comments.length > 0))
}
