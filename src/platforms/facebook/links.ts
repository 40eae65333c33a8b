import { findLinks } from '../../domain/shared/links.ts'

/** Browsers and servers take no more; reading a host name of many thousand characters takes quadratic time. */
const LONGEST_LINK = 2_048

/** The link that the post shows a preview of: the first one, unless it is too long for one or leads to Facebook itself, which refuses those. */
export function findPreviewLink(text: string): string | undefined {
  const link = findLinks(text)[0]?.url
  if (link === undefined || link.length > LONGEST_LINK || !URL.canParse(link)) return undefined
  return /(^|\.)(facebook\.com|fb\.com|fb\.me|fb\.watch)$/i.test(new URL(link).hostname) ? undefined : link
}
