import type { components } from '@postonce/sdk'

export type Platform = components['schemas']['Platform']

export const PLATFORMS: Platform[] = ['bluesky', 'threads', 'instagram', 'facebook', 'mastodon', 'tumblr']
