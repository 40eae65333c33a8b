import type { MediaItem } from '../../domain/posts/post.ts'
import { toMediaKind } from '../../domain/posts/posting-rules.ts'
import type { CallOptions, MediaSource } from '../contract.ts'
import { loadImage, warmUpImages } from './image-files.ts'
import type { ImageLimits } from './images.ts'
import { createMediaLimiter } from './media-limiter.ts'

type PulledType = 'image/jpeg' | 'image/png'

export type PulledImageLimits = ImageLimits & { types: readonly PulledType[] }

interface PulledMediaOptions {
  media: MediaSource
  image: PulledImageLimits
}

const IMAGES_IN_MEMORY = 2

/**
 * Resolves public URLs for platforms that fetch files: of the stored file, or of a converted copy where the platform
 * would refuse it.
 */
export function createPulledMedia({ media, image }: PulledMediaOptions) {
  const limitImages = createMediaLimiter({ concurrency: IMAGES_IN_MEMORY, perUser: 1 })

  return {
    /**
     * @param limits those of the images of one post, where they differ
     * @throws MediaUnavailableError, PlatformError
     */
    async resolveUrl(item: MediaItem, { signal }: CallOptions, limits = image): Promise<string> {
      if (toMediaKind(item.mimeType) === 'video') return media.publicUrl(item, { signal })
      const resolveImageUrl = async () => {
        const { bytes, mimeType, isAsStored } = await loadImage(media, item, limits, { signal })
        if (isAsStored) return media.publicUrl(item, { signal })
        return media.storeCopy(item, { bytes, mimeType: mimeType as PulledType }, { signal })
      }
      return limitImages(item, resolveImageUrl, { signal })
    },

    warmUp: warmUpImages,
  }
}

export type PulledMedia = ReturnType<typeof createPulledMedia>
