import type { Platform } from '../../domain/shared/platforms.ts'

interface RedirectPlatform {
  platform: Platform
  /** The response field of the connect route with the URL of the platform's page. */
  urlField: 'authUrl' | 'url'
  /** True when users may name the server of their account. */
  hasServers?: true
}

/** Platforms whose users connect an account on a page of the platform. */
export const REDIRECT_PLATFORMS: RedirectPlatform[] = [
  { platform: 'mastodon', urlField: 'authUrl', hasServers: true },
  { platform: 'tumblr', urlField: 'authUrl' },
  { platform: 'threads', urlField: 'url' },
  { platform: 'facebook', urlField: 'url' },
]
