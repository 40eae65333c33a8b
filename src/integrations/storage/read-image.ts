import { MAX_IMAGE_PIXELS } from '../../domain/posts/posting-rules.ts'
import type { MediaFacts, MediaFile } from '../../domain/posts/media-files.ts'

const DAMAGED: MediaFile = {
  state: 'unusable',
  problem: 'is cut off or damaged, so it cannot be shown. Export it again and upload that file.',
}
/** The result is discarded, so a small one saves memory. */
const DECODED_WIDTH = 32

/** Decodes an image, as far as a browser would show it. One with too many pixels is not decoded. */
export async function readImage(
  bytes: Uint8Array,
  facts: MediaFacts,
  { timeoutSeconds }: { timeoutSeconds: number },
): Promise<MediaFile> {
  // Loaded late, because only posts with images need it.
  const { default: sharp } = await import('sharp')
  try {
    const found = await sharp(bytes, { limitInputPixels: false }).metadata()
    const { pages = 1, pageHeight = found.height, autoOrient } = found
    const pixels = found.width * pageHeight * pages
    const known = { ...facts, width: autoOrient.width, height: autoOrient.height, pixels }
    if (pixels <= MAX_IMAGE_PIXELS) {
      const image = sharp(bytes, { limitInputPixels: MAX_IMAGE_PIXELS, failOn: 'truncated' })
      await image.timeout({ seconds: timeoutSeconds }).resize(DECODED_WIDTH).raw().toBuffer()
    }
    return { state: 'readable', facts: { ...known, isAnimated: facts.isAnimated === true || pages > 1 } }
  } catch (error) {
    // sharp's message is "timeout: 42% complete".
    if (error instanceof Error && error.message.includes('timeout:'))
      return { state: 'readable', facts, isPartial: true }
    return DAMAGED
  }
}
