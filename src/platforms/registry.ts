import type { Platform } from '../domain/shared/platforms.ts'
import type { DirectConnect, MediaSource, PlatformAdapter, PlatformFacts, RedirectConnect } from './contract.ts'
import { createBluesky, type BlueskyOptions } from './bluesky/adapter.ts'
import { createFacebook, type FacebookOptions } from './facebook/adapter.ts'
import { createInstagram, type InstagramOptions } from './instagram/adapter.ts'
import { createMastodon, type MastodonOptions } from './mastodon/adapter.ts'
import { createTumblr, type TumblrOptions } from './tumblr/adapter.ts'
import { createThreads, type ThreadsOptions } from './threads/adapter.ts'

/** What every platform is given. */
interface Common {
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  /** How long such a call may still take effect when it got no answer, where the platform does not recognise repeats. */
  unansweredSettleMs: number
  media: MediaSource
  /** Names this service in every call. */
  userAgent: string
  facts: PlatformFacts
}

/** What is set for each platform; null: it is not set up in this deployment. */
export interface PlatformSettings {
  bluesky: Omit<BlueskyOptions, keyof Common>
  mastodon: Omit<MastodonOptions, keyof Common> | null
  tumblr: Omit<TumblrOptions, keyof Common> | null
  threads: Omit<ThreadsOptions, keyof Common> | null
  facebook: Omit<FacebookOptions, keyof Common> | null
  instagram: Omit<InstagramOptions, keyof Common> | null
}

interface ConnectablePlatform {
  adapter: PlatformAdapter
  direct?: DirectConnect
  redirect?: RedirectConnect
  close(): Promise<void>
}

/** What can be done on which platform. Nothing is opened before the first call. */
export function createPlatformRegistry(options: PlatformSettings & Common) {
  const { publishTimeoutMs, unansweredSettleMs, media, facts, userAgent, ...settings } = options
  const common = { publishTimeoutMs, unansweredSettleMs, media, facts, userAgent }
  const connections: Partial<Record<Platform, ConnectablePlatform>> = {
    bluesky: createBluesky({ ...settings.bluesky, ...common }),
    ...(settings.mastodon && { mastodon: createMastodon({ ...settings.mastodon, ...common }) }),
    ...(settings.tumblr && { tumblr: createTumblr({ ...settings.tumblr, ...common }) }),
    ...(settings.threads && { threads: createThreads({ ...settings.threads, ...common }) }),
    ...(settings.facebook && { facebook: createFacebook({ ...settings.facebook, ...common }) }),
    ...(settings.instagram && { instagram: createInstagram({ ...settings.instagram, ...common }) }),
  }
  const all = Object.values(connections)

  return {
    /** Null: posts to this platform are not delivered here. */
    find: (platform: Platform): PlatformAdapter | null => connections[platform]?.adapter ?? null,
    /** Null: accounts of this platform do not connect by typed-in credentials. */
    direct: (platform: Platform): DirectConnect | null => connections[platform]?.direct ?? null,
    /** Null: accounts of this platform do not connect on a page of its own. */
    redirect: (platform: Platform): RedirectConnect | null => connections[platform]?.redirect ?? null,
    /** For processes that deliver, before they take work. */
    warmUp: async (): Promise<void> => void (await Promise.all(all.map(async ({ adapter }) => adapter.warmUp?.()))),
    close: async (): Promise<void> => void (await Promise.all(all.map(({ close }) => close()))),
  }
}

export type PlatformRegistry = ReturnType<typeof createPlatformRegistry>
