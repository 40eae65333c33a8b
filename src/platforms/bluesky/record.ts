import { isDeepStrictEqual } from 'node:util'
import type { Facet } from '@atproto/api'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import type { Content } from '../../domain/posts/post.ts'
import type { BlobRef, StoredRecord } from './responses.ts'

export const POST_COLLECTION = 'app.bsky.feed.post'

/** An image or video that is on the server already. */
export interface UploadedFile {
  blob: BlobRef
  /** Where it could be told. */
  aspectRatio?: { width: number; height: number }
}

interface ImagesEmbed {
  $type: 'app.bsky.embed.images'
  images: { image: BlobRef; alt: string; aspectRatio?: UploadedFile['aspectRatio'] }[]
}

interface VideoEmbed {
  $type: 'app.bsky.embed.video'
  video: BlobRef
  alt: string
  aspectRatio?: UploadedFile['aspectRatio']
}

export interface PostRecord {
  $type: typeof POST_COLLECTION
  text: string
  createdAt: string
  facets?: Facet[]
  embed?: ImagesEmbed | VideoEmbed
}

/** The record of a post: the same for the same arguments, so that writing it again changes nothing. */
export function buildRecord(content: Content, createdAt: Date, facets: Facet[], files: UploadedFile[]): PostRecord {
  return {
    $type: POST_COLLECTION,
    text: content.text,
    createdAt: createdAt.toISOString(),
    ...(facets.length > 0 && { facets }),
    ...(files.length > 0 && { embed: embedOf(content, files) }),
  }
}

/** A video stands alone in its post. */
function embedOf(content: Content, files: UploadedFile[]): ImagesEmbed | VideoEmbed {
  const alts = altTexts(content)
  if (isVideo(content)) {
    const { blob, ...shape } = files[0]!
    return { $type: 'app.bsky.embed.video', video: blob, alt: alts[0]!, ...shape }
  }
  const images = files.map(({ blob, ...shape }, index) => ({ image: blob, alt: alts[index]!, ...shape }))
  return { $type: 'app.bsky.embed.images', images }
}

export function isVideo({ mediaItems }: Content): boolean {
  return mediaItems.some(({ mimeType }) => toMediaKind(mimeType) === 'video')
}

function altTexts(content: Content): string[] {
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
  const { images, video, alt } = ((value as { embed?: unknown }).embed ?? {}) as Record<string, unknown>
  const shown = video ? [alt] : ((images ?? []) as { alt?: unknown }[]).map((image) => image.alt)
  const isSame =
    value.text === content.text && Boolean(video) === isVideo(content) && isDeepStrictEqual(shown, altTexts(content))
  return isSame ? 'ours' : 'unclear'
}
