import { DOMAIN_ENDINGS } from './domain-endings.ts'

/**
 * What ends a link everywhere: white space and control characters, quotation marks, brackets and punctuation of
 * scripts that write no spaces around them, the ellipsis, and invisible marks.
 */
const OUTSIDE = String.raw`\s\p{Cc}<>"“”„‟«»‹›‘‚‛「」『』【】〔〕〖〗《》〈〉（）［］｛｝｟｠｢｣、。，．！？；：､｡…‥—\u{ad}\u{61c}\u{200b}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2069}\u{feff}`
const WORD = String.raw`\p{L}\p{M}\p{N}`
const REST = String.raw`[^${OUTSIDE}]*`

/** A link with its scheme. A host has a dot, and a letter of its own script may follow it directly. */
const WITH_SCHEME = new RegExp(String.raw`(?<![a-z0-9])https?:\/\/[^${OUTSIDE}/?#.]+\.${REST}`, 'giu')
/** A host without scheme that is not part of a mail address or of another name. */
const BARE = new RegExp(
  String.raw`(?<![${WORD}_@＠/.:-])[${WORD}-]+(?:\.[${WORD}-]+)+(?![${WORD}_@＠-])(?::\d+)?(?:[/?#]${REST})?`,
  'giu',
)

/** Returns true for an absolute http or https URL. */
export function isWebUrl(text: string | null | undefined): text is string {
  return /^https?:\/\//.test(text ?? '')
}

export interface FoundLink {
  url: string
  /** Start of the link in the text, in UTF-16 units. */
  index: number
}

/** Browsers and servers accept no longer URLs, and parsing a very long host name takes quadratic time. */
export const LONGEST_LINK = 2_048

/** Returns the valid links of a text that have a scheme, without the punctuation of the sentence around them. */
export function findLinks(text: string): FoundLink[] {
  return findWithScheme(text).filter(({ url }) => url.length <= LONGEST_LINK && URL.canParse(url))
}

function findWithScheme(text: string): FoundLink[] {
  return [...text.matchAll(WITH_SCHEME)].map(({ 0: found, index }) => ({ url: trimLink(found), index }))
}

/** Returns everything that looks like a link. Without scheme, its host starts with `www.` or has a known ending. */
export function findAllLinks(text: string): FoundLink[] {
  const links = findWithScheme(text)
  const found: FoundLink[] = []
  let at = 0
  for (const link of [...links, { url: '', index: text.length }]) {
    for (const { 0: bare, index } of text.slice(at, link.index).matchAll(BARE)) {
      const url = trimLink(bare)
      if (/^www\./i.test(url) || DOMAIN_ENDINGS.has(readEnding(url).toLowerCase()))
        found.push({ url, index: at + index })
    }
    if (link.url !== '') found.push(link)
    at = link.index + link.url.length
  }
  return found
}

function readEnding(bareLink: string): string {
  const [host = ''] = /^[^/?#:]+/.exec(bareLink) ?? []
  return host.slice(host.lastIndexOf('.') + 1)
}

const BRACKETS: Record<string, string> = { ')': '(', ']': '[', '}': '{' }
const POSSESSIVE = /['’]s$/i

/** Removes what belongs to the sentence: words after the host, punctuation, a possessive, and brackets that were opened before. */
function trimLink(found: string): string {
  const link = cutAfterHost(found)
  const open = new Map<string, number>()
  for (const character of link) open.set(character, (open.get(character) ?? 0) + 1)
  let end = link.length
  for (;;) {
    const last = link[end - 1]!
    const opening = BRACKETS[last]
    if (POSSESSIVE.test(link.slice(end - 2, end))) end -= 2
    else if (/[.,;:!?'’*`–]/.test(last)) end -= 1
    else if (opening !== undefined && open.get(last)! > (open.get(opening) ?? 0)) {
      open.set(last, open.get(last)! - 1)
      end -= 1
    } else return link.slice(0, end)
  }
}

/** Text of a script without spaces may follow a host directly: it is cut off where the host has a known ending. */
function cutAfterHost(link: string): string {
  const [host = '', ending = ''] = /^(?:https?:\/\/)?[^/?#:]*\.([a-z]{2,})(?=[^\0-\x7f])/i.exec(link) ?? []
  const isFollowed = host !== '' && DOMAIN_ENDINGS.has(ending.toLowerCase())
  return isFollowed ? host : link
}
