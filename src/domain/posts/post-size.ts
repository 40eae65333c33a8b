import { PLATFORMS } from '../shared/platforms.ts'
import { listOwnMedia } from './content.ts'
import type { ContentOverride, MediaItem, Post } from './post.ts'
import { countText } from './posting-rules.ts'
import type { Problem } from '../shared/service-error.ts'

/** UTF-8 bytes of all texts and descriptions of a post: one text of maximal length in any script, plus shorter ones. */
export const MAX_POST_TEXT_BYTES = 400_000

/** Files of a post, on all platforms and accounts together; equal files count each time. */
export const MAX_POST_FILES = 300

/** Addresses of a post whose files are still to be fetched, while the client waits. */
export const MAX_POST_ADDRESSES = 20

const POST_TOO_LARGE = 'POST_TOO_LARGE'

/** Returns the problems when the contents for all platforms and accounts together are too large to store or to check. */
export function findSizeProblems(
  post: { content?: ContentOverride } & Partial<Pick<Post, 'platformSpecificContent' | 'accountSpecificContent'>>,
): Problem[] {
  const { content = {}, platformSpecificContent = {}, accountSpecificContent = {} } = post
  const contents = [
    content,
    ...PLATFORMS.flatMap((platform) => platformSpecificContent[platform] ?? []),
    ...Object.values(accountSpecificContent),
  ]
  const problems: Problem[] = []
  const report = (message: string) => problems.push({ path: 'content', code: POST_TOO_LARGE, message })
  const bytes = contents.reduce((sum, part) => sum + countTextBytes(part), 0)
  if (bytes > MAX_POST_TEXT_BYTES) {
    report(
      `The texts and descriptions of this post have ${bytes} bytes in total, and at most ${MAX_POST_TEXT_BYTES} are allowed. Shorten them.`,
    )
  }
  const files = contents.flatMap(listOwnMedia)
  if (files.length > MAX_POST_FILES) {
    report(
      `This post has ${files.length} files in total, and at most ${MAX_POST_FILES} are allowed. Remove some, or make several posts.`,
    )
  }
  const addresses = new Set(files.filter(isAddress).map(({ storageUrl }) => storageUrl)).size
  if (addresses > MAX_POST_ADDRESSES) {
    report(
      `This post names ${addresses} files by their addresses, and at most ${MAX_POST_ADDRESSES} are allowed. Upload the others.`,
    )
  }
  return problems
}

/** Returns whether one of the problems is that the post is too large to check further. */
export function isTooLarge(problems: readonly Problem[]): boolean {
  return problems.some(({ code }) => code === POST_TOO_LARGE)
}

/** A file that is not fetched yet has its address as key. */
function isAddress({ storageKey, storageUrl }: MediaItem): boolean {
  return storageKey === storageUrl
}

function countTextBytes(content: ContentOverride): number {
  const { text = '', segments = [], firstComment = '', link } = content
  const ofLink = typeof link === 'object' ? [link.title ?? '', link.description ?? ''] : []
  const texts = [text, firstComment, ...segments.map((segment) => segment.text), ...ofLink]
  const descriptions = listOwnMedia(content).map(({ altText = '' }) => altText)
  return [...texts, ...descriptions].reduce((sum, one) => sum + countText(one, 'utf8Bytes'), 0)
}
