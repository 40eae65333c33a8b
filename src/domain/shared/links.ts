import { trimEndWhere } from './text.ts'

/** May end in punctuation of the sentence it stands in. */
export const LINK = /https?:\/\/[^\s/?#<>"]+\.[^\s<>"]+/giu

const PUNCTUATION = new Set(`.,;:!?'"”’)]}`)

/** The link itself, without the punctuation that ends a sentence rather than it. */
export function trimPunctuation(link: string): string {
  return trimEndWhere(link, (character) => PUNCTUATION.has(character))
}

export interface FoundLink {
  url: string
  /** Where it begins, in UTF-16 units as the language counts. */
  index: number
}

export function findLinks(text: string): FoundLink[] {
  return [...text.matchAll(LINK)].map(({ 0: found, index }) => ({ url: trimPunctuation(found), index }))
}
