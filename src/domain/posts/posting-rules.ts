import { findLinks, LINK, trimPunctuation } from '../shared/links.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Content, MediaItem } from './post.ts'
import { countCodePoints, takeCodePoints } from '../shared/text.ts'
import { MINUTE } from '../shared/times.ts'

/** How a platform counts a text; `COUNTERS` has one function for each. */
export type TextUnit =
  'graphemes' | 'utf8Bytes' | 'utf16Units' | 'codePoints' | 'codePointsEmojiAsBytes' | 'graphemesLinksAs23'

export interface TextLimit {
  unit: TextUnit
  max: number
  /** What a link counts as with `graphemesLinksAs23`, where a server states another number. */
  linkLength?: number
}

const LINK_LENGTH = 23

export type MediaKind = 'image' | 'video'

interface KindRule {
  max: number
  /** Types a post may carry here; the adapter converts where the platform itself wants another. */
  types: readonly string[]
  maxBytes: number
}

/** What a text may hold only so many of; `PARTS` tells how each looks. */
export type TextPart = 'hashtags' | 'mentions' | 'links'

/** What one platform accepts. Plain data: preflight, adapters and `GET /api/platform/limits` read the same table. */
export interface PostingRules {
  /** All of them hold; the first is the one people know, and the one reports show. */
  text: readonly [TextLimit, ...TextLimit[]]
  /** How many of each a text may hold, where that is limited. */
  parts?: Readonly<Partial<Record<TextPart, number>>>
  media: {
    required: boolean
    /** Items of all kinds together. */
    max: number
    /** May images and videos stand in one post? */
    mix: boolean
    image: KindRule
    video: KindRule
  }
  /** Longer descriptions are cut by the adapter; null where the platform takes none for that kind. */
  altText: Record<MediaKind, number | null>
}

/** Code points in one text, whatever the platform: well above every platform's own limit but Tumblr's. */
export const MAX_TEXT_LENGTH = 100_000

/** Items in one content, whatever the platform (contract section 4). */
export const MAX_MEDIA_ITEMS = 20

/** What object storage takes, whatever the platform (contract section 4). */
export const MAX_UPLOAD_BYTES: Record<MediaKind, number> = { image: 10_000_000, video: 512_000_000 }

/** Pixels of an image, all its frames together: decoding more would take too much time and memory. */
export const MAX_IMAGE_PIXELS = 40_000_000

/** What a user reads about a file that no upload takes. */
export function describeTooLargeFile(maxBytes: number): string {
  return `The file is larger than ${Math.floor(maxBytes / MB)} MB. Upload a smaller one.`
}

const MB = 1_000_000
const MIB = 1_048_576
const IMAGES = ['image/jpeg', 'image/png', 'image/webp'] as const
const VIDEOS = ['video/mp4', 'video/quicktime'] as const

/** What every platform accepts. */
export type PlatformRules = Readonly<Record<Platform, PostingRules>>

/** Limits of the platform fact sheet. Those of Mastodon are its defaults: instances set their own. */
export const POSTING_RULES: PlatformRules = {
  bluesky: {
    text: [
      { unit: 'graphemes', max: 300 },
      { unit: 'utf8Bytes', max: 3_000 },
    ],
    media: {
      required: false,
      max: 4,
      mix: false,
      image: { max: 4, types: IMAGES, maxBytes: 2 * MB },
      // Its video service is documented for mp4 only, and what the account's server gets must be mp4 (platforms.md 2b).
      video: { max: 1, types: ['video/mp4'], maxBytes: 300 * MB },
    },
    altText: { image: 2_000, video: 2_000 },
  },
  threads: {
    text: [{ unit: 'codePointsEmojiAsBytes', max: 500 }],
    parts: { links: 5 },
    media: {
      required: false,
      max: 20,
      mix: true,
      image: { max: 20, types: IMAGES, maxBytes: 8 * MB },
      video: { max: 20, types: VIDEOS, maxBytes: 1_000 * MB },
    },
    altText: { image: 1_000, video: 1_000 },
  },
  instagram: {
    text: [{ unit: 'utf16Units', max: 2_200 }],
    parts: { hashtags: 30, mentions: 20 },
    media: {
      required: true,
      max: 10,
      mix: true,
      image: { max: 10, types: IMAGES, maxBytes: 8 * MB },
      video: { max: 10, types: VIDEOS, maxBytes: 300 * MB },
    },
    altText: { image: 1_000, video: null },
  },
  facebook: {
    text: [{ unit: 'utf16Units', max: 63_206 }],
    media: {
      required: false,
      max: 10,
      mix: false,
      image: { max: 10, types: IMAGES, maxBytes: 4 * MB },
      video: { max: 1, types: VIDEOS, maxBytes: 4_000 * MB },
    },
    altText: { image: 1_000, video: null },
  },
  mastodon: {
    text: [{ unit: 'graphemesLinksAs23', max: 500 }],
    media: {
      required: false,
      max: 4,
      mix: false,
      image: { max: 4, types: IMAGES, maxBytes: 16 * MIB },
      video: { max: 1, types: VIDEOS, maxBytes: 99 * MIB },
    },
    altText: { image: 1_500, video: 1_500 },
  },
  tumblr: {
    // Tumblr would take a thousand blocks of 4,096, up to a megabyte; the adapter splits long texts into blocks.
    text: [{ unit: 'codePoints', max: MAX_TEXT_LENGTH }],
    media: {
      required: false,
      max: MAX_MEDIA_ITEMS,
      mix: true,
      image: { max: MAX_MEDIA_ITEMS, types: IMAGES, maxBytes: 20 * MB },
      video: { max: 1, types: VIDEOS, maxBytes: 500 * MB },
    },
    altText: { image: 4_096, video: null },
  },
}

