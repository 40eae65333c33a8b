import type { Post } from '../../domain/posts/post.ts'

/** The size of one page of posts. Each may take an equal share. */
const PAGE_BYTES = 2 * 1_048_576
/** Code points. */
const EXCERPT_LENGTH = 500

/** A shortened post has an excerpt of its text, and neither overrides nor descriptions of media. */
export type ListedPost = Post & { isShortened: boolean }

/**
 * Pipeline stages over posts that shorten each one larger than its share of a page, so that a page is bounded in bytes and still has
 * as many posts as were asked for. The database does it, before anything is sent and decoded.
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
    { $unset: 'timeline' },
    { $set: { isShortened: { $gt: [{ $bsonSize: '$$ROOT' }, Math.floor(PAGE_BYTES / limit)] } } },
    {
      $set: {
        content: whenLarge(excerpt, '$content'),
        platformSpecificContent: whenLarge({ $literal: {} }, '$platformSpecificContent'),
      },
    },
  ]
}
