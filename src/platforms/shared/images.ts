import sharp, { type Metadata, type Sharp } from 'sharp'
import { MediaUnavailableError } from '../../domain/failure.ts'

/** What a platform takes. */
export interface ImageLimits {
  maxBytes: number
  /** In all, when unpacked. */
  maxPixels?: number
  /** Without it every type that we store. */
  types?: readonly string[]
  shape?: ImageShape
}

/** Pixels, and width by height. */
interface ImageShape {
  minWidth: number
  maxWidth: number
  minAspect: number
  maxAspect: number
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

/** Behind what was transparent, and around what was too narrow, where the type knows no transparency. */
const PAPER = '#ffffff'

interface Size {
  width: number
  height: number
}

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
  const size = isTurned(found) ? { width: found.height, height: found.width } : found
  if (limits.shape && !hasShape(size, limits.shape)) return reshape(upright, found.hasAlpha, size, limits, limits.shape)
  if (source.length <= limits.maxBytes && (found.format === 'png' || found.format === 'webp')) {
    const lossless = await toImage(found.format === 'png' ? upright().png() : upright().webp({ lossless: true }))
    if (fits(lossless, limits)) return lossless
  }
  return shrink(upright, found.hasAlpha, limits)
}

/** Nothing is cut off: what a picture lacks in height or width is filled up around it. */
async function reshape(
  upright: () => Sharp,
  hasAlpha: boolean,
  { width, height }: Size,
  limits: ImageLimits,
  { minWidth, maxWidth, minAspect, maxAspect }: ImageShape,
): Promise<PreparedImage> {
  const wanted = Math.min(Math.max(width / height, minAspect), maxAspect)
  const frameWidth = Math.max(width, height * wanted)
  for (const { side, quality } of ATTEMPTS) {
    const widest = Math.max(minWidth, Math.min(side, maxWidth))
    const canvas = canvasOf(Math.round(Math.min(Math.max(frameWidth, minWidth), widest)), wanted, minAspect)
    const background = keepsAlpha(hasAlpha, limits) ? { r: 0, g: 0, b: 0, alpha: 0 } : PAPER
    const resized = upright().resize({ ...canvas, fit: 'contain', background })
    const image = await toImage(encode(resized, hasAlpha, quality, limits))
    if (fits(image, limits)) return image
  }
  throw new Error('still too large at the smallest size')
}

/** Whole pixels, rounded to the side on which the picture may be. */
function canvasOf(width: number, aspect: number, minAspect: number): Size {
  const height = width / aspect
  return { width, height: aspect <= minAspect ? Math.floor(height) : Math.ceil(height) }
}

async function shrink(upright: () => Sharp, hasAlpha: boolean, limits: ImageLimits): Promise<PreparedImage> {
  for (const { side, quality } of ATTEMPTS) {
    const resized = upright().resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    const image = await toImage(encode(resized, hasAlpha, quality, limits))
    if (fits(image, limits)) return image
  }
  throw new Error('still too large at the smallest size')
}

function encode(image: Sharp, hasAlpha: boolean, quality: number, limits: ImageLimits): Sharp {
  if (!keepsAlpha(hasAlpha, limits) && takes(limits, 'image/jpeg')) {
    return image.flatten({ background: PAPER }).jpeg({ quality })
  }
  return takes(limits, 'image/webp') ? image.webp({ quality }) : image.png()
}

function takes({ types }: ImageLimits, type: string): boolean {
  return types?.includes(type) ?? true
}

function keepsAlpha(hasAlpha: boolean, limits: ImageLimits): boolean {
  return hasAlpha && (takes(limits, 'image/webp') || takes(limits, 'image/png'))
}

function fits({ bytes, mimeType, width, height }: PreparedImage, limits: ImageLimits): boolean {
  const { maxBytes, maxPixels = Infinity, types = Object.values(FORMATS), shape } = limits
  if (shape && !hasShape({ width, height }, shape)) return false
  return bytes.length <= maxBytes && width * height <= maxPixels && types.includes(mimeType)
}

function hasShape({ width, height }: Size, { minWidth, maxWidth, minAspect, maxAspect }: ImageShape): boolean {
  const aspect = width / height
  return width >= minWidth && width <= maxWidth && aspect >= minAspect && aspect <= maxAspect
}

/** EXIF orientations from 5 on lie on their side. */
function isTurned({ orientation = 1 }: Metadata): boolean {
  return orientation >= 5
}

async function toImage(pipeline: Sharp): Promise<PreparedImage> {
  const { data, info } = await pipeline.toBuffer({ resolveWithObject: true })
  return { bytes: data, mimeType: FORMATS[info.format]!, width: info.width, height: info.height }
}

function hasNotes({ exif, xmp, iptc, comments }: Metadata): boolean {
  return Boolean(exif ?? xmp ?? iptc ?? (comments && comments.length > 0))
}
