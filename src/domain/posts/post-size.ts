import { PLATFORMS } from '../shared/platforms.ts'
import { listOwnMedia } from './content.ts'
import type { ContentOverride, Post } from './post.ts'
import { countText } from './posting-rules.ts'
import type { Problem } from '../shared/service-error.ts'

/** UTF-8 bytes of all texts and descriptions of a post: one text of maximal length in any script, plus shorter ones. */
export const MAX_POST_TEXT_BYTES = 400_000

/** Returns a problem when the texts and descriptions for all platforms and accounts together are too large to store. */
export function findSizeProblems(
  post: { content?: ContentOverride } & Partial<Pick<Post, 'platformSpecificContent' | 'accountSpecificContent'>>,
): Problem[] {
  const { content, platformSpecificContent = {}, accountSpecificContent = {} } = post
  const contents = [
    content,
    ...PLATFORMS.map((platform) => platformSpecificContent[platform]),
    ...Object.values(accountSpecificContent),
  ]
  const bytes = contents.reduce((sum, part) => sum + (part ? countTextBytes(part) : 0), 0)
  if (bytes <= MAX_POST_TEXT_BYTES) return []
  const message = `The texts and descriptions of this post have ${bytes} bytes in total, and at most ${MAX_POST_TEXT_BYTES} are allowed. Shorten them.`
  return [{ path: 'content', code: 'POST_TOO_LARGE', message }]
}

function countTextBytes(content: ContentOverride): number {
  const { text = '', segments = [], firstComment = '', link } = content
  const ofLink = typeof link === 'object' ? [link.title ?? '', link.description ?? ''] : []
  const texts = [text, firstComment, ...segments.map((segment) => segment.text), ...ofLink]
  const descriptions = listOwnMedia(content).map(({ altText = '' }) => altText)
  return [...texts, ...descriptions].reduce((sum, one) => sum + countText(one, 'utf8Bytes'), 0)
}
