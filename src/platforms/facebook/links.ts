import { findLinks } from '../../domain/links.ts'

/** The link that the post shows a preview of: the first one, unless it leads to Facebook itself, which refuses those. */
export function previewedLink(text: string): string | undefined {
  const link = findLinks(text)[0]?.url
  if (link === undefined || !URL.canParse(link)) return undefined
  return /(^|\.)(facebook\.com|fb\.com|fb\.me|fb\.watch)$/i.test(new URL(link).hostname) ? undefined : link
}
