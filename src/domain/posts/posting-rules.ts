import { needsPage } from './link.ts'
import { shortenForMastodon } from './mastodon-length.ts'
import { toPostKind, type PlatformOptions, type PostKind } from './options.ts'
import { findAllLinks } from '../shared/links.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Content, MediaItem } from './post.ts'
import { countCodePoints, takeCodePoints } from '../shared/text.ts'
import { MINUTE } from '../shared/times.ts'

/** Unit in which a platform measures text. */
export type TextUnit =
  'graphemes' | 'utf8Bytes' | 'utf16Units' | 'codePoints' | 'codePointsEmojiAsBytes' | 'graphemesLinksAs23'

export interface TextLimit {
  unit: TextUnit
  max: number
  /** Length of a link with `graphemesLinksAs23`, if the server states another number than 23. */
  linkLength?: number
}

const LINK_LENGTH = 23

export type MediaKind = 'image' | 'video'

interface KindRule {
  max: number
  /** Types that a post may have here. The adapter converts them where the platform requires another one. */
  types: readonly string[]
  maxBytes: number
  /** The length of a video; absent where the platform limits none. */
  seconds?: { min?: number; max: number }
  /** Pixels of one frame of a video; absent where the platform limits none. */
  pixels?: number
  /** Pixels of a row of a video; absent where the platform limits none. */
  width?: number
  /** Whole frames a second of a video; absent where the platform limits none. */
  frameRate?: { min?: number; max: number }
  /** True where the platform documents that a video's index comes before its pictures. */
  indexFirst?: true
  /** The codecs of a video's pictures; absent where the platform converts any. */
  codecs?: readonly string[]
}

/** Parts of a text whose number a platform may limit. */
export type TextPart = 'hashtags' | 'mentions' | 'links'

/** Content rules of one platform. Preflight, adapters and `GET /api/platform/limits` read the same table. */
export interface PostingRules {
  /** All limits apply. Reports show the first, which is the one users know. */
  text: readonly [TextLimit, ...TextLimit[]]
  /** A length above which the platform may refuse a text although it documents another limit. */
  uncertainAbove?: TextLimit
  /** Maximal number of each part; a missing part is not limited. */
  parts?: Readonly<Partial<Record<TextPart, number>>>
  media: {
    required: boolean
    /** Maximal number of images and videos together. */
    max: number
    /** True when a post may have both images and videos. */
    mix: boolean
    image: KindRule
    video: KindRule
  }
  /** Maximal length in code points; the adapter cuts longer descriptions. Null where the platform accepts none. */
  altText: Record<MediaKind, number | null>
  thread: ThreadRule
  /** Whether programs can remove published posts. */
  removable: boolean
  /** Whether programs can edit the text of published posts, which keep their ids. */
  editable: boolean
  /** The parts that exclude a post from edits; absent for none. */
  notEditableWith?: readonly EditObstacle[]
  /** Absent where posts have no polls. */
  poll?: PollRule
  /** Differences of other kinds of posts. */
  kinds?: Readonly<Partial<Record<PostKind, KindOfPostRules>>>
  /** Set by `toKindRules`; absent: a post of the usual kind. */
  kind?: PostKind
}

export type KindOfPostRules = Pick<PostingRules, 'media' | 'altText' | 'thread'>

/** The limits of a poll on a platform. */
export interface PollRule {
  options: { min: number; max: number }
  /** Characters of one option. */
  optionLength: number
  unit: TextUnit
  /** Seconds; absent where the platform decides it. */
  expiresIn?: { min: number; max: number }
}

/** Parts of a post that exclude it from edits on some platform. */
export const EDIT_OBSTACLES = ['video', 'poll'] as const
export type EditObstacle = (typeof EDIT_OBSTACLES)[number]

/** How a platform publishes the further posts of a thread: as replies, as one long post, or not at all. */
export const SEGMENT_FORMS = ['replies', 'joined', 'none'] as const

/** How a platform publishes a first comment: as a reply, for which the rules of posts hold, as a comment, or not at all. */
export const COMMENT_FORMS = ['reply', 'comment', 'none'] as const

interface ThreadRule {
  segments: (typeof SEGMENT_FORMS)[number]
  firstComment: (typeof COMMENT_FORMS)[number]
  /** Maximal code points of a comment. */
  commentLength?: number
}

