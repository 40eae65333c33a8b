import sharp, { type Metadata, type Sharp } from 'sharp'
import { MediaUnavailableError } from '../../domain/posts/failure.ts'
import { MAX_IMAGE_PIXELS, findPixelProblem } from '../../domain/posts/posting-rules.ts'
import { PlatformError } from '../errors.ts'

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

// Each conversion uses one thread, and operations on one image are of no use to the next one.
sharp.concurrency(1)
sharp.cache(false)

/** Of one pass over the pixels. An image within the limit takes a few seconds on a busy machine. */
const PASS_TIMEOUT_SECONDS = 20
/** Longest side of a converted image, pixels: every platform scales larger images down itself. */
const LONGEST_SIDE = 4_000
/** One encoding each, every one smaller than the one before. */
const QUALITIES = [90, 80, 75, 60] as const
/** Longest side of the last encoding, which has to be small enough. */
const LAST_SIDE = 1_000
/** Bytes do not shrink quite as fast as pixels. */
const SIZE_MARGIN = 0.9
/** Encoding without loss takes long, and mostly ends in more bytes than platforms take. */
const LOSSLESS_PIXELS = 4_000_000
const LOSSLESS_SIDE = Math.sqrt(LOSSLESS_PIXELS)

/** Behind what was transparent, and around what was too narrow, where the type knows no transparency. */
const PAPER = '#ffffff'

interface Size {
  width: number
  height: number
}

/** An upright image without metadata, no larger than any conversion of it. */
interface Scaled extends Size {
  hasAlpha: boolean
  open(): Sharp
}

const FORMATS: Record<string, string> = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' }

/**
 * Makes an image ready to be published: upright, without the camera's metadata about place and owner, and within the limits.
 * An image that is so already stays as it is, byte for byte; equal images have equal results.
 * @throws MediaUnavailableError when the bytes cannot be read as an image
 * @throws PlatformError `validation` when it has too many pixels, `transient` when the conversion takes too long
 */
export async function prepareImage(source: Uint8Array, limits: ImageLimits, name: string): Promise<PreparedImage> {
  try {
    return await prepare(source, limits)
  } catch (error) {
    if (error instanceof PlatformError) throw error
    if (isTimeout(error)) {
      throw new PlatformError('transient', 'Converting an image took too long', { certain: true, cause: error })
    }
    throw new MediaUnavailableError(`The file ${name} cannot be read as an image`)
  }
}

async function prepare(source: Uint8Array, limits: ImageLimits): Promise<PreparedImage> {
  // Reads the header alone, so the limit is checked here, where all frames count.
  const found = await sharp(source, { limitInputPixels: false }).metadata()
  const problem = findPixelProblem(pixelsOf(found))
  if (problem !== null) throw new PlatformError('validation', problem, { certain: true })
  const isUpright = (found.orientation ?? 1) === 1
  const asItIs = { bytes: source, mimeType: FORMATS[found.format] ?? '', width: found.width, height: found.height }
  if (isUpright && !hasNotes(found) && fits(asItIs, limits)) return asItIs
  const upright = () => open(source).autoOrient()
  const size = isTurned(found) ? { width: found.height, height: found.width } : found
  const hasWrongShape = limits.shape !== undefined && !hasShape(size, limits.shape)
  if (!hasWrongShape && isWorthKeeping(source, found, limits)) {
    const lossless = await toImage(found.format === 'png' ? upright().png() : upright().webp({ lossless: true }))
    if (fits(lossless, limits)) return lossless
  }
  const scaled = await scale(upright(), found.hasAlpha)
  return hasWrongShape ? reshape(scaled, limits, limits.shape!) : shrink(scaled, limits)
}

/** Reads the first frame. */
function open(source: Uint8Array): Sharp {
  const pipeline = sharp(source, { limitInputPixels: MAX_IMAGE_PIXELS, failOn: 'warning' })
  return pipeline.timeout({ seconds: PASS_TIMEOUT_SECONDS })
}

function pixelsOf({ width, height, pageHeight = height, pages = 1 }: Metadata): number {
  return width * pageHeight * pages
}