/** What is wrong with an image of so many pixels, as a sentence; null when nothing is. */
export function findPixelProblem(pixels: number): string | null {
  if (pixels <= MAX_IMAGE_PIXELS) return null
  const inMegapixels = (count: number) => Math.ceil(count / 1_000_000)
  return `An image has ${inMegapixels(pixels)} megapixels, and at most ${inMegapixels(MAX_IMAGE_PIXELS)} are accepted: upload it in a smaller size`
}

export function toMediaKind(mimeType: string): MediaKind {
  return mimeType.startsWith('video/') ? 'video' : 'image'
}

/** The length of a text as a platform counts it. Counting stops at `atMost`, which is then the result. */
export function countText(text: string, unit: TextUnit, atMost = Infinity, linkLength = LINK_LENGTH): number {
  return Math.min(COUNTERS[unit](text, atMost, linkLength), atMost)
}

/** Lengths are exact up to this multiple of the limit. How far beyond it a text is helps no user, and counting it takes time. */
const COUNTED_MULTIPLE = 10

/** The length of a text and the length at which counting stops: a text of that length is that long or longer. */
export function measureText(text: string, limit: TextLimit): { length: number; countedTo: number } {
  const countedTo = COUNTED_MULTIPLE * limit.max
  return { length: countText(text, limit.unit, countedTo, limit.linkLength), countedTo }
}

/** They may return more than `atMost`, but do not go on counting there. */
const COUNTERS: Record<TextUnit, (text: string, atMost: number, linkLength: number) => number> = {
  graphemes: countGraphemes,
  utf8Bytes: countBytes,
  utf16Units: (text) => text.length,
  codePoints: countCodePoints,
  codePointsEmojiAsBytes: countEmojiAsBytes,
  graphemesLinksAs23: (text, atMost, linkLength) => countGraphemes(shortenLinks(text, linkLength), atMost),
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

function countGraphemes(text: string, atMost: number): number {
  let count = 0
  for (const _ of segmenter.segment(text)) {
    count += 1
    if (count >= atMost) break
  }
  return count
}

function countBytes(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

/** Pictographs, flags and keycaps, also where a text font would show them: counting too much is safe, too little is not. */
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u{20e3}/u

/** Threads counts an emoji as its UTF-8 bytes (platforms.md section 3d). */
function countEmojiAsBytes(text: string, atMost: number): number {
  let count = 0
  for (const { segment } of segmenter.segment(text)) {
    count += EMOJI.test(segment) ? countBytes(segment) : countCodePoints(segment)
    if (count >= atMost) break
  }
  return count
}

/** Words and separators take turns, so there is one way to match a name: any other form takes quadratic time on long names. */
const REMOTE_MENTION = /(^|[^\p{L}\p{N}_/@])@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)@[a-z0-9.-]*[a-z0-9]/giu

/** Mastodon counts every link alike, by default as 23 characters, and leaves the server out of `@user@server` (platforms.md section 6d). */
function shortenLinks(text: string, linkLength: number): string {
  return text
    .replace(LINK, (found) => 'x'.repeat(linkLength) + found.slice(trimPunctuation(found).length))
    .replace(REMOTE_MENTION, (_, before: string, user: string) => `${before}@${user}`)
}

const HASHTAG = /(?<![\p{L}\p{N}_&])#[\p{L}\p{N}_]+/gu
const MENTION = /(?<![\p{L}\p{N}_.])@[\p{L}\p{N}_.]+/gu

const PARTS: Record<TextPart, (text: string) => number> = {
  hashtags: (text) => text.match(HASHTAG)?.length ?? 0,
  mentions: (text) => text.match(MENTION)?.length ?? 0,
  // The same link again counts once.
  links: (text) => new Set(findLinks(text).map(({ url }) => url)).size,
}

export function countParts(text: string, part: TextPart): number {
  return PARTS[part](text)
}

/** An image's or video's description as the platform takes it: cut to its limit, empty where it takes none. */
export function fitAltText(item: MediaItem, rules: PostingRules): string {
  const max = rules.altText[toMediaKind(item.mimeType)]
  const text = item.altText ?? ''
  if (max === null) return ''
  return countCodePoints(text) <= max ? text : takeCodePoints(text, max - 1) + '…'
}

/** How long before its instant the invisible work of a post should begin (design section 5), milliseconds. */
export function prepareLeadMs(_platform: Platform, content: Content): number {
  if (content.mediaItems.some((item) => toMediaKind(item.mimeType) === 'video')) return 10 * MINUTE
  return content.mediaItems.length > 0 ? MINUTE : 0
}