/** Further posts of a thread. */
export const MAX_SEGMENTS = 25

/** Maximal code points of one text on any platform: well above every platform's own limit except Tumblr's. */
export const MAX_TEXT_LENGTH = 100_000

/** Maximal media items of one content on any platform. */
export const MAX_MEDIA_ITEMS = 20

/** Maximal size of an upload in bytes, whatever the platform. */
export const MAX_UPLOAD_BYTES: Record<MediaKind, number> = { image: 10_000_000, video: 512_000_000 }

/** Maximal pixels of an image, summed over its frames: decoding more takes too much time and memory. */
export const MAX_IMAGE_PIXELS = 40_000_000

/** Returns the error message for a file that exceeds the upload limit. */
export function describeTooLargeFile(maxBytes: number): string {
  return `The file is larger than ${Math.floor(maxBytes / MB)} MB. Upload a smaller one.`
}

const MB = 1_000_000
const MIB = 1_048_576
const IMAGES = ['image/jpeg', 'image/png', 'image/webp'] as const
const VIDEOS = ['video/mp4', 'video/quicktime'] as const
/** The types of files that are published on some platform, or converted for it. */
export const MEDIA_TYPES: Record<MediaKind, readonly string[]> = { image: IMAGES, video: VIDEOS }
/** H.264 and HEVC. */
const GRAPH_CODECS = ['avc', 'hevc'] as const
/** The videos that Threads and Instagram take. */
const CONTAINER_VIDEO = {
  types: VIDEOS,
  width: 1_920,
  frameRate: { min: 23, max: 60 },
  indexFirst: true,
  codecs: GRAPH_CODECS,
} as const

const INSTAGRAM_VIDEO = { ...CONTAINER_VIDEO, max: 10, maxBytes: 300 * MB, seconds: { min: 3, max: 900 } } as const
const INSTAGRAM_IMAGE = { max: 10, types: IMAGES, maxBytes: 8 * MB } as const
const INSTAGRAM_THREAD = { segments: 'none', firstComment: 'comment', commentLength: 2_200 } as const

/** Rules of all platforms. */
export type PlatformRules = Readonly<Record<Platform, PostingRules>>

