import type { Platform } from '../shared/platforms.ts'

export const MASTODON_VISIBILITIES = ['public', 'unlisted', 'private'] as const
export const BLUESKY_LABELS = ['sexual', 'nudity', 'porn', 'graphic-media'] as const
/** The accounts that may reply to a post: none, or those of each group. Without a gate, every account may. */
export const BLUESKY_REPLY_GATES = ['none', 'mentioned', 'following', 'followers'] as const

export interface Poll {
  options: string[]
  /** Seconds from the publication on. */
  expiresIn: number
  multiple?: boolean
  /** Hides the counts until the poll ends. */
  hideTotals?: boolean
}

export interface MastodonOptions {
  /** Absent: the default of the account. */
  visibility?: (typeof MASTODON_VISIBILITIES)[number]
  /** The warning behind which the text is hidden. */
  spoilerText?: string
  /** Hides the media. */
  sensitive?: boolean
  /** ISO 639. */
  language?: string
  /** On the first post of a thread. */
  poll?: Poll
}

export interface BlueskyOptions {
  /** BCP 47. */
  languages?: string[]
  labels?: (typeof BLUESKY_LABELS)[number][]
  /** On the first post of a thread. `none` excludes the others. */
  replyGate?: (typeof BLUESKY_REPLY_GATES)[number][]
  /** The address of the post that the first post quotes, on the web or as `at://`. */
  quoteUrl?: string
}

export interface TumblrOptions {
  /** Besides the hashtags of the text. */
  tags?: string[]
  sourceUrl?: string
}

/** Fields of a post that one platform only has. */
export interface PlatformOptions {
  mastodon?: MastodonOptions
  bluesky?: BlueskyOptions
  tumblr?: TumblrOptions
}

/** The limits of a poll on a platform. */
export interface PollRule {
  options: { min: number; max: number }
  /** Characters of one option. */
  optionLength: number
  /** Seconds. */
  expiresIn: { min: number; max: number }
}

const BLUESKY_POST = /^(?:https:\/\/bsky\.app\/profile\/|at:\/\/)([^/?#]+)\/(?:post|app\.bsky\.feed\.post)\/([^/?#]+)$/

/** Returns the author (a handle or DID) and the record key in the address of a Bluesky post; null for any other text. */
export function parseBlueskyPost(address: string): { author: string; key: string } | null {
  const [, author, key] = BLUESKY_POST.exec(address.trim()) ?? []
  return author && key ? { author, key } : null
}

/** Returns the text whose length the platform limits: Mastodon counts the warning with it. */
export function toMeasuredText(platform: Platform, text: string, { mastodon }: PlatformOptions = {}): string {
  return platform === 'mastodon' ? `${mastodon?.spoilerText ?? ''}${text}` : text
}
