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
  return toEntries(line.split(','))
}

/** Returns the non-empty entries of a list. Returns null, and splits no further, when it has over `max`, empty ones included. */
export function parseBoundedList(line: string, separator: RegExp, max: number): string[] | null {
  const parts = line.split(separator, max + 1)
  return parts.length > max ? null : toEntries(parts)
}

function toEntries(parts: readonly string[]): string[] {
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}
