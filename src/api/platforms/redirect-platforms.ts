import type { Platform } from '../../domain/shared/platforms.ts'

interface RedirectPlatform {
  platform: Platform
  /** What the answer of the connect route calls the address of the platform's page (spec 4.5). */
  urlField: 'authUrl' | 'url'
}

/** The platforms whose accounts connect on a page of their own. */
export const REDIRECT_PLATFORMS: RedirectPlatform[] = [
  { platform: 'mastodon', urlField: 'authUrl' },
  { platform: 'tumblr', urlField: 'authUrl' },
  { platform: 'threads', urlField: 'url' },
  { platform: 'facebook', urlField: 'url' },
]
