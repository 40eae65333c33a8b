const LINK = /https?:\/\/[^\s<>"]+/iu
/** What ends a sentence rather than the link before it. */
const TRAILING = /[.,;:!?'"”’)\]}]+$/u

/** The link that the post shows a preview of: the first one, unless it leads to Facebook itself, which refuses those. */
export function previewedLink(text: string): string | undefined {
  const [found] = LINK.exec(text) ?? []
  const link = found?.replace(TRAILING, '')
  if (link === undefined || !URL.canParse(link)) return undefined
  return /(^|\.)(facebook\.com|fb\.com|fb\.me|fb\.watch)$/i.test(new URL(link).hostname) ? undefined : link
}
