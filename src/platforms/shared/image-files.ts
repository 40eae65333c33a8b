import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { parseOwnerId } from '../../domain/media/storage-keys.ts'
import { nameFile } from '../../domain/posts/media-files.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import type { CallOptions, MediaSource } from '../contract.ts'
import type { ImageLimits, PreparedImage } from './images.ts'
import { createUserLimiter } from './media-limiter.ts'

/** Shared by all platforms: a decoded image takes many times the memory of its file (docs/design/architecture.md#images). */
const limitConversions = createUserLimiter({ concurrency: 2, perUser: 1 })

const CACHE_BYTES = 48_000_000

/** Converted images, reused by platforms with equal limits and by later attempts (docs/design/architecture.md#images). */
const converted = new LRUCache<string, PreparedImage>({
  maxSize: CACHE_BYTES,
  sizeCalculation: ({ bytes }) => Math.max(1, bytes.length),
})

/**
 * Returns a post's image within the platform's limits. `isAsStored`: identical to the stored file.
 * @throws MediaUnavailableError
 * @throws PlatformError when it has too many pixels or cannot be converted now
 */
export async function loadImage(
  media: MediaSource,
  item: MediaItem,
  limits: ImageLimits,
  { signal }: CallOptions,
): Promise<PreparedImage & { isAsStored: boolean }> {
  // Each user has one conversion at a time, so a second request for the same image hits the cache.
  return limitConversions(parseOwnerId(item.storageKey), () => convert(media, item, limits, { signal }), { signal })
}

/**
 * Returns an image of another server within the platform's limits. Its type is already known to be an image.
 * @throws MediaUnavailableError, PlatformError as `loadImage` does
 */
export async function convertImage(
  source: Uint8Array,
  limits: ImageLimits,
  { userId, signal }: CallOptions & { userId: string },
): Promise<PreparedImage> {
  const { prepareImage } = await import('./images.ts')
  return limitConversions(userId, () => prepareImage(source, limits, 'The image'), { signal })
}

async function convert(media: MediaSource, item: MediaItem, limits: ImageLimits, { signal }: CallOptions) {
  const { prepareImage } = await import('./images.ts')
  const { stream } = await media.open(item, { signal })
  const { bytes: source, digest } = await read(stream)
  // The object may have been uploaded again under the same key.
  const key = JSON.stringify([item.storageKey, digest, limits])
  const known = converted.get(key)
  if (known) return { ...known, isAsStored: false }
  const image = await prepareImage(source, limits, nameFile(item))
  const isAsStored = image.bytes === source
  if (!isAsStored) converted.set(key, image)
  return { ...image, isAsStored }
}

async function read(stream: ReadableStream<Uint8Array>): Promise<{ bytes: Uint8Array; digest: string }> {
  const hash = createHash('sha256')
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) {
    hash.update(chunk)
    chunks.push(chunk)
  }
  return { bytes: Buffer.concat(chunks), digest: hash.digest('hex') }
}

/** Loads the large module that only preparation needs; the API never prepares. */
export const warmUpImages = async (): Promise<void> => void (await import('./images.ts'))
