import { isDeepStrictEqual } from 'node:util'
import type { Facet } from '@atproto/api'
import { fitAltText, POSTING_RULES } from '../../domain/posting-rules.ts'
import type { Content } from '../../domain/post.ts'
import type { BlobRef, StoredRecord } from './answers.ts'

export const POST_COLLECTION = 'app.bsky.feed.post'

/** An image that is on the server already. */
export interface UploadedImage {
  blob: BlobRef
  width: number
  height: number
}

interface ImagesEmbed {
  $type: 'app.bsky.embed.images'
  images: { image: BlobRef; alt: string; aspectRatio: { width: number; height: number } }[]
}

export interface PostRecord {
  $type: typeof POST_COLLECTION
  text: string
  createdAt: string
  facets?: Facet[]
  embed?: ImagesEmbed
}

/** The record of a post: the same for the same arguments, so that writing it again changes nothing. */
export function buildRecord(content: Content, createdAt: Date, facets: Facet[], images: UploadedImage[]): PostRecord {
  return {
    $type: POST_COLLECTION,
    text: content.text,
    createdAt: createdAt.toISOString(),
    ...(facets.length > 0 && { facets }),
    ...(images.length > 0 && {
      embed: {
        $type: 'app.bsky.embed.images' as const,
        images: images.map(({ blob, width, height }, index) => ({
          image: blob,
          alt: altTexts(content)[index] ?? '',
          aspectRatio: { width, height },
        })),
      },
    }),
  }
}

export function altTexts(content: Content): string[] {
  return content.mediaItems.map((item) => fitAltText(item, POSTING_RULES.bluesky))
}

/**
 * Whose record stands under our key? `ours` if it says what we meant to say at the instant we meant it: blobs and facets are left out,
 * since they may have been made anew since. `foreign` if it is of another instant. The same instant with other words is most likely our own
 * post, edited elsewhere: then nobody can tell (`unclear`).
 */
export function compareRecord(
  { value }: StoredRecord,
  content: Content,
  createdAt: Date,
): 'ours' | 'foreign' | 'unclear' {
  if (typeof value.createdAt !== 'string' || Date.parse(value.createdAt) !== createdAt.getTime()) return 'foreign'
  const { images = [] } = ((value as { embed?: unknown }).embed ?? {}) as { images?: { alt?: unknown }[] }
  const isSame =
    value.text === content.text &&
    isDeepStrictEqual(
      images.map(({ alt }) => alt),
      altTexts(content),
    )
  return isSame ? 'ours' : 'unclear'
}
