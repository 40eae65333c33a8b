import type { components } from '@postonce/sdk'
import type { Content, DraftMedia } from './draft.ts'

type Schemas = components['schemas']
export type ThreadRule = Schemas['PlatformLimits']['thread']
export type ThreadRules = Partial<Record<Schemas['Platform'], ThreadRule>>

/** Until the rule is known, a platform counts as one that publishes everything. */
const ANY: ThreadRule = { segments: 'replies', firstComment: 'reply' }

const hasComment = ({ firstComment }: Pick<Content, 'firstComment'>) => firstComment.trim() !== ''

/** Returns whether a platform cannot publish the thread or the comment of a content, so that `onUnsupported` decides. */
export function isUnsupported(content: Pick<Content, 'segments' | 'firstComment'>, rule: ThreadRule = ANY): boolean {
  return (
    (content.segments.length > 0 && rule.segments === 'none') || (hasComment(content) && rule.firstComment === 'none')
  )
}

/** A post as a platform publishes it. */
export interface ShownPost {
  text: string
  media: DraftMedia[]
}

/** The posts that a content becomes on a platform: its parts, each a reply to the one before, and the comment below. */
export interface ShownContent {
  posts: ShownPost[]
  /** Null without a comment. */
  comment: string | null
  isJoined: boolean
  isLeftOut: boolean
}

/** Returns what a content becomes on a platform, as the service publishes it. */
export function toShownContent(content: Content, rule: ThreadRule = ANY): ShownContent {
  const { segments, firstComment, onUnsupported } = content
  const first = { text: content.text, media: content.media }
  const comment = hasComment(content) && rule.firstComment !== 'none' ? firstComment : null
  const isLeftOut = onUnsupported === 'skipPlatform' && isUnsupported(content, rule)
  if (rule.segments === 'replies') return { posts: [first, ...segments], comment, isJoined: false, isLeftOut }
  const mayJoin = onUnsupported === 'join'
  const further = [
    ...(rule.segments === 'joined' || mayJoin ? segments : []),
    ...(mayJoin && comment === null && hasComment(content) ? [{ text: firstComment, media: [] }] : []),
  ]
  return { posts: [join(first, further)], comment, isJoined: further.length > 0, isLeftOut }
}

function join(first: ShownPost, further: ShownPost[]): ShownPost {
  if (further.length === 0) return first
  const texts = [first, ...further].map(({ text }) => text.trim()).filter((text) => text !== '')
  return { text: texts.join('\n\n'), media: [first, ...further].flatMap(({ media }) => media) }
}
