/** The compared length in UTF-16 units: normalizing takes quadratic time on long runs of combining marks. */
const COMPARED_LENGTH = 2_000

/**
 * Returns the letters and digits of a text's beginning in one form, which no server changes when it normalizes a text.
 */
function toComparableText(text: string): string {
  return text
    .slice(0, COMPARED_LENGTH)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Replaces every run of white space by one space, because platforms change white space. */
export function normalizeWhitespace(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Returns whether two texts differ by more than a server's normalization. */
export function hasDifferentWords(one: string, other: string): boolean {
  const [ours, theirs] = [toComparableText(one), toComparableText(other)]
  if (one.length <= COMPARED_LENGTH && other.length <= COMPARED_LENGTH) return ours !== theirs
  const length = Math.min(ours.length, theirs.length)
  return ours.slice(0, length) !== theirs.slice(0, length)
}
