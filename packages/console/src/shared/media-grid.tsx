import { Image, SimpleGrid } from '@mantine/core'
import type { components } from '@postonce/sdk'

type MediaItem = Pick<components['schemas']['MediaItem'], 'storageKey' | 'storageUrl' | 'mimeType' | 'altText'>

/** The pictures and videos of a post, with their descriptions. */
export function MediaGrid({ items }: { items: MediaItem[] }) {
  if (items.length === 0) return null
  return (
    <SimpleGrid cols={items.length === 1 ? 1 : 2} spacing="xs">
      {items.map(({ storageKey, storageUrl, mimeType, altText = '' }) =>
        mimeType.startsWith('video/') ? (
          <video
            key={storageKey}
            src={storageUrl}
            controls
            preload="metadata"
            aria-label={altText || 'Video'}
            width="100%"
          />
        ) : (
          <Image key={storageKey} src={storageUrl} alt={altText} radius="sm" mah={360} fit="cover" loading="lazy" />
        ),
      )}
    </SimpleGrid>
  )
}
