import type { Platform } from '../domain/platforms.ts'
import type { DirectConnect, MediaSource, PlatformAdapter, RedirectConnect } from './adapter.ts'
import { createBluesky } from './bluesky/adapter.ts'
import { createMastodon, type MastodonOptions } from './mastodon/adapter.ts'

export interface PlatformRegistryOptions {
  blueskyEntryUrl: string
  /** Hosts besides the entry's on which accounts may live; one that begins with a dot stands for every host below it. */
  blueskyAccountHosts?: string[]
  blueskyAppUrl: string
  /** Null: not set up in this deployment. */
  mastodon?: Omit<MastodonOptions, 'publishTimeoutMs' | 'media'> | null
  publishTimeoutMs: number
  media: MediaSource
}

/** What can be done on which platform. Nothing is opened before the first call. */
export function createPlatformRegistry(options: PlatformRegistryOptions) {
  const bluesky = createBluesky({
    entryUrl: options.blueskyEntryUrl,
    accountHosts: options.blueskyAccountHosts ?? [],
    appUrl: options.blueskyAppUrl,
    publishTimeoutMs: options.publishTimeoutMs,
    media: options.media,
  })
  const { publishTimeoutMs, media } = options
  const mastodon = options.mastodon ? createMastodon({ ...options.mastodon, publishTimeoutMs, media }) : null
  const adapters: Partial<Record<Platform, PlatformAdapter>> = {
    bluesky: bluesky.adapter,
    ...(mastodon && { mastodon: mastodon.adapter }),
  }
  const directConnects: Partial<Record<Platform, DirectConnect>> = { bluesky: bluesky.direct }
  const redirectConnects: Partial<Record<Platform, RedirectConnect>> = {
    ...(mastodon && { mastodon: mastodon.redirect }),
  }

  return {
    /** Null: posts to this platform are not delivered yet. */
    find: (platform: Platform): PlatformAdapter | null => adapters[platform] ?? null,
    /** Null: accounts of this platform do not connect by typed-in credentials. */
    direct: (platform: Platform): DirectConnect | null => directConnects[platform] ?? null,
    /** Null: accounts of this platform do not connect on a page of its own. */
    redirect: (platform: Platform): RedirectConnect | null => redirectConnects[platform] ?? null,
    /** For processes that deliver, before they take work. */
    warmUp: async (): Promise<void> =>
      void (await Promise.all(Object.values(adapters).map(async (adapter) => adapter.warmUp?.()))),
    close: async (): Promise<void> => void (await Promise.all([bluesky.close(), mastodon?.close()])),
  }
}

export type PlatformRegistry = ReturnType<typeof createPlatformRegistry>