/** The platforms' documented limits. Those of Mastodon are its defaults, which instances can change. */
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
      // Bluesky documents its video service for mp4 only, and the account's server accepts only mp4.
      video: { max: 1, types: ['video/mp4'], maxBytes: 300 * MB, seconds: { max: 600 } },
    },
    altText: { image: 2_000, video: 2_000 },
    thread: { segments: 'replies', firstComment: 'reply' },
    removable: true,
    editable: false,
  },
  threads: {
    text: [{ unit: 'codePointsEmojiAsBytes', max: 500 }],
    uncertainAbove: { unit: 'utf8Bytes', max: 500 },
    parts: { links: 5 },
    media: {
      required: false,
      max: 20,
      mix: true,
      image: { max: 20, types: IMAGES, maxBytes: 8 * MB },
      video: { ...CONTAINER_VIDEO, max: 20, maxBytes: 1_000 * MB, seconds: { max: 300 } },
    },
    altText: { image: 1_000, video: 1_000 },
    thread: { segments: 'replies', firstComment: 'reply' },
    removable: true,
    editable: false,
    // https://developers.facebook.com/docs/threads/create-posts/polls; an emoji may count as in texts.
    poll: { options: { min: 2, max: 4 }, optionLength: 25, unit: 'codePointsEmojiAsBytes' },
  },
  instagram: {
    text: [{ unit: 'utf16Units', max: 2_200 }],
    parts: { hashtags: 30, mentions: 20 },
    media: {
      required: true,
      max: 10,
      mix: true,
      image: INSTAGRAM_IMAGE,
      video: INSTAGRAM_VIDEO,
    },
    altText: { image: 1_000, video: null },
    thread: INSTAGRAM_THREAD,
    removable: false,
    editable: false,
    // https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media
    kinds: {
      reel: {
        media: {
          required: true,
          max: 1,
          mix: false,
          image: { ...INSTAGRAM_IMAGE, max: 0 },
          video: { ...INSTAGRAM_VIDEO, max: 1 },
        },
        altText: { image: null, video: null },
        thread: INSTAGRAM_THREAD,
      },
      story: {
        media: {
          required: true,
          max: 1,
          mix: false,
          image: { ...INSTAGRAM_IMAGE, max: 1 },
          video: { ...INSTAGRAM_VIDEO, max: 1, maxBytes: 100 * MB, seconds: { min: 3, max: 60 } },
        },
        altText: { image: null, video: null },
        thread: { segments: 'none', firstComment: 'none' },
      },
    },
  },
  facebook: {
    text: [{ unit: 'utf16Units', max: 63_206 }],
    media: {
      required: false,
      max: 10,
      mix: false,
      image: { max: 10, types: IMAGES, maxBytes: 4 * MB },
      video: { max: 1, types: VIDEOS, maxBytes: 4_000 * MB, seconds: { max: 14_400 }, codecs: GRAPH_CODECS },
    },
    altText: { image: 1_000, video: null },
    thread: { segments: 'none', firstComment: 'comment', commentLength: 8_000 },
    removable: true,
    // A page's video has an id of its own, and how its text is edited is not documented.
    editable: true,
    notEditableWith: ['video'],
  },
  mastodon: {
    text: [{ unit: 'graphemesLinksAs23', max: 500 }],
    media: {
      required: false,
      max: 4,
      mix: false,
      image: { max: 4, types: IMAGES, maxBytes: 16 * MIB },
      video: { max: 1, types: VIDEOS, maxBytes: 99 * MIB, pixels: 3_840 * 2_160, frameRate: { max: 120 } },
    },
    altText: { image: 1_500, video: 1_500 },
    thread: { segments: 'replies', firstComment: 'reply' },
    removable: true,
    // An edit sets the end of a poll anew.
    editable: true,
    notEditableWith: ['poll'],
    // https://docs.joinmastodon.org/methods/statuses/#form-data-parameters and the defaults of `configuration.polls`.
    poll: { options: { min: 2, max: 4 }, optionLength: 50, unit: 'graphemes', expiresIn: { min: 300, max: 2_629_746 } },
  },
  tumblr: {
    // Tumblr accepts 1,000 blocks of 4,096 characters, up to a megabyte. The adapter splits long texts into blocks.
    text: [{ unit: 'codePoints', max: MAX_TEXT_LENGTH }],
    media: {
      required: false,
      max: MAX_MEDIA_ITEMS,
      mix: true,
      image: { max: MAX_MEDIA_ITEMS, types: IMAGES, maxBytes: 20 * MB },
      video: { max: 1, types: VIDEOS, maxBytes: 500 * MB, seconds: { max: 600 } },
    },
    altText: { image: 4_096, video: null },
    thread: { segments: 'joined', firstComment: 'none' },
    removable: true,
    editable: true,
  },
}

/** Returns the rules of the kind of post that the options choose. */
export function toKindRules(platform: Platform, rules: PostingRules, options?: PlatformOptions): PostingRules {
  const kind = toPostKind(platform, options)
  const own = kind && rules.kinds?.[kind]
  return own ? { ...rules, ...own, kind } : rules
}

/** Returns a sentence when an image has too many pixels, else null. */
export function findPixelProblem(pixels: number): string | null {
  if (pixels <= MAX_IMAGE_PIXELS) return null
  const inMegapixels = (count: number) => Math.ceil(count / 1_000_000)
  return `An image has ${inMegapixels(pixels)} megapixels, and at most ${inMegapixels(MAX_IMAGE_PIXELS)} are accepted: upload it in a smaller size`
}

export function toMediaKind(mimeType: string): MediaKind {
  return mimeType.startsWith('video/') ? 'video' : 'image'
}

/** Returns the length of a text in a platform's unit. Counting stops at `atMost`, which is then the result. */
export function countText(text: string, unit: TextUnit, atMost = Infinity, linkLength = LINK_LENGTH): number {
  return Math.min(COUNTERS[unit](text, atMost, linkLength), atMost)
}

/** Lengths are exact up to this multiple of the limit. Counting further takes time and helps no user. */
const COUNTED_MULTIPLE = 10

