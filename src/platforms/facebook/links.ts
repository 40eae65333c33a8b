import { findLinks } from '../../domain/shared/links.ts'
import type { OutgoingPost } from '../contract.ts'

/**
 * Returns the link with a preview: the author's or the first one, unless it leads to Facebook itself, which refuses such previews.
 */
export function findPreviewLink({
  link: choice = 'auto',
  content: { text },
}: Pick<OutgoingPost, 'link' | 'content'>): string | undefined {
  const link = typeof choice === 'object' ? choice.url : choice === 'auto' ? findLinks(text)[0]?.url : undefined
  if (link === undefined) return undefined
  return /(^|\.)(facebook\.com|fb\.com|fb\.me|fb\.watch)$/i.test(new URL(link).hostname) ? undefined : link
}
