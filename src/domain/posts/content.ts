import type { Platform } from '../shared/platforms.ts'
import type { Content, Post } from './post.ts'

/** Returns the storage keys of all media in a post, including those of platform overrides. */
export function collectMediaKeys({
  content,
  platformSpecificContent,
  accountSpecificContent = {},
}: Contents): Set<string> {
  const contents = [content, ...Object.values(platformSpecificContent), ...Object.values(accountSpecificContent)]
  return new Set(contents.flatMap(({ mediaItems = [] }) => mediaItems.map(({ storageKey }) => storageKey)))
}

/** Returns the content for one account: each part comes from the account's override, else the platform's, else the common content. */
export function resolveContent(
  { content, platformSpecificContent, accountSpecificContent = {} }: Contents,
  { platform, accountId }: { platform: Platform; accountId?: string | undefined },
): Content {
  const ofPlatform = platformSpecificContent[platform]
  const ofAccount = accountId === undefined ? undefined : accountSpecificContent[accountId]
  return {
    text: ofAccount?.text ?? ofPlatform?.text ?? content.text,
    mediaItems: ofAccount?.mediaItems ?? ofPlatform?.mediaItems ?? content.mediaItems,
  }
}

type Contents = Pick<Post, 'content' | 'platformSpecificContent' | 'accountSpecificContent'>
