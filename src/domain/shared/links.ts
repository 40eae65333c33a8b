import { trimEndWhere } from './text.ts'

/** A match may end in punctuation of the surrounding sentence. */
export const LINK = /https?:\/\/[^\s/?#<>"]+\.[^\s<>"]+/giu

const PUNCTUATION = new Set(`.,;:!?'"”’)]}`)

/** Returns the link without the punctuation of the surrounding sentence at its end. */
export function trimPunctuation(link: string): string {
  return trimEndWhere(link, (character) => PUNCTUATION.has(character))
}

export interface FoundLink {
  url: string
  /** Start of the link in the text, in UTF-16 units. */
  index: number
}

export function findLinks(text: string): FoundLink[] {
  return [...text.matchAll(LINK)].map(({ 0: found, index }) => ({ url: trimPunctuation(found), index }))
}
