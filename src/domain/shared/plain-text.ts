import { cutToFit } from './fit-text.ts'
import { stripDirections } from './text.ts'

const TAG = /<[^<>]*>/g
/** Zero-width and bidirectional controls, soft hyphens, lone surrogates, private use. */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}]/gu
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu

/** Returns the text as one line without invisible and control characters. */
export function toOneLine(text: string): string {
  return text.replace(INVISIBLE, '').replace(CONTROLS, ' ').trim()
}

/** Like `toOneLine`, for text in any script: what joins letters and emoji stays, and what changes the direction of others does not. */
export function toTitleLine(text: string): string {
  return stripDirections(text.toWellFormed()).replace(CONTROLS, ' ').trim()
}

/** Returns the text as one line without markup. Linear in the length of the text. */
export function toPlainLine(text: string): string {
  return toOneLine(text.replace(TAG, ' ').replace(/[<>]/g, ' '))
}

const LONGEST_EXCERPT = 60
/** Characters read of a text. Anything after them would almost always be cut anyway. */
const MAX_READ = 400

/** Returns the beginning of a user's text as plain text of at most 60 characters; empty when it has no visible characters. */
export function toExcerpt(text: string): string {
  const plain = toPlainLine(text.slice(0, MAX_READ).toWellFormed())
  if (plain === '') return ''
  const isWhole = text.length <= MAX_READ
  return cutToFit(plain, (cut) => cut.length <= LONGEST_EXCERPT && (isWhole || cut !== plain))
}
