import { isDeepStrictEqual } from 'node:util'
import type { Facet } from '@atproto/api'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import type { BlueskyOptions } from '../../domain/posts/options.ts'
import type { Segment } from '../../domain/posts/post.ts'
import type { BlobRef, StoredRecord } from './responses.ts'

export const POST_COLLECTION = 'app.bsky.feed.post'
export const GATE_COLLECTION = 'app.bsky.feed.threadgate'

const GATE_RULES = { mentioned: 'mentionRule', following: 'followingRule', followers: 'followerRule' } as const

/**
 * Builds the record that says who may reply to a post; it has the same key as the post.
 * @param post the URI of the post
 */
export function buildGate(post: string, createdAt: Date, gate: NonNullable<BlueskyOptions['replyGate']>) {
  const rules = gate.flatMap((who) => (who === 'none' ? [] : [`${GATE_COLLECTION}#${GATE_RULES[who]}`]))
  return { $type: GATE_COLLECTION, post, createdAt: createdAt.toISOString(), allow: rules.map(($type) => ({ $type })) }
}

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

interface QuoteEmbed {
  $type: 'app.bsky.embed.record'
  record: StrongRef
}

interface QuoteWithMediaEmbed {
  $type: 'app.bsky.embed.recordWithMedia'
  record: QuoteEmbed
  media: MediaEmbed
}

type MediaEmbed = ImagesEmbed | VideoEmbed | CardEmbed

interface CardEmbed {
  $type: 'app.bsky.embed.external'
  external: Card
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
  embed?: MediaEmbed | QuoteEmbed | QuoteWithMediaEmbed
  langs?: string[]
  labels?: { $type: 'com.atproto.label.defs#selfLabels'; values: { val: string }[] }
}

/** The card of a link. */
export interface Card {
  uri: string
  title: string
  description: string
  thumb?: BlobRef
}

/** The parts of a record besides its content. */
interface RecordParts {
  createdAt: Date
  facets: Facet[]
  files: UploadedFile[]
  reply: ReplyRef | null
  /** The quoted post. */
  quote: StrongRef | null
  /** The card of a link; posts with files have none. */
  card: Card | null
  options: BlueskyOptions | undefined
}

/** Builds the record of a post. Equal arguments give an equal record, so that writing it again changes nothing. */
export function buildRecord(
  content: Segment,
  { createdAt, facets, files, reply, quote, card, options: { languages = [], labels = [] } = {} }: RecordParts,
): PostRecord {
  const media = files.length > 0 ? toMediaEmbed(content, files) : card ? toCardEmbed(card) : undefined
  const embed = toEmbed(media, quote)
  return {
    $type: POST_COLLECTION,
    text: content.text,
    createdAt: createdAt.toISOString(),
    ...(reply && { reply }),
    ...(facets.length > 0 && { facets }),
    ...(embed && { embed }),
    ...(languages.length > 0 && { langs: languages }),
    ...(labels.length > 0 && {
      labels: { $type: 'com.atproto.label.defs#selfLabels', values: labels.map((val) => ({ val })) },
    }),
  }
}

function toEmbed(media: MediaEmbed | undefined, quote: StrongRef | null): PostRecord['embed'] {
  if (!quote) return media
  const record: QuoteEmbed = { $type: 'app.bsky.embed.record', record: quote }
  return media ? { $type: 'app.bsky.embed.recordWithMedia', record, media } : record
}

function toCardEmbed(external: Card): CardEmbed {
  return { $type: 'app.bsky.embed.external', external }
}

/** Builds the embed of images or a video. A video is the only media of its post. */
function toMediaEmbed(content: Segment, files: UploadedFile[]): MediaEmbed {
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
  const embed = ((value as { embed?: unknown }).embed ?? {}) as Record<string, unknown>
  const { images, video, alt } = (embed['media'] ?? embed) as Record<string, unknown>
  const shown = video ? [alt] : ((images ?? []) as { alt?: unknown }[]).map((image) => image.alt)
  return (
    value.text === content.text && Boolean(video) === isVideo(content) && isDeepStrictEqual(shown, toAltTexts(content))
  )
}
