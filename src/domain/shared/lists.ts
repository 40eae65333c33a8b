/** The items in their order, so many a piece. */
export function splitIntoChunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

/** The entries of a list in one line, separated by commas; never an empty one. */
export function parseList(line: string): string[] {
  return line
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
