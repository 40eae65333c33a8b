import { LONGEST_LINK, findAllLinks } from '../shared/links.ts'
import { cutToFit } from '../shared/fit-text.ts'
import type { Platform } from '../shared/platforms.ts'
import { toTitleLine } from '../shared/plain-text.ts'
import type { Content, LinkCard, LinkChoice } from './post.ts'

/** Characters of the texts of a card. */
export const CARD_LENGTHS = { title: 300, description: 1_000 } as const

/** The platforms where whoever publishes a post makes the card. The others read the page themselves. */
const CARDS_BY_CLIENT: readonly Platform[] = ['bluesky']

/** Why a page, or a file named by its address, cannot be read. The message completes a sentence about it. */
export class PageUnavailableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PageUnavailableError'
  }
}

/** Returns the link that becomes the card of a text; null when none does. */
export function findCardLink(choice: LinkChoice, text: string): LinkCard | null {
  if (typeof choice === 'object') return choice
  const [first] = choice === 'auto' ? findAllLinks(text) : []
  if (!first) return null
  const url = /^https?:\/\//i.test(first.url) ? first.url : `https://${first.url}`
  return isCardUrl(url) ? { url } : null
}

/** Returns the choice for a further post of a thread, or the comment: a link that the author names is for the first post only. */
export function toFurtherLink(choice: LinkChoice): LinkChoice {
  return choice === 'none' ? 'none' : 'auto'
}

/** Returns a text of a page for a card: one line of limited length, without characters that change the direction of others. */
export function toCardText(text: string, part: keyof typeof CARD_LENGTHS): string {
  const max = CARD_LENGTHS[part]
  return cutToFit(toTitleLine(text.slice(0, 4 * max)), (cut) => cut.length <= max)
}

/** Returns whether a URL can be that of a card. */
export function isCardUrl(url: string): boolean {
  if (url.length > LONGEST_LINK || /[\s\p{Cc}]/u.test(url) || !URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === ''
}

/** Returns whether this service reads a page to publish the first post of a content on a platform. */
export function needsPage(platform: Platform, { link = 'auto', text, mediaItems }: Content): boolean {
  return CARDS_BY_CLIENT.includes(platform) && mediaItems.length === 0 && findCardLink(link, text) !== null
}
