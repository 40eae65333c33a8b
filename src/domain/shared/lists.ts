/** Splits the items in order into chunks of at most `size`. */
export function splitIntoChunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

/**
 * Returns the index of the first item that satisfies the condition, which every item after it has to satisfy as well; their number when
 * none does.
 */
export function bisect<T>(items: readonly T[], condition: (item: T) => boolean): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (condition(items[middle]!)) to = middle
    else from = middle + 1
  }
  return from
}

/** Returns the non-empty entries of a comma-separated list. */
export function parseList(line: string): string[] {
  return line
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
