import { findLinks } from '../../domain/shared/links.ts'

/** Browsers and servers accept no longer URLs, and parsing a very long host name takes quadratic time. */
const LONGEST_LINK = 2_048

/**
 * Returns the link with a preview: the first one, unless it is too long or leads to Facebook itself, which refuses such
 * previews.
 */
export function findPreviewLink(text: string): string | undefined {
  const link = findLinks(text)[0]?.url
  if (link === undefined || link.length > LONGEST_LINK || !URL.canParse(link)) return undefined
  return /(^|\.)(facebook\.com|fb\.com|fb\.me|fb\.watch)$/i.test(new URL(link).hostname) ? undefined : link
}
