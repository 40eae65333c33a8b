import type { Platform } from '../shared/platforms.ts'
import type { Content, ContentOverride, MediaItem, Post } from './post.ts'

export type Contents = Pick<Post, 'content' | 'platformSpecificContent' | 'accountSpecificContent'>

/** Returns all media items of a post, including those of overrides. */
export function listMediaItems({
  content,
  platformSpecificContent,
  accountSpecificContent = {},
}: Contents): MediaItem[] {
  const contents = [content, ...Object.values(platformSpecificContent), ...Object.values(accountSpecificContent)]
  return contents.flatMap(listOwnMedia)
}

/** Returns the media items of one content, including those of its segments and the image of its link. */
export function listOwnMedia({ mediaItems = [], segments = [], link }: ContentOverride): MediaItem[] {
  const image = typeof link === 'object' ? link.image : undefined
  return [...mediaItems, ...segments.flatMap((segment) => segment.mediaItems), ...(image ? [image] : [])]
}

/** Replaces every media item of one content. */
export function mapOwnMedia<C extends ContentOverride>(content: C, change: (item: MediaItem) => MediaItem): C {
  const { mediaItems, segments, link } = content
  return {
    ...content,
    ...(mediaItems && { mediaItems: mediaItems.map(change) }),
    ...(segments && {
      segments: segments.map((segment) => ({ ...segment, mediaItems: segment.mediaItems.map(change) })),
    }),
    ...(typeof link === 'object' && link.image && { link: { ...link, image: change(link.image) } }),
  }
}

/** Removes a thread, a comment and options that are empty. Overrides keep them, because there they replace those of the content. */
export function withoutEmptyParts({ segments = [], firstComment = '', options = {}, ...content }: Content): Content {
  return {
    ...content,
    ...(segments.length > 0 && { segments }),
    ...(firstComment !== '' && { firstComment }),
    ...(Object.keys(options).length > 0 && { options }),
  }
}

/** Returns the storage keys of all media in a post. */
export function collectMediaKeys(post: Contents): Set<string> {
  return new Set(listMediaItems(post).map(({ storageKey }) => storageKey))
}

/** Returns the content for one account: each part comes from the account's override, else the platform's, else the common content. */
export function resolveContent(
  { content, platformSpecificContent, accountSpecificContent = {} }: Contents,
  { platform, accountId }: { platform: Platform; accountId?: string | undefined },
): Content {
  const ofPlatform = platformSpecificContent[platform]
  const ofAccount = accountId === undefined ? undefined : accountSpecificContent[accountId]
  return { ...content, ...withoutUndefined(ofPlatform), ...withoutUndefined(ofAccount) }
}

function withoutUndefined(override: ContentOverride = {}): ContentOverride {
  return Object.fromEntries(Object.entries(override).filter(([, part]) => part !== undefined))
}
