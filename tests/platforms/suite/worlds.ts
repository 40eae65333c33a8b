import type { Credentials, MediaSource, PlatformAdapter } from '../../../src/platforms/contract.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { blueskyWorld } from '../bluesky/bluesky-support.ts'
import { facebookWorld } from '../facebook/facebook-support.ts'
import { mastodonWorld } from '../mastodon/mastodon-support.ts'
import { instagramWorld, threadsWorld } from '../shared/containers-support.ts'
import type { controlOf } from '../shared/support.ts'
import { tumblrWorld } from '../tumblr/tumblr-support.ts'

/** A platform of the sandbox, and an adapter for it. */
export interface PlatformWorld {
  adapter: PlatformAdapter
  control: ReturnType<typeof controlOf>
  newAccount(): Promise<Credentials>
  /** The part of connecting in which the service calls the platform. Absent where another platform's login connects. */
  connect?(): Promise<unknown>
  /** Part of the path of the read that `publish` makes after its visible call, where that returns no URL. */
  urlCall?: string
  /** The permission for comments, where these are no posts. */
  commentScope?: string
  /** Connects an account whose login lacks a permission. */
  newAccountWithout?(scope: string): Promise<Credentials>
  /** Comments below a post as another person does. */
  commentElsewhere?(postId: string, authorId: string, text: string): unknown
  stopServer(): Promise<void>
  /** Closes the adapter. */
  close(): Promise<void>
}

const PLENTY = 1_000_000
const mastodonRoom = { max: PLENTY, seconds: 300 }
const mastodonLimits = { api: mastodonRoom, media: mastodonRoom, statuses: mastodonRoom }
const tumblrLimits = { perHour: PLENTY, perDay: PLENTY, posts: PLENTY, photos: PLENTY, videos: PLENTY }

/** The worlds in which every adapter passes the same suite. A new platform is one more line. */
export const WORLDS: Record<Platform, (media: MediaSource) => Promise<PlatformWorld>> = {
  bluesky: (media) => blueskyWorld(media),
  async facebook(media) {
    const commentScope = 'pages_manage_engagement'
    const world = await facebookWorld(media, {}, { extraScopes: [commentScope] })
    const newAccountWithout = (scope: string) => world.newAccount({ decline: [scope] })
    return { ...world, commentScope, newAccountWithout, commentElsewhere: world.meta.commentElsewhere }
  },
  instagram: (media) => instagramWorld(media),
  mastodon: (media) => mastodonWorld(media, { rateLimits: mastodonLimits }),
  threads: (media) => threadsWorld(media, {}, { extraScopes: ['threads_read_replies'] }),
  tumblr: (media) => tumblrWorld(media, { limits: tumblrLimits }),
}
