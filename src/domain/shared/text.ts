/** Code points in a text. */
export function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** The first code points of a text; the cost depends on `count`, not on the text. */
export function takeCodePoints(text: string, count: number): string {
  // A code point has two units at most.
  return [...text.slice(0, 2 * count)].slice(0, count).join('')
}

/** The text without the characters at its end that `isDropped` accepts. A regex that ends in `+$` takes quadratic time for this. */
export function trimEndWhere(text: string, isDropped: (character: string) => boolean): string {
  let end = text.length
  while (end > 0 && isDropped(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}

/** An address to put a path behind, which may have been given with slashes at its end. */
export function trimTrailingSlashes(address: string): string {
  return trimEndWhere(address, (character) => character === '/')
}

/** A sentence as a part of a longer one: without the full stop and the white space at its end. */
export function trimFullStop(sentence: string): string {
  return trimEndWhere(sentence, (character) => character === '.' || character.trim() === '')
}