/** Returns the length of a text and the length at which counting stops. A text of that length may be longer. */
export function measureText(
  text: string,
  limit: TextLimit,
  meter: Pick<TextMeter, 'countText'> = { countText },
): { length: number; countedTo: number } {
  const countedTo = COUNTED_MULTIPLE * limit.max
  return { length: meter.countText(text, limit.unit, countedTo, limit.linkLength), countedTo }
}

/** Counters stop at `atMost` and may return slightly more. */
const COUNTERS: Record<TextUnit, (text: string, atMost: number, linkLength: number) => number> = {
  graphemes: countGraphemes,
  utf8Bytes: countBytes,
  utf16Units: (text) => text.length,
  codePoints: countCodePoints,
  codePointsEmojiAsBytes: countEmojiAsBytes,
  graphemesLinksAs23: (text, atMost, linkLength) => countGraphemes(shortenForMastodon(text, linkLength), atMost),
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

function countGraphemes(text: string, atMost: number): number {
  return sumGraphemes(text, atMost, () => 1)
}

/** Returns the sum of `measure` over the graphemes of a text. Stops once the sum reaches `atMost`. */
function sumGraphemes(text: string, atMost: number, measure: (grapheme: string) => number): number {
  let sum = 0
  for (const { segment } of segmenter.segment(text)) {
    sum += measure(segment)
    if (sum >= atMost) break
  }
  return sum
}

function countBytes(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

/** Pictographs, skin tones, flags and keycaps, even those that a font shows as text: overcounting is safe, undercounting is not. */
const EMOJI = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]|[0-9#*]\u{fe0f}?\u{20e3}/u

/** Threads counts an emoji, with everything attached to it, by its UTF-8 bytes. */
function countEmojiAsBytes(text: string, atMost: number): number {
  return sumGraphemes(text, atMost, (grapheme) => {
    const start = grapheme.search(EMOJI)
    if (start === -1) return countCodePoints(grapheme)
    return countCodePoints(grapheme.slice(0, start)) + countBytes(grapheme.slice(start))
  })
}

/** Instagram finds tags and mentions within words as well, also in the full-width form. */
const HASHTAG = /[#＃][\p{L}\p{M}\p{N}_\u{200c}\u{200d}]+/gu
const MENTION = /[@＠][\p{L}\p{N}_.]+/gu

const PARTS: Record<TextPart, (text: string) => number> = {
  hashtags: (text) => text.match(HASHTAG)?.length ?? 0,
  mentions: (text) => text.match(MENTION)?.length ?? 0,
  // A repeated link counts once.
  links: (text) => new Set(findAllLinks(text).map(({ url }) => url)).size,
}

export function countParts(text: string, part: TextPart): number {
  return PARTS[part](text)
}

export interface TextMeter {
  countText: typeof countText
  countParts: typeof countParts
}

/** Returns a meter that measures each text once, for however many accounts it is. */
export function createTextMeter(): TextMeter {
  const measured = new Map<string, Map<string, number>>()
  const once = (text: string, measure: string, count: () => number): number => {
    const known = measured.get(text) ?? new Map<string, number>()
    if (known.size === 0) measured.set(text, known)
    const length = known.get(measure) ?? count()
    known.set(measure, length)
    return length
  }
  return {
    countText: (text, unit, atMost, linkLength) =>
      once(text, `${unit} ${atMost} ${linkLength}`, () => countText(text, unit, atMost, linkLength)),
    countParts: (text, part) => once(text, part, () => countParts(text, part)),
  }
}

/** Returns the description of an image or video cut to the platform's limit; empty where it accepts none. */
export function fitAltText(item: MediaItem, rules: PostingRules): string {
  const max = rules.altText[toMediaKind(item.mimeType)]
  const text = item.altText ?? ''
  if (max === null) return ''
  return countCodePoints(text) <= max ? text : takeCodePoints(text, max - 1) + '…'
}

/** Returns how long before a post is due its preparation should start, milliseconds. */
export function prepareLeadMs(platform: Platform, content: Content): number {
  if (content.mediaItems.some((item) => toMediaKind(item.mimeType) === 'video')) return 10 * MINUTE
  return content.mediaItems.length > 0 || needsPage(platform, content) ? MINUTE : 0
}
