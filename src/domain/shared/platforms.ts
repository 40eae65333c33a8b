/** The supported platforms, in the order in which they are listed everywhere. */
export const PLATFORMS = ['bluesky', 'threads', 'instagram', 'facebook', 'mastodon', 'tumblr'] as const

export type Platform = (typeof PLATFORMS)[number]

const LABELS: Record<Platform, string> = {
  bluesky: 'Bluesky',
  threads: 'Threads',
  instagram: 'Instagram',
  facebook: 'Facebook',
  mastodon: 'Mastodon',
  tumblr: 'Tumblr',
}

/** Returns the platform's name as the platform itself spells it. */
export function platformLabel(platform: Platform): string {
  return LABELS[platform]
}
