/** Longer names are no typing mistakes, and comparing them would be expensive. */
const MAX_NAME_LENGTH = 64
/** One wrong character is allowed for every three. */
const CHARACTERS_PER_EDIT = 3

/** Returns the known name that a mistyped one most likely means; null when none is similar. Letter case, `_`, `-` and blanks do not count. */
export function findNearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_NAME_LENGTH) return null
  const wanted = normalize(name)
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: countEdits(wanted, normalize(candidate)) }))
    .toSorted((one, other) => one.edits - other.edits)
  if (!nearest || nearest.edits > Math.max(1, wanted.length / CHARACTERS_PER_EDIT)) return null
  return nearest.candidate
}

function normalize(name: string): string {
  return name.replaceAll(/[\s_-]/g, '').toLowerCase()
}

/** Counts the insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function countEdits(one: string, other: string): number {
  let [beforeLast, last]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const isEqual = one[row - 1] === other[column - 1]
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current[column] = Math.min(
        last![column]! + 1,
        current[column - 1]! + 1,
        last![column - 1]! + (isEqual ? 0 : 1),
        row > 1 && column > 1 && isSwapped ? beforeLast![column - 2]! + 1 : Infinity,
      )
    }
    ;[beforeLast, last] = [last, current]
  }
  return last![other.length]!
}
