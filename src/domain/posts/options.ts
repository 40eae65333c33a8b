import type { Platform } from '../shared/platforms.ts'
import { DAY } from '../shared/times.ts'

export const MASTODON_VISIBILITIES = ['public', 'unlisted', 'private'] as const
export const BLUESKY_LABELS = ['sexual', 'nudity', 'porn', 'graphic-media'] as const
/** The accounts that may reply to a post: none, or those of each group. Without a gate, every account may. */
export const BLUESKY_REPLY_GATES = ['none', 'mentioned', 'following', 'followers'] as const
/** The accounts that may reply: all, those that the author follows, the mentioned ones, or the author's followers. */
export const THREADS_REPLY_CONTROLS = ['everyone', 'following', 'mentioned', 'followers'] as const
/** `feed`: a post that stays on the profile. `story`: one image or video that ends after a day. */
export const POST_KINDS = ['feed', 'reel', 'story'] as const
export type PostKind = (typeof POST_KINDS)[number]
/** How long a platform shows a story. */
export const STORY_LIFE_MS = DAY
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
  /** On the first post of a thread. `none` excludes the others. */
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
  /** Shows the first post of a thread as a story of the linked Instagram account, too. */
  crossreshare?: boolean
}

export interface UserTag {
  username: string
  /** The index of the image or video in the post; absent: the first. */
  mediaItem?: number
  /** Parts of the width from the left, and of the height from the top. */
  x?: number
  y?: number
}

export interface InstagramOptions {
  /** Absent: a single video is a reel, everything else a post of the feed. */
  kind?: PostKind
  /** The frame of a reel that becomes its cover, seconds from the start. */
  coverAt?: number
  /** Usernames of accounts that are invited to be authors as well. */
  collaborators?: string[]
  userTags?: UserTag[]
  /** False keeps a reel out of the feed. */
  shareToFeed?: boolean
}

export interface TumblrOptions {
  /** Besides the hashtags of the text. */
  tags?: string[]
  sourceUrl?: string
  /** Absent: `published`. */
  state?: (typeof TUMBLR_STATES)[number]
}

/** Fields of a post that one platform only has. */
export interface PlatformOptions {
  mastodon?: MastodonOptions
  bluesky?: BlueskyOptions
  threads?: ThreadsOptions
  instagram?: InstagramOptions
  tumblr?: TumblrOptions
}

const BLUESKY_POST = /^(?:https:\/\/bsky\.app\/profile\/|at:\/\/)([^/?#]+)\/(?:post|app\.bsky\.feed\.post)\/([^/?#]+)$/

/** Returns the author (a handle or DID) and the record key in the address of a Bluesky post; null for any other text. */
export function parseBlueskyPost(address: string): { author: string; key: string } | null {
  const [, author, key] = BLUESKY_POST.exec(address.trim()) ?? []
  return author && key ? { author, key } : null
}

/** Returns the kind of post that the author chose; undefined where the platform has one kind only, or decides. */
export function toPostKind(platform: Platform, { instagram }: PlatformOptions = {}): PostKind | undefined {
  return platform === 'instagram' ? instagram?.kind : undefined
}

/** Returns the text whose length the platform limits: Mastodon counts the warning with it. */
export function toMeasuredText(platform: Platform, text: string, { mastodon }: PlatformOptions = {}): string {
  return platform === 'mastodon' ? `${mastodon?.spoilerText ?? ''}${text}` : text
}
