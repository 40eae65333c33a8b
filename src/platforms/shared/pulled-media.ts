import type { MediaItem } from '../../domain/posts/post.ts'
import { toMediaKind } from '../../domain/posts/posting-rules.ts'
import type { CallOptions, MediaSource } from '../contract.ts'
import { loadImage, warmUpImages } from './image-files.ts'
import type { ImageLimits } from './images.ts'
import { createMediaTurns } from './media-turns.ts'

type PulledType = 'image/jpeg' | 'image/png'

export type PulledImageLimits = ImageLimits & { types: readonly PulledType[] }

interface PulledMediaDeps {
  media: MediaSource
  image: PulledImageLimits
}

const IMAGES_IN_MEMORY = 2

/** For platforms that fetch what they publish: addresses of the files as they are, or of copies where those would be refused. */
export function createPulledMedia({ media, image: limits }: PulledMediaDeps) {
  const inMemory = createMediaTurns({ atOnce: IMAGES_IN_MEMORY, perUser: 1 })

  return {
    /** @throws MediaUnavailableError, PlatformError */
    async addressOf(item: MediaItem, { signal }: CallOptions): Promise<string> {
      if (toMediaKind(item.mimeType) === 'video') return media.address(item, { signal })
      const addressOfImage = async () => {
        const { bytes, mimeType, isAsStored } = await loadImage(media, item, limits, { signal })
        if (isAsStored) return media.address(item, { signal })
        return media.keepCopy(item, { bytes, mimeType: mimeType as PulledType }, { signal })
      }
      return inMemory(item, addressOfImage, { signal })
    },

    warmUp: warmUpImages,
  }
}

export type PulledMedia = ReturnType<typeof createPulledMedia>
