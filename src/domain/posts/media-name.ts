import type { Content } from './post.ts'
import { toMediaKind } from './posting-rules.ts'

/** The name of a post's files in messages that do not know them. */
export const ANY_MEDIA = 'an image or video'

/** Names the files of a post in a sentence: "the image", "a video", or "the post" when it has none. */
export function nameMedia({ mediaItems }: Content): string {
  const kinds = new Set(mediaItems.map(({ mimeType }) => toMediaKind(mimeType)))
  const [kind] = kinds
  if (kind === undefined) return 'the post'
  if (kinds.size > 1) return ANY_MEDIA
  const article = mediaItems.length === 1 ? 'the' : kind === 'image' ? 'an' : 'a'
  return `${article} ${kind}`
}
