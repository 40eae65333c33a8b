import sharp, { type Metadata, type Sharp } from 'sharp'
import { MediaUnavailableError } from '../../domain/posts/failure.ts'
import { MAX_IMAGE_PIXELS, findPixelProblem } from '../../domain/posts/posting-rules.ts'
import { PlatformError } from '../errors.ts'

/** The image limits of a platform. */
export interface ImageLimits {
  maxBytes: number
  /** Total pixels after decoding. */
  maxPixels?: number
  /** Defaults to every type that this service stores. */
  types?: readonly string[]
  shape?: ImageShape
}

/** Widths in pixels; aspects as width divided by height. */
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

// Each conversion uses one thread, and caching operations on one image does not help the next.
sharp.concurrency(1)
sharp.cache(false)

/** The timeout of one pass over the pixels. An image within the limit takes a few seconds on a busy machine. */
const PASS_TIMEOUT_SECONDS = 20
/** Longest side of a converted image, pixels. Every platform scales larger images down itself. */
const LONGEST_SIDE = 4_000
/** One encoding per quality, each smaller than the one before. */
const QUALITIES = [90, 80, 75, 60] as const
/** Longest side of the last encoding, which must be small enough. */
const LAST_SIDE = 1_000
/** Bytes shrink a little slower than pixels. */
const SIZE_MARGIN = 0.9
/** Lossless encoding is slow and mostly exceeds the platforms' size limits. */
const LOSSLESS_PIXELS = 4_000_000
const LOSSLESS_SIDE = Math.sqrt(LOSSLESS_PIXELS)

/** Replaces transparency and fills margins in formats without transparency. */
const BACKGROUND = '#ffffff'

interface Size {
  width: number
  height: number
}

/** An upright image without metadata, at the maximum size of a conversion. */
interface Scaled extends Size {
  hasAlpha: boolean
  open(): Sharp
}

const FORMATS: Record<string, string> = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' }

/**
 * Prepares an image for publishing: upright, without camera metadata such as place and owner, and within the limits.
 * An image that already qualifies is returned unchanged. Equal images have equal results.
 * @param name the beginning of a sentence about the file
 * @throws MediaUnavailableError when the bytes cannot be read as an image
 * @throws PlatformError `validation` for too many pixels, `transient` when the conversion takes too long
 */
export async function prepareImage(source: Uint8Array, limits: ImageLimits, name: string): Promise<PreparedImage> {
  try {
    return await prepare(source, limits)
  } catch (error) {
    if (error instanceof PlatformError) throw error
    if (isTimeout(error)) {
      throw new PlatformError('transient', 'Converting an image took too long', { certain: true, cause: error })
    }
    throw new MediaUnavailableError(`${name} cannot be read as an image. Save it as JPEG and upload that file.`)
  }
}

async function prepare(source: Uint8Array, limits: ImageLimits): Promise<PreparedImage> {
  // Reads the header only, so the pixel limit is checked here, across all frames.
  const found = await sharp(source, { limitInputPixels: false }).metadata()
  const problem = findPixelProblem(countPixels(found))
  if (problem !== null) throw new PlatformError('validation', problem, { certain: true })
  const isUpright = (found.orientation ?? 1) === 1
  const original = { bytes: source, mimeType: FORMATS[found.format] ?? '', width: found.width, height: found.height }
  if (isUpright && !hasMetadata(found) && isWithinLimits(original, limits)) return original
  const upright = () => open(source).autoOrient()
  const size = isTurned(found) ? { width: found.height, height: found.width } : found
  const hasWrongShape = limits.shape !== undefined && !hasShape(size, limits.shape)
  if (!hasWrongShape && canStayLossless(source, found, limits)) {
    const lossless = await toImage(found.format === 'png' ? upright().png() : upright().webp({ lossless: true }))
    if (isWithinLimits(lossless, limits)) return lossless
  }
  const scaled = await scale(upright(), found.hasAlpha)
  return hasWrongShape ? reshape(scaled, limits, limits.shape!) : shrink(scaled, limits)
}

/** Reads the first frame. */
function open(source: Uint8Array): Sharp {
  const pipeline = sharp(source, { limitInputPixels: MAX_IMAGE_PIXELS, failOn: 'truncated' })
  return pipeline.timeout({ seconds: PASS_TIMEOUT_SECONDS })
}

function countPixels({ width, height, pageHeight = height, pages = 1 }: Metadata): number {
  return width * pageHeight * pages
}

function canStayLossless(source: Uint8Array, { width, height, format }: Metadata, { maxBytes }: ImageLimits): boolean {
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
  const reopen = () => sharp(data, { raw: { width, height, channels } }).timeout({ seconds: PASS_TIMEOUT_SECONDS })
  return { width, height, hasAlpha, open: reopen }
}

