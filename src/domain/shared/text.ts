/** Returns the number of code points in a text. */
export function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Returns the first `count` code points of a text. The cost depends on `count`, not on the length of the text. */
export function takeCodePoints(text: string, count: number): string {
  // A code point has at most two UTF-16 units.
  return [...text.slice(0, 2 * count)].slice(0, count).join('')
}

/** Removes the characters at the end of a text that `isDropped` accepts. A regex that ends in `+$` takes quadratic time for this. */
export function trimEndWhere(text: string, isDropped: (character: string) => boolean): string {
  let end = text.length
  while (end > 0 && isDropped(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}

/** Removes the slashes at the end of a URL, so that a path can be appended. */
export function trimTrailingSlashes(address: string): string {
  return trimEndWhere(address, (character) => character === '/')
}

/** Removes the full stop and white space at the end of a sentence, so that it can be part of a longer one. */
export function trimFullStop(sentence: string): string {
  return trimEndWhere(sentence, (character) => character === '.' || character.trim() === '')
}

/** Invisible characters that are copied together with names and addresses. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

export function stripInvisible(text: string): string {
  return text.replace(INVISIBLE, '')
}

/** Characters that change the direction of the text around them. With them, a name could disguise what follows it in a message. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g

export function stripDirections(text: string): string {
  return text.replace(DIRECTIONS, '')
}
