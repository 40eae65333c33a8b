import type { Platform } from '../shared/platforms.ts'

export const MASTODON_VISIBILITIES = ['public', 'unlisted', 'private'] as const
export const BLUESKY_LABELS = ['sexual', 'nudity', 'porn', 'graphic-media'] as const
/** Who may reply to a post: no one, or the accounts of each group. Without a gate, everyone may. */
export const BLUESKY_REPLY_GATES = ['nobody', 'mentioned', 'following', 'followers'] as const
/** Who may reply: everyone, the accounts that the author follows, the mentioned ones, or the author's followers. */
export const THREADS_REPLY_CONTROLS = ['everyone', 'following', 'mentioned', 'followers'] as const
/** `private`: only the members of the blog see the post. */
export const TUMBLR_STATES = ['published', 'private'] as const

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
  /** On the first post of a thread. `nobody` excludes the others. */
  replyGate?: (typeof BLUESKY_REPLY_GATES)[number][]
  /** The address of the post that the first post quotes, on the web or as `at://`. */
  quoteUrl?: string
}

export interface ThreadsOptions {
  /** For all parts. Absent: everyone. */
  replyControl?: (typeof THREADS_REPLY_CONTROLS)[number]
  /** The topic of the first post of a thread. */
  topicTag?: string
  /** On the first post of a thread. Threads decides how long it runs. */
  poll?: Pick<Poll, 'options'>
}

export interface TumblrOptions {
  /** Besides the hashtags of the text. */
  tags?: string[]
  sourceUrl?: string
  /** Absent: `published`. */
  state?: (typeof TUMBLR_STATES)[number]
}

/** What a post may have on one platform only. */
export interface PlatformOptions {
  mastodon?: MastodonOptions
  bluesky?: BlueskyOptions
  threads?: ThreadsOptions
  tumblr?: TumblrOptions
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
