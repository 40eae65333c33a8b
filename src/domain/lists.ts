/** The entries of a list in one line, separated by commas; never an empty one. */
export function listed(line: string): string[] {
  return line
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
