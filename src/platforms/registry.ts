import type { Platform } from '../domain/shared/platforms.ts'
import type { DirectConnect, MediaSource, PlatformAdapter, PlatformFacts, RedirectConnect } from './contract.ts'
import { createBluesky, type BlueskyOptions } from './bluesky/adapter.ts'
import { createFacebook, type FacebookOptions } from './facebook/adapter.ts'
import { createInstagram, type InstagramOptions } from './instagram/adapter.ts'
import { createMastodon, type MastodonOptions } from './mastodon/adapter.ts'
import { createTumblr, type TumblrOptions } from './tumblr/adapter.ts'
import { createThreads, type ThreadsOptions } from './threads/adapter.ts'

/** What every platform is given. */
interface SharedOptions {
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  /** How long such a call may still take effect when it got no answer, where the platform does not recognise repeats. */
  unansweredInFlightMs: number
  media: MediaSource
  /** Names this service in every call. */
  userAgent: string
  facts: PlatformFacts
}

/** What is set for each platform; null: it is not set up in this deployment. */
export interface PlatformSettings {
  bluesky: Omit<BlueskyOptions, keyof SharedOptions>
  mastodon: Omit<MastodonOptions, keyof SharedOptions> | null
  tumblr: Omit<TumblrOptions, keyof SharedOptions> | null
  threads: Omit<ThreadsOptions, keyof SharedOptions> | null
  facebook: Omit<FacebookOptions, keyof SharedOptions> | null
  instagram: Omit<InstagramOptions, keyof SharedOptions> | null
}

interface ConnectablePlatform {
  adapter: PlatformAdapter
  direct?: DirectConnect
  redirect?: RedirectConnect
  close(): Promise<void>
}

/** What can be done on which platform. Nothing is opened before the first call. */
export function createPlatformRegistry(options: PlatformSettings & SharedOptions) {
  const { publishTimeoutMs, unansweredInFlightMs, media, facts, userAgent, ...settings } = options
  const common = { publishTimeoutMs, unansweredInFlightMs, media, facts, userAgent }
  const platforms: Partial<Record<Platform, ConnectablePlatform>> = {
    bluesky: createBluesky({ ...settings.bluesky, ...common }),
    ...(settings.mastodon && { mastodon: createMastodon({ ...settings.mastodon, ...common }) }),
    ...(settings.tumblr && { tumblr: createTumblr({ ...settings.tumblr, ...common }) }),
    ...(settings.threads && { threads: createThreads({ ...settings.threads, ...common }) }),
    ...(settings.facebook && { facebook: createFacebook({ ...settings.facebook, ...common }) }),
    ...(settings.instagram && { instagram: createInstagram({ ...settings.instagram, ...common }) }),
  }
  const all = Object.values(platforms)

  return {
    /** Null: posts to this platform are not delivered here. */
    find: (platform: Platform): PlatformAdapter | null => platforms[platform]?.adapter ?? null,
    /** Null: accounts of this platform do not connect by typed-in credentials. */
    direct: (platform: Platform): DirectConnect | null => platforms[platform]?.direct ?? null,
    /** Null: accounts of this platform do not connect on a page of its own. */
    redirect: (platform: Platform): RedirectConnect | null => platforms[platform]?.redirect ?? null,
    /** For processes that deliver, before they take work. */
    warmUp: async (): Promise<void> => void (await Promise.all(all.map(async ({ adapter }) => adapter.warmUp?.()))),
    close: async (): Promise<void> => void (await Promise.all(all.map(({ close }) => close()))),
  }
}

export type PlatformRegistry = ReturnType<typeof createPlatformRegistry>
