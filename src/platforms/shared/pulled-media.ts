import { buffer } from 'node:stream/consumers'
import type { MediaItem } from '../../domain/post.ts'
import { mediaKind } from '../../domain/posting-rules.ts'
import type { CallOptions, MediaSource } from '../adapter.ts'
import type { ImageLimits } from './images.ts'
import { createLimit } from './limit.ts'

type PulledType = 'image/jpeg' | 'image/png'

export type PulledImageLimits = ImageLimits & { types: readonly PulledType[] }

interface PulledMediaDeps {
  media: MediaSource
  image: PulledImageLimits
}

const IMAGES_IN_MEMORY = 2

/** For platforms that fetch what they publish: addresses of the files as they are, or of copies where those would be refused. */
export function createPulledMedia({ media, image: limits }: PulledMediaDeps) {
  const inMemory = createLimit(IMAGES_IN_MEMORY)

  return {
    /** @throws MediaUnavailableError */
    async addressOf(item: MediaItem, { signal }: CallOptions): Promise<string> {
      if (mediaKind(item.mimeType) === 'video') return media.address(item, { signal })
      return inMemory(async () => {
        const { prepareImage } = await import('./images.ts')
        const { stream } = await media.open(item, { signal })
        const source = await buffer(stream)
        const name = item.originalFilename ?? item.storageKey.split('/').at(-1) ?? ''
        const { bytes, mimeType } = await prepareImage(source, limits, name)
        if (bytes === source) return media.address(item, { signal })
        return media.keepCopy(item, { bytes, mimeType: mimeType as PulledType }, { signal })
      })
    },

    /** What only preparing needs is heavy, and the API never prepares. */
    warmUp: async (): Promise<void> => void (await import('./images.ts')),
  }
}

export type PulledMedia = ReturnType<typeof createPulledMedia>
