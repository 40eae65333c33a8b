import type { Post } from '../../domain/posts/post.ts'

/** The size of one page of posts. Each post may take an equal part. */
const PAGE_BYTES = 2 * 1_048_576
/** In code points. */
const EXCERPT_LENGTH = 500

/** A shortened post has an excerpt of its text, and neither its thread, its comment, overrides, edits nor descriptions of media. */
export type ListedPost = Post & { isShortened: boolean }

/**
 * Pipeline stages that shorten each post larger than its part of a page. A page is then bounded in bytes and still has all its
 * posts. The database shortens them before they are sent.
 * @param limit posts on the page
 */
export function shortenLargePosts(limit: number) {
  const whenLarge = (short: object, whole: string) => ({ $cond: ['$isShortened', short, whole] })
  const excerpt = {
    text: { $substrCP: ['$content.text', 0, EXCERPT_LENGTH] },
    mediaItems: {
      $map: {
        input: { $ifNull: ['$content.mediaItems', []] },
        in: { $unsetField: { field: 'altText', input: '$$this' } },
      },
    },
  }
  return [
    { $unset: ['timeline', 'pendingEvents'] },
    { $set: { isShortened: { $gt: [{ $bsonSize: '$$ROOT' }, Math.floor(PAGE_BYTES / limit)] } } },
    {
      $set: {
        content: whenLarge(excerpt, '$content'),
        platformStatuses: whenLarge(
          { $map: { input: '$platformStatuses', in: { $unsetField: { field: 'revisions', input: '$$this' } } } },
          '$platformStatuses',
        ),
        platformSpecificContent: whenLarge({ $literal: {} }, '$platformSpecificContent'),
        accountSpecificContent: { $cond: ['$isShortened', '$$REMOVE', '$accountSpecificContent'] },
      },
    },
  ]
}
