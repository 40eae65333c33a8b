import { PLATFORMS } from '../shared/platforms.ts'
import type { ContentOverride, Post } from './post.ts'
import { countText } from './posting-rules.ts'
import type { Problem } from '../shared/service-error.ts'

/** UTF-8 bytes of everything a post says: a text of the longest kind in any script, and room for shorter ones beside it. */
export const MAX_POST_TEXT_BYTES = 400_000

/** The problem of a post whose texts and descriptions, of all platforms together, are too large to be kept. */
export function findSizeProblems(
  post: { content?: ContentOverride } & Partial<Pick<Post, 'platformSpecificContent'>>,
): Problem[] {
  const { content, platformSpecificContent = {} } = post
  const contents = [content, ...PLATFORMS.map((platform) => platformSpecificContent[platform])]
  const bytes = contents.reduce((sum, part) => sum + (part ? countTextBytes(part) : 0), 0)
  if (bytes <= MAX_POST_TEXT_BYTES) return []
  const message = `All texts and descriptions of a post together must not be larger than ${MAX_POST_TEXT_BYTES} bytes; these are ${bytes}`
  return [{ path: 'content', code: 'POST_TOO_LARGE', message }]
}

function countTextBytes({ text = '', mediaItems = [] }: ContentOverride): number {
  return mediaItems.reduce(
    (sum, { altText = '' }) => sum + countText(altText, 'utf8Bytes'),
    countText(text, 'utf8Bytes'),
  )
}
