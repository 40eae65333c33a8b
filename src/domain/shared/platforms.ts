/** The platform identifiers of spec section 1, in its order. */
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

/** The platform's own spelling of its name, for sentences that people read. */
export function platformLabel(platform: Platform): string {
  return LABELS[platform]
}