function isWorthKeeping(source: Uint8Array, { width, height, format }: Metadata, { maxBytes }: ImageLimits): boolean {
  const isLossless = format === 'png' || format === 'webp'
  return isLossless && source.length <= maxBytes && width * height <= LOSSLESS_PIXELS
}

/** Decodes once, for all encodings that follow. */
async function scale(upright: Sharp, hasAlpha: boolean): Promise<Scaled> {
  const { data, info } = await upright
    .resize({ width: LONGEST_SIDE, height: LONGEST_SIDE, fit: 'inside', withoutEnlargement: true })
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  const again = () => sharp(data, { raw: { width, height, channels } }).timeout({ seconds: PASS_TIMEOUT_SECONDS })
  return { width, height, hasAlpha, open: again }
}

function shrink(image: Scaled, limits: ImageLimits): Promise<PreparedImage> {
  return encodeUntilItFits(image, limits, (side) =>
    image.open().resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true }),
  )
}

/** Nothing is cut off: what an image lacks in height or width is filled up around it. */
function reshape(image: Scaled, limits: ImageLimits, shape: ImageShape): Promise<PreparedImage> {
  const { minWidth, maxWidth, minAspect, maxAspect } = shape
  const { width, height } = image
  const wanted = Math.min(Math.max(width / height, minAspect), maxAspect)
  const frameWidth = Math.max(width, height * wanted)
  const background = keepsAlpha(image, limits) ? { r: 0, g: 0, b: 0, alpha: 0 } : PAPER
  return encodeUntilItFits(image, limits, (side) => {
    const widest = Math.max(minWidth, Math.min(side, maxWidth))
    const canvas = canvasOf(Math.round(Math.min(Math.max(frameWidth, minWidth), widest)), wanted, minAspect)
    return image.open().resize({ ...canvas, fit: 'contain', background })
  })
}

/** Whole pixels, rounded to the side on which the image may be. */
function canvasOf(width: number, aspect: number, minAspect: number): Size {
  const height = width / aspect
  return { width, height: aspect <= minAspect ? Math.floor(height) : Math.ceil(height) }
}

/** Each encoding is as much smaller as the one before was too large. */
async function encodeUntilItFits(
  image: Scaled,
  limits: ImageLimits,
  resize: (side: number) => Sharp,
): Promise<PreparedImage> {
  let side = Math.max(image.width, image.height)
  if (outputOf(image, limits) === 'png') side = Math.min(side, LOSSLESS_SIDE)
  for (const [index, quality] of QUALITIES.entries()) {
    if (index === QUALITIES.length - 1) side = Math.min(side, LAST_SIDE)
    const encoded = await toImage(encode(resize(Math.floor(side)), image, quality, limits))
    if (fits(encoded, limits)) return encoded
    side *= Math.min(SIZE_MARGIN, shrinkage(encoded, limits))
  }
  throw new Error('still too large at the smallest size')
}

/** The factor for the sides of an image that is too large. */
function shrinkage({ bytes, width, height }: PreparedImage, { maxBytes, maxPixels = Infinity }: ImageLimits): number {
  const part = Math.min(maxBytes / bytes.length, maxPixels / (width * height))
  return Math.sqrt(part) * SIZE_MARGIN
}

function encode(resized: Sharp, image: Scaled, quality: number, limits: ImageLimits): Sharp {
  switch (outputOf(image, limits)) {
    case 'jpeg':
      return resized.flatten({ background: PAPER }).jpeg({ quality })
    case 'webp':
      // More effort doubles the time and saves one byte in fifty.
      return resized.webp({ quality, effort: 2 })
    case 'png':
      return resized.png()
  }
}

function outputOf(image: Scaled, limits: ImageLimits): 'jpeg' | 'webp' | 'png' {
  if (!keepsAlpha(image, limits) && takes(limits, 'image/jpeg')) return 'jpeg'
  return takes(limits, 'image/webp') ? 'webp' : 'png'
}

function takes({ types }: ImageLimits, type: string): boolean {
  return types?.includes(type) ?? true
}

function keepsAlpha({ hasAlpha }: Scaled, limits: ImageLimits): boolean {
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

/** As sharp words it: "timeout: 42% complete". */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.includes('timeout:')
}
