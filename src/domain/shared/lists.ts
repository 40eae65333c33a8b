/** Splits the items in order into chunks of at most `size`. */
export function splitIntoChunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

/** Returns the non-empty entries of a comma-separated list. */
export function parseList(line: string): string[] {
  return line
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
