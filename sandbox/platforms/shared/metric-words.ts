/** Converts counts to the platform's names; ours are also accepted. */
export function inWordsOf(words: Record<string, string>, metrics: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [words[name] ?? name, value]))
}
