import type { Platform } from '../shared/platforms.ts'
import type { Content, Post } from './post.ts'

/** Returns the storage keys of all media in a post, including those of platform overrides. */
export function collectMediaKeys({
  content,
  platformSpecificContent,
}: Pick<Post, 'content' | 'platformSpecificContent'>): Set<string> {
  const contents = [content, ...Object.values(platformSpecificContent)]
  return new Set(contents.flatMap(({ mediaItems = [] }) => mediaItems.map(({ storageKey }) => storageKey)))
}

/** Returns the content for one platform: an override's text and media each replace the common ones. */
export function resolveContent(post: Pick<Post, 'content' | 'platformSpecificContent'>, platform: Platform): Content {
  const override = post.platformSpecificContent[platform]
  return {
    text: override?.text ?? post.content.text,
    mediaItems: override?.mediaItems ?? post.content.mediaItems,
  }
}
