import type { Platform } from '../shared/platforms.ts'
import type { Content, Post } from './post.ts'

/** The storage keys of all media that a post names, for all platforms and for one. */
export function collectMediaKeys({
  content,
  platformSpecificContent,
}: Pick<Post, 'content' | 'platformSpecificContent'>): Set<string> {
  const contents = [content, ...Object.values(platformSpecificContent)]
  return new Set(contents.flatMap(({ mediaItems = [] }) => mediaItems.map(({ storageKey }) => storageKey)))
}

/** What `platform` gets: an override's text and media each replace the common ones (spec section 2). */
export function resolveContent(post: Pick<Post, 'content' | 'platformSpecificContent'>, platform: Platform): Content {
  const override = post.platformSpecificContent[platform]
  return {
    text: override?.text ?? post.content.text,
    mediaItems: override?.mediaItems ?? post.content.mediaItems,
  }
}
