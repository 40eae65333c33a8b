import type { Platform } from '../domain/shared/platforms.ts'
import type {
  DirectConnect,
  MediaSource,
  PageSource,
  PlatformAdapter,
  PlatformFacts,
  RedirectConnect,
  ServerApplications,
} from './contract.ts'
import { createBluesky, type BlueskyOptions } from './bluesky/adapter.ts'
import { createFacebook, type FacebookOptions } from './facebook/adapter.ts'
import { createInstagram, type InstagramOptions } from './instagram/adapter.ts'
import { createMastodon, type MastodonOptions } from './mastodon/adapter.ts'
import type { CallQuotas } from './shared/call-quota.ts'
import type { createHttpClient } from './shared/http.ts'
import { createTumblr, type TumblrOptions } from './tumblr/adapter.ts'
import { createThreads, type ThreadsOptions } from './threads/adapter.ts'

/** Options that every platform receives. */
interface SharedOptions {
  /** Deadline of the visible call, milliseconds. */
  publishTimeoutMs: number
  /** How long an unanswered call may still take effect on platforms that do not recognise repeats, milliseconds. */
  unansweredInFlightMs: number
  media: MediaSource
  /** Absent: posts are published without the cards that this service would make. */
  pages?: PageSource
  /** Sent as `User-Agent` with every call. */
  userAgent: string
  facts: PlatformFacts
  /** Shares the quotas of calls with other processes. Absent: calls are not limited. */
  quotas?: CallQuotas
  /** Required for accounts on servers that users name. */
  applications?: ServerApplications
  /** Creates the HTTP clients. The simulation replaces it; absent: real connections. */
  createClient?: typeof createHttpClient
}

/** The options of each platform; `null`: not configured in this deployment. */
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

/** Creates the adapters of the configured platforms. Nothing is opened before the first call. */
export function createPlatformRegistry(options: PlatformSettings & SharedOptions) {
  const {
    publishTimeoutMs,
    unansweredInFlightMs,
    media,
    pages,
    facts,
    applications,
    userAgent,
    quotas,
    createClient,
    ...settings
  } = options
  const common = {
    publishTimeoutMs,
    unansweredInFlightMs,
    media,
    facts,
    userAgent,
    ...(pages && { pages }),
    ...(quotas && { quotas }),
    ...(applications && { applications }),
    ...(createClient && { createClient }),
  }
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
    /** Returns `null` when this deployment does not publish on the platform. */
    find: (platform: Platform): PlatformAdapter | null => platforms[platform]?.adapter ?? null,
    /** Returns `null` when accounts of this platform do not connect with typed-in credentials. */
    direct: (platform: Platform): DirectConnect | null => platforms[platform]?.direct ?? null,
    /** Returns `null` when accounts of this platform do not connect on the platform's page. */
    redirect: (platform: Platform): RedirectConnect | null => platforms[platform]?.redirect ?? null,
    /** Loads the modules for preparation. Processes that deliver posts call it before they accept work. */
    warmUp: async (): Promise<void> => void (await Promise.all(all.map(async ({ adapter }) => adapter.warmUp?.()))),
    close: async (): Promise<void> => void (await Promise.all(all.map(({ close }) => close()))),
  }
}

export type PlatformRegistry = ReturnType<typeof createPlatformRegistry>
