import type { Platform } from '../shared/platforms.ts'
import { toFurtherLink } from './link.ts'
import type { Content, LinkChoice, PlatformStatus, Segment } from './post.ts'
import { POSTING_RULES, toKindRules, type PostingRules } from './posting-rules.ts'

/** One of the posts that a post becomes on a platform, or the comment below it. Parts are published one after the other. */
export interface Part {
  kind: 'post' | 'comment'
  content: Segment
  link: LinkChoice
}

/** The fields of a content that some platforms cannot publish. */
export type UnsupportedField = 'segments' | 'firstComment'

/**
 * Returns the parts of a post on a platform, in the order of their publication: at least one, the comment last. Each part after the first is a
 * reply to the one before. A story has no text.
 */
export function toParts(platform: Platform, content: Content): Part[] {
  const { thread, kind } = toKindRules(platform, POSTING_RULES[platform], content.options)
  const { segments = [], link = 'auto' } = content
  const isThread = thread.segments === 'replies'
  const joined = join(content, thread)
  const posts = isThread ? [toSegment(content), ...segments] : [kind === 'story' ? { ...joined, text: '' } : joined]
  const isCommented = hasComment(content) && thread.firstComment !== 'none'
  const further = toFurtherLink(link)
  const comment = { text: content.firstComment!, mediaItems: [] }
  return [
    ...posts.map((one, index): Part => ({ kind: 'post', content: one, link: index === 0 ? link : further })),
    ...(isCommented ? [{ kind: 'comment' as const, content: comment, link: further }] : []),
  ]
}

/** Returns the fields of a content that its platform does not publish, unless its author lets them be joined to the text. */
export function findUnsupported(
  content: Pick<Content, 'segments' | 'firstComment'>,
  { thread }: Pick<PostingRules, 'thread'>,
): UnsupportedField[] {
  const { segments = [] } = content
  return [
    ...(segments.length > 0 && thread.segments === 'none' ? (['segments'] as const) : []),
    ...(hasComment(content) && thread.firstComment === 'none' ? (['firstComment'] as const) : []),
  ]
}

/** Returns whether the author leaves a platform out that cannot publish the content. */
export function isLeftOut(platform: Platform, content: Content): boolean {
  const rules = toKindRules(platform, POSTING_RULES[platform], content.options)
  return content.onUnsupported === 'skipPlatform' && findUnsupported(content, rules).length > 0
}

/** Returns the part that the delivery of an entry is about: the first that is not published. */
export function toPartIndex({ parts = [] }: Pick<PlatformStatus, 'parts'>): number {
  return parts.length
}

/** Returns which post of a thread an entry has failed at, from 1, and their number; null where it has no thread, or its comment failed. */
export function findFailedPost(entry: PlatformStatus, content: Content): { number: number; total: number } | null {
  const total = toParts(entry.platform, content).filter(({ kind }) => kind === 'post').length
  const number = toPartIndex(entry) + 1
  return total > 1 && number <= total ? { number, total } : null
}

function toSegment({ text, mediaItems }: Segment): Segment {
  return { text, mediaItems }
}

const hasComment = ({ firstComment = '' }: Pick<Content, 'firstComment'>): boolean => firstComment.trim() !== ''

/** Makes one post of a thread, with the comment where the platform takes none. */
function join(content: Content, { firstComment: form }: PostingRules['thread']): Segment {
  const { text, mediaItems, segments = [], firstComment = '' } = content
  const texts = [...segments.map((one) => one.text), ...(form === 'none' ? [firstComment] : [])]
  const further = texts.map((one) => one.trim()).filter((one) => one !== '')
  return {
    text: further.length === 0 ? text : [text.trim(), ...further].filter((one) => one !== '').join('\n\n'),
    mediaItems: [...mediaItems, ...segments.flatMap((one) => one.mediaItems)],
  }
}
