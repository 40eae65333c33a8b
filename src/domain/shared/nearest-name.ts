/** Names longer than this are no misspellings; comparing them would only cost time. */
const LONGEST = 50

/** Returns the known name that differs from `name` in at most a third of its letters; null when there is none. */
export function findNearestName(name: string, known: Iterable<string>): string | null {
  if (name.length > LONGEST) return null
  let nearest: string | null = null
  let least = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = countEdits(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

/** Returns the number of letters to insert, delete or replace (Levenshtein). */
function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[other.length]!
}
