import { trimEndWhere } from './text.ts'

/** Matches a link, possibly with punctuation of the surrounding sentence at its end. */
export const LINK = /https?:\/\/[^\s/?#<>"]+\.[^\s<>"]+/giu

const PUNCTUATION = new Set(`.,;:!?'"”’)]}`)

/** Returns the link without the punctuation of the surrounding sentence at its end. */
export function trimPunctuation(link: string): string {
  return trimEndWhere(link, (character) => PUNCTUATION.has(character))
}

/** Returns true for an absolute http or https URL. */
export function isWebUrl(text: string | null | undefined): text is string {
  return /^https?:\/\//.test(text ?? '')
}

export interface FoundLink {
  url: string
  /** Start of the link in the text, in UTF-16 units. */
  index: number
}

export function findLinks(text: string): FoundLink[] {
  return [...text.matchAll(LINK)].map(({ 0: found, index }) => ({ url: trimPunctuation(found), index }))
}
