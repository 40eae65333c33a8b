import type { Platform } from '../../domain/shared/platforms.ts'

interface Redirect {
  platform: Platform
  /** What the answer of the connect route calls the address of the platform's page (spec 4.5). */
  addressField: 'authUrl' | 'url'
}

/** The platforms whose accounts connect on a page of their own. */
export const REDIRECTS: Redirect[] = [
  { platform: 'mastodon', addressField: 'authUrl' },
  { platform: 'tumblr', addressField: 'authUrl' },
  { platform: 'threads', addressField: 'url' },
  { platform: 'facebook', addressField: 'url' },
]
