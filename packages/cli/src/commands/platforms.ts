import type { components } from '@postonce/sdk'
import { listValues } from '../options.ts'

export type Platform = components['schemas']['Platform']

export const PLATFORMS = listValues<Platform>({
  bluesky: true,
  threads: true,
  instagram: true,
  facebook: true,
  mastodon: true,
  tumblr: true,
})
