import { findLinks } from '../../domain/shared/links.ts'

/**
 * Returns the link with a preview: the first one, unless it leads to Facebook itself, which refuses such previews.
 */
export function findPreviewLink(text: string): string | undefined {
  const link = findLinks(text)[0]?.url
  if (link === undefined) return undefined
  return /(^|\.)(facebook\.com|fb\.com|fb\.me|fb\.watch)$/i.test(new URL(link).hostname) ? undefined : link
}