function shrink(image: Scaled, limits: ImageLimits): Promise<PreparedImage> {
  return encodeUntilItFits(image, limits, (side) =>
    image.open().resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true }),
  )
}

/** Fills the missing height or width with the background and crops nothing. */
function reshape(image: Scaled, limits: ImageLimits, shape: ImageShape): Promise<PreparedImage> {
  const { minWidth, maxWidth, minAspect, maxAspect } = shape
  const { width, height } = image
  const wanted = Math.min(Math.max(width / height, minAspect), maxAspect)
  const frameWidth = Math.max(width, height * wanted)
  const background = shouldKeepAlpha(image, limits) ? { r: 0, g: 0, b: 0, alpha: 0 } : BACKGROUND
  return encodeUntilItFits(image, limits, (side) => {
    const widest = Math.max(minWidth, Math.min(side, maxWidth))
    const canvas = toCanvas(Math.round(Math.min(Math.max(frameWidth, minWidth), widest)), wanted, minAspect)
    return image.open().resize({ ...canvas, fit: 'contain', background })
  })
}

/** Returns the canvas in whole pixels, rounded so that the aspect stays within the limits. */
function toCanvas(width: number, aspect: number, minAspect: number): Size {
  const height = width / aspect
  return { width, height: aspect <= minAspect ? Math.floor(height) : Math.ceil(height) }
}

/** Scales each encoding by how much the previous one exceeded the limit. */
async function encodeUntilItFits(
  image: Scaled,
  limits: ImageLimits,
  resize: (side: number) => Sharp,
): Promise<PreparedImage> {
  let side = Math.max(image.width, image.height)
  if (chooseFormat(image, limits) === 'png') side = Math.min(side, LOSSLESS_SIDE)
  for (const [index, quality] of QUALITIES.entries()) {
    if (index === QUALITIES.length - 1) side = Math.min(side, LAST_SIDE)
    const encoded = await toImage(encode(resize(Math.floor(side)), image, quality, limits))
    if (isWithinLimits(encoded, limits)) return encoded
    side *= Math.min(SIZE_MARGIN, toScaleFactor(encoded, limits))
  }
  throw new Error('still too large at the smallest size')
}

/** The factor for the sides of an image that is too large. */
function toScaleFactor(
  { bytes, width, height }: PreparedImage,
  { maxBytes, maxPixels = Infinity }: ImageLimits,
): number {
  const part = Math.min(maxBytes / bytes.length, maxPixels / (width * height))
  return Math.sqrt(part) * SIZE_MARGIN
}

function encode(resized: Sharp, image: Scaled, quality: number, limits: ImageLimits): Sharp {
  switch (chooseFormat(image, limits)) {
    case 'jpeg':
      return resized.flatten({ background: BACKGROUND }).jpeg({ quality })
    case 'webp':
      // More effort doubles the time and saves one byte in fifty.
      return resized.webp({ quality, effort: 2 })
    case 'png':
      return resized.png()
  }
}

function chooseFormat(image: Scaled, limits: ImageLimits): 'jpeg' | 'webp' | 'png' {
  if (!shouldKeepAlpha(image, limits) && acceptsType(limits, 'image/jpeg')) return 'jpeg'
  return acceptsType(limits, 'image/webp') ? 'webp' : 'png'
}

function acceptsType({ types }: ImageLimits, type: string): boolean {
  return types?.includes(type) ?? true
}

function shouldKeepAlpha({ hasAlpha }: Scaled, limits: ImageLimits): boolean {
  return hasAlpha && (acceptsType(limits, 'image/webp') || acceptsType(limits, 'image/png'))
}

function isWithinLimits({ bytes, mimeType, width, height }: PreparedImage, limits: ImageLimits): boolean {
  const { maxBytes, maxPixels = Infinity, types = Object.values(FORMATS), shape } = limits
  if (shape && !hasShape({ width, height }, shape)) return false
  return bytes.length <= maxBytes && width * height <= maxPixels && types.includes(mimeType)
}

function hasShape({ width, height }: Size, { minWidth, maxWidth, minAspect, maxAspect }: ImageShape): boolean {
  const aspect = width / height
  return width >= minWidth && width <= maxWidth && aspect >= minAspect && aspect <= maxAspect
}

/** EXIF orientations from 5 on are rotated by 90 degrees. */
function isTurned({ orientation = 1 }: Metadata): boolean {
  return orientation >= 5
}

async function toImage(pipeline: Sharp): Promise<PreparedImage> {
  const { data, info } = await pipeline.toBuffer({ resolveWithObject: true })
  return { bytes: data, mimeType: FORMATS[info.format]!, width: info.width, height: info.height }
}

function hasMetadata({ exif, xmp, iptc, comments }: Metadata): boolean {
  return Boolean(exif ?? xmp ?? iptc ?? (comments && comments.length > 0))
}

/** Matches sharp's message "timeout: 42% complete". */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.includes('timeout:')
}
