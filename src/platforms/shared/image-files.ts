import { buffer } from 'node:stream/consumers'
import type { MediaItem } from '../../domain/post.ts'
import type { CallOptions, MediaSource } from '../adapter.ts'
import type { ImageLimits, PreparedImage } from './images.ts'
import { createLimit } from './limit.ts'

/** Of all platforms together: unpacked, an image takes many times what its file does (ADR 0007). */
const unpacking = createLimit(2)

/**
 * A post's image as a platform takes it. `isAsStored`: byte for byte the stored one.
 * @throws MediaUnavailableError
 */
export async function loadImage(
  media: MediaSource,
  item: MediaItem,
  limits: ImageLimits,
  { signal }: CallOptions,
): Promise<PreparedImage & { isAsStored: boolean }> {
  return unpacking(async () => {
    const { prepareImage } = await import('./images.ts')
    const { stream } = await media.open(item, { signal })
    const source = await buffer(stream)
    const name = item.originalFilename ?? item.storageKey.split('/').at(-1) ?? ''
    const image = await prepareImage(source, limits, name)
    return { ...image, isAsStored: image.bytes === source }
  })
}

/** What only preparing needs is heavy, and the API never prepares. */
export const warmUpImages = async (): Promise<void> => void (await import('./images.ts'))
