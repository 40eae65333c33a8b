import { isDeepStrictEqual } from 'node:util'
import type { Facet } from '@atproto/api'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import type { Segment } from '../../domain/posts/post.ts'
import type { BlobRef, StoredRecord } from './responses.ts'

export const POST_COLLECTION = 'app.bsky.feed.post'

/** An image or video that the server already has. */
export interface UploadedFile {
  blob: BlobRef
  /** Absent when unknown. */
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

/** A record with the hash of its content (https://atproto.com/specs/lexicon, `com.atproto.repo.strongRef`). */
export interface StrongRef {
  uri: string
  cid: string
}

/** The first post of a thread, and the one that a reply is to. */
export interface ReplyRef {
  root: StrongRef
  parent: StrongRef
}

export interface PostRecord {
  $type: typeof POST_COLLECTION
  text: string
  createdAt: string
  reply?: ReplyRef
  facets?: Facet[]
  embed?: ImagesEmbed | VideoEmbed
}

/** Builds the record of a post. Equal arguments give an equal record, so that writing it again changes nothing. */
export function buildRecord(
  content: Segment,
  {
    createdAt,
    facets,
    files,
    reply,
  }: { createdAt: Date; facets: Facet[]; files: UploadedFile[]; reply: ReplyRef | null },
): PostRecord {
  return {
    $type: POST_COLLECTION,
    text: content.text,
    createdAt: createdAt.toISOString(),
    ...(reply && { reply }),
    ...(facets.length > 0 && { facets }),
    ...(files.length > 0 && { embed: toEmbed(content, files) }),
  }
}

/** Builds the embed of a post. A video is the only media of its post. */
function toEmbed(content: Segment, files: UploadedFile[]): ImagesEmbed | VideoEmbed {
  const alts = toAltTexts(content)
  if (isVideo(content)) {
    const { blob, ...shape } = files[0]!
    return { $type: 'app.bsky.embed.video', video: blob, alt: alts[0]!, ...shape }
  }
  const images = files.map(({ blob, ...shape }, index) => ({ image: blob, alt: alts[index]!, ...shape }))
  return { $type: 'app.bsky.embed.images', images }
}

export function isVideo({ mediaItems }: Segment): boolean {
  return mediaItems.some(({ mimeType }) => toMediaKind(mimeType) === 'video')
}

function toAltTexts(content: Segment): string[] {
  return content.mediaItems.map((item) => fitAltText(item, POSTING_RULES.bluesky))
}

/** Compares text and media of a record with a post. Blobs and facets are ignored, since they may have been created again. */
export function hasSameContent({ value }: StoredRecord, content: Segment): boolean {
  const { images, video, alt } = ((value as { embed?: unknown }).embed ?? {}) as Record<string, unknown>
  const shown = video ? [alt] : ((images ?? []) as { alt?: unknown }[]).map((image) => image.alt)
  return (
    value.text === content.text && Boolean(video) === isVideo(content) && isDeepStrictEqual(shown, toAltTexts(content))
  )
}
