/** What is compared, in UTF-16 units: normalizing takes quadratic time on long runs of combining marks. */
const COMPARED_LENGTH = 2_000

/** The letters and digits with which a text begins, in one form: what no server changes when it tidies a text. */
function toComparableText(text: string): string {
  return text
    .slice(0, COMPARED_LENGTH)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Whether two texts differ, where they begin, in more than a server changes when it stores or shows one. */
export function hasDifferentWords(one: string, other: string): boolean {
  const [ours, theirs] = [toComparableText(one), toComparableText(other)]
  if (one.length <= COMPARED_LENGTH && other.length <= COMPARED_LENGTH) return ours !== theirs
  const length = Math.min(ours.length, theirs.length)
  return ours.slice(0, length) !== theirs.slice(0, length)
}
