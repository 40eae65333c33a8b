import type { Content } from '../../domain/posts/post.ts'
import type { NotFoundResult, SearchOptions } from '../contract.ts'
import { hasDifferentWords } from './text-difference.ts'

interface Comparison<T> {
  content: Content
  toId(own: T): string
  toText(own: T): string
  /** Returns whether text and number of files are those of the post. */
  isSame(own: T): boolean
}

/**
 * Searches the posts of an account for one that was restored from a backup. Nothing is known of its call, so only the content identifies it.
 * @param own the posts since the backup, the newest first; null when there are too many to search
 */
export async function searchRestored<T>(
  own: readonly T[] | null,
  { content, toId, toText, isSame }: Comparison<T>,
  { isTaken }: Pick<SearchOptions, 'isTaken'>,
): Promise<T | Exclude<NotFoundResult, 'in-flight'>> {
  if (!own) return 'undecidable'
  const candidates: T[] = []
  for (const one of own.toReversed()) if (!(await isTaken(toId(one)))) candidates.push(one)
  const match = candidates.find(isSame)
  // Without a text, any post with as many files may be this one.
  if (match !== undefined && content.text.trim() !== '') return match
  return candidates.some((one) => !hasDifferentWords(toText(one), content.text)) ? 'undecidable' : 'absent'
}
